"""Adding up in PostgreSQL: sums are its exact decimals; of other values it counts equal ones."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from pdpp.store.aggregation import AggregateQuery
from pdpp.store.postgres.variant import encode
from pdpp.store.scope import Reach
from pdpp.store.tables.records import aggregates
from pdpp.store.tables.records.aggregates import (
    EARLIEST,
    EXACT,
    MINUTE,
    Aggregator,
    Bucket,
)
from pdpp.store.tables.records.predicate import ABSENT, OWNER, Sql

_FOUR_PLACES = Decimal("0.0000")
"""A sum is written with four decimal places or more, as the embedded engine writes it."""

_CELLS = "FROM cell w WHERE w.owner = ? AND w.feed = ? AND w.field = ? AND"
_ENDS = f"""
    SELECT (SELECT count(*) {_CELLS} w.value = ?),
      (SELECT w.value {_CELLS} w.value >= ? AND w.value < ? ORDER BY w.value LIMIT 1) AS g,
      (SELECT w.value {_CELLS} w.value >= ? AND w.value < ? ORDER BY w.value DESC LIMIT 1) AS m
"""
"""How many cells are empty, and the first and the last value; the names mark what is a variant."""
_WITHIN = f"""
    SELECT e.place, (SELECT count(*) {_CELLS} w.value >= e.low AND w.value < e.high)
    FROM unnest(?::bytea[], ?::bytea[]) WITH ORDINALITY AS e(low, high, place) ORDER BY e.place
"""


class PostgresAggregator(Aggregator):
    """Adds up through a connection to PostgreSQL."""

    def _rows(
        self, reach: Reach, query: AggregateQuery, bucket: Bucket | None
    ) -> Iterator[tuple[Any, ...]]:
        """Yield (group, count, total, least, most, distinct) rows of one reach."""
        rows = super()._rows(reach, query, bucket)
        return rows if query.bucket_by is None else map(_by_minute, rows)

    def _from_ranges(
        self, reach: Reach, place: int, bucket: Bucket
    ) -> list[tuple[Any, ...]] | None:
        """Count the cells between the ends of buckets, all in one statement.

        Whoever walks from one bucket to the next that holds something asks three statements for
        each, which costs nothing in the same process and a way there and back here.
        """
        feed = (OWNER, reach.feed.id, place)
        ends = (*feed, ABSENT, *feed, EARLIEST, ABSENT, *feed, EARLIEST, ABSENT)
        absent, first, last = next(self._db.execute(_ENDS, ends))
        rows: list[tuple[Any, ...]] = [(None, absent, 0, None, None, None)] if absent else []
        if first is None:
            return rows
        starts = [first]
        while (end := bucket(starts[-1])[1]) <= last:
            if len(starts) > aggregates.MOST_RANGES:
                return super()._from_ranges(reach, place, bucket)
            starts.append(end)
        edges = [encode(start) for start in (*starts, end)]
        counted = self._db.execute(_WITHIN, (*feed, edges[:-1], edges[1:]))
        rows += [(starts[at - 1], count, 0, None, None, None) for at, count in counted if count]
        return rows

    def _group(self, query: AggregateQuery, value: Sql) -> Sql:  # noqa: ARG002
        """Return the value itself: instants are put into buckets where they are read."""
        return value

    def _grouped(
        self, metric: str, group: Sql, measured: Sql, where: Sql
    ) -> Iterator[tuple[Any, ...]]:
        """Yield rows of each group, groups in order: its sum, or one for each of its values."""
        valued = Sql("FROM (SELECT") + group + Sql("AS g,") + measured + Sql("AS m") + where
        if metric == "sum":
            added = Sql("SELECT g, count(*), sum(exact_number(m))::text") + valued
            sql = added + Sql(") AS added GROUP BY g ORDER BY g NULLS FIRST")
            for g, count, total in self._db.execute(sql.text, sql.values):
                yield g, count, _written(total), None, None, None
            return
        counted = Sql("SELECT g, m, count(*)") + valued
        sql = counted + Sql(") AS counted GROUP BY g, m ORDER BY g NULLS FIRST")
        for g, m, count in self._db.execute(sql.text, sql.values):
            yield g, count, None, m, m, m


def _by_minute(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a row under the minute that its instant falls in."""
    moment, *rest = row
    return (None if moment is None else moment - moment % MINUTE, *rest)


def _written(total: str | None) -> str:
    """Return a sum with the places that it has on any engine; of nothing it is 0."""
    return str(EXACT.add(Decimal(total or 0), _FOUR_PLACES))
