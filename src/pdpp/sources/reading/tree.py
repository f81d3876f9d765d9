"""Trees: what the owner pointed at, a file, a folder or a zip, as bounded entries to read."""

import io
import mimetypes
import re
import stat
import unicodedata
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from fnmatch import translate
from functools import cached_property, lru_cache
from os.path import commonpath
from pathlib import Path
from typing import BinaryIO

from pdpp.evidence.amount import counted
from pdpp.model.errors import DamagedFile, ImportRefused
from pdpp.sources.item import Skipped
from pdpp.sources.reading.heads import HEAD_BYTES, HeadCache, Opener
from pdpp.sources.reading.recoded import MARK_BYTES, Recoded, byte_order, narrow

_ARCHIVE_ENDING = re.compile(r"(?: ?\(\d+\))?\.(?:zip|tar|tgz|tar\.gz)\Z", re.IGNORECASE)
"""What the name of an archive has behind that of its folder; a browser numbers downloads."""
_TEXT_ENDINGS = frozenset({".txt", ".md", ".csv", ".tsv", ".html"})
"""What the names of files end with that begin with a letter of any language."""
_PUT_BEHIND = re.compile(
    r"(?<=.\.(?:csv|eml|gpx|ics|kml|ofx|qbo|qfx|qif|sta|tcx|vcf))\.\w{3}\Z", re.IGNORECASE
)
"""What a browser puts behind the name of a file that was sent to it as plain text or XML."""
_WILDCARDS = re.compile(r"[*?\[]")
_BUFFER = 1 << 18
_HOLE = bytes(512)
"""A sector of a disk: less than that no disk and no download leaves out."""

DAMAGE = (OSError, EOFError, UnicodeError, zipfile.BadZipFile, zlib.error, NotImplementedError)
"""How reading fails, also where the name before an entry is noise; the zip reader itself never
gives more than an entry says it holds."""


@dataclass(frozen=True, slots=True)
class TreeLimits:
    """How much one export may hold."""

    entries: int = 500_000
    entry_bytes: int = 64 << 30
    total_bytes: int = 256 << 30
    directory_bytes: int = 256 << 20
    ratio: int = 250
    whole_ratio: int = 100
    ratio_from_bytes: int = 64 << 20
    depth: int = 64
    name_chars: int = 1_024


