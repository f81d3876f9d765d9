"""Vectors of meaning in the tables of either engine, and how near they are to a question's."""

from collections.abc import Callable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

import orjson

from pdpp.model.declaration import Stream
from pdpp.store.catalogue import Catalogue
from pdpp.store.meaning import PendingTexts, TextVector, has_meaning
from pdpp.store.numbers import read_data
from pdpp.store.scope import Reach
from pdpp.store.tables.database import TableConnection, TableReader
from pdpp.store.tables.positions import IndexedFeed, indexed
from pdpp.store.tables.records.long_values import whole_data
from pdpp.store.tables.records.predicate import OWNER
from pdpp.store.tables.records.visible_way import source

if TYPE_CHECKING:
    from pdpp.store.tables.database import TableDatabase

_NO_FIELD = -1
"""The place of the row that says that a record was looked at, whatever texts it has."""


class TableMeaning:
    """Fulfils the port of vectors."""

    def __init__(self, database: "TableDatabase", catalogue: Callable[[], Catalogue]) -> None:
        self._db = database
        self._catalogue = catalogue

    def _wanted(self) -> list[IndexedFeed]:
        off = self.off()
        feeds = (indexed(feed) for feed in self._catalogue().feeds.values())
        return [feed for feed in feeds if feed.address not in off and places_of(feed)]

    def pending(self, most: int) -> Sequence[PendingTexts]:
        """Return some records that have no vectors yet."""
        wanted = self._wanted()
        with self._db.reading(None):
            for feed in wanted:
                rows: list[Any] = self._db.reader.execute(
                    "SELECT r.id, r.surrogate, r.data FROM record r"
                    " WHERE r.owner = ? AND r.feed = ? AND NOT EXISTS"
                    " (SELECT 1 FROM meaning m WHERE m.feed = r.feed AND m.record = r.id"
                    " AND m.place = ?) LIMIT ?",
                    (OWNER, feed.id, _NO_FIELD, most),
                ).fetchall()
                if rows:
                    return [_texts(self._db.reader, feed, *row) for row in rows]
        return []

    def progress(self) -> tuple[int, int]:
        """Return how many records have their vectors, and how many are to have them."""
        wanted = orjson.dumps([feed.id for feed in self._wanted()]).decode()
        with self._db.reading(None):
            db = self._db.reader
            done: Any = db.execute("SELECT count(*) FROM meaning WHERE place = ?", (_NO_FIELD,)).get
            total: Any = db.execute(
                "SELECT coalesce(sum(record_count), 0) FROM feed"
                " WHERE id IN (SELECT value FROM json_each(?))",
                (wanted,),
            ).get
        return done, total

    def keep(self, done: Sequence[PendingTexts], vectors: Sequence[TextVector]) -> None:
        """Keep the vectors of some records that are still as they were when they were pending."""
        by_record: dict[int, list[TextVector]] = {}
        for vector in vectors:
            by_record.setdefault(vector.record, []).append(vector)
        rows: list[tuple[int, int, int, bytes]] = []
        with self._db.writing() as db:
            # Asked in this turn: a stream may have been turned off, or a field become sensitive,
            # up to the moment at which nobody else writes.
            feeds = {feed.id: feed for feed in self._wanted()}
            for item in done:
                feed = feeds.get(item.feed)
                if feed is None or _current(db, feed, item) != item:
                    continue
                rows.append((item.feed, item.record, _NO_FIELD, b""))
                rows += [
                    (item.feed, item.record, feed.lexical[vector.field], vector.vector)
                    for vector in by_record.get(item.record, ())
                ]
            db.executemany("REPLACE INTO meaning VALUES (?, ?, ?, ?)", rows)

    def shown(self, reach: Reach) -> frozenset[str]:
        """Return the visible fields of which a visible record has a vector."""
        rows = source(self._db.reader, reach)
        places = places_of(indexed(reach.feed))
        names = set()
        for name in places.keys() & set(reach.searched_fields()):
            row = next(
                self._db.reader.execute(
                    f"SELECT 1 {rows.text} AND"
                    " (SELECT 1 FROM meaning m WHERE m.feed = r.feed AND m.record = r.id"
                    " AND m.place = ?) IS NOT NULL LIMIT 1",
                    (*rows.values, places[name]),
                ),
                None,
            )
            if row is not None:
                names.add(name)
        return frozenset(names)

    def off(self) -> frozenset[tuple[str, str]]:
        """Return the streams that the owner keeps out of it."""
        with self._db.reading(None):
            rows: list[Any] = self._db.reader.execute(
                "SELECT connection_id, stream FROM meaning_off WHERE owner = ?", (OWNER,)
            ).fetchall()
        return frozenset((connection_id, stream) for connection_id, stream in rows)

    def turn(self, address: tuple[str, str], *, on: bool) -> None:
        """Let a stream be searched by meaning or not."""
        feed = self._catalogue().feeds.get(address)
        with self._db.writing() as db:
            if on:
                db.execute(
                    "DELETE FROM meaning_off WHERE owner = ? AND connection_id = ? AND stream = ?",
                    (OWNER, *address),
                )
            else:
                db.execute("INSERT OR IGNORE INTO meaning_off VALUES (?, ?, ?)", (OWNER, *address))
                if feed is not None:
                    forget_feed(db, indexed(feed).id)

    def forget(self) -> None:
        """Delete all vectors."""
        with self._db.writing() as db:
            db.execute("DELETE FROM meaning")


