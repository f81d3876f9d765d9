"""A prepared batch: records made ready outside the write lock."""

import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from pdpp.model.declaration import TIMES, Kind
from pdpp.store.batch import CheckedRecord, Line, canonical
from pdpp.store.catalogue import Feed
from pdpp.store.cell import CellValue
from pdpp.store.number_key import number_key
from pdpp.store.numbers import is_exact, read_data
from pdpp.store.scope import digest_of
from pdpp.store.tables.positions import IndexedFeed, cells_of
from pdpp.store.tables.records.long_values import LONG_FIELDS, may_be_split, split, whole_text
from pdpp.store.tables.search.entry import Entry, entry_of
from pdpp.store.tables.write.pack import data_of, head_of, pack_record

_WHOLE = frozenset({Kind.TEXT, Kind.BOOLEAN, *TIMES})
"""The kinds of field whose cells are never fractions."""


SurrogateOf = Callable[[Feed, str], int]
"""Gives a new record, named by its feed and key, the random number that stands for it."""


class Fraction(NamedTuple):
    """A cell that JSON is not trusted with."""

    turn: int
    place: int
    value: float


class ExactCell(NamedTuple):
    """The key of a decimal that its cell cannot hold."""

    turn: int
    place: int
    key: str


class Use(NamedTuple):
    """A blob that a field of a record names."""

    turn: int
    field: str
    blob_id: str


class NewRows(NamedTuple):
    """Rows of new records, in the order of their turns."""

    records: Sequence[bytes]
    turns: Sequence[int]
    entries: Sequence[Entry]
    fractions: Sequence[Fraction]
    uses: Sequence[Use]
    exact: Sequence[ExactCell]