@dataclass(slots=True)
class ReadMeter:
    """Counts the bytes that were read, and remembers which files were opened."""

    bytes_read: int = 0
    opened: set[str] = field(default_factory=set)
    bytes_held: int = 0
    """How much of the archives inside this tree is kept in memory."""
    heads: HeadCache = field(default_factory=HeadCache)
    holes: set[str] = field(default_factory=set)
    """The files in which a sector of a disk, or more, was found to be nothing but zeros."""

    def reset(self) -> None:
        """Begin to count anew, and forget what was read: a file counts as opened once it is."""
        self.bytes_read = 0
        self.opened.clear()
        self.heads.clear()
        self.holes.clear()


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One file of a tree; ``stamp`` differs whenever its content does."""

    name: str
    size: int
    stamp: str
    opener: Opener = field(repr=False, compare=False)
    meter: ReadMeter = field(repr=False, compare=False)
    packed: bool = False
    """Whether ``size`` is that of a packed file, and what is read of it may be less or more."""
    on_disk: bool = False
    """Whether it lies on the disk as it is, and any part of it is read at once."""

    @property
    def base(self) -> str:
        """Return the name without its folders."""
        return self.name.rpartition("/")[2]

    @property
    def plain_base(self) -> str:
        """Return the name without its folders, and without what a browser put behind it."""
        base = self.base
        return _PUT_BEHIND.sub("", base) if base.endswith((".txt", ".xml")) else base

    @property
    def suffix(self) -> str:
        """Return the ending of the name, in lower case and with its dot."""
        base = self.plain_base
        dot = base.rfind(".")
        return base[dot:].lower() if 0 < dot < len(base) - 1 else ""

    @property
    def media_type(self) -> str:
        """Return the kind of file that the name tells."""
        return mimetypes.guess_type(self.base)[0] or "application/octet-stream"

    def open(self, offset: int = 0) -> BinaryIO:
        """Open the content for reading from an offset on; damage is told as ``DamagedFile``.

        What is text in UTF-16 is given in UTF-8: no reader has to know of it.
        """
        return io.BufferedReader(self._open_raw(offset), _BUFFER)

    @property
    def is_wide(self) -> bool:
        """Tell whether the content is text in UTF-16, which is given in UTF-8."""
        with self._open_raw(exact=True) as stream:
            start = stream.read(MARK_BYTES)
        return byte_order(start, is_text=self.suffix in _TEXT_ENDINGS) is not None

    def open_exact(self) -> BinaryIO:
        """Open the content as it is, to keep the file itself."""
        return io.BufferedReader(self._open_raw(exact=True), _BUFFER)

    def _open_raw(self, offset: int = 0, *, exact: bool = False) -> "_Measured":
        try:
            inner = self.opener() if exact else self.opened()
            if offset:
                inner.seek(offset)
        except DAMAGE as problem:
            raise DamagedFile(f"{self.name} cannot be read: {_words(problem)}") from problem
        self.meter.opened.add(self.name)
        return _Measured(inner, self, offset)

    def opened(self) -> BinaryIO:
        """Return the content as its opener gives it, with text in UTF-16 as UTF-8."""
        inner = self.opener()
        if (text := narrow(inner, is_text=self.suffix in _TEXT_ENDINGS)) is not None:
            return text
        if not self.packed:
            inner.seek(0)
            return inner
        inner.close()  # What is packed can only be gone through forward.
        return self.opener()

    def is_copy_of(self, other: "FileEntry") -> bool:
        """Tell whether another file has the same content; of other lengths neither is opened."""
        if self.size != other.size:
            return False
        with self.open() as ours, other.open() as theirs:
            while piece := ours.read(_BUFFER):
                if piece != theirs.read(_BUFFER):
                    return False
        return True

    def head(self, size: int = HEAD_BYTES) -> bytes:
        """Return the beginning of the content, which is read once while sources look at it."""
        heads = self.meter.heads
        head = heads.get(self.opener) if size <= HEAD_BYTES else None
        if head is None and size <= HEAD_BYTES and heads.has_room:
            head = self._read_head(HEAD_BYTES)
            heads.keep(self.opener, head)
        return self._read_head(size) if head is None else head[:size]

    def _read_head(self, size: int) -> bytes:
        """Read no more than is wanted: a buffer would be filled first."""
        with self._open_raw() as stream:
            pieces = []
            while size and (piece := stream.read(size)):
                pieces.append(piece)
                size -= len(piece)
            return b"".join(pieces)


class _Measured(io.RawIOBase):
    """Content that is counted as it is read, and whose damage is told in our own words."""

    def __init__(self, inner: BinaryIO, entry: FileEntry, offset: int) -> None:
        self._inner = inner
        self._entry = entry
        self._passed = offset

    def readable(self) -> bool:
        """Say that this can be read."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Read some bytes."""
        try:
            chunk = self._inner.read(len(buffer))
        except DAMAGE as problem:
            message = f"{self._entry.name} cannot be read further: {_words(problem)}"
            raise DamagedFile(message) from problem
        self._passed += len(chunk)
        if not chunk and not self._entry.packed and self._reached < self._entry.size:
            raise DamagedFile(f"{self._entry.name} became shorter while it was read")
        buffer[: len(chunk)] = chunk
        if b"\0" in chunk and _HOLE in chunk:
            self._entry.meter.holes.add(self._entry.name)
        self._entry.meter.bytes_read += len(chunk)
        return len(chunk)

    @property
    def _reached(self) -> int:
        """Return how far into the file itself this is; text in UTF-16 has another length here."""
        return self._inner.taken if isinstance(self._inner, Recoded) else self._passed

    def close(self) -> None:
        """Close the content."""
        self._inner.close()
        super().close()


def _words(problem: Exception) -> str:
    words = problem.strerror if isinstance(problem, OSError) else str(problem)
    return words or "it ends too early"


