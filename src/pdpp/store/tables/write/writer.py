"""Writing a batch: records, their cells, their words, and the traces that changes need."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import orjson

from pdpp.store.batch import WriteResult, canonical
from pdpp.store.cell import CellValue
from pdpp.store.numbers import read_data
from pdpp.store.tables.database import TableConnection
from pdpp.store.tables.numbering import record_number
from pdpp.store.tables.records.dated import dated_rows
from pdpp.store.tables.records.long_values import (
    has_long_values,
    long_members,
    row_keys,
    stored_rows,
    whole_data,
)
from pdpp.store.tables.records.predicate import OWNER, Sql, keyed_rows
from pdpp.store.tables.records.stamps import Stamps
from pdpp.store.tables.search.entry import Indexed, bare_entry_of
from pdpp.store.tables.write.age import is_older
from pdpp.store.tables.write.fieldsets import FieldSets
from pdpp.store.tables.write.prepared import (
    PreparedBatch,
    PreparedRecord,
    blobs_of,
    exact_cells,
)
from pdpp.store.tables.write.rows import BatchRows

_Edit = tuple[str | bytes, int]
"""A field, or what stands in its place, and a version."""


class _Stored(NamedTuple):
    """A record as it is before a batch."""

    number: int
    key: str
    surrogate: int
    created: int
    stamps: str | None
    time: int | None
    cells: str
    data: bytes
    """With long members in their short form."""


class BatchWriter:
    """Applies one batch to one feed inside a write transaction."""

    def __init__(
        self, db: TableConnection, batch: PreparedBatch, field_sets: FieldSets, now: int
    ) -> None:
        self._db = db
        self._feed = batch.feed
        self._batch = batch
        self._field_sets = field_sets
        self._more_bytes = 0
        self._version, first = self._open(now)
        self._work = BatchRows(batch.feed, self._version, first)

    def _open(self, now: int) -> tuple[int, int]:
        """Return the version of this batch, and the number of the next new record."""
        last, sequence = next(
            self._db.execute(
                "SELECT version, next_sequence FROM feed WHERE id = ?", (self._feed.id,)
            )
        )
        return max(last + 1, now), record_number(self._feed.id, sequence)

    def write(self) -> WriteResult:
        """Write each key's record, or delete it where the batch says so."""
        batch = self._batch
        stored = self._stored([*batch.turn_of_key, *batch.gone])
        new, changed, deleted = len(batch.turn_of_key), 0, 0
        for key, old in stored.items():
            turn = batch.turn_of_key.get(key)
            if turn is None:
                deleted += 1
                self._remove(old, batch.gone[key])
                continue
            new -= 1
            batch.pass_over(turn)
            text = batch.texts[turn]
            if bytes(old.data) != text and not (
                batch.keep_newer and is_older(self._feed, text, old.data)
            ):
                changed += 1
                self._update(turn, old)
        if new:
            self._give_back_surrogates(stored)
            self._more_bytes += batch.fresh_bytes()
        if new or changed or deleted:
            self._work.apply(self._db, self._field_set_numbers, batch)
            self._close(new - deleted, batch.turns if new else 0)
        asked = len(batch.turn_of_key) + len(batch.gone)
        return WriteResult(new, changed, asked - new - changed - deleted, deleted)

    def _close(self, more: int, turns: int) -> None:
        """Count the records, and go on with the numbers after those that this batch may have."""
        self._db.execute(
            "UPDATE feed SET record_count = record_count + ?, record_bytes = record_bytes + ?,"
            " version = ?, next_sequence = next_sequence + ? WHERE id = ?",
            (more, self._more_bytes, self._version, turns, self._feed.id),
        )

    def _stored(self, keys: Iterable[str]) -> dict[str, "_Stored"]:
        columns = "r.id, r.key, r.surrogate, r.created, r.stamps, r.time, r.cells, r.data"
        sql = Sql(f"SELECT {columns} FROM") + keyed_rows("record", "r", self._feed.id, keys)
        rows = self._db.execute(sql.text, sql.values)
        return {row[1]: _Stored(*row) for row in rows}

    def _give_back_surrogates(self, stored: Mapping[str, "_Stored"]) -> None:
        """Let records that come back be the ones they were, while that is remembered."""
        feed = (OWNER, self._feed.id)
        some = "SELECT 1 FROM ghost WHERE owner = ? AND feed = ? LIMIT 1"
        if next(self._db.execute(some, feed), None) is None:
            return
        new = [key for key in self._batch.turn_of_key if key not in stored]
        sql = Sql("SELECT DISTINCT g.key, g.surrogate FROM")
        sql += keyed_rows("ghost", "g", self._feed.id, new)
        rows: list[Any] = self._db.execute(sql.text, sql.values).fetchall()
        for key, surrogate in rows:
            self._batch.give_surrogate(self._batch.turn_of_key[key], surrogate)

    def _update(self, turn: int, old: "_Stored") -> None:
        record = self._batch.record(turn)
        before, whole = self._whole(old), self._batch.whole_text(turn)
        after = read_data(whole)
        self._more_bytes += len(whole)
        stamps = Stamps.parse(old.stamps)
        edits = set() if old.stamps is None else set(stamps.edits(old.created))
        changed = list(_changed(before, after))  # In an order that is the same in any process.
        for name in changed:
            stamps.fields[name] = (self._version, record.emitted)
        if old.time != record.time:
            stamps.move(self._version, record.emitted, old.time)
            self._leave_ghost(old, record.emitted)
        row = (self._version, stamps.text(), record.time, self._field_set(record), record.digest)
        self._work.changed.append(
            (*row, orjson.dumps(record.cells).decode(), record.text, old.number)
        )
        self._swap_edits(old.surrogate, edits, set(stamps.edits(old.created)))
        self._swap_cells(old, record.cells)
        self._swap_dated(old, record.cells, record.time)
        self._swap_exact(old, before, after)
        self._swap_long_values(old, turn)
        self._drop_words(old, before)
        if self._feed.lexical:
            entry = self._batch.entries[turn]
            self._work.words.append(Indexed(old.number, old.surrogate, entry))
            self._work.texts_changed.append((old.number, frozenset(changed)))
        self._swap_blobs(old.number, blobs_of(self._feed, before), blobs_of(self._feed, after))

    def _remove(self, old: "_Stored", emitted: int) -> None:
        before = self._whole(old)
        self._work.records_gone.append((old.number,))
        if old.stamps is not None:
            edits = set(Stamps.parse(old.stamps).edits(old.created))
            self._swap_edits(old.surrogate, edits, set())
        self._swap_cells(old, None)
        self._swap_dated(old, (), None)
        self._swap_exact(old, before, {})
        self._swap_long_values(old, None)
        self._drop_words(old, before)
        self._swap_blobs(old.number, blobs_of(self._feed, before), ())
        self._leave_ghost(old, emitted)

    @cached_property
    def _field_set_numbers(self) -> list[int]:
        return [self._field_sets.number(self._db, names) for names in self._batch.field_sets]

    def _field_set(self, record: PreparedRecord) -> int:
        return self._field_set_numbers[record.field_set]

    def _swap_edits(self, surrogate: int, before: set[_Edit], after: set[_Edit]) -> None:
        feed = (OWNER, self._feed.id)
        self._work.edits_gone += [(*feed, *edit, surrogate) for edit in before - after]
        self._work.edits += [(*feed, *edit, surrogate) for edit in after - before]

    def _swap_cells(self, old: "_Stored", after: Sequence[CellValue] | None) -> None:
        cells: list[CellValue] = orjson.loads(old.cells)
        for place, value in enumerate(cells):
            if after is None or _differ(after[place], value):
                self._work.cells_gone.append(self._work.cell_key(place, value, old.surrogate))
                if after is not None:
                    self._work.add_cell(place, after[place], old.surrogate, old.number)

    def _swap_dated(self, old: "_Stored", cells: Sequence[CellValue], time: int | None) -> None:
        """Let a record be found by its values where its time is now."""
        feed = (OWNER, self._feed.id)
        before = dated_rows(self._feed, orjson.loads(old.cells), old.time, old.number)
        after = dated_rows(self._feed, cells, time, old.number)
        self._work.dated_cells_gone += [(*feed, *row) for row in before - after]
        self._work.dated_cells += [(*feed, *row) for row in after - before]

    def _swap_exact(
        self, old: "_Stored", before: Mapping[str, Any], after: Mapping[str, Any]
    ) -> None:
        feed = (OWNER, self._feed.id)
        for place, _ in exact_cells(self._feed, before):
            self._work.exact_gone.append((*feed, place, old.surrogate))
        for place, key in exact_cells(self._feed, after):
            self._work.exact.append((*feed, place, old.surrogate, key))

    def _whole(self, old: "_Stored") -> Mapping[str, Any]:
        """Return the data, with its long members, of a stored record that goes or changes."""
        data = whole_data(self._db, self._feed.id, old.surrogate, old.data)
        self._more_bytes -= len(data)
        whole: Mapping[str, Any] = read_data(data)
        return whole

    def _swap_long_values(self, old: "_Stored", turn: int | None) -> None:
        """Keep the long members of a record's new state in place of those of its old one."""
        feed, surrogate = self._feed.id, old.surrogate
        if has_long_values(old.data):
            names = long_members(read_data(old.data))
            self._work.long_values_gone += row_keys(feed, surrogate, names)
        values = None if turn is None else self._batch.long_values.get(turn)
        if values is not None:
            self._work.long_values += stored_rows(feed, surrogate, values)

    def _drop_words(self, old: "_Stored", before: Mapping[str, Any]) -> None:
        if self._feed.lexical:
            entry = bare_entry_of(self._feed, before, old.time, old.key)
            self._work.words_gone.append(Indexed(old.number, old.surrogate, entry))

    def _swap_blobs(
        self, number: int, before: Iterable[tuple[str, str]], after: Iterable[tuple[str, str]]
    ) -> None:
        old, new = set(before), set(after)
        for name, blob_id in old - new:
            self._work.blobs_gone.append((OWNER, blob_id, self._feed.id, name, number))
        for name, blob_id in new - old:
            self._work.use_blob(number, name, blob_id)

    def _leave_ghost(self, old: "_Stored", emitted: int) -> None:
        ghost = (self._version, old.surrogate, old.key, old.time, emitted)
        self._work.ghosts.append((OWNER, self._feed.id, *ghost))


def _changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterable[str]:
    """Return the members that differ in value or in kind, or stand on one side only."""
    for name in sorted(before.keys() | after.keys()):
        on_both = name in before and name in after
        if not on_both or canonical(before[name]) != canonical(after[name]):
            yield name


def _differ(one: CellValue, other: CellValue) -> bool:
    """Tell whether cells are not the same to the letter: 1 and 1.0 compare alike and show apart."""
    return one != other or (isinstance(one, int | float) and repr(one) != repr(other))
