"""JSON streams: chosen values of a JSON document of any size, one at a time.

Paths are written as ``item`` for each element of an array and as the names of members, joined by
dots: ``item`` are the elements of a top-level array, ``chats.list.item.messages.item`` the messages
of every chat. A value that is broken in itself is told and passed over; the document is never held
as a whole.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

import ijson

from pdpp.model.errors import DamagedFile
from pdpp.sources.item import Finding, Skipped, Unknown
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.jsontext import NotJson, read_json
from pdpp.sources.reading.nesting import Nesting
from pdpp.sources.reading.tree import FileEntry

LONGEST = 64 << 20

_ELSEWHERE = "a file of another layout"
_CHUNK = 1 << 18
_LONGEST_NAME = 1 << 16
_LONGEST_SCALAR = 1 << 12
_MARK = b"\xef\xbb\xbf"
_HALF = re.compile(
    rb"\\u[dD][89aAbB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    rb"|(?<!\\u[dD][89aAbB][0-9a-fA-F]{2})\\u[dD][c-fC-F]"
)
"""Half of a character: a surrogate without the other one beside it."""
_SPACE = re.compile(rb"[ \t\r\n]*+")
# Possessive (``*+``) throughout: a string of 64 MiB that never ends must fail at once, not after
# trying each shorter piece.
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_SCALAR = re.compile(rb'[^ \t\r\n,:\[\]{}"]*+')
_UP_TO_BRACKET = re.compile(rb'(?:[^"\[\]{}]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+', re.DOTALL)
_UP_TO_QUOTE = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)


Reader = Callable[[Any, str], Iterator[Finding]]
"""Yields what one value holds; it is given the value and where that stands."""


class JsonElement(NamedTuple):
    """A value found at a path; ``number`` counts the values of that path from 1."""

    path: str
    number: int
    value: Any


def elements(
    stream: BinaryIO,
    *paths: str,
    longest: int = LONGEST,
    passed_by: str = "",
    odd: str = "",
) -> Iterator[JsonElement | Skipped]:
    """Yield the values at the paths in the order of the document.

    What lies beside them is told if there is a reason for it, ``passed_by``, and so is a list on
    the way to them where an object is expected, or an object for a list: ``odd``.
    """
    return _Walker(_Text(stream), paths, longest, passed_by, odd).walk()


def entry_elements(
    entry: FileEntry, path: str, longest: int = LONGEST
) -> Iterator[JsonElement | Skipped]:
    """Yield the values at one path of a file.

    A parser in C reads what is well written, twice as fast. Where it stops, at something
    broken, too large, or that it would change silently, our own walker goes on from there.
    """
    number = 0
    with entry.open() as stream:
        plain = _PlainJson(stream, longest)
        values = ijson.items(plain, path, use_float=True, buf_size=_CHUNK)
        try:
            for value in values:
                number += 1
                yield JsonElement(path, number, value)
                plain.taken = 0
            return
        except (ijson.JSONError, UnicodeDecodeError, _NotPlain):
            pass
    with entry.open() as stream:
        # From the start of the file, past what was given already: the parser in C has read further
        # than the last value it gave, and nobody knows how far.
        text = _Text(stream)
        yield from islice(_Walker(text, (path,), longest).walk(), number, None)
        if text.goes_on():
            place = f"{entry.name} byte {text.place:,}"
            yield Skipped("another document behind the end of the first", place, cut=True)


class _NotPlain(Exception):
    """JSON that only our own walker reads as we want it."""


class _PlainJson:
    """A stream for the parser in C: no byte order mark, bounded and flat values, whole characters.

    The parser turns half of a character, an escaped surrogate without its partner, into a question
    mark; ours into U+FFFD, as everywhere else.
    """

    def __init__(self, stream: BinaryIO, longest: int) -> None:
        self._stream = stream
        self._longest = longest
        self._tail: bytes | None = None
        self._nesting = Nesting()
        self.taken = 0

    def read(self, size: int) -> bytes:
        """Read on, unless something stands there that the parser must not see."""
        chunk = self._stream.read(size)
        if self._tail is None:
            chunk = chunk.removeprefix(_MARK) or self._stream.read(size)
        self.taken += len(chunk)
        if self.taken > self._longest + _CHUNK or self._nesting.is_too_deep(chunk):
            raise _NotPlain
        looked_at = (self._tail or b"") + chunk
        if b"\\u" in looked_at and _HALF.search(looked_at):
            raise _NotPlain
        # Two escapes of six bytes: a pair may lie across the edge of two chunks.
        self._tail = looked_at[-12:]
        return chunk


def read_each(
    entry: FileEntry,
    reader: Reader,
    path: str = "item",
    *,
    noun: str = "item",
    always: bool = True,
) -> Iterator[Finding]:
    """Yield what a reader finds in each value of a file; one that surprises it loses no other.

    A document that holds something and nothing of that at the path is told, unless the path is not
    ``always`` there.
    """
    found = False
    for element in entry_elements(entry, path):
        found = True
        if isinstance(element, Skipped):
            yield element
        else:
            where = f"{entry.name} {noun} {element.number}"
            yield from account(reader(element.value, where), where, noun)
    if not found and _holds_other(entry, path, always=always):
        yield Unknown(_ELSEWHERE, entry.name)


def _holds_other(entry: FileEntry, path: str, *, always: bool) -> bool:
    """Tell whether something stands in a document where a list of another shape is expected."""
    list_path = path.removesuffix("item").removesuffix(".")
    with entry.open() as stream:
        text = _Text(stream)
        if not list_path:
            return text.peek() == b"{" and text.take(b"{") == b"{" and text.peek() != b"}"
        stated = False
        for element in _Walker(text, (list_path,), LONGEST).walk():
            stated = True
            if isinstance(element, Skipped) or element.value:
                return not isinstance(element, Skipped) and not isinstance(element.value, list)
    return always and not stated


def objects(entry: FileEntry) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file that is a list; what is damaged is told when it is read."""
    with suppress(DamagedFile):
        for element in entry_elements(entry, "item"):
            if isinstance(element, JsonElement) and isinstance(element.value, dict):
                yield element.value


