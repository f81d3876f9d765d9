"""Work: the rows of one batch, gathered so that each table is written in one go.

A statement for each row would take and leave the interpreter's lock each time, and no other thread
would come to run in between. New rows are therefore handed over packed, a whole table at once.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import apsw
import orjson

from pdpp.model.declaration import TIMES, Kind
from pdpp.store.catalogue import Feed
from pdpp.store.cell import CellValue
from pdpp.store.sqlite import lengths
from pdpp.store.sqlite.draft import Draft
from pdpp.store.sqlite.layout import index_row
from pdpp.store.sqlite.predicate import ABSENT, SUBJECT

_THIRTEEN = "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_HEAD = 9
_ROW = 19
"""How many digits the length of a head, and the number of a row, take at the front of a pack."""
_HEAD_FORM, _ROW_FORM = f"%{_HEAD}d".encode(), f"%{_ROW}d".encode()

_EXACT = frozenset({Kind.TEXT, Kind.BOOLEAN, *TIMES})
"""The kinds of field whose cells JSON says exactly: texts and whole numbers of one word."""

_NEW_RECORDS = f"""
    INSERT INTO record
    SELECT head ->> 0, :subject, :feed, head ->> 1, :version, head ->> 2, :version, NULL,
           head ->> 3, head ->> 4, head ->> 5, head ->> 6, data
    FROM (
      SELECT CAST(substr(value, {_HEAD + 1}, size) AS TEXT) AS head,
             substr(value, {_HEAD + 1} + size) AS data
      FROM (SELECT value, 0 + CAST(substr(value, 1, {_HEAD}) AS TEXT) AS size FROM carray(:packs))
      LIMIT -1 OFFSET 0
    )
"""
"""The limit keeps the engine from unpacking the head anew for each column."""

_NEW_CELLS = """
    INSERT INTO cell
    SELECT :subject, :feed, held.key, coalesce(held.value, x''), record.key, record.id
    FROM record, json_each(record.cells) AS held
    WHERE record.id BETWEEN :first AND :last
      AND held.key IN (SELECT value FROM json_each(:places))
    ORDER BY 3, 4, 5
"""

_NEW_WORDS = f"""
    INSERT INTO lex (rowid, words)
    SELECT CAST(substr(value, 1, {_ROW}) AS INTEGER), CAST(substr(value, {_ROW + 1}) AS TEXT)
    FROM carray(?)
"""


@dataclass(slots=True)
class Work:
    """What is to be written to one feed, as one version."""

    feed: Feed
    version: int
    changed: list[tuple[Any, ...]] = field(default_factory=list)
    cells: list[tuple[Any, ...]] = field(default_factory=list)
    cells_gone: list[tuple[Any, ...]] = field(default_factory=list)
    words_gone: list[tuple[int]] = field(default_factory=list)
    ghosts: list[tuple[Any, ...]] = field(default_factory=list)
    blobs: list[tuple[Any, ...]] = field(default_factory=list)
    blobs_gone: list[tuple[Any, ...]] = field(default_factory=list)
    records_gone: list[tuple[int]] = field(default_factory=list)
    _packs: list[bytes] = field(default_factory=list)
    _words: list[bytes] = field(default_factory=list)
    _rows: list[int] = field(default_factory=list)
    _texts: list[str] = field(default_factory=list)
    _last: int = 0
    _plain: list[int] = field(default_factory=list)
    _counted: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Tell the fields apart whose cells can be read from JSON.

        The engine reads a fraction in its own way, and a cell has to be found again by the very
        value that was written.
        """
        for place, kind in self.feed.cells.values():
            (self._plain if kind in _EXACT else self._counted).append(place)

    def add(self, number: int, wanted: Draft, shape: int) -> None:
        """Take a new record; numbers come in their order, without a gap."""
        key, emitted, data, digest, _, cells, cells_json, time, words, blobs = wanted
        head = orjson.dumps((number, key, emitted, time, shape, digest, cells_json))
        self._packs.append(_HEAD_FORM % len(head) + head + data)
        self._last = number
        for place in self._counted:
            self.add_cell(place, cells[place], key, number)
        self.add_words(number, words)
        for name, blob_id in blobs:
            self.blobs.append((SUBJECT, blob_id, self.feed.id, name, key))

    def add_cell(self, place: int, value: CellValue, key: str, number: int) -> None:
        """Take one cell."""
        self.cells.append((*self.cell_key(place, value, key), number))

    def cell_key(self, place: int, value: CellValue, key: str) -> tuple[Any, ...]:
        """Return what a cell is found by."""
        return SUBJECT, self.feed.id, place, ABSENT if value is None else value, key

    def add_words(self, number: int, words: Mapping[int, str]) -> None:
        """Take the words of a record, by place."""
        first = index_row(number, 0)
        for place, text in words.items():
            row = first | place
            self._words.append(_ROW_FORM % row + text.encode())
            self._rows.append(row)
            self._texts.append(text)

    def carry_out(self, db: apsw.Connection) -> None:
        """Write everything that was gathered."""
        self._take_away(db)
        if self._packs:
            self._insert(db)
        for sql, rows in (
            (f"INSERT OR REPLACE INTO record VALUES {_THIRTEEN}", self.changed),
            ("INSERT INTO cell VALUES (?, ?, ?, ?, ?, ?)", self.cells),
            ("INSERT OR REPLACE INTO ghost VALUES (?, ?, ?, ?, ?, ?)", self.ghosts),
            ("INSERT OR IGNORE INTO blob_use VALUES (?, ?, ?, ?, ?)", self.blobs),
        ):
            if rows:
                db.executemany(sql, rows)
        if self._words:
            self._words.sort()  # The index takes rows in order many times faster.
            db.execute(_NEW_WORDS, (apsw.carray(tuple(self._words)),))
            lengths.keep(db, self._rows, self._texts)

    def _take_away(self, db: apsw.Connection) -> None:
        for sql, rows in (
            ("DELETE FROM record WHERE id = ?", self.records_gone),
            (
                "DELETE FROM cell WHERE subject = ? AND feed = ? AND field = ? AND value = ?"
                " AND key = ?",
                self.cells_gone,
            ),
            ("DELETE FROM lex WHERE rowid = ?", self.words_gone),
            (
                "DELETE FROM blob_use WHERE subject = ? AND blob_id = ? AND feed = ? AND field = ?"
                " AND key = ?",
                self.blobs_gone,
            ),
        ):
            if rows:
                db.executemany(sql, rows)
        if self.words_gone:
            lengths.forget(db, self.words_gone)

    def _insert(self, db: apsw.Connection) -> None:
        """Write the new records, then from them their cells, in the order of the table."""
        feed = {"subject": SUBJECT, "feed": self.feed.id}
        packs = apsw.carray(tuple(self._packs))
        db.execute(_NEW_RECORDS, {**feed, "version": self.version, "packs": packs})
        if self._plain:
            first = self._last - len(self._packs) + 1
            places = orjson.dumps(self._plain).decode()
            db.execute(_NEW_CELLS, {**feed, "first": first, "last": self._last, "places": places})
