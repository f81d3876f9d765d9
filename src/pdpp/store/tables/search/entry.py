"""Entries: what the word index takes of one record."""

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from pdpp.store.tables.positions import IndexedFeed

NO_TIME = -(1 << 63)
"""The time of a record that has none: before all others."""


class Entry(NamedTuple):
    """When one record happened, the conversation it belongs to, and the values that are searched.

    ``texts`` are those of the feed's searched fields in their order; what is no text has no words.
    """

    time: int
    thread: int | None
    texts: tuple[Any, ...]


class Indexed(NamedTuple):
    """A record of the index: its number, its surrogate and its words."""

    number: int
    surrogate: int
    entry: Entry

    def thread_row(self, feed: int) -> tuple[int, int | None, int, int, int]:
        """Return where the record stands in its conversation; equal times at random."""
        return feed, self.entry.thread, self.entry.time, self.surrogate, self.number


EntryOf = Callable[[Mapping[str, Any], int | None], Entry]
"""Returns what the word index takes of a record with an event time."""


def entry_of(feed: IndexedFeed) -> EntryOf:
    """Return the function that makes the entries of a feed's records."""
    names = tuple(feed.lexical)
    conversation = feed.stream.thread_field
    threads: dict[str, int] = {}
    new = tuple.__new__

    def entry(data: Mapping[str, Any], time: int | None) -> Entry:
        thread: int | None = None
        if conversation is not None:
            name = data.get(conversation)
            # Most records say in a text which conversation they belong to, and one that was met.
            thread = threads.get(name) if type(name) is str else None
            if thread is None:
                thread = _thread_of(name, threads)
        # Half the time of a call of the class: there is one for each record.
        moment = NO_TIME if time is None else time
        return new(Entry, (moment, thread, tuple(map(data.get, names))))

    return entry


def bare_entry_of(feed: IndexedFeed, data: Mapping[str, Any], time: int | None) -> Entry:
    """Return what a record is found by in the word index, without its words."""
    name = feed.stream.thread_field
    thread = _thread_of(data.get(name), {}) if name else None
    return Entry(NO_TIME if time is None else time, thread, ())


def _thread_of(value: Any, known: dict[str, int]) -> int | None:
    if value is None or isinstance(value, dict | list):
        return None
    name = str(value)
    number = known.get(name)
    if number is None:
        number = known[name] = hashed(name)
    return number


def hashed(name: str) -> int:
    """Return the number that stands for the name of a conversation."""
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
