"""A prepared batch: records made ready outside the write lock."""

import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import accumulate, compress, pairwise
from typing import Any, NamedTuple, TypeVar

from pdpp.model.declaration import Kind
from pdpp.store.batch import CheckedRecords, Line, canonical
from pdpp.store.catalogue import Feed
from pdpp.store.cell import CellValue
from pdpp.store.number_key import number_key
from pdpp.store.numbers import is_exact, read_data
from pdpp.store.scope import digest_of, digests_of
from pdpp.store.tables.positions import IndexedFeed, cells_of
from pdpp.store.tables.records.dated import dated_columns
from pdpp.store.tables.records.long_values import LONG_FIELDS, may_be_split, split, whole_text
from pdpp.store.tables.search.block_row import BlockRow
from pdpp.store.tables.search.entry import Entry, entries_of
from pdpp.store.tables.write.age import is_older
from pdpp.store.tables.write.cell_order import cell_order
from pdpp.store.tables.write.new_records import Arrangement

_T = TypeVar("_T")

SurrogateOf = Callable[[Feed, str], int]
"""Gives a new record, named by its feed and key, the random number that stands for it."""


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


class PreparedRecord(NamedTuple):
    """A record as it is written, beside its key and its surrogate; ``text`` is its short form."""

    emitted: int
    time: int | None
    field_set: int
    digest: str
    cells: Sequence[CellValue]
    text: bytes


