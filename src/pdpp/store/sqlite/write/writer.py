"""Writing a batch: records, their cells, their words, and the traces that changes need."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import apsw
import orjson

from pdpp.store.cell import CellValue
from pdpp.store.port import WriteResult, canonical
from pdpp.store.sqlite.numbering import index_row, record_number
from pdpp.store.sqlite.records.predicate import OWNER
from pdpp.store.sqlite.records.projection import MOVES
from pdpp.store.sqlite.write.fieldsets import FieldSets
from pdpp.store.sqlite.write.pack import data_of, field_set_of, head_of
from pdpp.store.sqlite.write.prepared import PreparedBatch, blobs_of, words_of
from pdpp.store.sqlite.write.rows import BatchRows

_MOST_MOVES = 32


class BatchWriter:
    """Applies one batch to one feed inside a write transaction."""

    def __init__(
        self, db: apsw.Connection, batch: PreparedBatch, field_sets: FieldSets, now: int
    ) -> None:
        self._db = db
        self._feed = batch.feed
        self._batch = batch
        self._field_sets = field_sets
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
        """Bring each key to its draft, or away where there is none."""
        batch = self._batch
        stored = self._stored([*batch.turn_of_key, *batch.gone])
        new, changed, deleted = len(batch.turn_of_key), 0, 0
        for key, old in stored.items():
            turn = batch.turn_of_key.get(key)
            if turn is None:
                deleted += 1
                self._remove(key, old, batch.gone[key])
                continue
            new -= 1
            batch.pass_over(turn)
            if bytes(old[8]) != data_of(batch.packs[turn]):
                changed += 1
                self._update(batch.packs[turn], old)
        if new or changed or deleted:
            self._work.apply(self._db, self._field_set_numbers, batch)
            self._close(new - deleted, batch.turns if new else 0)
        asked = len(batch.turn_of_key) + len(batch.gone)
        return WriteResult(new, changed, asked - new - changed - deleted, deleted)

    def _close(self, more: int, turns: int) -> None:
        """Count the records, and go on with the numbers after those that this batch may have."""
        self._db.execute(
            "UPDATE feed SET record_count = record_count + ?, version = ?,"
            " next_sequence = next_sequence + ? WHERE id = ?",
            (more, self._version, turns, self._feed.id),
        )

    def _stored(self, keys: Iterable[str]) -> dict[str, tuple[Any, ...]]:
        rows = self._db.execute(
            "SELECT key, id, created, emitted, version, stamps, time, cells, data FROM record"
            " WHERE owner = ? AND feed = ? AND key IN (SELECT value FROM json_each(?))",
            (OWNER, self._feed.id, orjson.dumps(list(keys)).decode()),
        )
        return {row[0]: row for row in rows}

    def _update(self, pack: bytes, old: tuple[Any, ...]) -> None:
        key, number, created, emitted, _, stamps, time, cells, data = old
        head, text = head_of(pack), data_of(pack)
        before, after = orjson.loads(data), orjson.loads(text)
        marks = orjson.loads(stamps) if stamps else {}
        for name in _changed(before, after):
            marks[name] = (self._version, head.emitted)
        if time != head.time:
            moves = [*marks.get(MOVES, []), (self._version, head.emitted, time)]
            for version, at, _ in moves[:-_MOST_MOVES]:
                created, emitted = version, at
            marks[MOVES] = moves[-_MOST_MOVES:]
            self._leave_ghost(key, time, head.emitted)
        stamp = (created, emitted, self._version, orjson.dumps(marks).decode())
        row = (number, OWNER, self._feed.id, key, *stamp, head.time, self._field_set(pack))
        self._work.changed.append((*row, head.digest, orjson.dumps(head.cells).decode(), text))
        self._swap_cells(key, number, orjson.loads(cells), head.cells)
        self._swap_words(number, words_of(self._feed, before), words_of(self._feed, after))
        self._swap_blobs(key, blobs_of(self._feed, before), blobs_of(self._feed, after))

    def _remove(self, key: str, old: tuple[Any, ...], emitted: int) -> None:
        _, number, _, _, _, _, time, cells, data = old
        before = orjson.loads(data)
        self._work.records_gone.append((number,))
        self._swap_cells(key, number, orjson.loads(cells), None)
        self._swap_words(number, words_of(self._feed, before), {})
        self._swap_blobs(key, blobs_of(self._feed, before), ())
        self._leave_ghost(key, time, emitted)

    @cached_property
    def _field_set_numbers(self) -> list[int]:
        return [self._field_sets.number(self._db, names) for names in self._batch.field_sets]

    def _field_set(self, pack: bytes) -> int:
        return self._field_set_numbers[field_set_of(pack)]

    def _swap_cells(
        self, key: str, number: int, before: list[CellValue], after: list[CellValue] | None
    ) -> None:
        for place, value in enumerate(before):
            if after is None or _differ(after[place], value):
                self._work.cells_gone.append(self._work.cell_key(place, value, key))
                if after is not None:
                    self._work.add_cell(place, after[place], key, number)

    def _swap_words(self, number: int, before: Mapping[int, str], after: Mapping[int, str]) -> None:
        for place, words in before.items():
            if after.get(place) != words:
                self._work.words_gone.append((index_row(number, place),))
        for place, words in after.items():
            if before.get(place) != words:
                self._work.words.append((index_row(number, place), words))

    def _swap_blobs(
        self, key: str, before: Iterable[tuple[str, str]], after: Iterable[tuple[str, str]]
    ) -> None:
        old, new = set(before), set(after)
        for name, blob_id in old - new:
            self._work.blobs_gone.append((OWNER, blob_id, self._feed.id, name, key))
        for name, blob_id in new - old:
            self._work.use_blob(key, name, blob_id)

    def _leave_ghost(self, key: str, time: int | None, emitted: int) -> None:
        self._work.ghosts.append((OWNER, self._feed.id, self._version, key, time, emitted))


def _changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterable[str]:
    """Return the members that differ in value or in kind, or stand on one side only."""
    for name in sorted(before.keys() | after.keys()):
        on_both = name in before and name in after
        if not on_both or canonical(before[name]) != canonical(after[name]):
            yield name


def _differ(one: CellValue, other: CellValue) -> bool:
    """Tell whether cells are not the same to the letter: 1 and 1.0 compare alike and show apart."""
    return one != other or (isinstance(one, int | float) and repr(one) != repr(other))