class PreparedBatch:
    """The records to write and the keys to delete in one feed.

    A record is made ready at once: while it is still at hand, that costs half as much. Each has a
    turn, and thousands wait to be written, so they are kept as what that takes: ``packs`` and the
    ``entries`` of the word index, both by turn.
    """

    def __init__(
        self, feed: IndexedFeed, surrogate_of: SurrogateOf | None, *, keep_newer: bool = False
    ) -> None:
        self.feed = feed
        self.keep_newer = keep_newer
        self._surrogate_of = surrogate_of
        self._random = random_surrogates()
        self.surrogates: list[int] = []
        self.turn_of_key: dict[str, int] = {}
        self.gone: dict[str, int] = {}
        self.packs: list[bytes] = []
        self.entries: list[Entry] = []
        self.fractions: list[Fraction] = []
        self.uses: list[Use] = []
        self.exact: list[ExactCell] = []
        self.long_values: dict[int, Mapping[str, bytes]] = {}
        self.field_sets: list[tuple[str, ...]] = []
        self._passed: set[int] = set()
        self._field_set_of: dict[tuple[str, ...], int] = {}
        self._cells = cells_of(feed.cells)
        self._entry = entry_of(feed)
        consent = feed.stream.consent_time_field
        self._time_place = None if consent is None else feed.cells[consent][0]
        self._counted = [place for place, kind in feed.cells.values() if kind not in _WHOLE]

    @property
    def turns(self) -> int:
        """Return how many turns there were."""
        return len(self.packs)

    def keep(self, key: str, emitted: int, data: Mapping[str, Any], text: bytes | None) -> None:
        """Prepare a record; ``text`` is its canonical JSON if the caller has it already."""
        self.keep_all([(key, emitted, data, text)])

    def keep_all(self, records: Iterable[CheckedRecord]) -> None:
        """Make some records ready, in the order in which they came."""
        # One loop without a call that could be spared: imports come this way by the million, and
        # whatever is done here holds up the thread that reads.
        packs, turns, gone, known = self.packs, self.turn_of_key, self.gone, self._field_set_of
        cells_of, time_place, counted = self._cells, self._time_place, self._counted
        entry, entries = self._entry if self.feed.lexical else None, self.entries
        of, draw, surrogates = self._surrogate_of, self._random.__next__, self.surrogates
        has_blobs = bool(self.feed.blobs)
        number = len(packs)
        for key, emitted, data, text in records:
            if text is None:
                text = canonical(data)
            names, digest = tuple(data), None
            if may_be_split(text) and (parts := split(data)) is not None:
                self.long_values[number] = parts.values
                names, digest, text = (*names, LONG_FIELDS), digest_of(parts.plain), parts.text
            field_set = known.get(names)
            if field_set is None:
                field_set = self._new_field_set(names)
            cells = cells_of(data)
            moment = None if time_place is None else cells[time_place]
            time = moment if type(moment) is int else None
            if entry is not None:
                entries.append(entry(data, time))
            if key in turns or key in gone:
                self._replace(key)
            turns[key] = number
            surrogate = draw() if of is None else of(self.feed, key)
            surrogates.append(surrogate)
            digest = digest or digest_of(text)
            head = (number, field_set, key, surrogate, emitted, time, digest, cells)
            packs.append(pack_record(head, text))
            if counted:
                self._count_cells(number, cells, data, text)
            if has_blobs:
                self.uses += [Use(number, *named) for named in blobs_of(self.feed, data)]
            number += 1

    def _count_cells(
        self, turn: int, cells: list[CellValue], data: Mapping[str, Any], text: bytes
    ) -> None:
        """Take the numbers of a record that its cells do not hold as they are."""
        for place in self._counted:
            if type(value := cells[place]) is float:
                self.fractions.append(Fraction(turn, place, value))
        if is_exact(text):
            self.exact += [ExactCell(turn, *cell) for cell in exact_cells(self.feed, data)]

    def whole_text(self, turn: int) -> bytes:
        """Return the canonical JSON of a record, with its long members."""
        return whole_text(data_of(self.packs[turn]), self.long_values.get(turn, {}))

    def give_surrogate(self, turn: int, surrogate: int) -> None:
        """Give a record the surrogate of the deleted record that had its key."""
        pack = self.packs[turn]
        head = head_of(pack)._replace(surrogate=surrogate)
        self.packs[turn] = pack_record(tuple(head), data_of(pack))
        self.surrogates[turn] = surrogate

    def _new_field_set(self, names: tuple[str, ...]) -> int:
        number = self._field_set_of[names] = len(self.field_sets)
        self.field_sets.append(tuple(sorted(names)))
        return number

    def drop(self, key: str, emitted: int) -> None:
        """Delete a record when the batch is written."""
        self._replace(key)
        self.gone[key] = emitted

    def _replace(self, key: str) -> None:
        """Discard an earlier record or deletion of the same key."""
        self.gone.pop(key, None)
        turn = self.turn_of_key.pop(key, None)
        if turn is not None:
            self.pass_over(turn)

    def pass_over(self, turn: int) -> None:
        """Mark a turn that adds no new record."""
        self._passed.add(turn)

    def fresh(self) -> NewRows:
        """Return the rows of new records."""
        passed = self._passed
        every = range(self.turns)
        if not passed:
            return NewRows(self.packs, every, self.entries, self.fractions, self.uses, self.exact)
        turns = [turn for turn in every if turn not in passed]
        return NewRows(
            [self.packs[turn] for turn in turns],
            turns,
            [self.entries[turn] for turn in turns] if self.entries else (),
            [row for row in self.fractions if row.turn not in passed],
            [row for row in self.uses if row.turn not in passed],
            [row for row in self.exact if row.turn not in passed],
        )

    def fresh_bytes(self) -> int:
        """Return how long the JSON of all new records is."""
        packs = enumerate(self.packs)
        short = sum(len(data_of(pack)) for turn, pack in packs if turn not in self._passed)
        for turn in self.long_values.keys() - self._passed:
            short += len(self.whole_text(turn)) - len(data_of(self.packs[turn]))
        return short

    def lines(self) -> Iterator[Line]:
        """Yield the lines that the batch was made from, one for each key."""
        for key, turn in self.turn_of_key.items():
            emitted = head_of(self.packs[turn]).emitted
            yield Line(turn, key, emitted, read_data(self.whole_text(turn)))
        for number, (key, emitted) in enumerate(self.gone.items(), self.turns):
            yield Line(number, key, emitted, None)


def random_surrogates() -> Iterator[int]:
    """Yield random numbers of 64 bits, some read from the system at once."""
    while True:
        yield from array("q", os.urandom(512))


def prepare(
    feed: IndexedFeed,
    lines: Iterable[Line],
    surrogate_of: SurrogateOf | None,
    *,
    keep_newer: bool = False,
) -> PreparedBatch:
    """Prepare lines; the last line of a key counts."""
    batch = PreparedBatch(feed, surrogate_of, keep_newer=keep_newer)
    for _, key, emitted, data in lines:
        if data is None:
            batch.drop(key, emitted)
        else:
            batch.keep(key, emitted, data, None)
    return batch


def exact_cells(feed: IndexedFeed, data: Mapping[str, Any]) -> Iterable[tuple[int, str]]:
    """Yield the places of decimals that no number of the engine is, each with its key."""
    for name, (place, kind) in feed.cells.items():
        value = data.get(name)
        if kind is Kind.NUMBER and isinstance(value, Decimal):
            yield place, number_key(value)


def blobs_of(feed: Feed, data: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """Yield the blob fields that a record fills, each with the blob it names."""
    for name in feed.blobs:
        value = data.get(name)
        blob_id = value.get("blob_id") if isinstance(value, dict) else value
        if isinstance(blob_id, str):
            yield name, blob_id
