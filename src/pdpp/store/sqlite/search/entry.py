"""Entries: what the word index takes of one record."""

import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple

from pdpp.store.sqlite.positions import IndexedFeed

NO_TIME = -(1 << 63)
"""The time of a record that has none: before all others."""


class PlaceText(NamedTuple):
    """The text of one searched field."""

    place: int
    text: str


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
    places = tuple(
        PlaceText(place, text)
        for name, place in feed.lexical.items()
        if isinstance(text := data.get(name), str)
    )
    return _entry(feed, data, time, places)


def bare_entry_of(feed: IndexedFeed, data: Mapping[str, Any], time: int | None) -> Entry:
    """Return what a record is found by in the word index, without its words."""
    return _entry(feed, data, time, ())


def _entry(
    feed: IndexedFeed, data: Mapping[str, Any], time: int | None, places: tuple[PlaceText, ...]
) -> Entry:
    thread = data.get(feed.stream.thread_field) if feed.stream.thread_field else None
    named = thread is not None and not isinstance(thread, dict | list)
    return Entry(NO_TIME if time is None else time, hashed(str(thread)) if named else None, places)


def hashed(name: str) -> int:
    """Return the number that stands for the name of a conversation."""
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
