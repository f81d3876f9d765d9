"""The order of records: what they are sorted by, in one feed and over several."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from pdpp.store.cell import CellValue
from pdpp.store.number_key import number_key, number_of
from pdpp.store.scope import Reach
from pdpp.store.tables.records.predicate import Sql
from pdpp.store.tables.records.projection import Row


class RecordOrder(NamedTuple):
    """What records are sorted by: a value, or with ``exact`` the key of a number."""

    value: Sql
    exact: bool

    def bound(self, value: CellValue) -> CellValue:
        """Return a position's value as it is compared."""
        if self.exact and value is not None and not isinstance(value, str):
            return number_key(value)
        return value

    def shown(self, rows: list[Row]) -> list[Row]:
        """Return rows with the numbers that their keys stand for."""
        if not self.exact:
            return rows
        return [(key and number_of(key), *rest) for key, *rest in rows]


def with_reach(reach: Reach, rows: Sequence[Row]) -> Iterator[tuple[Reach, Row]]:
    """Return rows, each with the reach it is of."""
    return ((reach, row) for row in rows)


def order_key(descending: bool, exact: bool) -> Callable[[tuple[Reach, Row]], Any]:
    """Return the key that orders rows of several reaches as each is ordered in itself."""

    def rank(row: tuple[Reach, Row]) -> tuple[Any, ...]:
        reach, (value, surrogate, *_) = row
        if exact and value is not None and not isinstance(value, str):
            value = number_key(value)
        parts = (isinstance(value, str), value if value is not None else 0)
        return value is None, _Ordered((*parts, reach.connection_id, surrogate), descending)

    return rank


class _Ordered:
    """A value that sorts the other way round when asked to."""

    __slots__ = ("_descending", "_value")

    def __init__(self, value: Any, descending: bool) -> None:
        self._value = value
        self._descending = descending

    def __lt__(self, other: "_Ordered") -> bool:
        if self._descending:
            return bool(other._value < self._value)
        return bool(self._value < other._value)
