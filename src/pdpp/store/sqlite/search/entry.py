"""Entries: what the word index takes of one record."""

import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple

from pdpp.store.sqlite.positions import IndexedFeed

NO_TIME = -(1 << 63)
"""The time of a record that has none: before all others."""


PlaceText = tuple[int, str]
"""The place of a searched field, and its text. Bare pairs: there are some for each record."""


class Entry(NamedTuple):
    """The words of one record, when it happened, and the conversation it belongs to."""

    time: int
    thread: int | None
    places: tuple[PlaceText, ...]


class Indexed(NamedTuple):
    """A record of the index: its number, its surrogate and its words."""

    number: int
    surrogate: int
    entry: Entry

    def thread_row(self, feed: int) -> tuple[int, int | None, int, int, int]:
        """Return where the record stands in its conversation; equal times at random."""
        return feed, self.entry.thread, self.entry.time, self.surrogate, self.number


def entry_of(feed: IndexedFeed, data: Mapping[str, Any], time: int | None) -> Entry:
    """Return what the word index takes of a record."""
    places = [
        (place, text)
        for name, place in feed.lexical.items()
        if isinstance(text := data.get(name), str)
    ]
    return Entry(NO_TIME if time is None else time, _thread_of(feed, data), tuple(places))


def bare_entry_of(feed: IndexedFeed, data: Mapping[str, Any], time: int | None) -> Entry:
    """Return what a record is found by in the word index, without its words."""
    return Entry(NO_TIME if time is None else time, _thread_of(feed, data), ())


def _thread_of(feed: IndexedFeed, data: Mapping[str, Any]) -> int | None:
    name = feed.stream.thread_field
    thread = data.get(name) if name else None
    if thread is None or isinstance(thread, dict | list):
        return None
    return hashed(str(thread))


def hashed(name: str) -> int:
    """Return the number that stands for the name of a conversation."""
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
