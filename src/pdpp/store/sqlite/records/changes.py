"""What changed: records whose visible part changed after a version, and those that went away.

Versions are clock readings in microseconds that never repeat or go back within a feed, one for
each batch. A change is placed by the last write that altered a field the reach shows, so that a
write to a hidden field neither adds a change nor moves one.
"""

from collections.abc import Iterator
from heapq import merge
from typing import Any

import apsw

from pdpp.model.grant import Interval
from pdpp.store.port import ChangePage, ChangeQuery, Record, Tombstone
from pdpp.store.scope import Reach
from pdpp.store.sqlite.records.predicate import OWNER, Sql, records_where
from pdpp.store.sqlite.records.projection import COLUMNS, Projectors, visible_stamp

_Place = tuple[int, str]
_Change = tuple[_Place, Record | Tombstone]


class ChangeReader:
    """Reads the changes of one reach through one connection."""

    def __init__(self, db: apsw.Connection, projector: Projectors) -> None:
        self._db = db
        self._projector = projector

    def changes(self, query: ChangeQuery) -> ChangePage:
        """Return one page of changes in order of version."""
        ways = [self._untouched(query), self._edited(query)]
        if query.tombstones:
            ways.append(self._gone(query))
        found: list[Record | Tombstone] = []
        last = query.after
        for place, change in merge(*ways, key=lambda change: change[0]):
            if len(found) == query.limit:
                return ChangePage(tuple(found), last, True)
            found.append(change)
            last = place
        return ChangePage(tuple(found), last, False)

    def _untouched(self, query: ChangeQuery) -> Iterator[_Change]:
        """Yield records as they were first written; most are."""
        where = records_where(query.reach)
        sql = (
            Sql(f"SELECT r.version, {COLUMNS} FROM record r WHERE")
            + where
            + Sql("AND r.stamps IS NULL AND (r.version, r.key) > (?, ?)", query.after)
            + Sql("AND r.version <= ? ORDER BY r.version, r.key", (query.horizon,))
        )
        for row in self._db.execute(sql.text, sql.values):
            version, key, *_ = row
            yield (version, key), self._record(query, row)

    def _edited(self, query: ChangeQuery) -> Iterator[_Change]:
        """Yield records that were written more than once, placed by what the reach shows."""
        where = records_where(query.reach)
        sql = (
            Sql(f"SELECT r.version, {COLUMNS} FROM record r WHERE")
            + where
            + Sql("AND r.stamps IS NOT NULL AND r.version > ?", (query.after[0] - 1,))
        )
        placed: list[tuple[_Place, tuple[Any, ...]]] = []
        for row in self._db.execute(sql.text, sql.values):
            _, key, _, _, _, created, emitted, stamps = row
            version, _ = visible_stamp(query.reach, created, emitted, stamps)
            if query.after < (version, key) and version <= query.horizon:
                placed.append(((version, key), row))
        placed.sort(key=lambda item: item[0])
        for place, row in placed:
            yield place, self._record(query, row)

    def _gone(self, query: ChangeQuery) -> Iterator[_Change]:
        """Yield tombstones of records the reach showed once and shows no more."""
        reach = query.reach
        feed = Sql("owner = ? AND feed = ?", (OWNER, reach.feed.id))
        sql = (
            Sql("SELECT * FROM (SELECT max(version) AS version, key, emitted FROM ghost WHERE")
            + feed
            + Sql("AND version >= ? AND version <= ?", (query.after[0], query.horizon))
            + _within(reach.time)
            + Sql("GROUP BY key) WHERE (version, key) > (?, ?)", query.after)
            + Sql("ORDER BY version, key")
        )
        for version, key, emitted in self._db.execute(sql.text, sql.values):
            allowed = reach.keys is None or key in reach.keys
            if allowed and not self._shown(reach, key):
                token = f"{version:016x}"
                yield (version, key), Tombstone(reach, key, emitted, version, token)

    def latest_trace(self, reach: Reach) -> int:
        """Return the version of the last record that went away from what a reach shows, else 0."""
        sql = (
            Sql("SELECT version, key FROM ghost WHERE owner = ?", (OWNER,))
            + Sql("AND feed = ?", (reach.feed.id,))
            + _within(reach.time)
            + Sql("ORDER BY version DESC, key DESC")
        )
        for version, key in self._db.execute(sql.text, sql.values):
            allowed = reach.keys is None or key in reach.keys
            if allowed and not self._shown(reach, key):
                return int(version)
        return 0

    def _shown(self, reach: Reach, key: str) -> bool:
        where = records_where(reach)
        sql = f"SELECT 1 FROM record r WHERE {where.text} AND r.key = ?"
        return next(self._db.execute(sql, (*where.values, key)), None) is not None

    def _record(self, query: ChangeQuery, row: tuple[Any, ...]) -> Record:
        return self._projector(query.reach, query.select).record(row)


def _within(interval: Interval | None) -> Sql:
    """Return the condition that a ghost had been inside a stretch of time."""
    if interval is None:
        return Sql("")
    sql = Sql("AND time IS NOT NULL")
    if interval.since is not None:
        sql += Sql("AND time >= ?", (interval.since,))
    if interval.until is not None:
        sql += Sql("AND time < ?", (interval.until,))
    return sql
