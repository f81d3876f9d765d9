"""Adding up in PostgreSQL: it counts equal values, and these are added up here."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from pdpp.store.aggregation import AggregateQuery
from pdpp.store.number_key import number_of
from pdpp.store.scope import Reach
from pdpp.store.tables.records.aggregates import EXACT, MINUTE, Aggregator, Bucket
from pdpp.store.tables.records.predicate import Sql

_FOUR_PLACES = Decimal("0.0000")
"""A sum is written with four decimal places or more, as the embedded engine writes it."""


class PostgresAggregator(Aggregator):
    """Adds up through a connection to PostgreSQL."""

    def _rows(
        self, reach: Reach, query: AggregateQuery, bucket: Bucket | None
    ) -> Iterator[tuple[Any, ...]]:
        """Yield (group, count, total, least, most, distinct) rows of one reach."""
        rows = super()._rows(reach, query, bucket)
        return rows if query.bucket_by is None else map(_by_minute, rows)

    def _group(self, query: AggregateQuery, value: Sql) -> Sql:  # noqa: ARG002
        """Return the value itself: instants are put into buckets where they are read."""
        return value

    def _grouped(
        self, metric: str, group: Sql, measured: Sql, where: Sql
    ) -> Iterator[tuple[Any, ...]]:
        """Yield a row for each value of each group, groups in order."""
        sql = (
            Sql("SELECT g, m, count(*) FROM (SELECT")
            + group
            + Sql("AS g,")
            + measured
            + Sql("AS m")
            + where
            + Sql(") AS counted GROUP BY g, m ORDER BY g NULLS FIRST")
        )
        for g, m, count in self._db.execute(sql.text, sql.values):
            total = _times(m, count) if metric == "sum" else None
            yield g, count, total, m, m, m


def _by_minute(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a row under the minute that its instant falls in."""
    moment, *rest = row
    return (None if moment is None else moment - moment % MINUTE, *rest)


def _times(value: Any, count: int) -> str | None:
    """Return the sum of equal numbers, as the decimal they are written as."""
    if value is None:
        return None
    if isinstance(value, str):
        value = number_of(value)
    return str(EXACT.add(EXACT.multiply(Decimal(str(value)), Decimal(count)), _FOUR_PLACES))
