"""Tars: the list of what one holds, whose entries are read where they are and never unpacked.

The list is made by the standard library's reader. It takes in a header as long as the header says
it is, follows one header to the next, and goes back where a size is below nothing: so what it may
read between two entries is bounded here, and an entry must begin behind the one before it.
"""

import tarfile
from pathlib import PurePosixPath
from typing import IO, BinaryIO, cast

from pdpp.model.errors import DamagedFile, ImportRefused
from pdpp.sources.item import Skipped
from pdpp.sources.reading.archive import NO_FILE, name_problem
from pdpp.sources.reading.guard import SURPRISES
from pdpp.sources.reading.tree import FileEntry, ReadMeter, TreeLimits, all_composed

DAMAGED_END = "the rest of an archive that is damaged"
END = "its end: "
_MOST_HEADERS = 1 << 20
"""In bytes, for one entry; macOS puts what it knows of a file there, such as its icon."""
_MOST_FILLING = 64 << 20
"""In bytes, how much of nothing is looked through behind the end of a tar."""
_CHUNK = 1 << 20


class _Headers:
    """The bytes of a tar as the library reads them while it lists the entries."""

    def __init__(self, content: IO[bytes]) -> None:
        self._content = content
        self.seek, self.tell = content.seek, content.tell
        self.left = _MOST_HEADERS

    def read(self, size: int) -> bytes:
        """Read the next bytes of a header."""
        self.left -= size
        if size < 0 or self.left < 0:
            raise tarfile.ReadError("its headers are too long")
        return self._content.read(size)


def tar_entries(
    content: IO[bytes], entry: FileEntry, limits: TreeLimits
) -> tuple[list[FileEntry], list[Skipped]]:
    """List a tar; entries that must not be read are refused one by one."""
    entries: dict[str, FileEntry] = {}
    refused: list[Skipped] = []
    try:
        archive = tarfile.TarFile(fileobj=cast(IO[bytes], headers := _Headers(content)))
        before = -1
        for number, info in enumerate(archive):
            if number >= limits.entries:
                raise ImportRefused(f"{entry.name} lists more than {limits.entries:,} entries")
            if info.offset <= before or info.size < 0:
                raise tarfile.ReadError("its entries overlap")
            before, headers.left = info.offset, _MOST_HEADERS
            # They are of no use any more, and hundreds of thousands of them would be kept.
            info.pax_headers = {}
            archive.pax_headers = {}
            if not info.isdir():
                _add(archive, info, entry.meter, limits, entries, refused)
    except (tarfile.TarError, OSError, EOFError) as problem:
        raise DamagedFile(f"{entry.name} is a damaged tar: {problem}") from problem
    except SURPRISES as problem:
        raise DamagedFile(f"{entry.name} is a damaged tar: its headers make no sense") from problem
    archive.fileobj = content
    if lost := _lost_end(content, archive.offset):
        refused.append(Skipped(DAMAGED_END, f"{END}{lost}", cut=True))
    return all_composed([*entries.values()]), refused


def _lost_end(content: IO[bytes], at: int) -> str:
    """Say what is wrong where the last entry ends, if there is anything but zeros.

    The library takes a header that is cut off or makes no sense for the end.
    """
    content.seek(at)
    block = content.read(tarfile.BLOCKSIZE)
    if not block:
        return "no mark is there, so it may be cut off"
    if block.strip(b"\0"):
        whole = len(block) == tarfile.BLOCKSIZE
        return f"at byte {at:,} there is no header" if whole else "it is in the middle of a header"
    for _ in range(_MOST_FILLING // _CHUNK):
        if not (block := content.read(_CHUNK)):
            break
        if block.strip(b"\0"):
            return "there is more behind it"
    return ""


def _add(
    archive: tarfile.TarFile,
    info: tarfile.TarInfo,
    meter: ReadMeter,
    limits: TreeLimits,
    entries: dict[str, FileEntry],
    refused: list[Skipped],
) -> None:
    problem = _problem(info, limits)
    if problem is not None:
        refused.append(Skipped(problem, info.name[:200], cut=problem not in NO_FILE))
        return
    name = str(PurePosixPath(info.name))
    if name in entries:
        # What was added to a tar last is what unpacking it leaves.
        refused.append(Skipped("a name used twice", name[:200]))
    entries[name] = _entry(archive, name, info, meter)


def _problem(info: tarfile.TarInfo, limits: TreeLimits) -> str | None:
    """Return why an entry must not be read, or None."""
    if not info.isreg():
        linked = info.issym() or info.islnk()
        return "a link to another place" if linked else "neither a file nor a folder"
    if problem := name_problem(info.name, limits):
        return problem
    # A few bytes may say that they are a file of any size, the rest of which is nothing.
    if info.issparse():
        return "a file with holes; unpack the archive and import the folder"
    return "a file too large" if info.size > limits.entry_bytes else None


def _entry(
    archive: tarfile.TarFile, name: str, info: tarfile.TarInfo, meter: ReadMeter
) -> FileEntry:
    def opener() -> BinaryIO:
        content = archive.extractfile(info)
        if content is None:
            raise DamagedFile(f"{info.name} cannot be read")
        return cast(BinaryIO, content)

    # A whole number, or a fraction where a header of the newer form says when.
    when = f"{info.mtime:x}" if isinstance(info.mtime, int) else info.mtime.hex()
    return FileEntry(name, info.size, f"{when}-{info.size:x}", opener, meter)
