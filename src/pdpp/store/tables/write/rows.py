"""The rows of one batch, gathered so that each table is written in one go."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pdpp.store.cell import CellValue
from pdpp.store.tables import deletion
from pdpp.store.tables.database import TableConnection
from pdpp.store.tables.positions import IndexedFeed
from pdpp.store.tables.records import dated
from pdpp.store.tables.records.filled import filled_places
from pdpp.store.tables.records.long_values import stored_rows
from pdpp.store.tables.records.predicate import ABSENT, OWNER
from pdpp.store.tables.search import index
from pdpp.store.tables.search.block_row import BlockRow
from pdpp.store.tables.search.entry import Indexed
from pdpp.store.tables.write.new_records import NewRecords
from pdpp.store.tables.write.prepared import PreparedBatch

_CHANGE_RECORD = """
    UPDATE record SET version = ?, stamps = ?, time = ?, field_set = ?, digest = ?, cells = ?,
                      data = ?
    WHERE id = ?
"""


@dataclass(slots=True)
class BatchRows:
    """The rows to write to one feed as one version; the first new record is ``first``."""

    feed: IndexedFeed
    version: int
    first: int
    changed: list[tuple[Any, ...]] = field(default_factory=list)
    cells: list[tuple[Any, ...]] = field(default_factory=list)
    cells_gone: list[tuple[Any, ...]] = field(default_factory=list)
    dated_cells: list[tuple[Any, ...]] = field(default_factory=list)
    dated_cells_gone: list[tuple[Any, ...]] = field(default_factory=list)
    words: list[Indexed] = field(default_factory=list)
    words_gone: list[Indexed] = field(default_factory=list)
    texts_changed: list[tuple[int, frozenset[str]]] = field(default_factory=list)
    """Records by their numbers, with the fields that are not what they were."""
    edits: list[tuple[Any, ...]] = field(default_factory=list)
    edits_gone: list[tuple[Any, ...]] = field(default_factory=list)
    ghosts: list[tuple[Any, ...]] = field(default_factory=list)
    blobs: list[tuple[Any, ...]] = field(default_factory=list)
    blobs_gone: list[tuple[Any, ...]] = field(default_factory=list)
    exact: list[tuple[Any, ...]] = field(default_factory=list)
    exact_gone: list[tuple[Any, ...]] = field(default_factory=list)
    long_values: list[tuple[Any, ...]] = field(default_factory=list)
    long_values_gone: list[tuple[Any, ...]] = field(default_factory=list)
    records_gone: list[tuple[int]] = field(default_factory=list)

    def add_cell(self, place: int, value: CellValue, surrogate: int, number: int) -> None:
        """Take one cell."""
        self.cells.append((*self.cell_key(place, value, surrogate), number))

    def cell_key(self, place: int, value: CellValue, surrogate: int) -> tuple[Any, ...]:
        """Return what a cell is found by."""
        return OWNER, self.feed.id, place, ABSENT if value is None else value, surrogate

    def use_blob(self, number: int, name: str, blob_id: str) -> None:
        """Take the use of a blob by a field of a record."""
        self.blobs.append((OWNER, blob_id, self.feed.id, name, number))

    def apply(self, db: TableConnection, field_sets: Sequence[int], batch: PreparedBatch) -> None:
        """Write the new records of a batch, and everything else that was gathered.

        ``field_sets`` are the numbers of the batch's field_sets.
        """
        turns = batch.fresh_turns()
        new = self._new_records(field_sets, batch, turns) if turns else None
        filled = self._fill(db, new)
        if self.changed or self.records_gone:
            self._take_away(db)
            deletion.mark(db)
        if new is not None:
            db.insert_records(new._replace(places=filled))
            self._take_beside(batch, new)
            self._take_long_values(batch, turns)
        for sql, rows in (
            (_CHANGE_RECORD, self.changed),
            ("INSERT INTO edit VALUES (?, ?, ?, ?, ?)", self.edits),
            ("INSERT INTO cell VALUES (?, ?, ?, ?, ?, ?)", self.cells),
            (dated.ADD, self.dated_cells),
            ("INSERT INTO exact_number VALUES (?, ?, ?, ?, ?)", self.exact),
            ("INSERT OR REPLACE INTO ghost VALUES (?, ?, ?, ?, ?, ?, ?)", self.ghosts),
            ("INSERT OR IGNORE INTO blob_use VALUES (?, ?, ?, ?, ?)", self.blobs),
            ("INSERT INTO long_value VALUES (?, ?, ?, ?, ?)", self.long_values),
        ):
            if rows:
                db.executemany(sql, rows)
        if self.feed.lexical:
            self._index(db, batch.fresh_words(self.first))

    def _take_long_values(self, batch: PreparedBatch, turns: Sequence[int]) -> None:
        """Take the long members of new records."""
        if not batch.long_values:
            return
        for turn in turns:
            if values := batch.long_values.get(turn):
                self.long_values += stored_rows(self.feed.id, batch.surrogates[turn], values)

    def _index(self, db: TableConnection, ready: BlockRow | None) -> None:
        """Bring the word index up to date; ``ready`` are the words if nothing else is written."""
        if self.words_gone or self.records_gone or self.texts_changed:
            self._take_out(db)
        places = tuple(self.feed.lexical.values())
        index.add(db, self.feed.id, places, self.words, ready)

    def _take_out(self, db: TableConnection) -> None:
        """Take what is gone or changed out of the indexes of words and of meaning."""
        from pdpp.store.tables.search import meaning, stored_blocks

        stored_blocks.remove(db, self.feed.id, self.words_gone)
        if self.records_gone:
            meaning.remove(db, self.feed.id, [number for (number,) in self.records_gone])
        if self.texts_changed:
            meaning.remove_changed(db, self.feed, self.texts_changed)

    def _take_away(self, db: TableConnection) -> None:
        for sql, rows in (
            ("DELETE FROM record WHERE id = ?", self.records_gone),
            (
                "DELETE FROM cell WHERE owner = ? AND feed = ? AND field = ? AND value = ?"
                " AND surrogate = ?",
                self.cells_gone,
            ),
            (dated.REMOVE, self.dated_cells_gone),
            (
                "DELETE FROM exact_number WHERE owner = ? AND feed = ? AND field = ?"
                " AND surrogate = ?",
                self.exact_gone,
            ),
            (
                "DELETE FROM edit WHERE owner = ? AND feed = ? AND field = ? AND version = ?"
                " AND surrogate = ?",
                self.edits_gone,
            ),
            (
                "DELETE FROM blob_use WHERE owner = ? AND blob_id = ? AND feed = ? AND field = ?"
                " AND record = ?",
                self.blobs_gone,
            ),
            (
                "DELETE FROM long_value WHERE owner = ? AND feed = ? AND surrogate = ?"
                " AND name = ?",
                self.long_values_gone,
            ),
        ):
            if rows:
                db.executemany(sql, rows)

    def _fill(self, db: TableConnection, new: NewRecords | None) -> Sequence[int]:
        """Let the fields that this batch fills have cells, and return all fields that have any."""
        places = self.feed.compared_places
        filled = filled_places(db, self.feed.id, places)
        # A record that was changed lacks what none has had yet.
        brought = {place for _, _, place, value, *_ in self.cells if value != ABSENT}
        if new is not None:
            brought |= {place for place in places if place not in filled and new.fills(place)}
        for place in sorted(brought - filled):
            db.fill_cells(self.feed.id, place)
        return [place for place in places if place in filled or place in brought]

    def _new_records(
        self, field_sets: Sequence[int], batch: PreparedBatch, turns: Sequence[int]
    ) -> NewRecords:
        return NewRecords(
            self.feed.id,
            self.version,
            self.feed.compared_places,
            self.feed.dated,
            [self.first + turn for turn in turns],
            batch.fresh(batch.keys),
            batch.fresh(batch.surrogates),
            batch.fresh(batch.emitted),
            batch.fresh(batch.times),
            [field_sets[number] for number in batch.fresh(batch.set_numbers)],
            batch.fresh(batch.digests),
            batch.fresh(batch.cells),
            batch.fresh(batch.texts),
            batch.fresh_arrangement(),
        )

    def _take_beside(self, batch: PreparedBatch, new: NewRecords) -> None:
        """Take what is kept beside the new records."""
        if batch.entries:
            entries = batch.fresh(batch.entries)
            self.words += map(Indexed, new.ids, new.surrogates, entries)
        for turn, place, key in batch.exact:
            if batch.is_fresh(turn):
                self.exact.append((OWNER, self.feed.id, place, batch.surrogates[turn], key))
        for turn, name, blob_id in batch.uses:
            if batch.is_fresh(turn):
                self.use_blob(self.first + turn, name, blob_id)
