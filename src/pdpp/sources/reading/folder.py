"""Folders and files of the disk: what is in them, and what of it is left alone."""

import os
import stat
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from pdpp.model.errors import DamagedFile, ImportRefused
from pdpp.sources.item import Skipped
from pdpp.sources.reading.tree import FileEntry, ReadMeter, Tree, TreeLimits, all_composed

DATABASE_ENDINGS = frozenset({".db", ".sqlite", ".sqlite3", ".sqlitedb", ".vscdb", ""})
"""What the names of SQLite databases end with; some have no ending."""
UNFINISHED = "a download that is not finished"
_NOT_UTF8 = "a name that is not UTF-8"
_TOO_LARGE = "a file too large"
_LOST = frozenset({_NOT_UTF8, _TOO_LARGE})
"""Why a file is left out that may be one of the export: the export is then not read whole."""
_OF_SYSTEM = frozenset(
    {
        "lost+found",
        "System Volume Information",
        "$RECYCLE.BIN",
        ".Trashes",
        ".Spotlight-V100",
        ".fseventsd",
        ".DocumentRevisions-V100",
        ".TemporaryItems",
    }
)
"""Folders at the top of a disk that nobody but the system may read."""
INSTALLED = "a folder of parts that programs are built from"
_INSTALLED_NAMES = frozenset({"node_modules", "site-packages", "bower_components"})
"""Folders that installers fill with other people's notes, tables and pictures, by the thousand."""
_UNFINISHED_ENDINGS = frozenset({".crdownload", ".part", ".partial", ".opdownload"})
# No link is followed, a pipe put in place of a file does not block, and no child process inherits
# the file.
_SAFE_OPEN = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


def open_folder(path: Path, limits: TreeLimits, only: Collection[str]) -> Tree:
    """Look at all files of a folder, or at those below some of its names."""
    meter = ReadMeter()
    entries: list[FileEntry] = []
    refused: list[Skipped] = []
    for finding in _walk(path, "", limits, only):
        if isinstance(finding, Skipped):
            refused.append(finding)
            continue
        name, place, status = finding
        entries.append(file_entry(place, name, status, meter))
        if len(entries) > limits.entries:
            raise ImportRefused(f"{path} holds more than {limits.entries:,} files")
    entries = all_composed(entries)
    entries.sort(key=lambda entry: entry.name)
    return Tree(path, "folder", tuple(entries), tuple(refused), meter)


def _walk(
    folder: Path, prefix: str, limits: TreeLimits, only: Collection[str] = ()
) -> Iterator[tuple[str, Path, os.stat_result] | Skipped]:
    if prefix.count("/") >= limits.depth:
        yield Skipped("a folder too deep inside others", prefix, cut=True)
        return
    try:
        children = sorted(os.scandir(folder), key=lambda child: child.name)
    except OSError:
        of_system = folder.name in _OF_SYSTEM
        yield Skipped("a folder that cannot be read", prefix or ".", cut=not of_system)
        return
    for child in children:
        if only and child.name not in only:
            continue
        name = prefix + child.name
        try:
            status = child.stat(follow_symlinks=False)
        except FileNotFoundError:
            continue  # It went while the folder was looked at.
        except OSError:
            yield Skipped("a file that cannot be read", name, cut=True)
            continue
        if stat.S_ISDIR(status.st_mode) and child.name in _INSTALLED_NAMES:
            yield Skipped(INSTALLED, name)
        elif stat.S_ISDIR(status.st_mode) and not is_unfinished(Path(child.path)):
            yield from _walk(Path(child.path), f"{name}/", limits)
        elif problem := _problem(Path(child.path), name, status, limits):
            yield Skipped(problem, name, cut=problem in _LOST)
        else:
            yield name, Path(child.path), status


def is_unfinished(path: Path) -> bool:
    """Tell whether a browser is still downloading a file, or never got to its end."""
    if path.suffix.lower() == ".download":  # Safari's is a folder with a list of where it is.
        return (path / "Info.plist").is_file()
    return path.suffix.lower() in _UNFINISHED_ENDINGS


def _problem(place: Path, name: str, status: os.stat_result, limits: TreeLimits) -> str | None:
    if stat.S_ISLNK(status.st_mode):
        return "a link to another place"
    if is_unfinished(place):
        return UNFINISHED
    if not stat.S_ISREG(status.st_mode):
        return "neither a file nor a folder"
    if any("\ud800" <= letter <= "\udfff" for letter in name):
        return _NOT_UTF8
    return _TOO_LARGE if status.st_size > limits.entry_bytes else None


def file_entry(place: Path, name: str, status: os.stat_result, meter: ReadMeter) -> FileEntry:
    """Return the entry of a file on the disk.

    A database that is open grows in its log, while the file itself stays as it was.
    """
    stamp = f"{status.st_mtime_ns:x}-{status.st_size:x}"
    if place.suffix.lower() in DATABASE_ENDINGS:
        with suppress(OSError):
            log = os.lstat(f"{place}-wal")
            stamp += f"+{log.st_mtime_ns:x}-{log.st_size:x}"
    return FileEntry(name, status.st_size, stamp, lambda: _open_file(place), meter, on_disk=True)


def _open_file(place: Path) -> BinaryIO:
    """Open a plain file and nothing else, whatever was put in its place since it was listed."""
    descriptor = os.open(place, _SAFE_OPEN)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise DamagedFile(f"{place.name} is no longer a file")
    return os.fdopen(descriptor, "rb", buffering=0)