def places_of(feed: IndexedFeed) -> dict[str, int]:
    """Return the fields of a feed that get vectors, each with its place."""
    return places_with_meaning(feed.lexical, feed.stream)


def places_with_meaning(lexical: Mapping[str, int], stream: Stream) -> dict[str, int]:
    """Return which of the searched fields of a stream get vectors, each with its place."""
    fields = stream.fields
    return {
        name: place
        for name, place in lexical.items()
        if name in fields and has_meaning(fields[name])
    }


def _texts(
    db: TableReader, feed: IndexedFeed, number: int, surrogate: int, data: bytes
) -> PendingTexts:
    record = read_data(whole_data(db, feed.id, surrogate, data))
    values = {name: record.get(name) for name in places_of(feed)}
    texts = {name: text for name, text in values.items() if isinstance(text, str) and text.strip()}
    return PendingTexts(feed.id, number, texts)


def _current(db: TableReader, feed: IndexedFeed, item: PendingTexts) -> PendingTexts | None:
    row: Any = next(
        db.execute(
            "SELECT surrogate, data FROM record WHERE id = ? AND feed = ?", (item.record, feed.id)
        ),
        None,
    )
    return None if row is None else _texts(db, feed, item.record, *row)


def remove(db: TableConnection, feed: int, numbers: Sequence[int]) -> None:
    """Delete the vectors of records that are gone."""
    db.executemany(
        "DELETE FROM meaning WHERE feed = ? AND record = ?", [(feed, number) for number in numbers]
    )


def remove_changed(
    db: TableConnection, feed: IndexedFeed, changes: Sequence[tuple[int, Set[str]]]
) -> None:
    """Delete the vectors of texts that changed, each given by its record and the fields.

    The others stay: a change that a grant hides must not take away what makes its hits.
    """
    places = places_of(feed)
    gone = [
        (feed.id, number, place)
        for number, names in changes
        if (changed := names & places.keys())
        for place in (_NO_FIELD, *(places[name] for name in changed))
    ]
    db.executemany("DELETE FROM meaning WHERE feed = ? AND record = ? AND place = ?", gone)


def follow_declaration(db: TableConnection, feed: IndexedFeed, had: Mapping[str, int]) -> None:
    """Delete the vectors of fields that are to have none any more; have new fields get theirs.

    ``had`` are the fields that got vectors until now, each with its place. What is as it was keeps
    its vectors: a change of what a grant hides must not take away what makes its hits.
    """
    fields = places_of(feed).items()
    if fields - had.items():
        # Every record is looked at again.
        db.execute("DELETE FROM meaning WHERE feed = ? AND place = ?", (feed.id, _NO_FIELD))
    kept = ", ".join(map(str, (_NO_FIELD, *(place for _, place in fields & had.items()))))
    db.execute(f"DELETE FROM meaning WHERE feed = ? AND place NOT IN ({kept})", (feed.id,))


def keep_out_too(db: TableConnection, address: tuple[str, str], target_id: str, feed: int) -> None:
    """Keep a stream of a connection out of it, and its feed, where that of another one is."""
    db.execute(
        "INSERT OR IGNORE INTO meaning_off SELECT owner, ?, stream FROM meaning_off"
        " WHERE owner = ? AND connection_id = ? AND stream = ?",
        (target_id, OWNER, *address),
    )
    if db.changes():
        forget_feed(db, feed)


def forget_feed(db: TableConnection, feed: int) -> None:
    """Delete all vectors of a feed."""
    db.execute("DELETE FROM meaning WHERE feed = ?", (feed,))
