"""Holes: zeros that stand in a text for what a disk or an unfinished download lost."""

from pdpp.sources.item import Skipped
from pdpp.sources.reading.tree import FileEntry

_PDF = b"%PDF"
_HEAD = 64


def hole_in(entry: FileEntry) -> Skipped | None:
    """Return what is told of a text that was read and has a hole; binary files may have zeros."""
    if entry.name not in entry.meter.holes:
        return None
    head = entry.head(_HEAD)
    if head.startswith(_PDF) or (b"\0" in head and head.strip(b"\0")):
        return None
    return Skipped("zeros in a text, in place of what stood there", entry.name, lost=True)
