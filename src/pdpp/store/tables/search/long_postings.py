"""Long postings: pieces that are longer than a page of keys has room for, in a table of their own.

In the embedded engine a row of ``posting`` is a key as a whole. One that is longer than a quarter
of its page goes on in other pages, and each comparison with it, of whatever word is looked for,
reads them all. So a long piece lies apart, and its row in ``posting`` refers to it by a number.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from pdpp.store.tables.database import TableConnection, TableReader
from pdpp.store.tables.search.packing import APART

LONG = 1_536
"""From how many bytes on a piece lies apart. The engine lets 2,000 of a page of 8,192 to a row, and
a term takes some of them."""

NUMBER_BITS = 28
"""The number of a long piece in its block is the lower part of its id, and the block the upper."""

REFERENCE_BYTES = 5

NumberedPiece = tuple[int, bytes]


class Reference(NamedTuple):
    """A piece that lies apart: the pieces among which it is missing, where, and its block."""

    pieces: list[bytes]
    at: int
    block: int

    @property
    def id(self) -> int:
        """Return what the piece is found by."""
        return id_of(self.block, self.pieces[self.at])


def reference(number: int) -> bytes:
    """Return what stands for a long piece of a block."""
    return bytes((APART,)) + number.to_bytes(REFERENCE_BYTES - 1, "little")


def is_reference(piece: bytes) -> bool:
    """Tell whether a piece lies apart."""
    return len(piece) == REFERENCE_BYTES and piece[0] == APART


def id_of(block: int, piece: bytes) -> int:
    """Return what the piece is found by that a reference stands for."""
    return block << NUMBER_BITS | int.from_bytes(piece[1:], "little")


def block_of(id: int) -> int:
    """Return the block that a long piece belongs to."""
    return id >> NUMBER_BITS


def fetch(db: TableReader, references: Sequence[Reference]) -> None:
    """Put pieces that lie apart in the place of the references to them."""
    if not references:
        return
    ids = np.array([wanted.id for wanted in references], dtype=np.int64)
    rows = db.execute(
        # CROSS JOIN keeps the rows in the order of the ids.
        "SELECT p.data FROM carray(?) AS l CROSS JOIN long_posting p ON p.id = l.value",
        (db.array(ids),),
    )
    for wanted, (data,) in zip(references, rows, strict=True):
        wanted.pieces[wanted.at] = data


def insert(db: TableConnection, block: int, pieces: Iterable[NumberedPiece]) -> None:
    """Write long pieces of a block."""
    db.executemany(
        "INSERT INTO long_posting VALUES (?, ?)",
        [(block << NUMBER_BITS | number, piece) for number, piece in pieces],
    )


def ids(db: TableReader, block: int) -> list[int]:
    """Return what the long pieces of a block are found by."""
    rows = db.execute("SELECT id FROM long_posting WHERE id BETWEEN ? AND ?", _span(block))
    return [id for (id,) in rows]


def delete(db: TableConnection, ids: Sequence[int]) -> None:
    """Remove long pieces."""
    db.executemany("DELETE FROM long_posting WHERE id = ?", [(id,) for id in ids])


def delete_all(db: TableConnection, block: int) -> None:
    """Remove the long pieces of a block."""
    db.execute("DELETE FROM long_posting WHERE id BETWEEN ? AND ?", _span(block))


def _span(block: int) -> tuple[int, int]:
    first = block << NUMBER_BITS
    return first, first + (1 << NUMBER_BITS) - 1