@dataclass(frozen=True)
class Tree:
    """What the owner pointed at; ``refused`` are entries that nobody may read, with reasons."""

    path: Path
    kind: str
    entries: tuple[FileEntry, ...]
    refused: tuple[Skipped, ...] = ()
    meter: ReadMeter = field(default_factory=ReadMeter)

    @property
    def size(self) -> int:
        """Return how many bytes the entries hold in all."""
        return sum(entry.size for entry in self.entries)

    def get(self, name: str) -> FileEntry | None:
        """Return the entry of this name, however its accents are written."""
        return self._by_name.get(name) or self._by_name.get(composed(name))

    def these(self, names: Iterable[str]) -> Iterator[FileEntry]:
        """Yield the entries of these exact names, as far as they are still there."""
        return (entry for name in names if (entry := self.get(name)) is not None)

    @cached_property
    def _by_name(self) -> Mapping[str, FileEntry]:
        return {entry.name: entry for entry in self.entries}

    def named(self, *patterns: str) -> list[FileEntry]:
        """Return the entries whose last name fits a pattern, those nearest the top first."""
        bases = self._bases_like(patterns)
        fitting = {entry.name: entry for base in bases for entry in self._by_base[base]}
        return sorted(fitting.values(), key=lambda entry: (entry.name.count("/"), entry.name))

    def _bases_like(self, patterns: tuple[str, ...]) -> set[str]:
        """Return the last names that fit a pattern; one without wildcards is only looked up.

        Dozens of sources ask for their names in folders of up to half a million files.
        """
        plain, fits = _parsed(patterns)
        found = {name for name in plain if name in self._by_base}
        return found if fits is None else found | {*filter(fits, self._by_base)}

    @cached_property
    def _by_base(self) -> Mapping[str, list[FileEntry]]:
        entries: dict[str, list[FileEntry]] = {}
        for entry in self.entries:
            for base in {entry.base, entry.plain_base}:
                entries.setdefault(base, []).append(entry)
        return entries

    def beside(self, entry: FileEntry, name: str) -> FileEntry | None:
        """Return the entry that a relative name means, seen from another entry."""
        steps: list[str] = entry.name.split("/")[:-1]
        for step in name.replace("\\", "/").split("/"):
            if step == "..":
                if not steps:
                    return None
                steps.pop()
            elif step not in ("", "."):
                steps.append(step)
        return self.get("/".join(steps))

    def folder_of(self, entry: FileEntry) -> str | None:
        """Return the name of the folder that a file lies in, as its owner calls it.

        It is the same whether the folder comes alone, in another one, or as an archive. A folder
        that is hidden has no name for a person.
        """
        folders = entry.name.split("/")[:-1]
        name = unpacked_name(folders[-1]) if folders else self.folder
        return None if not name or name.startswith(".") else name

    @property
    def folder(self) -> str:
        """Return the name of the folder that this is, or that its one file lies in."""
        around = self.path.parent if self.kind == "file" else self.path
        return unpacked_name(around.name)

    @property
    def called(self) -> str:
        """Return what this is called, without the ending of a file or an archive.

        A dot in the name of a folder begins no ending.
        """
        return self.path.stem if self.kind == "file" else unpacked_name(self.path.name)

    def under(self, folder: str) -> "Tree":
        """Return the part of a tree that lies in a folder; names stay as they are."""
        prefix = f"{folder}/"
        entries = tuple(entry for entry in self.entries if entry.name.startswith(prefix))
        return Tree(self.path / folder, self.kind, entries, self.missing, self.meter)

    @property
    def missing(self) -> tuple[Skipped, ...]:
        """Return what an export may lack because it cannot be read."""
        return tuple(refused for refused in self.refused if refused.cut)

    def without(self, names: Set[str]) -> "Tree":
        """Return a tree without some of its files."""
        if not names:
            return self
        entries = tuple(entry for entry in self.entries if entry.name not in names)
        return Tree(self.path, self.kind, entries, self.refused, self.meter)

    def alone(self, name: str) -> "Tree":
        """Return a tree of one of its files, which has a path of its own."""
        return Tree(self.path / name, "file", tuple(self.these([name])), (), self.meter)

    def these_only(self, names: Collection[str]) -> "Tree":
        """Return a tree of some of its files; what may not be read belongs to none of them."""
        entries = tuple(entry for entry in self.entries if entry.name in names)
        return Tree(self.path, self.kind, entries, (), self.meter)

    @property
    def top(self) -> str:
        """Return the innermost folder that holds every file; nothing where that is the tree."""
        return common_folder(entry.name for entry in self.entries)

    def sight(self) -> str:
        """Say in a few words what this is, for a person whose export nobody knows."""
        if self.kind == "file":
            return (
                f"a file of {counted(self.entries[0].size, 'byte')}" if self.entries else "no file"
            )
        kinds = Counter(entry.suffix or "no ending" for entry in self.entries)
        most = ", ".join(f"{count:,} {suffix}" for suffix, count in kinds.most_common(4))
        return f"a {self.kind} of {counted(len(self.entries), 'file')} ({most})"


