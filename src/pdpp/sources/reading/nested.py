"""Nested archives: zips and tars inside a folder or a zip, opened as if they were folders.

A service hands out one export as several archives, and people keep them zipped in a folder. The
entries of an archive stand under its own name, ``takeout-1.zip/Takeout/Mail/all.mbox``; the archive
itself stays an entry too, because some are attachments.
"""

import io
import re
import sys
import tempfile
import weakref
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, BinaryIO, NamedTuple, cast

from pdpp.evidence.amount import counted
from pdpp.model.errors import DamagedFile, ImportRefused
from pdpp.sources.item import Skipped
from pdpp.sources.reading.archive import ZIP_BEGINNINGS, archive_entries
from pdpp.sources.reading.folder import file_entry
from pdpp.sources.reading.gunzip import Gunzipped
from pdpp.sources.reading.reopened import ReopenedFile
from pdpp.sources.reading.tarlist import tar_entries
from pdpp.sources.reading.tree import FileEntry, ReadMeter, Tree, TreeLimits

DEEPEST = 2
"""So many archives inside one another are opened."""

UNREADABLE_ARCHIVE = "an archive that cannot be read"
_TOO_DEEP = "it lies too deep inside others; unpack those and import the folder"

_IN_MEMORY = 16 << 20
_MOST_HELD = 64 << 20
_CHUNK = 1 << 20
_GZIP = b"\x1f\x8b"
_ZIP_SUFFIXES = (".zip", ".kmz", ".olm", ".textpack", ".bear2bk")
"""What zips are called; one of Google Earth holds a map and its pictures, one of Bear notes."""
TAR_SUFFIXES = (".tar", ".tgz", ".tar.gz")
_SPLIT = re.compile(
    r"\.(?:zip|7z|rar|tar|t?gz)\.\d{2,3}\Z|\.z\d\d\Z|\.part\d+\.rar\Z", re.IGNORECASE
)
_OTHER = re.compile(r"\.(?:7z|rar|gz|xz|txz|bz2|tbz2?|zst)\Z", re.IGNORECASE)


class Expanded(NamedTuple):
    """What the archives of a tree hold, and what of them cannot be read."""

    entries: list[FileEntry]
    refused: list[Skipped]


def open_tar(path: Path, limits: TreeLimits) -> Tree:
    """List a tar, compressed or not, as a tree of its own."""
    meter = ReadMeter()
    entry = file_entry(path, path.name, path.stat(), meter)
    entries, refused = tar_entries(_seekable(entry, limits), entry, limits)
    ordered = tuple(sorted(entries, key=lambda entry: entry.name))
    return Tree(path, "zip", ordered, tuple(refused), meter)


def is_archive(entry: FileEntry) -> bool:
    """Tell whether a file is an archive that can be opened; one that cannot be read at all is."""
    if entry.base.lower().endswith(TAR_SUFFIXES):
        return True
    try:
        return entry.suffix in _ZIP_SUFFIXES and entry.head(4) in ZIP_BEGINNINGS
    except DamagedFile:
        return True


def is_split(name: str) -> bool:
    """Tell whether a file is called as pieces of an archive are that was cut into several."""
    return _SPLIT.search(name) is not None


def closed_archive(entry: FileEntry) -> Skipped | None:
    """Say what to do with an archive that cannot be opened here, if a file is one."""
    if is_split(entry.base):
        words = "a piece of an archive; put the pieces together, unpack it and import the folder"
    elif entry.suffix == ".zip" and not entry.size:
        words = "it is empty; download it again"
    elif _OTHER.search(entry.base) and not entry.base.lower().endswith(TAR_SUFFIXES):
        words = f"{entry.suffix} is not opened; unpack it and import the folder"
    else:
        return None
    return Skipped(UNREADABLE_ARCHIVE, f"{entry.name}: {words}")


def archive_refused(refused: Skipped) -> str:
    """Return the name of an archive that cannot be opened."""
    return refused.example.partition(": ")[0]


def lost_archives(tree: Tree) -> set[str]:
    """Return the archives that cannot be opened and that no record keeps as a file either."""
    names = {archive_refused(refused) for refused in tree.refused if refused.lost}
    return names - tree.meter.opened


def expand(tree: Tree, limits: TreeLimits, depth: int = DEEPEST) -> Tree:
    """Return a tree with the entries of its archives beside its own."""
    expanded = Expanded(list(tree.entries), list(tree.refused))
    for entry in tree.entries:
        if depth and is_archive(entry):
            _open(entry, limits, depth, expanded)
    if len(expanded.entries) > limits.entries:
        raise ImportRefused(f"{tree.path.name} holds more than {limits.entries:,} files")
    total = sum(entry.size for entry in expanded.entries)
    if total > limits.total_bytes:
        raise ImportRefused(f"{tree.path.name} unpacks to {total:,} bytes, which is too much")
    ordered = tuple(sorted(expanded.entries, key=lambda entry: entry.name))
    return Tree(tree.path, tree.kind, ordered, tuple(expanded.refused), tree.meter)


