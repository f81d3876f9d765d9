"""Mailboxes: yield the messages of an mbox file one at a time, however large it is."""

import re
from collections.abc import Iterable, Iterator
from typing import BinaryIO, NamedTuple

from pdpp.sources.item import Skipped
from pdpp.sources.reading.lines import ByteLine, lines

LARGEST = 64 << 20

_DATED = re.compile(
    rb"From .{0,500}\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
    rb" +(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +\d\d? +\d\d?:\d\d.{0,30}\b\d{4}\b"
    rb"|From -\s*\Z"
)
_BARE = re.compile(rb"From \s*\Z")
"""All that Thunderbird writes between messages since 2024; lines like it are quoted in texts."""
_LIKE = re.compile(
    rb"From \S.*(?:\d{4}|\d\d:\d\d)\s*(?:[+-]\d{4})?\s*\Z|From \S+\s*\Z|From \S+@\S+ .*\d"
)
_HEADER = re.compile(rb"[!-9;-~]{1,100}[ \t]*:|>From ")
_OF_PROGRAMS = (
    rb"Return-Path|Received(?:-SPF)?|Delivered-To|Message-ID|MIME-Version|Content-[A-Za-z-]+"
    rb"|(?:X|ARC|List)-[\w-]+|DKIM-Signature|Authentication-Results|Status|References|In-Reply-To"
)
_PROGRAMS_HEADER = re.compile(rb"(?:%b)[ \t]*:" % _OF_PROGRAMS, re.IGNORECASE)
"""What stands first in a message that was received or kept, and in no text that a person writes."""
_KNOWN_HEADER = re.compile(
    rb"(?:From|To|Cc|Date|Subject|Sender|Reply-To|%b)[ \t]*:" % _OF_PROGRAMS, re.IGNORECASE
)
_BOUNDARY = re.compile(rb'boundary="?([^"\s;]{1,100})', re.IGNORECASE)
_QUOTED = re.compile(rb">+From ")


class MboxMessage(NamedTuple):
    """One message as it was stored; ``number`` counts them, ``envelope`` is the line before it."""

    number: int
    envelope: str
    content: bytes


def mbox_messages(stream: BinaryIO, name: str) -> Iterator[MboxMessage | Skipped]:
    """Yield the messages of a mailbox; quoted lines are as they were before they were stored."""
    envelope, number, size, blank, whole, stray = "", 0, 0, True, True, False
    body: list[bytes] = []
    for line, following in _with_next(lines(stream, LARGEST)):
        text, whole = line.text, line.whole
        # Whatever its kind, the first line of a mailbox is one between messages.
        first = not number and not stray
        if text.startswith(b"From ") and (first or _begins(text, following, after_blank=blank)):
            if number:
                yield _message(number, envelope, body, size, name)
            envelope = text.decode("utf-8", "replace").strip()
            number, body, size = number + 1, [], 0
            continue
        blank = not text.strip()
        if not number and not blank and not stray:
            stray = True
            yield Skipped("lines before the first message", f"{name} line {line.number}")
        # Of a million lines few begin so, and a look at the first byte is much less than a search.
        if text.startswith(b">") and _QUOTED.match(text):
            text = text[1:]
        size += len(text) + 1
        if size <= LARGEST and not line.too_long:
            body.append(text)
    if number:
        last = _message(number, envelope, body, size, name)
        if whole or isinstance(last, Skipped):
            yield last
        else:
            yield from _unended(last, name)


def _with_next(found: Iterable[ByteLine]) -> Iterator[tuple[ByteLine, bytes]]:
    """Yield every line with the text of the one after it."""
    before = None
    for line in found:
        if before is not None:
            yield before, line.text
        before = line
    if before is not None:
        yield before, b""


def _begins(text: bytes, following: bytes, *, after_blank: bool) -> bool:
    """Tell whether a line that begins with "From " begins a message.

    Many programs do not quote lines "From …" inside texts, and some leave no empty line between
    messages. A line with a day and a time needs an empty line before it or a header behind it;
    any other, such as "From May to June 2025", needs both, and a header that is known. One with
    nothing behind the word needs both, and any header, or one that only programs write.
    """
    if _BARE.match(text):
        header = _HEADER if after_blank else _PROGRAMS_HEADER
        return header.match(following) is not None
    if _DATED.match(text):
        return after_blank or _HEADER.match(following) is not None
    alike = after_blank and _LIKE.match(text) is not None
    return alike and _KNOWN_HEADER.match(following) is not None


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
