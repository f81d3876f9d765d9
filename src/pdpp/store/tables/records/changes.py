"""What changed: records whose visible part changed after a version, and those that went away.

Versions are clock readings in microseconds that never repeat or go back within a feed, one for
each batch. A change stands at the last write that altered a field the reach shows, so that a write
to a hidden field neither adds a change nor moves one; within one version records follow each other
by their surrogates. A page reads rows of indexes in this order, a few more than it shows.
"""

from collections.abc import Iterator, Sequence
from heapq import merge

from pdpp.model.errors import InvalidCursor
from pdpp.model.grant import Interval
from pdpp.store.query import PAGE_BYTES, ChangePage, ChangePosition, ChangeQuery, Record, Tombstone
from pdpp.store.scope import Reach
from pdpp.store.tables.database import TableReader
from pdpp.store.tables.records.long_values import long_name
from pdpp.store.tables.records.predicate import (
    OWNER,
    Sql,
    keyed_rows,
    limits_where,
    records_where,
)
from pdpp.store.tables.records.projection import COLUMNS, CountBytes, Projectors, Row, fetched
from pdpp.store.tables.records.stamps import CREATED, MOVED, last_visible
from pdpp.store.tables.records.visible_way import page_way

_Place = tuple[int, int]
"""A version and a surrogate."""

_Change = tuple[_Place, Record | Tombstone]

_CHUNK = 128

EDITED_FIELDS = """
    WITH RECURSIVE edited (field) AS (
      SELECT min(field) FROM edit WHERE owner = :owner AND feed = :feed
      UNION ALL
      SELECT (SELECT min(field) FROM edit
              WHERE owner = :owner AND feed = :feed AND field > edited.field)
      FROM edited WHERE edited.field IS NOT NULL
    )
    SELECT field FROM edited WHERE field IS NOT NULL LIMIT :most
"""
"""One look into the index for each field, however many rows there are."""


