"""Mailboxes: yield the messages of an mbox file one at a time, however large it is."""

import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from pdpp.sources.item import Skipped
from pdpp.sources.reading.lines import ByteLine, lines

LARGEST = 64 << 20

_DATED = re.compile(
    rb"From .*\d{1,2}:\d{2}(?::\d{2})?\s.*\d{4}(?:\s+(?:[+-]\d{4}|[A-Z]{1,5}))?\s*\Z"
)
_LOOSE = re.compile(rb"From \S.*\d{4}\s*\Z|From \S+\s*\Z")
_HEADER = re.compile(rb"[!-9;-~]{1,80}[ \t]*:|>?From ")
_BOUNDARY = re.compile(rb'boundary="?([^"\s;]{1,100})', re.IGNORECASE)
_QUOTED = re.compile(rb">+From ")


class MboxMessage(NamedTuple):
    """One message as it was stored; ``number`` counts them, ``envelope`` is the line before it."""

    number: int
    envelope: str
    content: bytes


def mbox_messages(stream: BinaryIO, name: str) -> Iterator[MboxMessage | Skipped]:
    """Yield the messages of a mailbox; quoted lines are as they were before they were stored."""
    envelope, number, size, whole, stray = "", 0, 0, True, False
    body: list[bytes] = []
    for line, begins in _marked(lines(stream, LARGEST)):
        whole = line.whole
        if begins:
            if number:
                yield _message(number, envelope, body, size, name)
            envelope = line.text.decode("utf-8", "replace").strip()
            number, body, size = number + 1, [], 0
            continue
        if not number and line.text.strip() and not stray:
            stray = True
            yield Skipped("lines before the first message", f"{name} line {line.number}")
        text = line.text[1:] if _QUOTED.match(line.text) else line.text
        size += len(text) + 1
        if size <= LARGEST and not line.too_long:
            body.append(text)
    if number:
        last = _message(number, envelope, body, size, name)
        if whole or isinstance(last, Skipped):
            yield last
        else:
            yield from _unended(last, name)


def _marked(found: Iterator[ByteLine]) -> Iterator[tuple[ByteLine, bool]]:
    """Yield lines, each with whether a message begins at it.

    Many programs do not quote lines "From …" inside texts. One begins a message where it has a
    clock and a year and an empty line before it or a header behind it; one without a clock needs
    both.
    """
    blank, line, first = True, next(found, None), True
    while line is not None:
        after = next(found, None)
        marked = line.text.startswith(b"From ")
        yield line, marked and (first or _begins(line.text, after, blank=blank))
        blank = not line.text.strip()
        first, line = first and blank, after


def _begins(text: bytes, after: ByteLine | None, *, blank: bool) -> bool:
    headed = after is not None and _HEADER.match(after.text) is not None
    if _DATED.match(text):
        return blank or headed
    return blank and headed and _LOOSE.match(text) is not None


def _unended(message: MboxMessage, name: str) -> Iterator[MboxMessage | Skipped]:
    """Yield a last message whose last line does not end.

    Some programs leave the end of the last line away; but a file may also have been cut. A message
    is kept when its headers are whole, and one of several parts must close the last of them.
    """
    where = f"{name} message {message.number}"
    head, blank, body = message.content.partition(b"\n\n")
    if not blank and b"\n\r\n" not in message.content:
        yield Skipped("the last message, which is cut off", where, cut=True)
        return
    yield message
    boundary = _BOUNDARY.search(head)
    torn = boundary is not None and b"--%b--" % boundary.group(1) not in body
    yield Skipped("a last line that does not end; the file may be cut off", where, cut=torn)


def _message(
    number: int, envelope: str, body: list[bytes], size: int, name: str
) -> MboxMessage | Skipped:
    if size > LARGEST:
        return Skipped("a message too large", f"{name} message {number}")
    return MboxMessage(number, envelope, b"\n".join(body) + b"\n")
