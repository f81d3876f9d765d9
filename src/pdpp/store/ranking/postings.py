"""Postings: where terms stand, as an engine hands them to the ranking."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Longs = NDArray[np.int64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Impacts = NDArray[np.uint8]
StepKind = type[np.uint16] | type[np.uint32]
Steps = NDArray[np.unsignedinteger[Any]]

TermGroup = tuple[str, ...]
"""Terms that are one word, as its stems in several languages. Where several of them stand in one
field of a record, the largest impact counts."""


_DENSE = 64
"""From which part of a stretch on rows are looked up in an array of it, not by halving."""


@dataclass(frozen=True, slots=True)
class FieldPostings:
    """Where a term stands in one field: rows in their order, each once, and the impact in each.

    Where these are many, ``rows`` is None and there is an impact for every row of the index, 0
    where the term does not stand.
    """

    rows: Longs | None
    impacts: Impacts

    def held(self) -> Longs:
        """Return the rows that hold the term."""
        return np.flatnonzero(self.impacts) if self.rows is None else self.rows

    def mark(self, flags: Bools) -> None:
        """Set the flags of the rows that hold the term."""
        if self.rows is None:
            flags |= self.impacts > 0
        else:
            flags[self.rows] = True

    def join(self, marks: Impacts) -> None:
        """Make the mark of each row that holds the term other than 0."""
        if self.rows is None:
            np.bitwise_or(marks, self.impacts, out=marks)
        else:
            marks[self.rows] = 1

    def at(self, wanted: Longs) -> Impacts:
        """Return the impact in each of some rows, which are in order."""
        if self.rows is None:
            return self.impacts[wanted]
        if wanted is self.rows:
            # Of a word that one field alone holds its own rows are asked for.
            return self.impacts
        impacts = np.zeros(len(wanted), dtype=np.uint8)
        if not len(wanted) or not len(self.rows):
            return impacts
        start, end = int(wanted[0]), int(wanted[-1]) + 1
        held, values = self.part(start, end)
        if min(len(held), len(wanted)) * _DENSE > end - start:
            by_row = np.zeros(end - start, dtype=np.uint8)
            by_row[held - start] = values
            return by_row[wanted - start]
        # The few are looked for among the many.
        if len(held) < len(wanted):
            places = np.minimum(wanted.searchsorted(held), len(wanted) - 1)
            same = wanted[places] == held
            impacts[places[same]] = values[same]
        else:
            places = np.minimum(held.searchsorted(wanted), len(held) - 1)
            same = held[places] == wanted
            impacts[same] = values[places[same]]
        return impacts

    def between(self, low: int, high: int) -> Impacts:
        """Return the impact in each row from ``low`` up to ``high``."""
        if self.rows is None:
            return self.impacts[low:high]
        by_row = np.zeros(high - low, dtype=np.uint8)
        rows, impacts = self.part(low, high)
        by_row[rows - low] = impacts
        return by_row

    def part(self, low: int, high: int) -> tuple[Longs, Impacts]:
        """Return the rows from ``low`` up to ``high`` that hold the term, and their impacts."""
        if self.rows is None:
            impacts = self.impacts[low:high]
            rows = np.flatnonzero(impacts)
            return rows + low, impacts[rows]
        first, last = self.rows.searchsorted((low, high)).tolist()
        return self.rows[first:last], self.impacts[first:last]


def joined_rows(some: Sequence[Longs]) -> Longs:
    """Return the rows of some lists, each of which is in order and has a row once, likewise."""
    if not some:
        return np.zeros(0, dtype=np.int64)
    if len(some) == 1:
        return some[0]
    # A stable sort goes through lists that are in order once.
    rows = np.sort(np.concatenate(some), kind="stable")
    return rows[np.concatenate(([True], rows[1:] != rows[:-1]))] if len(rows) else rows


class Postings(NamedTuple):
    """Where the terms of a group stand: in texts, and in the names of actors, by field."""

    texts: list[FieldPostings]
    actors: list[FieldPostings]


class TermLines(NamedTuple):
    """Some terms as sorted lines; ``certain`` tells that a visible record holds each of them."""

    lines: bytes
    certain: bool


class Index(Protocol):
    """The rows that a caller may see, and nothing else."""

    size: int

    @property
    def hidden(self) -> Bools | None:
        """Return which rows must not be seen, None where all may be."""
        ...

    def postings(self, groups: Sequence[TermGroup]) -> dict[TermGroup, Postings]:
        """Return where terms stand in visible fields of visible records, by group."""
        ...

    def vocabulary(self) -> Iterator[TermLines]:
        """Yield the terms of visible fields.

        Those that are not certain are of records that the caller may see, and that were deleted or
        are not asked for: none are of records that a grant hides.
        """
        ...

    def called(self, term: str) -> Sequence[tuple[int, int]]:
        """Return the rows, from and up to, of streams whose name holds a term."""
        ...
