"""Mailboxes: yield the messages of an mbox file one at a time, however large it is."""

import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from pdpp.sources.item import Skipped
from pdpp.sources.reading.lines import lines

LARGEST = 64 << 20

_FROM = re.compile(rb"From \S.*\d{4}\s*(?:[+-]\d{4})?\s*\Z|From \S+\s*\Z")
_BOUNDARY = re.compile(rb'boundary="?([^"\s;]{1,100})', re.IGNORECASE)
_QUOTED = re.compile(rb">+From ")


class MboxMessage(NamedTuple):
    """One message as it was stored; ``number`` counts them, ``envelope`` is the line before it."""

    number: int
    envelope: str
    content: bytes


def mbox_messages(stream: BinaryIO, name: str) -> Iterator[MboxMessage | Skipped]:
    """Yield the messages of a mailbox; quoted lines are as they were before they were stored."""
    envelope, number, size, blank, whole = "", 0, 0, True, True
    body: list[bytes] = []
    for line in lines(stream, LARGEST):
        whole = line.whole
        # A line "From …" begins a message only after an empty line and with a year at its end: many
        # programs do not quote such lines inside texts.
        if blank and _FROM.match(line.text):
            if number:
                yield _message(number, envelope, body, size, name)
            envelope = line.text.decode("utf-8", "replace").strip()
            number, body, size = number + 1, [], 0
            continue
        blank = not line.text.strip()
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
