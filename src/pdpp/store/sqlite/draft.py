"""Drafts: records made ready outside the write lock."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import orjson

from pdpp.evidence.analyse import indexed_bytes, indexed_text
from pdpp.model.declaration import TIMES, Kind
from pdpp.store.catalogue import Feed
from pdpp.store.cell import cells_of
from pdpp.store.port import Line, canonical
from pdpp.store.scope import digest_of
from pdpp.store.sqlite.lengths import length_of
from pdpp.store.sqlite.pack import data_of, digits, head_of, pack_record, pack_words, turn_of

_WHOLE = frozenset({Kind.TEXT, Kind.BOOLEAN, *TIMES})
"""The kinds of field whose cells are never fractions."""

_NO_BLOBS: frozenset[tuple[str, str]] = frozenset()


class Draft(NamedTuple):
    """A record made ready: thousands wait to be written, so it is only what that takes.

    The packs of its words come in the order of places backwards. ``fractions`` are the cells that
    JSON is not trusted with, by place.
    """

    pack: bytes
    words: list[bytes]
    fractions: list[tuple[int, float]]
    blobs: frozenset[tuple[str, str]]


class Drafts:
    """What becomes of each key of one feed: a record, or nothing since it was said to be gone.

    A record is made ready at once: while it is still at hand, that costs half as much. Each has a
    turn; ``lengths`` are how many words each field has, by place and turn.
    """

    def __init__(self, feed: Feed) -> None:
        self.feed = feed
        self.by_key: dict[str, Draft | int] = {}
        self.shapes: list[tuple[str, ...]] = []
        self.turns = 0
        self._shape_of: dict[tuple[str, ...], int] = {}
        self._cells = cells_of(feed.cells)
        consent = feed.stream.consent_time_field
        self._time_place = None if consent is None else feed.cells[consent][0]
        self._counted = [place for place, kind in feed.cells.values() if kind not in _WHOLE]
        self.lengths: dict[int, list[int]] = {place: [] for place in feed.lexical.values()}
        self._lexical = [
            (name, digits(place), self.lengths[place])
            for name, place in sorted(feed.lexical.items(), key=lambda named: -named[1])
        ]

    def keep(self, key: str, emitted: int, data: Mapping[str, Any], text: bytes | None) -> None:
        """Make a record ready; ``text`` is its canonical JSON where that is at hand already."""
        turn = digits(self.turns)
        self.turns += 1
        shape = self._shape_of.get(names := tuple(data))
        if shape is None:
            shape = self._new_shape(names)
        if text is None:
            text = canonical(data)
        cells = self._cells(data)
        moment = None if self._time_place is None else cells[self._time_place]
        time = moment if isinstance(moment, int) else None
        words = []
        for name, place, lengths in self._lexical:
            value = data.get(name)
            if isinstance(value, str) and (found := indexed_bytes(value)):
                words.append(pack_words(turn, place, found))
                lengths.append(length_of(found))
            else:
                lengths.append(0)
        if key in self.by_key:
            self._replace(key)
        self.by_key[key] = Draft(
            pack_record(turn, shape, (key, emitted, time, digest_of(text), cells), text),
            words,
            [(at, held) for at in self._counted if isinstance(held := cells[at], float)],
            frozenset(blobs_of(self.feed, data)) if self.feed.blobs else _NO_BLOBS,
        )

    def _new_shape(self, names: tuple[str, ...]) -> int:
        number = self._shape_of[names] = len(self.shapes)
        self.shapes.append(tuple(sorted(names)))
        return number

    def drop(self, key: str, emitted: int) -> None:
        """Have a record deleted."""
        self._replace(key)
        self.by_key[key] = emitted

    def _replace(self, key: str) -> None:
        """Make room for what is said of a key later, so that their order is that of their turns."""
        held = self.by_key.pop(key, None)
        if isinstance(held, Draft):
            self.pass_over(held)

    def pass_over(self, draft: Draft) -> None:
        """Leave the turn of a draft empty that makes no new record."""
        turn = turn_of(draft.pack)
        for lengths in self.lengths.values():
            lengths[turn] = 0

    def lines(self) -> Iterator[Line]:
        """Yield the lines that the drafts were made from, one for each key."""
        for number, (key, held) in enumerate(self.by_key.items()):
            if isinstance(held, int):
                yield Line(number, key, held, None)
            else:
                data = orjson.loads(data_of(held.pack))
                yield Line(number, key, head_of(held.pack).emitted, data)


def drafts_of(feed: Feed, lines: Iterable[Line]) -> Drafts:
    """Make lines ready; of one key the last one decides."""
    drafts = Drafts(feed)
    for _, key, emitted, data in lines:
        if data is None:
            drafts.drop(key, emitted)
        else:
            drafts.keep(key, emitted, data, None)
    return drafts


def words_of(feed: Feed, data: Mapping[str, Any]) -> dict[int, str]:
    """Return the words of each searchable field that has any, by place."""
    words = {}
    for name, place in feed.lexical.items():
        value = data.get(name)
        if isinstance(value, str) and (text := indexed_text(value)):
            words[place] = text
    return words


def blobs_of(feed: Feed, data: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """Yield the blob fields that a record fills, each with the blob it names."""
    for name in feed.blobs:
        value = data.get(name)
        blob_id = value.get("blob_id") if isinstance(value, dict) else value
        if isinstance(blob_id, str):
            yield name, blob_id
