"""Logs: files of JSON lines that programs add to at the end."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from pdpp.sources.item import Skipped
from pdpp.sources.reading.heads import HEAD_BYTES
from pdpp.sources.reading.jsontext import NotJson, read_json
from pdpp.sources.reading.lines import LONGEST, lines
from pdpp.sources.reading.tree import FileEntry

_LONG_HEAD = 8 << 20


class JsonLine(NamedTuple):
    """One object of a log, where it stands, and the offset after it.

    ``closed`` tells whether its line has ended; one that has not may still become another.
    """

    value: dict[str, Any]
    where: str
    end: int
    closed: bool


class LogGap(NamedTuple):
    """A line that holds no event, and the offset after it."""

    skipped: Skipped
    end: int
    closed: bool


def events(
    entry: FileEntry, offset: int = 0, longest: int = LONGEST
) -> Iterator[JsonLine | LogGap]:
    """Yield the objects of a log from an offset on; lines without one are told."""
    with entry.open(offset) as stream:
        for line in lines(stream, longest, offset=offset):
            place = f"line {line.number:,}" if not offset else f"before byte {line.end:,}"
            where = f"{entry.name} {place}"
            if line.too_long:
                words = f"a line longer than {longest >> 20} MiB"
                skipped = Skipped(words, where, cut=not line.whole, lost=line.whole)
                yield LogGap(skipped, line.end, line.whole)
            elif line.text.strip():
                yield _event(line.text, where, line.end, line.whole)


def _event(text: bytes, where: str, end: int, whole: bool) -> JsonLine | LogGap:
    try:
        value = read_json(text)
    except NotJson as problem:
        if whole:
            return LogGap(Skipped(f"a line that is {problem}", where, lost=True), end, whole)
        return LogGap(Skipped("a last line that is cut off", where, cut=True), end, whole)
    if not isinstance(value, dict):
        return LogGap(Skipped("a line that is not an object", where), end, whole)
    return JsonLine(value, where, end, whole)


def first_objects(entry: FileEntry, most: int = 20) -> Iterator[dict[str, Any]]:
    """Yield the objects that the first lines of a file hold, to recognise a log by.

    A first line may hold a picture or long instructions: then more is looked at.
    """
    head = entry.head()
    head = head if b"\n" in head or len(head) < HEAD_BYTES else entry.head(_LONG_HEAD)
    for text in head.split(b"\n")[:most]:
        try:
            value = read_json(text)
        except NotJson:
            continue
        if isinstance(value, dict):
            yield value
