"""Blocks: the components of calendar and contact files, cut out one at a time."""

from collections.abc import Collection, Iterator
from typing import BinaryIO, NamedTuple

from pdpp.sources.item import Skipped
from pdpp.sources.reading.lines import lines

_LARGEST = 32 << 20
_BEGIN, _END = b"BEGIN:", b"END:"


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

    A block that is too large is told, and one that does not end is where the file was cut.
    """
    kind, size, number = "", 0, 0
    body: list[bytes] = []
    for line in lines(stream, _LARGEST):
        text = line.text.removesuffix(b"\r")
        mark = text.strip().upper()
        if not kind:
            if mark.startswith(_BEGIN) and _name(mark, _BEGIN) in kinds:
                kind, body, size, number = _name(mark, _BEGIN), [], 0, number + 1
            else:
                yield LooseLine(_decoded(text))
                continue
        size += len(text)
        if size <= _LARGEST and not line.too_long:
            body.append(text)
        if mark.startswith(_END) and _name(mark, _END) == kind:
            if size > _LARGEST:
                yield Skipped("an entry too large", f"{kind} {number}")
            else:
                yield TextComponent(kind, number, _decoded(b"\r\n".join(body) + b"\r\n"))
            kind = ""
    if kind:
        yield Skipped("the file ends in the middle", f"{kind} {number}", cut=True)


def _name(mark: bytes, prefix: bytes) -> str:
    return mark.removeprefix(prefix).decode("ascii", "replace")


def _decoded(content: bytes) -> str:
    """Return text; files of old programs that are not UTF-8 are in Windows' letters."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")
