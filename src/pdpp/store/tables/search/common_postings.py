"""Common postings: what a placement remembers of words that many of its rows hold.

To put the pieces of such a word together takes a hundred times as long as those of a rare one, and
there are few of them, which questions share. They follow from the placement alone, so that they are
as short-lived as it is, and nobody else has them.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdpp.store.ranking.postings import FieldPostings, Impacts, TermGroup
from pdpp.store.tables.search.lists import Turn

MOST_BYTES = 24 << 20
"""How much one placement remembers: about 250 words among 300,000 rows."""

_CHANGE_BYTES = 5
_TERM_BYTES = 64
_FIELD_BYTES = 512
"""What a term and a field take beside their characters and numbers. A prefix has up to 200 terms,
which are more than the numbers of a few hundred rows."""


class FieldOfTurn(NamedTuple):
    """The postings of a group of terms in the fields of one turn."""

    turn: Turn
    postings: FieldPostings


BasesOf = Callable[[Turn], Impacts]
"""Returns the base of every row in the fields of a turn, 0 where it is not known yet."""


class _PackedField(NamedTuple):
    """A bit for every row, and the impacts that are not the base of their row."""

    turn: Turn
    bits: Impacts
    rows: NDArray[np.int32]
    impacts: Impacts

    @property
    def size(self) -> int:
        """Return how many bytes it takes."""
        return self.bits.nbytes + self.rows.nbytes + self.impacts.nbytes

    def unpacked(self, bases: Impacts) -> FieldPostings:
        """Return the postings, given the base of every row in the fields of the turn."""
        impacts = np.unpackbits(self.bits, count=len(bases), bitorder="little")
        np.multiply(impacts, bases, out=impacts)
        # Arrays go by numbers of 64 bits: to widen all of them first is quicker than one by one.
        impacts[self.rows.astype(np.int64)] = self.impacts
        return FieldPostings(None, impacts)


def _packed(field: FieldOfTurn, bases: Impacts) -> _PackedField | FieldOfTurn:
    """Return a field with an impact for every row in less room; as it is where that is shorter."""
    impacts = field.postings.impacts
    present = impacts != 0
    changed = present & (impacts != bases)
    if int(np.count_nonzero(changed)) * _CHANGE_BYTES * 2 > len(impacts):
        return field
    rows = np.flatnonzero(changed).astype(np.int32)
    bits = np.packbits(present, bitorder="little")
    return _PackedField(field.turn, bits, rows, impacts[rows])


_Kept = tuple[_PackedField | FieldOfTurn, ...]


class CommonPostings:
    """The postings of common words, those asked for last."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: OrderedDict[TermGroup, _Kept] = OrderedDict()
        self.bytes = 0
        """How much is remembered."""

    def find(self, group: TermGroup, bases_of: BasesOf) -> list[FieldOfTurn] | None:
        """Return the postings of a group of terms, None where they are not remembered."""
        with self._lock:
            kept = self._kept.get(group)
            if kept is None:
                return None
            self._kept.move_to_end(group)
        return [
            FieldOfTurn(field.turn, field.unpacked(bases_of(field.turn)))
            if isinstance(field, _PackedField)
            else field
            for field in kept
        ]

    def offer(self, group: TermGroup, fields: Sequence[FieldOfTurn], bases_of: BasesOf) -> bool:
        """Remember postings if the word is common; tell whether it is."""
        if all(field.postings.rows is not None for field in fields):
            return False
        kept = tuple(
            _packed(field, bases_of(field.turn)) if field.postings.rows is None else field
            for field in fields
        )
        with self._lock:
            if group in self._kept:
                self.bytes -= _size_of(group, self._kept.pop(group))
            self.bytes += _size_of(group, kept)
            self._kept[group] = kept
            while self.bytes > MOST_BYTES:
                self.bytes -= _size_of(*self._kept.popitem(last=False))
        return True

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._kept.clear()
            self.bytes = 0


def _size_of(group: TermGroup, kept: _Kept) -> int:
    terms = sum([_TERM_BYTES + len(term) for term in group])
    return terms + sum([_FIELD_BYTES + _size_of_field(field) for field in kept])


def _size_of_field(field: _PackedField | FieldOfTurn) -> int:
    if isinstance(field, _PackedField):
        return field.size
    rows = field.postings.rows
    return field.postings.impacts.nbytes + (0 if rows is None else rows.nbytes)
