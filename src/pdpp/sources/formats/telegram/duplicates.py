"""Duplicates: chats that lie in one tree as web pages and as JSON.

Telegram can write both at once, and people export again in the other form. A page does not tell
the id of its chat, but its messages have the ids and the times of those in the JSON.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from io import BytesIO
from typing import Any, NamedTuple

from pdpp.model.errors import DamagedFile
from pdpp.sources.formats.telegram.pages import head_marks, time_mark
from pdpp.sources.formats.telegram.peers import chat_id, peer_id, tells_time
from pdpp.sources.item import Skipped
from pdpp.sources.reading.jsonstream import elements
from pdpp.sources.reading.tree import FileEntry

_ENOUGH = 3
"""So many messages of one id and time are no accident; where a chat has fewer, all of them."""
_FACTS = ("id", "type", "action", "date", "date_unixtime", "from_id", "actor_id")
_CHAT = re.compile(
    rb'(?:"type"\s{0,9}:\s{0,9}"([a-z_]{1,40})"\s{0,9},\s{0,99})?'
    rb'"id"\s{0,9}:\s{0,9}(-?\d{1,18})\s{0,9},\s{0,99}"messages"\s{0,9}:\s{0,9}\['
)
"""Where the messages of a chat begin: a text inside a document has no quote without a backslash."""
_LONGEST_CHAT_HEAD = 512
_CHUNK = 1 << 20
_FIRST_BYTES = 1 << 18
"""So much of a chat is looked at for its first messages."""
_PIECE = 1 << 12
_MOST_LOOKED_AT = 1 << 22
"""So many bytes of chats are looked at, beside as many as the document has: whoever makes one with
thousands of chats inside each other would else have it read again for each."""
_CALLS = frozenset({"phone_call", "conference_call"})


class JsonChat(NamedTuple):
    """A chat of a JSON document that is on pages too, and the ids of the messages it has there."""

    id: object
    name: object
    type: object
    messages: frozenset[int]


class ChatBeginning:
    """What a chat is called in its document and in every export, and its first messages.

    Each message is given as ``head_marks`` gives those of a page.
    """

    def __init__(self, kind: object, number: int, most: int) -> None:
        self._about: tuple[object, int] | None = (kind, number)
        self._most = most
        self.peer = self.key = peer_id(kind, number)
        self.first: list[tuple[int, str]] = []

    def take(self, message: Mapping[str, Any]) -> bool:
        """Take a message of the chat; tell whether there are enough."""
        if self._about is not None and tells_time(message):
            self.key = chat_id(*self._about, message)
            self._about = None
        mark = mark_of(message)
        if mark and isinstance(message.get("id"), int) and len(self.first) < self._most:
            self.first.append((message["id"], mark))
        return len(self.first) == self._most


def find_duplicates(
    pages: Mapping[str, tuple[str, FileEntry]], documents: Sequence[tuple[FileEntry, Sequence[str]]]
) -> dict[str, JsonChat]:
    """Return the chats that are in a document too, by the name of their first page.

    ``pages`` has the name of each chat and its first page, ``documents`` the places of chats.
    """
    heads = {place: set(head_marks(entry)) for place, (_, entry) in pages.items()}
    chats_of: dict[tuple[int, str], list[str]] = {}
    for place, marks in heads.items():
        for mark in marks:
            chats_of.setdefault(mark, []).append(place)
    duplicates: dict[str, JsonChat] = {}
    for entry, places in documents if heads else ():
        for about, shared, numbers in _chats(entry, places, chats_of):
            for place, number in shared.items():
                name, marks = pages[place][0], heads[place]
                timed = any(mark for _, mark in marks)
                enough = number >= min(_ENOUGH, len(marks))
                if enough and (timed or _is_called(name, about.get("name"))):
                    facts = (about.get("id"), about.get("name"), about.get("type"))
                    duplicates[place] = JsonChat(*facts, frozenset(numbers))
    return duplicates


def _is_called(title: str, name: object) -> bool:
    """Tell whether a name is that on a page, which has the last name of a person too."""
    return isinstance(name, str) and (title == name or title.startswith(f"{name} "))


def _chats(
    entry: FileEntry, places: Sequence[str], chats_of: Mapping[tuple[int, str], list[str]]
) -> Iterator[tuple[dict[str, Any], Counter[str], set[int]]]:
    """Yield what each chat of a document says of itself, what it shares, and its messages."""
    about: dict[str, Any] = {}
    shared: Counter[str] = Counter()
    numbers: set[int] = set()
    for name, value in _values(entry, places):
        if name == "message":
            number = value.get("id")
            if isinstance(about.get("id"), int) and tells_time(value):
                about["id"] = chat_id(about.get("type"), about["id"], value)
            if isinstance(number, int):
                shared.update(chats_of.get((number, mark_of(value)), ()))
                numbers.add(number)
            continue
        if name in about or numbers:
            yield about, shared, numbers
            about, shared, numbers = {}, Counter(), set()
        about[name] = value
    yield about, shared, numbers


def _values(entry: FileEntry, places: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """Yield the facts of chats, and of their messages those that name them."""
    paths = [f"{place}{name}" for place in places for name in ("name", "type", "id")]
    paths += [f"{place}messages.item.{name}" for place in places for name in _FACTS]
    message: dict[str, Any] = {}
    with suppress(DamagedFile), entry.open() as stream:
        for element in elements(stream, *paths):
            if isinstance(element, Skipped):
                continue
            name = element.path.rpartition(".")[2]
            of_message = element.path.endswith(f"messages.item.{name}")
            if message and (name in message or not of_message):
                yield "message", message
                message = {}
            if of_message:
                message[name] = element.value
            else:
                yield name, element.value
    if message:
        yield "message", message


def beginnings(entry: FileEntry, places: Sequence[str], number: int) -> Iterator[ChatBeginning]:
    """Yield how each chat of a document begins, with so many messages that a page has a time of.

    What follows the last one is not read.
    """
    kind: object = None
    begun: ChatBeginning | None = None
    for name, value in _values(entry, places):
        if name == "message":
            kind = None
            if begun is not None and begun.take(value) and places == [""]:
                break
        elif name == "type":
            kind = value
        elif name == "id":
            if begun is not None:
                yield begun
            begun = ChatBeginning(kind, value, number) if isinstance(value, int) else None
    if begun is not None:
        yield begun


def account_beginnings(entry: FileEntry, number: int) -> Iterator[ChatBeginning]:
    """Yield what ``beginnings`` does of a whole account, of which only the first messages are read.

    All others are passed by without a look at what they say, so this takes little of the time
    that the import of a large account does.
    """
    window, fresh = b"", b"-"
    left = _MOST_LOOKED_AT
    with suppress(DamagedFile), entry.open() as stream:
        while fresh:
            fresh = stream.read(_CHUNK)
            window += fresh
            left += len(fresh)
            # A chat near the end is looked at when enough of what follows it is there.
            end = len(window) - _FIRST_BYTES if fresh else len(window)
            at = 0
            while left > 0 and (found := _CHAT.search(window, at, max(end, 0))):
                at = found.end()
                said = _Pieces(window[at - 1 : at + _FIRST_BYTES])
                begun = ChatBeginning((found[1] or b"").decode(), int(found[2]), number)
                any(map(begun.take, _messages(said)))
                yield begun
                left -= said.tell()
            window = window[max(at, end - _LONGEST_CHAT_HEAD, 0) :]


class _Pieces(BytesIO):
    """Bytes that are read in small pieces, so that the place tells how many were looked at."""

    def read(self, size: int | None = -1, /) -> bytes:
        """Return the next piece."""
        return super().read(_PIECE if size is None or size < 0 else min(size, _PIECE))


def _messages(said: BytesIO) -> Iterator[dict[str, Any]]:
    """Yield the messages that an array begins with."""
    with suppress(DamagedFile):
        for element in elements(said, "item"):
            value = None if isinstance(element, Skipped) else element.value
            if isinstance(value, dict):
                yield value


def mark_of(message: Mapping[str, Any]) -> str:
    """Return what of the time of a message is the same in every zone; nothing if a page has none.

    Of what Telegram notes in a chat, a page tells the time of calls alone.
    """
    if message.get("type") == "unsupported":
        return ""
    if message.get("type") == "service" and str(message.get("action")) not in _CALLS:
        return ""
    try:
        if message.get("date_unixtime"):
            return time_mark(datetime.fromtimestamp(int(message["date_unixtime"]), UTC))
        return time_mark(datetime.fromisoformat(str(message.get("date"))))
    except (TypeError, ValueError, OverflowError, OSError):
        return "?"
