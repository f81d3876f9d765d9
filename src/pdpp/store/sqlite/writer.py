"""Writing a batch: records, their cells, their words, and the traces that changes need."""

from collections.abc import Iterable, Mapping
from typing import Any

import apsw
import orjson

from pdpp.store.catalogue import Feed
from pdpp.store.cell import CellValue
from pdpp.store.port import Written
from pdpp.store.sqlite.draft import CANONICAL, Draft, Drafts, blobs_of, words_of
from pdpp.store.sqlite.layout import index_row, record_number
from pdpp.store.sqlite.lens import MOVES
from pdpp.store.sqlite.predicate import SUBJECT
from pdpp.store.sqlite.shapes import Shapes
from pdpp.store.sqlite.work import Work

_MOST_MOVES = 32


class BatchWriter:
    """Applies one batch to one feed inside a write transaction."""

    def __init__(self, db: apsw.Connection, feed: Feed, shapes: Shapes, now: int) -> None:
        self._db = db
        self._feed = feed
        self._shapes = shapes
        self._version, self._sequence = self._open(now)
        self._work = Work(feed, self._version)
        self._shape_numbers: dict[tuple[str, ...], int] = {}

    def _open(self, now: int) -> tuple[int, int]:
        last, sequence = next(
            self._db.execute(
                "SELECT version, next_sequence FROM feed WHERE id = ?", (self._feed.id,)
            )
        )
        return max(last + 1, now), sequence

    def write(self, drafts: Drafts) -> Written:
        """Bring each key to its draft, or away where there is none."""
        stored = self._stored(drafts)
        new = changed = unchanged = deleted = 0
        for key, wanted in drafts.items():
            old = stored.get(key)
            if isinstance(wanted, int):
                deleted += old is not None
                unchanged += old is None
                if old is not None:
                    self._remove(key, old, wanted)
            elif old is None:
                new += 1
                self._insert(wanted)
            elif bytes(old[8]) == wanted.data:
                unchanged += 1
            else:
                changed += 1
                self._update(wanted, old)
        if new or changed or deleted:
            self._work.carry_out(self._db)
            self._db.execute(
                "UPDATE feed SET record_count = record_count + ?, version = ?, next_sequence = ?"
                " WHERE id = ?",
                (new - deleted, self._version, self._sequence, self._feed.id),
            )
        return Written(new, changed, unchanged, deleted)

    def _stored(self, keys: Iterable[str]) -> dict[str, tuple[Any, ...]]:
        rows = self._db.execute(
            "SELECT key, id, created, emitted, version, stamps, time, cells, data FROM record"
            " WHERE subject = ? AND feed = ? AND key IN (SELECT value FROM json_each(?))",
            (SUBJECT, self._feed.id, orjson.dumps(list(keys)).decode()),
        )
        return {row[0]: row for row in rows}

    def _insert(self, wanted: Draft) -> None:
        number = record_number(self._feed.id, self._sequence)
        self._sequence += 1
        self._work.add(number, wanted, self._shape(wanted.names))

    def _update(self, wanted: Draft, old: tuple[Any, ...]) -> None:
        key, number, created, emitted, _, stamps, time, cells, data = old
        before, after = orjson.loads(data), orjson.loads(wanted.data)
        marks = orjson.loads(stamps) if stamps else {}
        for name in _changed(before, after):
            marks[name] = (self._version, wanted.emitted)
        if time != wanted.time:
            moves = [*marks.get(MOVES, []), (self._version, wanted.emitted, time)]
            for version, at, _ in moves[:-_MOST_MOVES]:
                created, emitted = version, at
            marks[MOVES] = moves[-_MOST_MOVES:]
            self._leave_ghost(key, time, wanted.emitted)
        stamp = (created, emitted, self._version, orjson.dumps(marks).decode())
        self._work.changed.append(self._row(number, wanted, stamp))
        self._swap_cells(key, number, orjson.loads(cells), wanted.cells)
        self._swap_words(number, words_of(self._feed, before), wanted.words)
        self._swap_blobs(key, frozenset(blobs_of(self._feed, before)), wanted.blobs)

    def _remove(self, key: str, old: tuple[Any, ...], emitted: int) -> None:
        _, number, _, _, _, _, time, cells, data = old
        before = orjson.loads(data)
        self._work.records_gone.append((number,))
        self._swap_cells(key, number, orjson.loads(cells), None)
        self._swap_words(number, words_of(self._feed, before), {})
        self._swap_blobs(key, frozenset(blobs_of(self._feed, before)), frozenset())
        self._leave_ghost(key, time, emitted)

    def _row(self, number: int, wanted: Draft, stamp: tuple[Any, ...]) -> tuple[Any, ...]:
        return (
            number,
            SUBJECT,
            self._feed.id,
            wanted.key,
            *stamp,
            wanted.time,
            self._shape(wanted.names),
            wanted.digest,
            wanted.cells_json,
            wanted.data,
        )

    def _shape(self, names: tuple[str, ...]) -> int:
        number = self._shape_numbers.get(names)
        if number is None:
            number = self._shape_numbers[names] = self._shapes.number(self._db, names)
        return number

    def _swap_cells(
        self, key: str, number: int, before: list[CellValue], after: list[CellValue] | None
    ) -> None:
        for place, value in enumerate(before):
            if after is None or _differ(after[place], value):
                self._work.cells_gone.append(self._work.cell_key(place, value, key))
                if after is not None:
                    self._work.add_cell(place, after[place], key, number)

    def _swap_words(self, number: int, before: dict[int, str], after: dict[int, str]) -> None:
        for place, words in before.items():
            if after.get(place) != words:
                self._work.words_gone.append((index_row(number, place),))
        self._work.add_words(
            number,
            {place: words for place, words in after.items() if before.get(place) != words},
        )

    def _swap_blobs(
        self, key: str, before: frozenset[tuple[str, str]], after: frozenset[tuple[str, str]]
    ) -> None:
        for name, blob_id in before - after:
            self._work.blobs_gone.append((SUBJECT, blob_id, self._feed.id, name, key))
        for name, blob_id in after - before:
            self._work.blobs.append((SUBJECT, blob_id, self._feed.id, name, key))

    def _leave_ghost(self, key: str, time: int | None, emitted: int) -> None:
        self._work.ghosts.append((SUBJECT, self._feed.id, self._version, key, time, emitted))


def _changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterable[str]:
    """Return the members that differ in value or in kind, or stand on one side only."""
    for name in sorted(before.keys() | after.keys()):
        on_both = name in before and name in after
        if not on_both or _canonical(before[name]) != _canonical(after[name]):
            yield name


def _differ(one: CellValue, other: CellValue) -> bool:
    """Tell whether cells are not the same to the letter: 1 and 1.0 compare alike and show apart."""
    return one != other or (isinstance(one, int | float) and repr(one) != repr(other))


def _canonical(value: Any) -> bytes:
    return orjson.dumps(value, option=CANONICAL)