def _open(entry: FileEntry, limits: TreeLimits, depth: int, expanded: Expanded) -> None:
    """Add what one archive holds; one that cannot be read costs none of the others."""
    try:
        inner = _inner(entry, limits)
    except (DamagedFile, ImportRefused, OSError) as problem:
        expanded.refused.append(_lost(entry, str(problem)))
        return
    if inner.refused and not inner.entries:
        expanded.refused.append(_lost(entry, _refusal(inner.refused)))
        return
    expanded.entries.extend(inner.entries)
    expanded.refused.extend(inner.refused)
    if len(expanded.entries) + len(expanded.refused) > limits.entries:
        raise ImportRefused(f"{entry.name} and others hold more than {limits.entries:,} files")
    for child in inner.entries:
        if is_archive(child) and depth > 1:
            _open(child, limits, depth - 1, expanded)
        elif is_archive(child):
            expanded.refused.append(_lost(child, _TOO_DEEP))


def _lost(entry: FileEntry, words: str) -> Skipped:
    return Skipped(UNREADABLE_ARCHIVE, f"{entry.name}: {words}", lost=True)


def _refusal(refused: list[Skipped]) -> str:
    """Say once why nothing of an archive may be read, such as of one with a password."""
    reasons = ", ".join(dict.fromkeys(skip.reason for skip in refused))
    return f"none of its {counted(len(refused), 'file')} can be read ({reasons})"


def _inner(entry: FileEntry, limits: TreeLimits) -> Expanded:
    content = _seekable(entry, limits)
    if entry.suffix in _ZIP_SUFFIXES:
        entries, refused = archive_entries(content, entry.base, entry.size, limits, entry.meter)
    else:
        entries, refused = tar_entries(content, entry, limits)
    prefix = f"{entry.name}/"
    return Expanded(
        [FileEntry(prefix + e.name, e.size, e.stamp, e.opener, e.meter) for e in entries],
        [skip._replace(example=prefix + skip.example) for skip in refused],
    )


class _Held:
    """A copy without a name that closes with the last entry that may read it."""

    def __init__(self, inner: IO[bytes]) -> None:
        self.read, self.seek, self.tell, self.close = (
            inner.read,
            inner.seek,
            inner.tell,
            inner.close,
        )
        self.name = None
        # Not `__del__`: in a cycle the copy itself may be taken down before its holder.
        weakref.finalize(self, inner.close)

    def seekable(self) -> bool:
        """Say that any place can be gone to."""
        return True


def _seekable(entry: FileEntry, limits: TreeLimits) -> IO[bytes]:
    """Return an archive's bytes as a file that can be read anywhere.

    A file of a folder is read where it is; one inside another archive is unpacked to a file
    without a name, because seeking in compressed bytes would unpack them again each time.
    """
    # Some browsers unpack what they download and leave its name.
    compressed = entry.suffix not in _ZIP_SUFFIXES and entry.head(len(_GZIP)) == _GZIP
    if not compressed:
        with entry.opener() as raw:
            on_disk = isinstance(raw, io.FileIO)
        if on_disk:
            return cast(IO[bytes], ReopenedFile(entry.opener, entry.size))
    # A file without a name is on the disk from its first byte where memory holds enough of others.
    room = _IN_MEMORY if entry.meter.bytes_held < _MOST_HELD else 1
    copy = tempfile.SpooledTemporaryFile(room)  # noqa: SIM115 - its entries read it later
    try:
        _unpack(entry, limits, copy, compressed=compressed)
    except BaseException:
        copy.close()
        raise
    if copy.tell() <= room:
        entry.meter.bytes_held += copy.tell()
    copy.seek(0)
    return cast(IO[bytes], _Held(cast(IO[bytes], copy)))


def _unpack(
    entry: FileEntry,
    limits: TreeLimits,
    copy: "tempfile.SpooledTemporaryFile[bytes]",
    *,
    compressed: bool,
) -> None:
    """Write the bytes of an archive to a file; refuse too many of them."""
    most = max(limits.ratio_from_bytes, limits.whole_ratio * entry.size)
    with entry.open() as stream:
        for chunk in (
            _gunzipped(stream, entry) if compressed else iter(lambda: stream.read(_CHUNK), b"")
        ):
            copy.write(chunk)
            # Checked as it is written and not by what the archive says of itself: that may be a
            # lie.
            if copy.tell() > most:
                raise ImportRefused(f"it unpacks to more than {limits.whole_ratio} times its size")


def _gunzipped(stream: BinaryIO, entry: FileEntry) -> Iterator[bytes]:
    # What unpacks to too much is refused where it is written.
    content = Gunzipped(stream, sys.maxsize)
    try:
        while chunk := content.read(_CHUNK):
            yield chunk
    except (EOFError, zlib.error) as problem:
        raise DamagedFile(f"{entry.name} cannot be unpacked: {problem}") from problem
