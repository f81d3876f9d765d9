"""Postings: where terms stand, as an engine hands them to the ranking."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Longs = NDArray[np.int64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Impacts = NDArray[np.uint8]

Rows = tuple[Longs, Impacts]
"""Rows that hold a term in one field, each row once, and the impact in each."""


class Postings(NamedTuple):
    """Where one term stands: in texts, and in the names of actors, by field."""

    texts: list[Rows]
    actors: list[Rows]


class Index(Protocol):
    """The rows that a caller may see, and nothing else."""

    size: int

    @property
    def hidden(self) -> Bools | None:
        """Return which rows must not be seen, None where all may be."""
        ...

    def postings(self, terms: Sequence[str]) -> dict[str, Postings]:
        """Return where some terms stand in visible fields of visible records."""
        ...

    def vocabulary(self) -> Iterator[bytes]:
        """Yield the terms of visible fields, sorted lines; some may be of records not visible."""
        ...

    def called(self, term: str) -> Sequence[tuple[int, int]]:
        """Return the rows, from and up to, of streams whose name holds a term."""
        ...
