"""Lengths: how many words each text of the full-text index has, in blocks for runs of records.

The engine keeps them too, each in a row of its own, and those that a search asks for lie on a page
each. What a search scores are mostly the newest records of some streams: a block holds the lengths
of one field in 1,024 records that follow each other, two bytes each, the lower one first.
"""

import sys
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from operator import getitem, methodcaller, ne
from typing import Any

import apsw

from pdpp.store.sqlite.numbering import PLACE_BITS, PLACE_MASK

LONGEST = 0xFFFF
"""A text that is longer counts as one of this length."""

_SLOT_BITS = 10
_SLOT_MASK = (1 << _SLOT_BITS) - 1
_RUN_SHIFT = PLACE_BITS + _SLOT_BITS
_PLACE_SHIFT = 63 - _RUN_SHIFT
"""A block is numbered by the place of the field and by the run of records, in this order."""

_EMPTY = bytes(2 << _SLOT_BITS)
_CHUNK = 10_000
_SOME = """
    SELECT id, lengths FROM carray(?) AS wanted CROSS JOIN length_block ON id = wanted.value
"""
_ALL = "SELECT rowid, pdpp_length(lex) FROM lex ORDER BY rowid"


def of_rows(db: apsw.Connection, rows: Sequence[int]) -> list[int]:
    """Return the lengths of some rows of the index; 0 where none was taken down."""
    numbers, slots = _numbers(rows), _slots(rows)
    blocks = _read(db, set(numbers))
    return list(map(getitem, map(blocks.__getitem__, numbers), slots))


def keep(db: apsw.Connection, rows: Sequence[int], texts: Iterable[str]) -> None:
    """Take down how many words rows have, by their texts as the index is fed them."""
    _put(db, rows, [length_of(text.encode()) for text in texts])


def keep_run(db: apsw.Connection, newest: int, place: int, lengths: Sequence[int]) -> None:
    """Take down how many words one field has in records that follow each other.

    In the index they count down to ``newest``, so the last of the lengths is that of the first row.
    """
    if not any(lengths):
        return
    values, end = array("H", lengths[::-1]), newest + len(lengths)
    runs = range(newest >> _SLOT_BITS, (end - 1 >> _SLOT_BITS) + 1)
    numbers = [run | place << _PLACE_SHIFT for run in runs]
    blocks = _read(db, numbers)
    for run, number in zip(runs, numbers, strict=True):
        start, stop = max(newest, run << _SLOT_BITS), min(end, run + 1 << _SLOT_BITS)
        at = start & _SLOT_MASK
        blocks[number][at : at + stop - start] = values[start - newest : stop - newest]
    _write(db, blocks)


def length_of(words: bytes) -> int:
    """Return how many words there are, as it is taken down."""
    return min(words.count(b" ") + 1, LONGEST)


def forget(db: apsw.Connection, rows: Iterable[tuple[int]]) -> None:
    """Take the lengths of rows away that are gone."""
    gone = [row for (row,) in rows]
    _put(db, gone, [0] * len(gone))


def wrong(db: apsw.Connection) -> int:
    """Return how many rows have another length here than the engine knows, or are not there."""
    differing = known = 0
    for rows, lengths in _counted(db):
        known += sum(map(bool, lengths))
        differing += sum(map(ne, of_rows(db, rows), lengths))
    blocks: Any = db.execute("SELECT lengths FROM length_block")
    kept = sum(sum(map(bool, array("H", block))) for (block,) in blocks)
    return max(differing, abs(kept - known))


def _counted(db: apsw.Connection) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the rows of the index, many at once, and their lengths as the engine knows them."""
    count: Any = methodcaller("column_size", 0)
    db.register_fts5_function("pdpp_length", count)
    rows: Any = db.execute(_ALL)
    while some := list(islice(rows, _CHUNK)):
        yield [row for row, _ in some], [min(length, LONGEST) for _, length in some]


def _put(db: apsw.Connection, rows: Sequence[int], lengths: Sequence[int]) -> None:
    numbers = _numbers(rows)
    blocks = _read(db, set(numbers))
    for number, slot, length in zip(numbers, _slots(rows), lengths, strict=True):
        blocks[number][slot] = length
    _write(db, blocks)


def _write(db: apsw.Connection, blocks: Mapping[int, "array[int]"]) -> None:
    kept = [(number, _turned(block).tobytes()) for number, block in blocks.items()]
    db.executemany("REPLACE INTO length_block VALUES (?, ?)", kept)


def _numbers(rows: Iterable[int]) -> list[int]:
    """Return the number of the block of each row."""
    return [row >> _RUN_SHIFT | (row & PLACE_MASK) << _PLACE_SHIFT for row in rows]


def _slots(rows: Iterable[int]) -> list[int]:
    """Return where in its block each row has its length."""
    return [row >> PLACE_BITS & _SLOT_MASK for row in rows]


class _Blocks(dict[int, "array[int]"]):
    """Blocks by number; one that was never written is empty."""

    def __missing__(self, number: int) -> "array[int]":
        block = self[number] = array("H", _EMPTY)
        return block


def _read(db: apsw.Connection, numbers: Iterable[int]) -> _Blocks:
    wanted = array("q", sorted(numbers))
    found: Any = db.execute(_SOME, (apsw.carray(wanted),)) if wanted else ()
    return _Blocks((number, _turned(array("H", block))) for number, block in found)


def _turned(block: "array[int]") -> "array[int]":
    """Return a block with its bytes in the order of the machine, or back in that of the file."""
    if sys.byteorder == "big":  # pragma: no cover - the usual machines have it the other way
        block.byteswap()
    return block
