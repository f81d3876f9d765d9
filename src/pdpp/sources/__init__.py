"""Sources: importers for the exports people already have, and what a new one is written with."""

from pdpp.sources.item import START, Attachment, Finding, Item, ResumePoint, Seen, Skipped, Unknown
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import (
    AnyPart,
    Confidence,
    ExportPart,
    ExportRefusal,
    GrowingPart,
    OwnerChoices,
    Recognition,
    Source,
    load_declaration,
)

__all__ = [
    "START",
    "AnyPart",
    "Attachment",
    "Confidence",
    "ExportPart",
    "ExportRefusal",
    "FileEntry",
    "Finding",
    "GrowingPart",
    "Item",
    "OwnerChoices",
    "Recognition",
    "ResumePoint",
    "Seen",
    "Skipped",
    "Source",
    "Tree",
    "Unknown",
    "load_declaration",
]
