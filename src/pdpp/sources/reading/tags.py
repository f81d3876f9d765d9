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
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    rest = ""
    while chunk := stream.read(_CHUNK):
        rest += decoder.decode(chunk)
        *whole, rest = rest.split("<")
        for piece in whole:
            yield from _tag(piece)
        if len(rest) > LONGEST_VALUE + _LONGEST_TAG:
            raise DamagedFile("a value is longer than anything this format holds")
    yield from _tag(rest + decoder.decode(b"", True))


def _tag(piece: str) -> Iterator[Tag]:
    name, closed, text = piece.partition(">")
    name = name.split(maxsplit=1)[0] if name.strip() else ""
    if name.startswith("!"):
        raise DamagedFile("it declares a document type of its own, which is refused")
    if not closed or name.startswith("?") or not _NAME.match(name.rstrip("/")):
        return
    yield Tag(name.rstrip("/").upper(), _ENTITY.sub(_character, text.strip()))


def _character(match: re.Match[str]) -> str:
    character = unescape(match.group())
    return character if len(character) == 1 else match.group()
