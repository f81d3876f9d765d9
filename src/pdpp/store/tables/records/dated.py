"""Dated cells: where each value is and when, so that a filter under a time finds what is visible.

The cells of a field are in the order of their values, and those of one value in an order that
tells nothing, because pages are read along them: under a grant that is limited in time a filter
would have to look at every hidden record that meets it. Here the records of one value are in the
order of time.

A row is as short as it can be, because a record has several: a value is a hash of 32 bits, a time
is in seconds. So a row may lead to a record that does not meet the filter, though never to one
outside the seconds that a grant begins and ends in, and each record is asked once more.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, NamedTuple
from zlib import crc32

from pdpp.model.declaration import Field, Kind
from pdpp.store.cell import CellValue
from pdpp.store.tables.numbering import LAST_SEQUENCE
from pdpp.store.tables.positions import IndexedFeed

ADD = "INSERT INTO dated_cell VALUES (?, ?, ?, ?, ?)"
REMOVE = (
    "DELETE FROM dated_cell WHERE owner = ? AND feed = ? AND mark = ? AND time = ? AND sequence = ?"
)
SECOND = 1_000_000
_HALF = 1 << 31
"""Marks are of both signs: a file keeps such a number in four bytes."""

DatedRow = tuple[int, int, int]
"""A mark, a second and the sequence of a record."""


class DatedColumns(NamedTuple):
    """Rows by columns: tuples for each of millions would cost as much as to make them."""

    marks: Sequence[int]
    seconds: Sequence[int]
    sequences: Sequence[int]

    def rows(self) -> Iterable[DatedRow]:
        """Return the rows one by one."""
        return zip(*self, strict=True)

    def numbered(self, numbers: Sequence[int]) -> "DatedColumns":
        """Return the columns of records with some numbers, which had their places among these."""
        sequences = [numbers[at] & LAST_SEQUENCE for at in self.sequences]
        return DatedColumns(self.marks, self.seconds, sequences)


def is_dated(field: Field) -> bool:
    """Tell whether the values of a compared field are found by time: all but measures and times."""
    if field.kind is Kind.INTEGER:
        return not field.ranges
    return field.kind in (Kind.TEXT, Kind.BOOLEAN)


def mark_of(place: int, value: str | float | Decimal) -> int:
    """Return the mark of a value of the field at a place; numbers that are equal have one."""
    text = value if isinstance(value, str) else f"\0{hash(value)}"
    return crc32(text.encode("utf-8", "surrogatepass"), place) - _HALF


def dated_rows(
    feed: IndexedFeed, cells: Sequence[CellValue], time: int | None, number: int
) -> set[DatedRow]:
    """Return the rows of one record."""
    return {*dated_columns(feed.dated, [cells], [time], [number]).rows()}


def dated_columns(
    places: Sequence[int],
    cells: Sequence[Sequence[CellValue]],
    times: Sequence[int | None],
    numbers: Sequence[int],
) -> DatedColumns:
    """Return the rows of many records, those of one mark together, as the table has them."""
    dated = [at for at, time in enumerate(times) if time is not None]
    columns = [*zip(*cells, strict=True)]
    records_of: dict[int, Collection[int]] = {}
    for place in places if dated else ():
        for value, some in _by_value(dated, columns[place]).items():
            mark = mark_of(place, value)
            # Two values of one record may have one mark, by chance or because somebody wanted it.
            records_of[mark] = {*records_of[mark], *some} if mark in records_of else some
    marks: list[int] = []
    order: list[int] = []
    for mark in sorted(records_of):
        marks += [mark] * len(records_of[mark])
        order += records_of[mark]
    seconds = [0 if time is None else time // SECOND for time in times]
    sequences = [number & LAST_SEQUENCE for number in numbers]
    return DatedColumns(marks, [seconds[at] for at in order], [sequences[at] for at in order])


def _by_value(dated: Sequence[int], column: Sequence[CellValue]) -> Mapping[Any, Sequence[int]]:
    """Return which of the records that have a time hold each value of a field."""
    every: set[Any] = set(column)
    if len(every) == 1:  # Of most fields all records of a batch have the same, or nothing.
        return {} if None in every else {every.pop(): dated}
    by_value: dict[Any, list[int]] = {value: [] for value in every}
    for at in dated:
        by_value[column[at]].append(at)
    by_value.pop(None, None)
    return by_value
