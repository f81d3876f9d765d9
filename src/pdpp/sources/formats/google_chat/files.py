"""Files of a chat: which file beside its messages an exported name means.

Takeout changes a name as it writes the file: it cuts a long one, replaces marks that a file system
does not take, and numbers those of one name in the order of the messages.
"""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from pdpp.sources.reading.finder import FileFinder
from pdpp.sources.reading.tree import FileEntry

_LONGEST = 51
_FORBIDDEN = re.compile(r'[<>:"/\\|?*&%=]')
_ONLY_ASKED = re.compile(r"\?")


class AttachedName(NamedTuple):
    """A file as its sender called it, and as the export does."""

    original: str
    exported: str


def names_of(files: object) -> list[AttachedName]:
    """Return the names of the files that came with a message."""
    return list(_names(files)) if isinstance(files, list) else []


def _names(files: list[object]) -> Iterator[AttachedName]:
    for file in files:
        if isinstance(file, dict):
            exported = str(file.get("export_name") or "")
            original = str(file.get("original_name") or exported)
            if original:
                yield AttachedName(original, exported)


class AttachedFiles:
    """Finds the files of one chat; messages are asked in the order of the export."""

    def __init__(self, finder: FileFinder, messages: FileEntry) -> None:
        self._finder = finder
        self._messages = messages
        self._counts: Counter[str] = Counter()

    def find(self, name: str) -> FileEntry | None:
        """Return the file that an exported name means, or None where it is not there."""
        if not name:
            return None
        for spelling in dict.fromkeys(_spellings(name)):
            self._counts[spelling] += 1
            number = self._counts[spelling] - 1
            name = _numbered(spelling, number) if number else spelling
            file = beside(self._finder, self._messages, name)
            if file is not None:
                return file
        return None


def beside(finder: FileFinder, messages: FileEntry, name: str) -> FileEntry | None:
    """Return a file of the folder of some messages, in whatever archive that folder came."""
    folder = messages.name.rpartition("/")[0].rpartition("/")[2]
    return finder.find(f"{folder}/{name}" if folder else name)


def _spellings(name: str) -> Iterator[str]:
    for plain in (name, _ONLY_ASKED.sub("_", name), _FORBIDDEN.sub("_", name)):
        yield plain
        ending = PurePosixPath(plain).suffix
        if len(plain) > _LONGEST:
            yield plain[: _LONGEST - len(ending)] + ending


def _numbered(name: str, number: int) -> str:
    ending = PurePosixPath(name).suffix
    return f"{name.removesuffix(ending)}({number}){ending}"
