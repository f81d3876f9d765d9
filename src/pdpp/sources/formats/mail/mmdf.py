"""MMDF mailboxes: messages between lines of four marks, as old mail servers and mutt keep them."""

from collections.abc import Iterator
from typing import BinaryIO

from pdpp.sources.formats.mail.mbox import LARGEST, MboxMessage
from pdpp.sources.item import Skipped
from pdpp.sources.reading.lines import lines

MMDF_MARK = b"\x01\x01\x01\x01"
"""Stands alone in a line, before each message and behind it."""


def mmdf_messages(stream: BinaryIO, name: str) -> Iterator[MboxMessage | Skipped]:
    """Yield the messages of a mailbox; some have a line "From …" before their headers."""
    number, size = 0, 0
    body: list[bytes] = []
    for line in lines(stream, LARGEST):
        if line.text.rstrip(b"\r") == MMDF_MARK:
            if size:
                number += 1
                yield _message(number, body, size, name)
            body, size = [], 0
        elif size or line.text.strip():
            size += len(line.text) + 1
            if size <= LARGEST and not line.too_long:
                body.append(line.text)
    if size:
        yield _message(number + 1, body, size, name)
        yield Skipped("a last message without its end; the file may be cut off", name, cut=True)


def _message(number: int, body: list[bytes], size: int, name: str) -> MboxMessage | Skipped:
    if size > LARGEST:
        return Skipped("a message too large", f"{name} message {number}")
    envelope = body.pop(0).decode("utf-8", "replace").strip() if _is_envelope(body[0]) else ""
    return MboxMessage(number, envelope, b"\n".join(body) + b"\n")


def _is_envelope(line: bytes) -> bool:
    return line.startswith(b"From ")
