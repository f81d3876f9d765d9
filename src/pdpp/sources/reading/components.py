"""Blocks: the components of calendar and contact files, cut out one at a time."""

import re
from collections.abc import Collection, Iterator
from typing import BinaryIO, NamedTuple

from pdpp.sources.item import Skipped
from pdpp.sources.reading.lines import lines

_LARGEST = 32 << 20
_WESTERN = "cp1252"
_BEGIN, _END = b"BEGIN:", b"END:"
_NESTS = b"AGENT:"
"""The line of vCard 2.1 behind which the card of another person stands inside a card."""
_CHARSET = re.compile(rb"CHARSET=\"?([\w.-]{2,40})", re.IGNORECASE)


class TextComponent(NamedTuple):
    """One component with its own lines; ``number`` counts the blocks of a file."""

    kind: str
    number: int
    text: str


class LooseLine(NamedTuple):
    """A line that stands outside of every block, such as the name of a calendar."""

    line: str


def components(
    stream: BinaryIO, kinds: Collection[str]
) -> Iterator[TextComponent | LooseLine | Skipped]:
    """Yield the components of some kinds; what is inside one belongs to it.

    A block that is too large is told, and one that does not end is where the file was cut. Where
    the next one begins first, its end was forgotten, and it is kept as far as it goes.
    """
    kind, size, number, nested = "", 0, 0, 0
    body: list[bytes] = []
    for line in lines(stream, _LARGEST):
        text = line.text.removesuffix(b"\r")
        mark = text.strip().upper()
        if mark.startswith(_BEGIN) and kind and _name(mark, _BEGIN) == kind:
            if body and body[-1].strip().upper() == _NESTS:
                nested += 1
            else:
                yield _whole(kind, number, [*body, _END + kind.encode()], size)
                kind = ""
        if not kind:
            if mark.startswith(_BEGIN) and _name(mark, _BEGIN) in kinds:
                kind, body, size, number, nested = _name(mark, _BEGIN), [], 0, number + 1, 0
            else:
                yield LooseLine(_decoded(text))
                continue
        size += len(text)
        if size <= _LARGEST and not line.too_long:
            body.append(text)
        if mark.startswith(_END) and _name(mark, _END) == kind:
            nested -= 1
            if nested < 0:
                yield _whole(kind, number, body, size)
                kind = ""
    if kind:
        yield Skipped("the file ends in the middle", f"{kind} {number}", cut=True)


def _whole(kind: str, number: int, body: list[bytes], size: int) -> TextComponent | Skipped:
    if size > _LARGEST:
        return Skipped("an entry too large", f"{kind} {number}", lost=True)
    return TextComponent(kind, number, _decoded(b"\r\n".join(body) + b"\r\n"))


def _name(mark: bytes, prefix: bytes) -> str:
    return mark.removeprefix(prefix).decode("ascii", "replace")


def _decoded(content: bytes) -> str:
    """Return text; what is not UTF-8 is in the letters that it names, or in those of Windows."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        named = _CHARSET.search(content)
    try:
        return content.decode(named[1].decode() if named else _WESTERN)
    except (LookupError, ValueError):
        return content.decode(_WESTERN, "replace")