class ChangeReader:
    """Reads the changes of one reach through one connection."""

    def __init__(self, db: TableReader, projector: Projectors, count: CountBytes) -> None:
        self._db = db
        self._projector = projector
        self._count = count

    def changes(self, query: ChangeQuery) -> ChangePage:
        """Return one page of changes in order of version."""
        ways = self._written(query)
        if query.tombstones:
            ways.append(self._gone(query))
        changes: list[Record | Tombstone] = []
        last: _Place | None = None
        total = 0
        # Each way is in order by itself, so a page takes from each only what it shows.
        for place, change in merge(*ways, key=lambda change: change[0]):
            if place == last:
                continue  # several fields of one record changed in one write
            total += len(change.data) if isinstance(change, Record) else 0
            if len(changes) == query.limit or (changes and total > PAGE_BYTES):
                return ChangePage(tuple(changes), self._position(query, last), True)
            changes.append(change)
            last = place
        return ChangePage(tuple(changes), self._position(query, last), False)

    def _position(self, query: ChangeQuery, last: _Place | None) -> ChangePosition:
        if last is None:
            return query.after
        return ChangePosition(last[0], self._projector(query.reach, None).seal.seal(last[1]))

    def _after(self, query: ChangeQuery, alias: str) -> Sql:
        """Return the condition that something stands after the position of a query."""
        version, surrogate = self._place_after(query)
        if surrogate is None:
            return Sql(f"AND {alias}.version > ?", (version,))
        return _behind(alias, (version, surrogate))

    def _place_after(self, query: ChangeQuery) -> tuple[int, int | None]:
        """Return the place of a query: a version, and a record where it is in the middle of one."""
        version, mark = query.after
        if mark is None:
            return version, None
        surrogate = self._projector(query.reach, None).seal.open(mark)
        if surrogate is None:
            raise InvalidCursor("This cursor is not from here; start again without it.")
        return version, surrogate

    def _written(self, query: ChangeQuery) -> list[Iterator[_Change]]:
        """Return the ways to records in the order of their last visible write."""
        reach = query.reach
        way = page_way(self._db, reach) if reach.restricted else None
        if way is not None:
            return [self._of_few(query, way)]
        once = self._in_order(query, _written_once(reach), "r")
        walked = self._edited_fields(reach)
        if walked is None:
            return [once, self._in_order(query, _last_edited(reach), "r")]
        # One walk for each visible field: the index by version would lead through writes to hidden
        # fields, and their number could be measured.
        fields = [CREATED, *walked] if reach.time is None else [CREATED, *walked, MOVED]
        ways = (_by_edit(reach, field) for field in fields)
        return [once, *(self._in_order(query, way, "e") for way in ways)]

    def _edited_fields(self, reach: Reach) -> Sequence[str | bytes] | None:
        """Return the visible fields that may have been edited, None where no hidden one was.

        Then the last write is the last visible one: one index in place of one for each field. No
        more fields are looked at than are visible: there may be any number of hidden ones.
        """
        if reach.fields is None:
            return None
        # Names that are longer than an index takes once stood there as they are.
        visible = {*reach.fields, *map(long_name, reach.fields)}
        most = len(visible | {CREATED, MOVED}) + 1
        asked = {"owner": OWNER, "feed": reach.feed.id, "most": most}
        listed = {row[0] for row in self._db.execute(EDITED_FIELDS, asked)}
        edited = listed - {CREATED, MOVED}
        if edited <= visible:
            return None
        return sorted(visible if len(listed) == most else edited & visible)

    def _of_few(self, query: ChangeQuery, way: Sql) -> Iterator[_Change]:
        """Yield the records of a narrow reach, without looking at what else was written."""
        reach = query.reach
        stamped = Sql("SELECT r.created, r.surrogate, r.emitted, r.stamps FROM") + way
        places = sorted(
            (created if stamps is None else last_visible(reach, created, emitted, stamps)[0], mark)
            for created, mark, emitted, stamps in self._db.execute(stamped.text, stamped.values)
        )
        version, last = self._place_after(query)
        for place in places:
            later = place[0] > version if last is None else place > (version, last)
            if later and place[0] <= query.horizon:
                sql = Sql(f"SELECT NULL, {COLUMNS} FROM record r WHERE") + records_where(reach)
                sql += Sql("AND r.surrogate = ?", (place[1],))
                for row in fetched(self._db.execute(sql.text, sql.values), self._count):
                    yield place, self._projector(reach, query.select).record(row)

    def _in_order(self, query: ChangeQuery, way: Sql, alias: str) -> Iterator[_Change]:
        """Yield the records along a way whose last visible write is where they stand on it."""
        for row in self._rows(query, way, alias):
            version, surrogate = row[:2]
            if self._stands(query.reach, row):
                record = self._projector(query.reach, query.select).record(row)
                yield (version, surrogate), record

    def _rows(self, query: ChangeQuery, way: Sql, alias: str) -> Iterator[Row]:
        """Yield rows in order, a chunk at a time: no statement stays open in between."""
        # One more than the page, to know whether there is another.
        after, size = self._after(query, alias), min(query.limit + 1, _CHUNK)
        while True:
            sql = (
                way
                + after
                + Sql(f"AND {alias}.version <= ?", (query.horizon,))
                + Sql(f"ORDER BY {alias}.version, {alias}.surrogate LIMIT ?", (size,))
            )
            rows = fetched(self._db.execute(sql.text, sql.values), self._count)
            yield from rows
            if len(rows) < size:
                return
            after = _behind(alias, rows[-1][:2])

    def _stands(self, reach: Reach, row: Row) -> bool:
        # The columns are those of COLUMNS behind the version that the way walks by.
        version, _, _, _, _, _, created, emitted, stamps = row
        if stamps is None:
            return bool(version == created)
        return bool(last_visible(reach, created, emitted, stamps)[0] == version)

    def _gone(self, query: ChangeQuery) -> Iterator[_Change]:
        """Yield tombstones of records the reach showed once and shows no more."""
        reach, projector = query.reach, self._projector(query.reach, None)
        last_traces = _by_trace(reach) + _without_a_later_one(reach, query.horizon)
        for version, surrogate, key, emitted in self._rows(query, last_traces, "g"):
            # A record that left the reach's time was emitted as what the reach does not show,
            # mostly at its new time: it looks like one that was deleted when it left.
            shown_emission = emitted if reach.time is None else version
            yield (
                (version, surrogate),
                Tombstone(
                    reach,
                    projector.id(surrogate, key),
                    projector.emitted(version, shown_emission),
                    projector.emitted(version, version),
                    projector.tombstone_version(version, surrogate),
                ),
            )

    def latest_trace(self, reach: Reach) -> int:
        """Return the version of the last record that went away from what a reach shows, else 0."""
        # No limit: for one row a planner may walk by version, through traces that are hidden.
        sql = _by_trace(reach) + Sql("ORDER BY g.version DESC, g.surrogate DESC")
        row = next(self._db.execute(sql.text, sql.values), None)
        return 0 if row is None else int(row[0])


