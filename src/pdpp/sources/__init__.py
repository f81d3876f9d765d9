"""Sources: importers for the exports people already have, and what a new one is written with."""

from pdpp.sources.item import START, Attachment, Found, Item, Place, Skipped, Unknown
from pdpp.sources.source import (
    Confidence,
    Part,
    Recognition,
    Refusal,
    Source,
    Wishes,
    load_declaration,
)
from pdpp.sources.tree import Entry, Tree

__all__ = [
    "START",
    "Attachment",
    "Confidence",
    "Entry",
    "Found",
    "Item",
    "Part",
    "Place",
    "Recognition",
    "Refusal",
    "Skipped",
    "Source",
    "Tree",
    "Unknown",
    "Wishes",
    "load_declaration",
]
