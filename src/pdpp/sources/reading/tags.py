"""Tags: SGML without end tags and XML alike, as a bounded stream of tags with their text."""

import codecs
import re
from collections.abc import Iterator
from html import unescape
from typing import BinaryIO, NamedTuple

from pdpp.model.errors import DamagedFile

LONGEST_VALUE = 1 << 16

_CHUNK = 1 << 16
_LONGEST_TAG = 256
_NAME = re.compile(r"/?[A-Za-z][A-Za-z0-9._:-]*\Z")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,8});")


class Tag(NamedTuple):
    """One tag in capital letters, and the text up to the next; a closing one has a slash."""

    name: str
    text: str


def tags(stream: BinaryIO, encoding: str) -> Iterator[Tag]:
    """Yield every tag of a stream; a document type is refused, since it can define entities."""
    reader = _TagReader()
    for piece in _pieces(stream, encoding):
        yield from reader.take(piece)
    yield from reader.end()


def _pieces(stream: BinaryIO, encoding: str) -> Iterator[str]:
    """Yield what stands between one ``<`` and the next."""
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    rest = ""
    while chunk := stream.read(_CHUNK):
        rest += decoder.decode(chunk)
        *whole, rest = rest.split("<")
        yield from whole
        if len(rest) > LONGEST_VALUE + _LONGEST_TAG:
            raise DamagedFile("a value is longer than anything this format holds")
    yield rest + decoder.decode(b"", True)


class _TagReader:
    """Puts tags together: text may stand in a CDATA section, and comments are passed over."""

    def __init__(self) -> None:
        self._tag: Tag | None = None
        self._inside = ""
        self._raw = ""

    def take(self, piece: str) -> Iterator[Tag]:
        """Yield the tag before this piece, once everything that belongs to it is known."""
        if self._inside:
            self._raw += f"<{piece}"
        elif piece.startswith("![CDATA["):
            self._inside, self._raw = "]]>", piece.removeprefix("![CDATA[")
        elif piece.startswith("!--"):
            self._inside, self._raw = "-->", piece
        else:
            yield from self._next(_tag(piece))
            return
        if len(self._raw) > LONGEST_VALUE:
            raise DamagedFile("a value is longer than anything this format holds")
        text, ended, after = self._raw.partition(self._inside)
        if ended:
            content = text + after if self._inside == "]]>" else after
            self._inside = self._raw = ""
            if self._tag is not None and content.strip():
                self._tag = Tag(self._tag.name, f"{self._tag.text} {content.strip()}".strip())

    def end(self) -> Iterator[Tag]:
        """Yield the last tag."""
        yield from self._next(None)

    def _next(self, tag: Tag | None) -> Iterator[Tag]:
        if self._tag is not None:
            yield self._tag
        self._tag = tag


def _tag(piece: str) -> Tag | None:
    name, closed, text = piece.partition(">")
    name = name.split(maxsplit=1)[0] if name.strip() else ""
    # A document type can define entities that unfold without end or name files of this machine.
    if name.startswith("!"):
        raise DamagedFile("it declares a document type of its own, which is refused")
    if not closed or name.startswith("?") or not _NAME.match(name.rstrip("/")):
        return None
    return Tag(name.rstrip("/").upper(), _ENTITY.sub(_character, text.strip()))


def _character(match: re.Match[str]) -> str:
    character = unescape(match.group())
    return character if len(character) == 1 else match.group()
