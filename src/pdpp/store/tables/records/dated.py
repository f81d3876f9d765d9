"""Dated cells: where each value is and when, so that a filter under a time finds what is visible.

The cells of a field are in the order of their values, and those of one value in an order that
tells nothing, because pages are read along them: under a grant that is limited in time a filter
would have to look at every hidden record that meets it. Here the records of one value are in the
order of time.

A row is as short as it can be, because a record has several: a value is a hash of 32 bits, a time
is in seconds. So a row may lead to a record that does not meet the filter, though never to one
outside the seconds that a grant begins and ends in, and each record is asked once more.
"""

from collections.abc import Iterable, Sequence
from decimal import Decimal
from zlib import crc32

from pdpp.model.declaration import Field, Kind
from pdpp.store.cell import CellValue
from pdpp.store.tables.numbering import sequence_of
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
    return {*all_dated_rows(feed.dated, [cells], [time], [number])}


def all_dated_rows(
    places: Iterable[int],
    cells: Sequence[Sequence[CellValue]],
    times: Sequence[int | None],
    numbers: Sequence[int],
) -> list[DatedRow]:
    """Return the rows of many records in the order of the table."""
    seconds = [None if time is None else time // SECOND for time in times]
    sequences = [*map(sequence_of, numbers)]
    rows: set[DatedRow] = set()
    for place in places:
        column = [values[place] for values in cells]
        marks = {value: mark_of(place, value) for value in {*column} if value is not None}
        rows.update(
            (marks[value], second, sequence)
            for value, second, sequence in zip(column, seconds, sequences, strict=True)
            if value is not None and second is not None
        )
    # A set: two values of one record may have one mark, by chance or because somebody wanted it.
    return sorted(rows)
