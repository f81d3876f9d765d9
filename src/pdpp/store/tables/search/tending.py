"""Tending: the word index is put together in idle time, and no writer waits long for it.

Blocks are read and merged before the write lock is taken. What is much to write is written in
pieces, each a short transaction: a new block is built out of sight, and its row has the negative
number of its feed until its postings are all there. One transaction brings it to sight and takes
the blocks that it replaces out of sight, whose postings then go piece by piece. A process that dies
in between leaves blocks that nobody sees, and the next tending removes them.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

import numpy as np

from pdpp.store.ranking.distinct import only_in
from pdpp.store.tables.database import TableConnection, TableDatabase, TableReader
from pdpp.store.tables.records.predicate import OWNER
from pdpp.store.tables.search import blocks, index, long_postings, stored_blocks
from pdpp.store.tables.search.blocks import Block, Words

Row = TypeVar("Row")

PIECE_ROWS = 2_000
"""How many postings are written in one transaction: about a hundredth of a second."""

LONG_ROWS = 100
"""The same of long ones, which have kilobytes each."""

_MOST_HALF_EMPTY = 4

_PAUSE_SECONDS = 0.001
"""A lock that is taken again at once would not go to whoever waits for it."""

_EVERY = (1 << 63) - 1
_LEAVING = 2
"""What ``spread`` says of a block that is being removed, so that nobody goes on building it."""


class _Work(NamedTuple):
    """Blocks of a feed that are to become one or more; ``spread`` says in which form."""

    feed: int
    ids: Sequence[int]
    spread: bool


class _Source(NamedTuple):
    """A block that is replaced, and the slots that were gone of it when it was read."""

    id: int
    block: Block
    gone: Words


class _Abandoned(Exception):
    """What was read has changed since; the work is chosen anew."""


def tend(database: TableDatabase, up_to: int | None = None) -> bool:
    """Do one piece of work; tell whether there may be more to do.

    ``up_to`` is the newest block that is looked at: what is written meanwhile waits for later.
    """
    return _remove_hidden(database) or _rewrite_some(database, _EVERY if up_to is None else up_to)


def newest_block(db: TableReader) -> int:
    """Return the number of the newest block."""
    return int(db.execute("SELECT coalesce(max(id), 0) FROM word_block").get)


# What there is to do


def _rewrite_some(database: TableDatabase, up_to: int) -> bool:
    with database.reading(None):
        db = database.reader
        work = _small(db, up_to) or _stale(db, up_to) or _half_empty(db, up_to)
        if work is None:
            return False
        sources = [
            _Source(id, stored_blocks.load(db, work.feed, id), stored_blocks.gone(db, id))
            for id in work.ids
        ]
    merged = blocks.merge([(source.block, source.gone) for source in sources])
    with suppress(_Abandoned):
        _replace(database, work, sources, merged)
    return True


def _small(db: TableReader, up_to: int) -> _Work | None:
    """Choose the small blocks of one feed, to be spread where they are worth it."""
    row: Any = next(
        db.execute(
            "SELECT b.feed, sum(b.size) FROM word_block b LEFT JOIN word_gone g ON g.block = b.id"
            " WHERE b.owner = ? AND b.feed > 0 AND b.spread = 0 AND b.analyser = ? AND b.id <= ?"
            " GROUP BY b.feed"
            " HAVING sum(b.size) >= ? OR count(*) > 1 OR count(g.block) > 0 LIMIT 1",
            (OWNER, index.ANALYSER, up_to, index.SPREAD_FROM),
        ),
        None,
    )
    if row is None:
        return None
    feed, size = row
    sizes = [row for row in index.blocks_of(db, feed, spread=False) if row[0] <= up_to]
    ids = index.up_to_one_block(sizes)
    # Somebody else may be building what replaces all of them.
    return _Work(feed, ids, size >= index.SPREAD_FROM) if ids else None


def _stale(db: TableReader, up_to: int) -> _Work | None:
    """Choose a spread block of which records are gone."""
    row: Any = next(
        db.execute(
            "SELECT b.feed, b.id FROM word_gone g JOIN word_block b ON b.id = g.block"
            " WHERE b.feed > 0 AND b.analyser = ? AND b.id <= ? LIMIT 1",
            (index.ANALYSER, up_to),
        ),
        None,
    )
    return None if row is None else _Work(row[0], [row[1]], spread=True)


def _half_empty(db: TableReader, up_to: int) -> _Work | None:
    """Choose spread blocks of one feed that are far from full."""
    row: Any = next(
        db.execute(
            "SELECT feed FROM word_block WHERE owner = ? AND feed > 0 AND analyser = ?"
            " AND spread = 1 AND size < ? AND id <= ? GROUP BY feed HAVING count(*) >= ? LIMIT 1",
            (OWNER, index.ANALYSER, index.BLOCK_RECORDS // 2, up_to, _MOST_HALF_EMPTY),
        ),
        None,
    )
    if row is None:
        return None
    few = index.BLOCK_RECORDS // 2
    every = index.blocks_of(db, row[0], spread=True)
    sizes = [(id, size) for id, size in every if size < few and id <= up_to]
    return _Work(row[0], index.up_to_one_block(sizes), spread=True) if sizes else None


# Replacing blocks


def _replace(
    database: TableDatabase, work: _Work, sources: Sequence[_Source], merged: Block
) -> None:
    """Put a block in the place of others, in one transaction or, where it is much, in pieces."""
    size = index.BLOCK_RECORDS if work.spread else max(1, merged.size)
    made = list(blocks.cut(merged, size)) if merged.size else []
    read = sum(_terms(source.block) for source in sources)
    if read + sum(map(_terms, made)) <= PIECE_ROWS or not work.spread:
        with database.writing() as db:
            later = _gone_since(db, work, sources)
            stored_blocks.drop(db, work.feed, work.ids)
            for block in made:
                id = stored_blocks.insert(db, work.feed, block, spread=work.spread)
                _mark(db, id, block, later)
        return
    built = [(_build(database, work.feed, block), block) for block in made]
    with database.writing() as db:
        later = _gone_since(db, work, sources)
        for id, block in built:
            _still_built(db, work.feed, id)
            db.execute("UPDATE word_block SET feed = ? WHERE id = ?", (work.feed, id))
            _mark(db, id, block, later)
        _hide(db, work.feed, work.ids)


def _terms(block: Block) -> int:
    return sum(len(postings.terms) for postings in block.places.values())


def _build(database: TableDatabase, feed: int, block: Block) -> int:
    """Write a block out of sight, piece by piece; return its number."""
    words = stored_blocks.spread_words(feed, block)
    with database.writing() as db:
        id = index.insert_row(db, -feed, stored_blocks.row_of(block, spread=True), spread=True)
        stored_blocks.insert_lists(db, id, words.lists)
    for long in _pieces(words.long, LONG_ROWS):
        with database.writing() as db:
            _still_built(db, feed, id)
            long_postings.insert(db, id, long)
        time.sleep(_PAUSE_SECONDS)
    for piece in _pieces(words.postings, PIECE_ROWS):
        with database.writing() as db:
            _still_built(db, feed, id)
            stored_blocks.insert_postings(db, id, piece)
        time.sleep(_PAUSE_SECONDS)
    return id


def _still_built(db: TableConnection, feed: int, id: int) -> None:
    """Raise where somebody else has begun to remove a block that is being built."""
    row = "SELECT 1 FROM word_block WHERE id = ? AND feed = ? AND spread = 1"
    if next(db.execute(row, (id, -feed)), None) is None:
        raise _Abandoned


def _gone_since(db: TableReader, work: _Work, sources: Sequence[_Source]) -> list[int]:
    """Return the numbers of records that went since blocks were read; raise where a block did."""
    numbers: list[int] = []
    for source in sources:
        row = "SELECT 1 FROM word_block WHERE id = ? AND feed = ?"
        if next(db.execute(row, (source.id, work.feed)), None) is None:
            raise _Abandoned
        slots = only_in(stored_blocks.gone(db, source.id), source.gone)
        numbers += source.block.numbers[slots].tolist()
    return numbers


def _mark(db: TableConnection, id: int, block: Block, numbers: Sequence[int]) -> None:
    slots = np.flatnonzero(np.isin(block.numbers, numbers))
    if len(slots):
        stored_blocks.mark_gone(db, id, slots)


def _hide(db: TableConnection, feed: int, ids: Sequence[int]) -> None:
    """Take blocks out of sight; one that has no postings of its own goes at once."""
    for id in ids:
        spread = db.execute("SELECT spread FROM word_block WHERE id = ?", (id,)).get
        if spread:
            db.execute("UPDATE word_block SET feed = ? WHERE id = ?", (-feed, id))
        else:
            stored_blocks.drop(db, feed, [id])


def _pieces(rows: Sequence[Row], most: int) -> Iterator[Sequence[Row]]:
    for start in range(0, len(rows), most):
        yield rows[start : start + most]


# Removing what is out of sight


def _remove_hidden(database: TableDatabase) -> bool:
    """Remove one block that is out of sight; tell whether there was one."""
    with database.reading(None):
        row: Any = next(
            database.reader.execute(
                "SELECT id, feed FROM word_block WHERE owner = ? AND feed < 0 LIMIT 1", (OWNER,)
            ),
            None,
        )
        if row is None:
            return False
        id, feed = row
        keys = list(stored_blocks.posting_keys(database.reader, -feed, id))
        long = long_postings.ids(database.reader, id)
    with database.writing() as db:
        # Whoever built it may have put it in its place since: then its records are only there.
        leaving = "UPDATE word_block SET spread = ? WHERE id = ? AND feed = ? RETURNING id"
        if next(db.execute(leaving, (_LEAVING, id, feed)), None) is None:
            return True
    for piece in _pieces(keys, PIECE_ROWS):
        with database.writing() as db:
            stored_blocks.delete_postings(db, piece)
        time.sleep(_PAUSE_SECONDS)
    for ids in _pieces(long, LONG_ROWS):
        with database.writing() as db:
            long_postings.delete(db, ids)
        time.sleep(_PAUSE_SECONDS)
    with database.writing() as db:
        stored_blocks.drop_row(db, id)
    return True
