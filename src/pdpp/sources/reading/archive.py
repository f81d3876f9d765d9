"""Archives: zips as trees. Their entries are read where they are and never unpacked to disk."""

import stat
import struct
import zipfile
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO, NamedTuple, cast

from pdpp.model.errors import DamagedFile, ImportRefused
from pdpp.sources.item import Skipped
from pdpp.sources.reading.tree import FileEntry, ReadMeter, Tree, TreeLimits, all_composed
from pdpp.sources.reading.zipnames import entry_names

ZIP_BEGINNINGS = (b"PK\x03\x04", b"PK\x05\x06")
_END = struct.Struct("<4s4H2LH")
_END_MARK = b"PK\x05\x06"
_BIG_END_PLACE = struct.Struct("<4sLQL")
_BIG_END_PLACE_MARK = b"PK\x06\x07"
_BIG_END = struct.Struct("<4sQ2H2L4Q")
_BIG_END_MARK = b"PK\x06\x06"
_ENTRY = struct.Struct("<28x3H12x")
"""What stands before the names of an entry in the list: how long they are."""
_LONGEST_COMMENT = 1 << 16
_ENCRYPTED = 0x1
_UNIX = 3
_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_LINK, _ODD = "a link to another place", "neither a file nor a folder"
NO_FILE = frozenset({_LINK, _ODD})
"""Why an entry is left out that holds nothing; any other one may be a file of the export."""
_WAY_OUT = "unpack it yourself and import the folder, if you trust it"


def is_zip(path: Path) -> bool:
    """Tell whether a file begins as zips do."""
    with path.open("rb") as file:
        return file.read(4) in ZIP_BEGINNINGS


def open_archive(path: Path, limits: TreeLimits) -> Tree:
    """List a zip; entries that must not be read are refused one by one, a bomb as a whole."""
    with path.open("rb") as file:
        _check_directory(file, path.name, limits)
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError) as problem:
        raise DamagedFile(f"{path.name} is a damaged zip: {problem}") from problem
    meter = ReadMeter()
    entries, refused = _entries(archive, limits, meter)
    _check_total(path.name, entries, path.stat().st_size, limits)
    return Tree(path, "zip", tuple(entries), tuple(refused), meter)


def archive_entries(
    content: IO[bytes], name: str, size: int, limits: TreeLimits, meter: ReadMeter
) -> tuple[list[FileEntry], list[Skipped]]:
    """List a zip that lies inside something else, under the same rules."""
    _check_directory(content, name, limits)
    try:
        archive = zipfile.ZipFile(content)
    except (zipfile.BadZipFile, NotImplementedError, OSError, ValueError) as problem:
        raise DamagedFile(f"{name} is a damaged zip: {problem}") from problem
    entries, refused = _entries(archive, limits, meter)
    _check_total(name, entries, size, limits)
    return entries, refused


def _entries(
    archive: zipfile.ZipFile, limits: TreeLimits, meter: ReadMeter
) -> tuple[list[FileEntry], list[Skipped]]:
    entries: dict[str, FileEntry] = {}
    refused: list[Skipped] = []
    for name, info in entry_names(archive.infolist()):
        if name.endswith("/"):
            continue
        entry = _entry(archive, name, info, meter)
        if name in entries:
            other = entries[name].stamp != entry.stamp
            refused.append(Skipped("a name used twice", name[:200], cut=other))
        elif reason := _problem(name, info, limits):
            refused.append(Skipped(reason, name[:200], cut=reason not in NO_FILE))
        else:
            entries[name] = entry
    return sorted(all_composed([*entries.values()]), key=lambda entry: entry.name), refused


def _check_total(name: str, entries: list[FileEntry], size: int, limits: TreeLimits) -> None:
    """Refuse an archive that unpacks to too much, in all or for its own size."""
    total = sum(entry.size for entry in entries)
    if total > limits.total_bytes:
        raise ImportRefused(
            f"{name} unpacks to {total:,} bytes, more than {limits.total_bytes:,}; {_WAY_OUT}"
        )
    if total > limits.ratio_from_bytes and total > limits.whole_ratio * max(size, 1):
        raise ImportRefused(
            f"{name} unpacks to more than {limits.whole_ratio} times its size; {_WAY_OUT}"
        )