@lru_cache(1_024)
def _parsed(patterns: tuple[str, ...]) -> tuple[list[str], Callable[[str], object] | None]:
    """Return the patterns without wildcards, and what tells whether a name fits another one."""
    wild = [pattern for pattern in patterns if _WILDCARDS.search(pattern)]
    plain = [pattern for pattern in patterns if pattern not in wild]
    return plain, re.compile("|".join(map(translate, wild))).match if wild else None


def unpacked_name(name: str) -> str:
    """Return what the folder is called that an archive of a name becomes; others stay."""
    return _ARCHIVE_ENDING.sub("", name)


def composed(name: str) -> str:
    """Return a name with each accent in its letter.

    A Mac writes many as signs of their own, and what refers to a file mostly does not.
    """
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def all_composed(entries: Sequence[FileEntry]) -> list[FileEntry]:
    """Return files under composed names.

    Some disks hold both ways of writing a name beside each other: these are two files.
    """
    if all(entry.name.isascii() for entry in entries):
        return [*entries]
    names = [composed(entry.name) for entry in entries]
    ways = Counter(names)
    return [
        replace(entry, name=name) if name != entry.name and ways[name] == 1 else entry
        for entry, name in zip(entries, names, strict=True)
    ]


def common_folder(names: Iterable[str]) -> str:
    """Return the innermost folder that holds every one of some files; nothing at the top."""
    folders = {name.rpartition("/")[0] for name in names}
    return commonpath(folders) if folders and "" not in folders else ""


def folders_around(entry: FileEntry) -> Iterator[str]:
    """Yield the folders that a file lies in, the outermost first."""
    steps = entry.name.split("/")
    return ("/".join(steps[:number]) for number in range(1, len(steps)))


def is_hidden(entry: FileEntry) -> bool:
    """Tell whether a file or a folder around it is one that systems and programs keep."""
    return any(step.startswith(".") or step == "__MACOSX" for step in entry.name.split("/"))


def open_tree(path: Path, limits: TreeLimits | None = None, *, only: Collection[str] = ()) -> Tree:
    """Look at what a path names; nothing is unpacked and no link inside it is followed.

    ``only`` names what of a folder is looked at, if not all of it.
    """
    from pdpp.sources.reading.archive import is_zip, open_archive
    from pdpp.sources.reading.folder import UNFINISHED, file_entry, is_unfinished, open_folder
    from pdpp.sources.reading.nested import TAR_SUFFIXES, is_split, open_tar

    limits = limits or TreeLimits()
    path = path.resolve()
    mode = path.stat().st_mode
    if is_unfinished(path):
        raise ImportRefused(f"{path.name} is {UNFINISHED}")
    if stat.S_ISDIR(mode):
        return open_folder(path, limits, only)
    if not stat.S_ISREG(mode):
        raise ImportRefused(f"{path} is neither a file nor a folder")
    if is_zip(path) and not is_split(path.name):
        return open_archive(path, limits)
    if path.name.lower().endswith(TAR_SUFFIXES):
        return open_tar(path, limits)
    meter = ReadMeter()
    entry = file_entry(path, composed(path.name), path.stat(), meter)
    return Tree(path, "file", (entry,), meter=meter)