class _Text:
    """The window of a document that is being looked at."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.buffer = stream.read(_CHUNK).removeprefix(_MARK)
        self.at = 0
        self._passed = 0

    @property
    def place(self) -> int:
        """Return the offset in the document."""
        return self._passed + self.at

    def more(self, keep: int | None = None) -> bool:
        """Read on, and forget what lies before a position; False at the end of the document."""
        keep = self.at if keep is None else keep
        # At least as much as is kept: the buffer doubles, and a long value is not copied for each
        # chunk.
        chunk = self._stream.read(max(_CHUNK, len(self.buffer) - keep))
        self._passed += keep
        self.at -= keep
        self.buffer = self.buffer[keep:] + chunk
        return bool(chunk)

    def peek(self) -> bytes:
        """Return the next byte that is not space."""
        while True:
            self.at = _end(_SPACE, self.buffer, self.at)
            if self.at < len(self.buffer):
                return self.buffer[self.at : self.at + 1]
            if not self.more():
                raise self.cut()

    def goes_on(self) -> bool:
        """Tell whether one more array or object begins next."""
        with suppress(DamagedFile):
            return self.peek() in b"[{"
        return False

    def take(self, expected: bytes) -> bytes:
        """Go past one byte, which must be one of those expected."""
        character = self.peek()
        if character not in expected:
            raise DamagedFile(f"not JSON at byte {self.place:,}")
        self.at += 1
        return character

    def string(self, longest: int) -> bytes | None:
        """Go past a string and return it with its quotes; None where it is too long to hold."""
        if self.buffer[self.at : self.at + 1] != b'"':
            raise DamagedFile(f"not JSON at byte {self.place:,}")
        while True:
            match = _STRING.match(self.buffer, self.at)
            if match is not None:
                self.at = match.end()
                return match[0]
            if len(self.buffer) - self.at > longest:
                self.at += 1
                self.skip_string()
                return None
            if not self.more():
                raise self.cut()

    def scalar(self) -> bytes:
        """Go past a number or a word and return it."""
        while True:
            end = _end(_SCALAR, self.buffer, self.at)
            if end - self.at > _LONGEST_SCALAR:
                raise DamagedFile(f"not JSON at byte {self.place:,}")
            if end < len(self.buffer) or not self.more():
                break
        if end == self.at:
            raise DamagedFile(f"not JSON at byte {self.place:,}")
        text, self.at = self.buffer[self.at : end], end
        return text

    def container(self, longest: int) -> bytes | None:
        """Go past an object or an array and return it; None where it is too long to hold."""
        start = at = self.at
        depth = 0
        while True:
            at = _end(_UP_TO_BRACKET, self.buffer, at)
            byte = self.buffer[at : at + 1]
            if byte in (b"", b'"'):
                if len(self.buffer) - start > longest:
                    self.at = at
                    self.skip_container(depth)
                    return None
                self.at = at
                if not self.more(keep=start):
                    raise self.cut()
                at, start = at - start, 0
                continue
            at += 1
            depth += 1 if byte in b"[{" else -1
            if not depth:
                self.at = at
                return self.buffer[start:at] if at - start <= longest else None

    def skip_container(self, depth: int = 0) -> None:
        """Go past the rest of an object or an array of a depth, holding none of it."""
        while True:
            self.at = _end(_UP_TO_BRACKET, self.buffer, self.at)
            byte = self.buffer[self.at : self.at + 1]
            if byte == b"":
                if not self.more():
                    raise self.cut()
                continue
            self.at += 1
            if byte == b'"':
                self.skip_string()
                continue
            depth += 1 if byte in b"[{" else -1
            if not depth:
                return

    def skip_string(self) -> None:
        """Go past the rest of a string, holding none of it."""
        while True:
            self.at = _end(_UP_TO_QUOTE, self.buffer, self.at)
            if self.buffer[self.at : self.at + 1] == b'"':
                self.at += 1
                return
            if not self.more():
                raise self.cut()

    def cut(self) -> DamagedFile:
        """Return the error of a document that ends too early."""
        return DamagedFile(f"it ends in the middle, at byte {self.place:,}")


def _end(pattern: re.Pattern[bytes], text: bytes, start: int) -> int:
    match = pattern.match(text, start)
    return start if match is None else match.end()


class _Walker:
    """Goes down to the paths that are wanted and past everything else."""

    def __init__(
        self,
        text: _Text,
        paths: tuple[str, ...],
        longest: int,
        passed_by: str = "",
        odd: str = "",
    ) -> None:
        self._text = text
        self._longest = longest
        self._passed_by, self._odd = passed_by, odd
        self._numbers = dict.fromkeys(paths, 0)
        self._above = {path[:at] for path in paths for at in _dots(path)} | {""}
        steps = [(path[:at], path[at + 1 :]) for path in paths for at in _dots(path)]
        steps += [("", path) for path in paths]
        self._lists = {above for above, rest in steps if rest.partition(".")[0] == "item"}
        self._objects = {above for above, rest in steps if rest.partition(".")[0] != "item"}

    def walk(self, path: str = "") -> Iterator[JsonElement | Skipped]:
        """Yield what is wanted of the value that comes next."""
        first = self._text.peek()
        if path in self._numbers:
            yield self._capture(path, first)
        elif path not in self._above:
            self._skip(first)
            if self._passed_by:
                yield Skipped(self._passed_by, path)
        elif self._odd and first in b"[{" and path not in self._expecting(first):
            self._skip(first)
            yield Skipped(self._odd, path, lost=True)
        elif first == b"{":
            yield from self._object(path)
        elif first == b"[":
            yield from self._array(path)
        else:
            self._skip(first)

    def _expecting(self, first: bytes) -> set[str]:
        return self._lists if first == b"[" else self._objects

    def _object(self, path: str) -> Iterator[JsonElement | Skipped]:
        text = self._text
        text.take(b"{")
        while text.peek() != b"}":
            name = _name(text.string(_LONGEST_NAME))
            text.take(b":")
            yield from self.walk(f"{path}.{name}" if path else name)
            if text.peek() != b"}":
                text.take(b",")
                text.peek()
        text.take(b"}")

    def _array(self, path: str) -> Iterator[JsonElement | Skipped]:
        text = self._text
        inner = f"{path}.item" if path else "item"
        text.take(b"[")
        while text.peek() != b"]":
            yield from self.walk(inner)
            if text.peek() != b"]":
                text.take(b",")
        text.take(b"]")

    def _capture(self, path: str, first: bytes) -> JsonElement | Skipped:
        self._numbers[path] = number = self._numbers[path] + 1
        raw = self._raw(first)
        if raw is None:
            words = f"larger than {self._longest >> 20} MiB"
            return Skipped(words, f"{path} {number}", lost=True)
        try:
            return JsonElement(path, number, read_json(raw))
        except NotJson as problem:
            return Skipped(str(problem), f"{path} {number}", lost=True)

    def _raw(self, first: bytes) -> bytes | None:
        if first in b"[{":
            return self._text.container(self._longest)
        return self._text.string(self._longest) if first == b'"' else self._text.scalar()

    def _skip(self, first: bytes) -> None:
        if first in b"[{":
            self._text.skip_container()
        elif first == b'"':
            self._text.take(b'"')
            self._text.skip_string()
        else:
            self._text.scalar()


def _dots(path: str) -> Iterator[int]:
    return (at for at, letter in enumerate(path) if letter == ".")


def _name(text: bytes | None) -> str:
    """Return the name of a member; one that nobody can mean is empty."""
    try:
        return "" if text is None else str(read_json(text))
    except NotJson:
        return ""
