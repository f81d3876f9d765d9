"""The word index as it is written: new blocks, and when small ones are put together.

A batch adds a small block to its feed, and little ones are merged when there are many. When they
hold enough records they are spread into the table of postings, where a search finds a term with a
few looks: a work of tending (``tending.py``), and of a batch only where nobody tends.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from pdpp.evidence.language.terms import ANALYSER as TODAYS_ANALYSER
from pdpp.store.tables.database import TableConnection, TableReader
from pdpp.store.tables.records.predicate import OWNER
from pdpp.store.tables.search.block_row import BlockRow
from pdpp.store.tables.search.entry import Indexed

ANALYSER = TODAYS_ANALYSER
"""The version of the analyser that new blocks are made by."""

BLOCK_RECORDS = 16_384
"""How many records a spread block has at most: a grant's time limit cuts at most two blocks."""

SPREAD_FROM = 512
"""From how many records on the words of a feed are spread. A row for each term of fewer would take
more room than the records; searches remember small blocks."""

MOST_WAITING = 4 * BLOCK_RECORDS
"""How many records of a feed wait for the tending at most, because searches remember their blocks
whole. A program that writes more than that at once, without a server beside it, spreads them in its
batches: 0.5 s for each full block."""

_MOST_SMALL = 8
_LITTLE = 1_000
"""Small blocks with fewer records are merged when there are many of them. Larger ones wait until
they are spread, because each merge of theirs would cost as much as their analysis."""


_ThreadRow = tuple[int, int, int, int, int, int]


def add(
    db: TableConnection,
    feed: int,
    places: Sequence[int],
    entries: Sequence[Indexed],
    ready: BlockRow | None = None,
) -> None:
    """Add the words of records, which stand at some places; ``ready`` are they as a block."""
    if not entries:
        return
    if ready is not None and ready.size <= BLOCK_RECORDS:
        insert_row(db, feed, ready, spread=False)
    else:
        # Arrays are imported where they are needed: a process that writes what is ready has none.
        from pdpp.store.tables.search import blocks, stored_blocks

        for start in range(0, len(entries), BLOCK_RECORDS):
            some = entries[start : start + BLOCK_RECORDS]
            stored_blocks.insert(db, feed, blocks.build(some, places))
    rows = sorted(thread_rows(feed, entries))
    if rows:
        db.executemany("INSERT OR REPLACE INTO thread_place VALUES (?, ?, ?, ?, ?, ?)", rows)
    _merge_small(db, feed)


def thread_rows(feed: int, entries: Sequence[Indexed]) -> Iterator[_ThreadRow]:
    """Yield where records stand in their conversations; those of equal times by their ordinals."""
    for number, surrogate, (time, thread, ordinal, _) in entries:
        if thread is not None:
            yield feed, thread, time, ordinal, surrogate, number


def insert_row(db: TableConnection, feed: int, row: BlockRow, *, spread: bool) -> int:
    """Write the row of a block, and return its number."""
    db.execute(
        "INSERT INTO word_block (owner, feed, analyser, spread, size, first_time, last_time,"
        " times, numbers, postings) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (OWNER, feed, ANALYSER, int(spread), *row),
    )
    return db.last_insert_rowid()


def _merge_small(db: TableConnection, feed: int) -> None:
    """Keep the small blocks of a feed few."""
    small = blocks_of(db, feed, spread=False)
    if sum(size for _, size in small) >= MOST_WAITING:
        _rewrite(db, feed, up_to_one_block(small), spread=True)
        return
    little = sorted((size, id) for id, size in small if size < _LITTLE)
    if len(little) > _MOST_SMALL:
        _rewrite(db, feed, [id for _, id in little[:_MOST_SMALL]], spread=False)


def _rewrite(db: TableConnection, feed: int, ids: Sequence[int], *, spread: bool) -> None:
    from pdpp.store.tables.search import stored_blocks

    stored_blocks.rewrite(db, feed, ids, spread=spread)


def blocks_of(db: TableReader, feed: int, *, spread: bool) -> list[tuple[int, int]]:
    """Return the blocks of a feed that may be merged now, each with its size.

    Blocks of an earlier analyser are never merged: they are made anew from the records. Those that
    are older than one which is built out of sight are left alone, because it may replace them.
    """
    rows: list[Any] = db.execute(
        # What is built out of sight stands under the negative number of its feed.
        "SELECT id, size FROM word_block WHERE owner = ? AND feed = ? AND spread = ?"
        " AND analyser = ? AND id > (SELECT coalesce(max(id), 0) FROM word_block"
        " WHERE owner = ? AND feed = ?) ORDER BY id",
        (OWNER, feed, int(spread), ANALYSER, OWNER, -feed),
    ).fetchall()
    return rows


def up_to_one_block(sizes: Sequence[tuple[int, int]]) -> list[int]:
    """Return the first blocks up to what one may hold, and two at least, to bound a step."""
    chosen: list[int] = []
    total = 0
    for id, size in sizes:
        if len(chosen) > 1 and total + size > BLOCK_RECORDS:
            break
        chosen.append(id)
        total += size
    return chosen