class PreparedBatch:
    """The records to write and the keys to delete in one feed.

    A record is made ready soon after it is read: while it is still at hand, that costs half as
    much. Each has a turn, and thousands wait to be written, so they are kept as what that takes: a
    list for each column, and the ``entries`` of the word index, all by turn.
    """

    def __init__(
        self, feed: IndexedFeed, surrogate_of: SurrogateOf | None, *, keep_newer: bool = False
    ) -> None:
        self.feed = feed
        self.keep_newer = keep_newer
        self._surrogate_of = surrogate_of
        self.turn_of_key: dict[str, int] = {}
        self.gone: dict[str, int] = {}
        self.keys: list[str] = []
        self.surrogates: list[int] = []
        self.emitted: list[int] = []
        self.times: list[int | None] = []
        self.set_numbers: list[int] = []
        """Which of the batch's field sets each record has."""
        self.digests_ahead: list[str] = []
        """The digests of the first records; those of the others are worked out when they are asked
        for, which is in the process that writes."""
        self.cells: list[tuple[CellValue, ...]] = []
        self.texts: list[bytes] = []
        self.entries: list[Entry] = []
        self.words: BlockRow | None = None
        """The words of the new records by turn, where they are worked out already."""
        self.arrangement: Arrangement | None = None
        """Where the values of the new records stand, where that is worked out already."""
        self.passed_ahead = 0
        """How many turns added no new record when these were worked out: more may by now."""
        self.parcel: bytes | None = None
        """The batch as it is sent to another process, where it is packed already."""
        self.uses: list[Use] = []
        self.exact: list[ExactCell] = []
        self.long_values: dict[int, Mapping[str, bytes]] = {}
        self.field_sets: list[tuple[str, ...]] = []
        self.passed: set[int] = set()
        self._field_set_of: dict[tuple[str, ...], int] = {}
        self._cells = cells_of(feed.cells)
        self._short_cells = cells_of(feed.cells, short=True)
        self._entries = entries_of(feed)
        consent = feed.stream.consent_time_field
        self._time_place = None if consent is None else feed.cells[consent][0]
        self._has_numbers = any(kind is Kind.NUMBER for _, kind in feed.cells.values())

    @property
    def turns(self) -> int:
        """Return how many turns there were."""
        return len(self.keys)

    @property
    def digests(self) -> list[str]:
        """Return the digest of each record."""
        digests = self.digests_ahead
        if len(digests) < len(self.texts):
            digests += digests_of(self.texts[len(digests) :])
        return digests

    def keep(self, key: str, emitted: int, data: Mapping[str, Any], text: bytes | None) -> None:
        """Prepare a record; ``text`` is its canonical JSON if the caller has it already."""
        self.keep_all(CheckedRecords((key,), (emitted,), (data,), (text,)))

    def keep_all(self, records: CheckedRecords) -> None:
        """Make some records ready, in the order in which they came."""
        # Column by column, with few calls for each record: imports come this way by the million,
        # and whatever is done here holds up the thread that reads.
        keys, emitted, data, texts_given = records
        if not keys:
            return
        self._forget_ahead()
        given = [
            canonical(record) if text is None else text
            for record, text in zip(data, texts_given, strict=True)
        ]
        # Copies: what the encoder returns takes up to 4,000 bytes more than the text is long.
        joined, ends = b"".join(given), [0, *accumulate(map(len, given))]
        texts = [joined[start:end] for start, end in pairwise(ends)]
        first = self.turns
        if may_be_split(joined, max(map(len, texts))):
            self._keep_split(data, texts)
            cells = self._cells(data)
        else:
            self.set_numbers += self._set_numbers(map(tuple, data))
            self.texts += texts
            cells = self._short_cells(data)
        times = self._times(cells)
        if self.feed.lexical:
            self.entries += self._entries(data, times, keys)
        self._take_keys(keys)
        self.emitted += emitted
        self.times += times
        self.cells += cells
        if self._has_numbers:
            self._take_exact(first, data, texts)
        if self.feed.blobs:
            for turn, record in enumerate(data, first):
                self.uses += [Use(turn, *named) for named in blobs_of(self.feed, record)]

    def _set_numbers(self, every: Iterable[tuple[str, ...]]) -> list[int]:
        """Return the numbers of sets of fields among those of the batch."""
        known = self._field_set_of
        return [known[names] if names in known else self._new_field_set(names) for names in every]

    def _new_field_set(self, names: tuple[str, ...]) -> int:
        number = self._field_set_of[names] = len(self.field_sets)
        self.field_sets.append(tuple(sorted(names)))
        return number

    def _keep_split(self, data: Iterable[Mapping[str, Any]], texts: Iterable[bytes]) -> None:
        """Take records of which some may have long members, which are kept beside them."""
        for record, text in zip(data, texts, strict=True):
            names, parts = tuple(record), None
            if may_be_split(text, len(text)) and (parts := split(record)) is not None:
                self.long_values[len(self.texts)] = parts.values
                names = (*names, LONG_FIELDS)
            self.set_numbers += self._set_numbers((names,))
            self.digests.append(digest_of(text if parts is None else parts.plain))
            self.texts.append(text if parts is None else parts.text)

    def _times(self, cells: Iterable[Sequence[CellValue]]) -> list[int | None]:
        place = self._time_place
        if place is None:
            return [None for _ in cells]
        moments = [values[place] for values in cells]
        return [moment if type(moment) is int else None for moment in moments]

    def _take_keys(self, keys: Sequence[str]) -> None:
        """Give each key the next turn and a surrogate; the last or newest of equal keys counts."""
        turns, gone, first = self.turn_of_key, self.gone, self.turns
        numbers = range(first, first + len(keys))
        every = dict(zip(keys, numbers, strict=True))
        if len(every) == len(keys) and not gone and turns.keys().isdisjoint(every):
            turns.update(every)
        else:
            for key, turn in zip(keys, numbers, strict=True):
                if self._holds_newer(key, turn):
                    self.pass_over(turn)
                else:
                    self._replace(key)
                    turns[key] = turn
        self.keys += keys
        of = self._surrogate_of
        self.surrogates += (
            random_surrogates(len(keys)) if of is None else [of(self.feed, key) for key in keys]
        )

    def _holds_newer(self, key: str, turn: int) -> bool:
        """Tell whether the batch has a newer state of a record than that of a turn."""
        before = self.turn_of_key.get(key) if self.keep_newer else None
        return before is not None and is_older(self.feed, self.texts[turn], self.texts[before])

    def _take_exact(
        self, first: int, data: Iterable[Mapping[str, Any]], texts: Iterable[bytes]
    ) -> None:
        """Take the decimals that cells do not hold as they are."""
        for turn, (record, text) in enumerate(zip(data, texts, strict=True), first):
            if is_exact(text):
                self.exact += [ExactCell(turn, *cell) for cell in exact_cells(self.feed, record)]

    def record(self, turn: int) -> PreparedRecord:
        """Return the record of a turn."""
        return PreparedRecord(
            self.emitted[turn],
            self.times[turn],
            self.set_numbers[turn],
            self.digests[turn],
            self.cells[turn],
            self.texts[turn],
        )

    def whole_text(self, turn: int) -> bytes:
        """Return the canonical JSON of a record, with its long members."""
        return whole_text(self.texts[turn], self.long_values.get(turn, {}))

    def give_surrogate(self, turn: int, surrogate: int) -> None:
        """Give a record the surrogate of the deleted record that had its key."""
        self.surrogates[turn] = surrogate

    def drop(self, key: str, emitted: int) -> None:
        """Delete a record when the batch is written."""
        self._forget_ahead()
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
        self.passed.add(turn)

    def is_fresh(self, turn: int) -> bool:
        """Tell whether a turn adds a new record."""
        return turn not in self.passed

    def fresh_turns(self) -> Sequence[int]:
        """Return the turns that add a new record."""
        every = range(self.turns)
        return [*filter(self.is_fresh, every)] if self.passed else every

    def fresh(self, column: Sequence[_T]) -> Sequence[_T]:
        """Return what a column has for new records."""
        if not self.passed:
            return column
        return [*compress(column, map(self.is_fresh, range(len(column))))]

    def work_out_words(self) -> None:
        """Work out the words of all records that may be new."""
        if self._begin_ahead() and self.entries:
            from pdpp.store.tables.search import blocks, stored_blocks

            places = tuple(self.feed.lexical.values())
            turns, entries = self.fresh_turns(), self.fresh(self.entries)
            self.words = stored_blocks.row_of(blocks.build_from(turns, entries, places))

    def _begin_ahead(self) -> bool:
        """Forget what was worked out of other records; tell whether any may be new."""
        if not self._holds_ahead():
            self._forget_ahead()
        self.passed_ahead = len(self.passed)
        return self.passed_ahead < self.turns

    def _forget_ahead(self) -> None:
        """Forget what was worked out: something else is taken."""
        self.words = self.arrangement = self.parcel = None

    def arrange(self) -> None:
        """Work out where the values of all records stand that may be new."""
        if self._begin_ahead():
            cells, surrogates = self.fresh(self.cells), self.fresh(self.surrogates)
            self.arrangement = Arrangement(
                cell_order(self.feed.compared_places, cells, surrogates),
                dated_columns(self.feed.dated, cells, self.fresh(self.times), range(len(cells))),
            )

    def fresh_arrangement(self) -> Arrangement | None:
        """Return where the values of new records stand, if that is known of all of them."""
        return self.arrangement if self._holds_ahead() else None

    def fresh_words(self, first: int) -> BlockRow | None:
        """Return the words that are worked out, if they are those of all new records.

        The records are numbered from ``first`` on.
        """
        if self.words is None or not self._holds_ahead():
            return None
        return self.words.numbered_from(first)

    def _holds_ahead(self) -> bool:
        """Tell whether the new records are those of which something was worked out."""
        return len(self.passed) == self.passed_ahead

    def fresh_bytes(self) -> int:
        """Return how long the JSON of all new records is."""
        short = sum(map(len, self.fresh(self.texts)))
        for turn in self.long_values.keys() - self.passed:
            short += len(self.whole_text(turn)) - len(self.texts[turn])
        return short

    def lines(self) -> Iterator[Line]:
        """Yield the lines that the batch was made from, one for each key."""
        for key, turn in self.turn_of_key.items():
            yield Line(turn, key, self.emitted[turn], read_data(self.whole_text(turn)))
        for number, (key, emitted) in enumerate(self.gone.items(), self.turns):
            yield Line(number, key, emitted, None)


def random_surrogates(count: int) -> Sequence[int]:
    """Return random numbers of 64 bits."""
    return array("q", os.urandom(8 * count)).tolist()


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
