"""File counts: every file of an export is read, attached, passed over for a reason, or unknown."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from types import MappingProxyType

from pdpp.sources.importing.recognition import RecognisedExport
from pdpp.sources.importing.report import FileCounts, ImportReport
from pdpp.sources.importing.strangers import MOST_LOOKED_AT, stranger_kind
from pdpp.sources.reading.nested import UNREADABLE_ARCHIVE, is_archive, lost_archives
from pdpp.sources.reading.overview import OVERVIEWS
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import EXPECTED, AnyPart

EVERYWHERE: Mapping[str, str] = MappingProxyType(
    {
        ".DS_Store": "a file of the operating system",
        "._*": "a file of the operating system",
        "Thumbs.db": "a file of the operating system",
        "desktop.ini": "a file of the operating system",
        **dict.fromkeys(OVERVIEWS, "the page of a Takeout that lists what is in it"),
        "__MACOSX/*": "a file of the operating system",
        "*/__MACOSX/*": "a file of the operating system",
    }
)
"""Files that mean nothing in any export."""

_OPENED = "an archive, whose files are looked at by themselves"
_EARLIER = "{kind}, which an earlier run of this import attached to a record or did not know"


def count_files(
    report: ImportReport, tree: Tree, export: RecognisedExport, parts: Sequence[AnyPart]
) -> None:
    """Count what became of every file of a tree, once its parts are read."""
    files = report.files = FileCounts(total=len(tree.entries))
    read = {part.entry.name for part in parts}
    resumed = report.counts["parts_read_earlier"] > 0
    patterns = {**EVERYWHERE, **export.source.passed_over}
    lost = lost_archives(tree)
    report.cut |= bool(lost)
    for entry in tree.entries:
        if entry.name in read:
            files.read += 1
        elif entry.name in tree.meter.opened:
            files.attached += 1
        elif (reason := passed_over_reason(entry, patterns)) is not None:
            files.pass_over(reason, entry.name)
        elif entry.name in lost:
            files.pass_over(UNREADABLE_ARCHIVE, entry.name)
        elif is_archive(entry):
            files.pass_over(_OPENED, entry.name)
        elif resumed:
            files.pass_over(_EARLIER.format(kind=_kind(entry)), entry.name)
        elif sum(case.count for case in files.unknown.values()) < MOST_LOOKED_AT:
            files.wonder(stranger_kind(entry) or _kind(entry), entry.name)
        else:
            files.wonder(_kind(entry), entry.name)


def _kind(entry: FileEntry) -> str:
    return f"a file of the kind {entry.suffix or 'without an ending'}"


def passed_over_reason(entry: FileEntry, patterns: Mapping[str, str]) -> str | None:
    """Return why a file is skipped; a pattern with a slash matches the whole name."""
    for pattern, reason in patterns.items():
        if fnmatchcase(entry.name if "/" in pattern else entry.base, pattern):
            return None if reason == EXPECTED else reason
    return None