def _check_directory(file: IO[bytes], name: str, limits: TreeLimits) -> None:
    """Refuse a zip with too many entries before its whole list is loaded."""
    directory = _directory(file, name)
    count = directory.listed
    if directory.size > limits.directory_bytes:
        raise ImportRefused(
            f"{name} has a list of entries of {directory.size:,} bytes, more than "
            f"{limits.directory_bytes:,}; {_WAY_OUT}"
        )
    # What it says of their number may be a lie, where its list is long enough for more.
    if directory.size > limits.entries * _ENTRY.size:
        count = max(count, _counted(file, directory))
    if count > limits.entries:
        raise ImportRefused(
            f"{name} lists {count:,} entries, more than {limits.entries:,}; {_WAY_OUT}"
        )


class _Directory(NamedTuple):
    """How many entries a zip says it has, how long the list of them is, and where it ends."""

    listed: int
    size: int
    end: int


def _directory(file: IO[bytes], name: str) -> _Directory:
    length = file.seek(0, 2)
    start = max(0, length - _LONGEST_COMMENT - _END.size - _BIG_END_PLACE.size - _BIG_END.size)
    file.seek(start)
    tail = file.read(length - start)
    at = tail.rfind(_END_MARK)
    if at < 0 or len(tail) - at < _END.size:
        raise DamagedFile(f"{name} is a zip whose end is missing; it was not downloaded whole")
    _, _, _, _, count, size, _, _ = _END.unpack_from(tail, at)
    # The reader of zips believes the form for very many entries wherever there is one.
    return _big_directory(tail[:at], start) or _Directory(count, size, start + at)


def _big_directory(before: bytes, start: int) -> _Directory | None:
    """Return the same from the form for very many entries, which stands right before the end."""
    place = len(before) - _BIG_END_PLACE.size
    record = place - _BIG_END.size
    if record < 0 or not before.startswith(_BIG_END_PLACE_MARK, place):
        return None
    mark, *_, count, size, _ = _BIG_END.unpack_from(before, record)
    if mark != _BIG_END_MARK:
        raise DamagedFile("the zip's list of entries is not where it says")
    return _Directory(count, size, start + record)


def _counted(file: IO[bytes], directory: _Directory) -> int:
    """Return how many entries a list holds."""
    file.seek(max(0, directory.end - directory.size))
    listed = file.read(directory.size)
    count = place = 0
    while place + _ENTRY.size <= len(listed):
        place += _ENTRY.size + sum(_ENTRY.unpack_from(listed, place))
        count += 1
    return count


def _problem(name: str, info: zipfile.ZipInfo, limits: TreeLimits) -> str | None:
    """Return why an entry must not be read, or None."""
    # The upper half of the attributes is the mode of Unix, if the archive was made there.
    kind = stat.S_IFMT(info.external_attr >> 16) if info.create_system == _UNIX else 0
    if kind not in (0, stat.S_IFREG):
        return _LINK if kind == stat.S_IFLNK else _ODD
    if problem := name_problem(name, limits):
        return problem
    if info.flag_bits & _ENCRYPTED:
        return "encrypted"
    if info.compress_type not in _METHODS:
        return "compressed in a way that is not known"
    if info.file_size > limits.entry_bytes:
        return "a file too large"
    # Small files may well shrink to nothing; only from 64 MiB on is a high ratio a bomb.
    grown = info.file_size > limits.ratio_from_bytes
    if grown and info.file_size > limits.ratio * max(info.compress_size, 1):
        return f"unpacks to more than {limits.ratio} times its size"
    return None


def name_problem(name: str, limits: TreeLimits) -> str | None:
    steps = PurePosixPath(name.replace("\\", "/")).parts
    if not steps or len(name) > limits.name_chars or len(steps) > limits.depth:
        return "a name too long or empty"
    # Absolute, upwards, or with the letter of a drive.
    if steps[0] == "/" or ".." in steps or (len(steps[0]) > 1 and steps[0][1] == ":"):
        return "a name that leads outside the archive"
    if any(ord(letter) < 32 or "\ud800" <= letter <= "\udfff" for letter in name):
        return "a name that holds control characters"
    return None


def _entry(
    archive: zipfile.ZipFile, name: str, info: zipfile.ZipInfo, meter: ReadMeter
) -> FileEntry:
    stamp = f"{info.CRC:08x}-{info.file_size:x}"
    return FileEntry(name, info.file_size, stamp, lambda: _open(archive, info), meter)


def _open(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> BinaryIO:
    return cast(BinaryIO, archive.open(info))
