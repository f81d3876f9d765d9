"""The demo world: eight connections of one invented person, Nora Winter in Lisbon.

The records are data files beside this module: for each source a ``source.json`` with its
declaration, its connections and the order of its record files, and a file of JSON lines for
each stream. ``blobs.jsonl`` holds the files and pictures that records point to.
"""

from pdpp.demo.files import DemoBatch, DemoBlob, DemoSource, batches, blobs, sources
from pdpp.demo.story import INVOICE_STORY

__all__ = [
    "INVOICE_STORY",
    "DemoBatch",
    "DemoBlob",
    "DemoSource",
    "batches",
    "blobs",
    "sources",
]
