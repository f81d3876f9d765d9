"""Entries: what the word index takes of one record."""

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any, NamedTuple

from pdpp.model.declaration import Stream
from pdpp.store.number_key import LARGEST
from pdpp.store.tables.positions import IndexedFeed

NO_TIME = -(1 << 63)
"""The time of a record that has none: before all others."""
_LAST_NUMBER = re.compile(r"[0-9]{1,18}\Z")


class Entry(NamedTuple):
    """When one record happened, where in which conversation, and the values that are searched.

    ``texts`` are those of the feed's searched fields in their order; what is no text has no words.
    """

    time: int
    thread: int | None
    ordinal: int
    texts: tuple[Any, ...]


class Indexed(NamedTuple):
    """A record of the index: its number, its surrogate and its words."""

    number: int
    surrogate: int
    entry: Entry


EntriesOf = Callable[
    [Sequence[Mapping[str, Any]], Iterable[int | None], Iterable[str]], list[Entry]
]
"""Returns what the word index takes of some records, each with its event time and its key."""


def entries_of(feed: IndexedFeed) -> EntriesOf:
    """Return the function that makes the entries of a feed's records."""
    names = tuple(feed.lexical)
    conversation, order = feed.stream.thread_field, feed.stream.thread_order
    known: dict[str, int] = {}
    new = tuple.__new__

    def threads(records: Sequence[Mapping[str, Any]]) -> Iterable[int | None]:
        if conversation is None:
            return repeat(None)
        values = [data.get(conversation) for data in records]
        # Most records say in a text which conversation they belong to, and one that was met.
        return [
            known[name] if type(name) is str and name in known else _thread_of(name, known)
            for name in values
        ]

    def ordinals(records: Sequence[Mapping[str, Any]], keys: Iterable[str]) -> Iterable[int]:
        if conversation is None:
            return repeat(0)
        if order is None:
            return ordinals_of(keys)
        return [whole_number(data.get(order)) for data in records]

    def entries(
        records: Sequence[Mapping[str, Any]], times: Iterable[int | None], keys: Iterable[str]
    ) -> list[Entry]:
        texts = zip(*[[data.get(name) for data in records] for name in names], strict=True)
        moments = [NO_TIME if time is None else time for time in times]
        # Half the time of a call of the class: there is one for each record.
        rows = zip(moments, threads(records), ordinals(records, keys), texts, strict=False)
        return [new(Entry, row) for row in rows]

    return entries


def bare_entry_of(feed: IndexedFeed, data: Mapping[str, Any], time: int | None, key: str) -> Entry:
    """Return what a record is found by in the word index, without its words."""
    name = feed.stream.thread_field
    moment = NO_TIME if time is None else time
    if name is None:
        return Entry(moment, None, 0, ())
    thread = _thread_of(data.get(name), {})
    return Entry(moment, thread, place_in_thread(feed.stream, data.get, key), ())


def place_in_thread(stream: Stream, value_of: Callable[[str], Any], key: str) -> int:
    """Return what a record is in order by with others of its time in a conversation."""
    order = stream.thread_order
    return ordinal_of(key) if order is None else whole_number(value_of(order))


def _thread_of(value: Any, known: dict[str, int]) -> int | None:
    if value is None or isinstance(value, dict | list):
        return None
    name = str(value)
    number = known.get(name)
    if number is None:
        number = known[name] = hashed(name)
    return number


def whole_number(value: Any) -> int:
    """Return a declared place in a conversation, 0 where a record has none."""
    return max(-LARGEST, min(value, LARGEST)) if type(value) is int else 0


def ordinal_of(key: str) -> int:
    """Return the number that a key ends in, 0 where it ends in none.

    Programs number what was said: "D3:7", "chat-0012". Times are often those of whole minutes, and
    by the number a reply still stands behind its question.
    """
    return ordinals_of((key,))[0]


def ordinals_of(keys: Iterable[str]) -> list[int]:
    """Return the number that each key ends in, or 0."""
    # Most sealed keys end in a letter; the pattern would be tried at each of their characters.
    return [_last_number(key) if key[-1:].isdigit() else 0 for key in keys]


def _last_number(key: str) -> int:
    number = _LAST_NUMBER.search(key)
    return 0 if number is None else int(number[0])


def hashed(name: str) -> int:
    """Return the number that stands for the name of a conversation."""
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
