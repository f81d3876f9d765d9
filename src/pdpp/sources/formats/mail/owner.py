"""Owners: whose mailbox it is, by the addresses that its messages were sent to and from."""

import re
from collections import Counter
from collections.abc import Iterable

from pdpp.sources.reading.tree import FileEntry
from pdpp.sources.source import without_copy

_SAMPLE_BYTES = 4 << 20
_MOST_FILES = 40
_FROM_LINE = re.compile(rb"^(?:From (?:\S|$)|\x01{4}$)", re.MULTILINE)
_TO_NAMES = (
    rb"(?:(?:X-)?Delivered-To|X-Original-To|(?:X-)?Envelope-To|X-Apparently-To"
    rb"|Original-Recipient:\s*rfc822;)"
)
"""What servers call the header that says whose mailbox a message was put into."""
_DELIVERED = re.compile(
    rb"^%s:?\s*<?([^\s<>@,;]{1,80}@[^\s<>,;]{3,120})" % _TO_NAMES, re.IGNORECASE
)
_HEADER = re.compile(rb"^(?:To|From|Cc|Bcc|Sender|Reply-To):(.*(?:\n[ \t].*)*)", re.IGNORECASE)
_ADDRESS = re.compile(rb"[A-Za-z0-9._%+-]{1,80}@[A-Za-z0-9.-]{3,120}\w")
_TO = rb"(?im)^%s:?[ \t]*<?%s(?:@|>?\s*$)"
_CARRIED = re.compile(rb"^(?:X-)?(?:Received|Return-Path):", re.IGNORECASE | re.MULTILINE)
"""What servers write into a message on its way."""
_FIRST_BYTES = 65_536
_FEW = 3
_SHARE = 0.6
"""An address that stands in so many of the messages, to or from, is the owner's."""


def owner_of(entries: Iterable[FileEntry]) -> str:
    """Return the address that a mailbox belongs to, or nothing where its messages do not tell."""
    delivered: Counter[str] = Counter()
    involved: Counter[str] = Counter()
    senders: set[str] = set()
    count, carried = 0, False
    for entry in list(entries)[:_MOST_FILES]:
        content = entry.head(_SAMPLE_BYTES).replace(b"\r\n", b"\n")
        for message in _FROM_LINE.split(content):
            head = message.partition(b"\n\n")[0]
            if head.strip():
                count += 1
                carried = carried or bool(_CARRIED.search(head))
                _count(head, delivered, involved, senders)
    # Who a message was delivered to is written by the owner's own server; all else by strangers.
    if delivered:
        return delivered.most_common(1)[0][0]
    best = involved.most_common(2)
    if not best or count < _FEW or best[0][1] < _SHARE * count:
        return ""
    alone = len(best) == 1 or best[1][1] < best[0][1]
    # What no server brought may be sent mail: under a few addresses of the owner's, to one person.
    told = carried or best[0][0] in senders or len(senders) > _FEW
    return best[0][0] if alone and told else ""


def is_called_as_owner(entry: FileEntry, name: str) -> bool:
    """Tell whether the first messages of a mailbox were delivered to whom it is called after."""
    called = re.escape(without_copy(name).encode())
    return bool(re.search(_TO % (_TO_NAMES, called), entry.head(_FIRST_BYTES)))


def _count(head: bytes, delivered: Counter[str], involved: Counter[str], senders: set[str]) -> None:
    """Count the addresses of one message, each once."""
    addresses: set[str] = set()
    for line in _unfolded(head):
        if match := _DELIVERED.match(line):
            delivered[match.group(1).decode("ascii", "replace").lower()] += 1
        elif match := _HEADER.match(line):
            found = {a.decode().lower() for a in _ADDRESS.findall(match.group(1)[:20_000])}
            addresses |= found
            if line[:5].lower() == b"from:":
                senders |= found
    involved.update(addresses)


def _unfolded(head: bytes) -> list[bytes]:
    return re.sub(rb"\n[ \t]+", b" ", head).split(b"\n")