def _written_once(reach: Reach) -> Sql:
    # The order of this index is the order of the page; any other plan sorts the whole feed for each
    # page.
    way = f"SELECT r.version, {COLUMNS} FROM record r INDEXED BY record_once WHERE"
    return Sql(way) + records_where(reach) + Sql("AND r.stamps IS NULL")


def _last_edited(reach: Reach) -> Sql:
    way = f"SELECT r.version, {COLUMNS} FROM record r INDEXED BY record_edited WHERE"
    return Sql(way) + records_where(reach) + Sql("AND r.stamps IS NOT NULL")


def _by_edit(reach: Reach, field: str | bytes) -> Sql:
    return (
        # CROSS JOIN is a fence for the planner: it has to walk the edits in their order and look up
        # each record, never sort the records.
        Sql(f"SELECT e.version, {COLUMNS} FROM edit e CROSS JOIN record r")
        + Sql("ON r.owner = e.owner AND r.feed = e.feed AND r.surrogate = e.surrogate")
        + Sql("WHERE e.owner = ? AND e.feed = ?", (OWNER, reach.feed.id))
        + Sql("AND e.field = ?", (field,))
        + limits_where(reach)
    )


def _by_trace(reach: Reach) -> Sql:
    """Return the traces of records that a reach showed once and shows no more."""
    # The traces of hidden records are not looked at.
    if reach.keys is not None:
        rows = keyed_rows("ghost", "g", reach.feed.id, reach.keys) + Sql("WHERE 1")
    else:
        index = "" if reach.time is None else "INDEXED BY ghost_time"
        feed = (OWNER, reach.feed.id)
        rows = Sql(f"ghost g {index} WHERE g.owner = ? AND g.feed = ?", feed)
    traces = Sql("SELECT g.version, g.surrogate, g.key, g.emitted FROM")
    return traces + rows + _within(reach.time) + _is_not_shown(reach)


def _is_not_shown(reach: Reach) -> Sql:
    """Return the condition that the record of a trace is shown no more.

    It is part of the one statement: whenever a record's time changes it leaves a trace, also where
    that is hidden, and a statement for each of them would take ten times as long.
    """
    return (
        Sql("AND (SELECT 1 FROM record r WHERE")
        + records_where(reach)
        + Sql("AND r.surrogate = g.surrogate LIMIT 1) IS NULL")
    )


def _without_a_later_one(reach: Reach, horizon: int) -> Sql:
    """Return the condition that a record left no later trace; that one is reported instead.

    It is a value and not ``NOT EXISTS``: a planner could read all traces of the feed for that.
    """
    return (
        Sql("AND (SELECT 1 FROM ghost later INDEXED BY ghost_surrogate")
        + Sql("WHERE later.owner = g.owner AND later.feed = g.feed")
        + Sql("AND later.surrogate = g.surrogate AND later.version > g.version")
        + Sql("AND later.version <= ?", (horizon,))
        + _within(reach.time, "later")
        + Sql("LIMIT 1) IS NULL")
    )


def _behind(alias: str, place: _Place) -> Sql:
    return Sql(f"AND ({alias}.version, {alias}.surrogate) > (?, ?)", place)


def _within(interval: Interval | None, alias: str = "g") -> Sql:
    """Return the condition that a ghost had been inside a stretch of time."""
    if interval is None:
        return Sql("")
    sql = Sql(f"AND {alias}.time IS NOT NULL")
    if interval.since is not None:
        sql += Sql(f"AND {alias}.time >= ?", (interval.since,))
    if interval.until is not None:
        sql += Sql(f"AND {alias}.time < ?", (interval.until,))
    return sql
