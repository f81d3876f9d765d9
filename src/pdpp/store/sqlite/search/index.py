"""The word index as it is written: new blocks, records that are gone, and merging.

A batch adds a small block to its feed. Small blocks are merged when there are many; when they hold
enough records they are spread into the table of postings, where a search finds a term with a few
looks. Idle time spreads what is left, joins small spread blocks, and makes blocks anew of which
records are gone, so that no deleted word stays in the file.
"""

import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import apsw
import numpy as np

from pdpp.evidence.language.terms import ANALYSER as TODAYS_ANALYSER
from pdpp.store.sqlite.numbering import PLACE_BITS
from pdpp.store.sqlite.records.predicate import OWNER
from pdpp.store.sqlite.search import blocks, meaning, packing
from pdpp.store.sqlite.search.blocks import Block, Longs, PlacePostings, Words
from pdpp.store.sqlite.search.entry import Indexed

ANALYSER = TODAYS_ANALYSER
"""The version of the analyser that new blocks are made by."""

BLOCK_RECORDS = 16_384
"""How many records a spread block has at most: a grant's time limit cuts at most two blocks."""

SPREAD_FROM = 512
"""From how many records on the words of a feed are spread. A row for each term of fewer would take
more room than the records; searches remember small blocks."""

_MOST_SMALL = 8
_LITTLE = 1_000
"""Small blocks with fewer records are merged when there are many of them. Larger ones wait until
they are spread, because each merge of theirs would cost as much as their analysis."""
_FEW = BLOCK_RECORDS // 2
_MOST_SMALL_SPREAD = 4


def add(db: apsw.Connection, feed: int, entries: Sequence[Indexed]) -> None:
    """Add the words of records."""
    if not entries:
        return
    for start in range(0, len(entries), BLOCK_RECORDS):
        _insert(db, feed, blocks.build(entries[start : start + BLOCK_RECORDS]))
    rows = [item.thread_row(feed) for item in entries if item.entry.thread is not None]
    if rows:
        db.executemany("INSERT OR REPLACE INTO thread_place VALUES (?, ?, ?, ?, ?)", sorted(rows))
    _merge_small(db, feed)


def remove(db: apsw.Connection, feed: int, entries: Sequence[Indexed]) -> None:
    """Take records out, each given as it had been added."""
    if not entries:
        return
    db.executemany(
        "DELETE FROM thread_place WHERE feed = ? AND thread = ? AND time = ? AND surrogate = ?",
        [item.thread_row(feed)[:-1] for item in entries if item.entry.thread is not None],
    )
    meaning.remove(db, feed, [item.number for item in entries])
    numbers = np.array([item.number for item in entries], dtype=np.int64)
    times = [item.entry.time for item in entries]
    earliest, latest = min(times), max(times)
    rows: list[Any] = db.execute(
        "SELECT id, numbers FROM word_block WHERE owner = ? AND feed = ?"
        " AND last_time >= ? AND first_time <= ?",
        (OWNER, feed, earliest, latest),
    ).fetchall()
    for block, held in rows:
        slots = np.flatnonzero(np.isin(packing.longs(held), numbers))
        if len(slots):
            mark_gone(db, block, slots)


def mark_gone(db: apsw.Connection, block: int, slots: Longs) -> None:
    """Take records out of a block by their slots."""
    every = np.union1d(gone(db, block), slots.astype(np.uint32))
    db.execute("REPLACE INTO word_gone VALUES (?, ?)", (block, every.astype("<u4").tobytes()))


def gone(db: apsw.Connection, block: int) -> Words:
    """Return the slots of a block whose records are gone."""
    row: Any = next(db.execute("SELECT slots FROM word_gone WHERE block = ?", (block,)), None)
    return np.frombuffer(b"" if row is None else row[0], "<u4").astype(np.uint32)


def _insert(db: apsw.Connection, feed: int, block: Block, *, spread: bool = False) -> None:
    if not block.size:
        return
    packed = b"" if spread else packing.pack(block)
    db.execute(
        "INSERT INTO word_block (owner, feed, analyser, spread, size, first_time, last_time,"
        " times, numbers, postings) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            OWNER,
            feed,
            ANALYSER,
            int(spread),
            block.size,
            int(block.times[0]),
            int(block.times[-1]),
            packing.long_bytes(block.times),
            packing.long_bytes(block.numbers),
            packed,
        ),
    )
    if spread:
        _spread(db, feed, db.last_insert_rowid(), block)


def _spread(db: apsw.Connection, feed: int, id: int, block: Block) -> None:
    """Write the postings of a block by their terms."""
    rows: list[tuple[str, int, int, bytes]] = []
    for place, held in block.places.items():
        list_ = feed << PLACE_BITS | place
        bases = packing.bases_of(held, block.size)
        pieces = packing.spread_pieces(held, bases)
        rows += [(term, list_, id, piece) for term, piece in zip(held.terms, pieces, strict=True)]
        terms = zlib.compress("\n".join(held.terms).encode())
        db.execute("INSERT INTO word_list VALUES (?, ?, ?, ?)", (id, place, bases.tobytes(), terms))
    rows.sort()
    db.executemany("INSERT INTO posting VALUES (?, ?, ?, ?)", rows)


def _merge_small(db: apsw.Connection, feed: int) -> None:
    """Keep the small blocks of a feed few."""
    small = _blocks_of(db, feed, spread=False)
    if sum(size for _, size in small) >= BLOCK_RECORDS:
        _rewrite(db, feed, [id for id, _ in small], spread=True)
        return
    little = sorted((size, id) for id, size in small if size < _LITTLE)
    if len(little) > _MOST_SMALL:
        _rewrite(db, feed, [id for _, id in little[:_MOST_SMALL]], spread=False)


def _blocks_of(db: apsw.Connection, feed: int, *, spread: bool) -> list[tuple[int, int]]:
    # Blocks of an earlier analyser are never merged: they are made anew from the records.
    rows: list[Any] = db.execute(
        "SELECT id, size FROM word_block WHERE owner = ? AND feed = ? AND spread = ?"
        " AND analyser = ? ORDER BY id",
        (OWNER, feed, int(spread), ANALYSER),
    ).fetchall()
    return rows


def _rewrite(db: apsw.Connection, feed: int, ids: Sequence[int], *, spread: bool) -> None:
    """Put some blocks together, without what is gone of them."""
    merged = blocks.merge([(load(db, feed, id), gone(db, id)) for id in ids])
    drop(db, feed, ids)
    if spread:
        for piece in blocks.cut(merged, BLOCK_RECORDS):
            _insert(db, feed, piece, spread=True)
    else:
        _insert(db, feed, merged)


def load(db: apsw.Connection, feed: int, id: int) -> Block:
    """Return a block with all its postings."""
    spread, times, numbers, packed = next(
        db.execute("SELECT spread, times, numbers, postings FROM word_block WHERE id = ?", (id,))
    )
    if not spread:
        return packing.unpack(times, numbers, packed)
    places = {}
    lists: list[Any] = db.execute(
        "SELECT place, bases, terms FROM word_list WHERE block = ?", (id,)
    ).fetchall()
    for place, bases, terms in lists:
        names = _names(terms)
        rows: list[Any] = db.execute(
            "SELECT p.data FROM carray(?) AS t CROSS JOIN posting p"
            " ON p.term = t.value AND p.list = ? AND p.block = ?",
            (apsw.carray(tuple(names)), feed << PLACE_BITS | place, id),
        ).fetchall()
        slots, counts, changed, values = packing.joined_pieces([data for (data,) in rows])
        impacts = np.frombuffer(bases, np.uint8)[slots]
        impacts[changed] = values
        starts = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        joined = (slots << blocks.SLOT_SHIFT | impacts).astype(np.uint32)
        places[place] = PlacePostings(names, starts, joined)
    return Block(packing.longs(times), packing.longs(numbers), places)


def drop(db: apsw.Connection, feed: int, ids: Iterable[int]) -> None:
    """Remove blocks with their postings."""
    for id in ids:
        lists: list[Any] = db.execute(
            "SELECT place, terms FROM word_list WHERE block = ?", (id,)
        ).fetchall()
        for place, terms in lists:
            list_ = feed << PLACE_BITS | place
            db.executemany(
                "DELETE FROM posting WHERE term = ? AND list = ? AND block = ?",
                [(term, list_, id) for term in _names(terms)],
            )
        db.execute("DELETE FROM word_list WHERE block = ?", (id,))
        db.execute("DELETE FROM word_gone WHERE block = ?", (id,))
        db.execute("DELETE FROM word_block WHERE id = ?", (id,))


def _names(packed: bytes) -> list[str]:
    return zlib.decompress(packed).decode().split("\n")


def forget_feed(db: apsw.Connection, feed: int) -> None:
    """Remove all words of a feed."""
    every: list[Any] = db.execute(
        "SELECT id FROM word_block WHERE owner = ? AND feed = ?", (OWNER, feed)
    ).fetchall()
    drop(db, feed, [id for (id,) in every])
    db.execute("DELETE FROM thread_place WHERE feed = ?", (feed,))
    meaning.forget_feed(db, feed)


def tend(db: apsw.Connection) -> bool:
    """Do one piece of merging; tell whether there may be more to do."""
    return _tend_small(db) or _tend_stale(db) or _tend_spread(db)


def _tend_small(db: apsw.Connection) -> bool:
    """Merge the small blocks of one feed, and spread them where they are worth it."""
    row: Any = next(
        db.execute(
            "SELECT b.feed, sum(b.size) FROM word_block b LEFT JOIN word_gone g ON g.block = b.id"
            " WHERE b.owner = ? AND b.spread = 0 AND b.analyser = ? GROUP BY b.feed"
            " HAVING sum(b.size) >= ? OR count(*) > 1 OR count(g.block) > 0 LIMIT 1",
            (OWNER, ANALYSER, SPREAD_FROM),
        ),
        None,
    )
    if row is None:
        return False
    feed, size = row
    ids = [id for id, _ in _blocks_of(db, feed, spread=False)]
    _rewrite(db, feed, ids, spread=size >= SPREAD_FROM)
    return True


def _tend_stale(db: apsw.Connection) -> bool:
    """Make one spread block anew of which records are gone."""
    row: Any = next(
        db.execute(
            "SELECT b.feed, b.id FROM word_gone g JOIN word_block b ON b.id = g.block"
            " WHERE b.analyser = ? LIMIT 1",
            (ANALYSER,),
        ),
        None,
    )
    if row is not None:
        _rewrite(db, row[0], [row[1]], spread=True)
    return row is not None


def _tend_spread(db: apsw.Connection) -> bool:
    """Join the spread blocks of one feed that are far from full."""
    row: Any = next(
        db.execute(
            "SELECT feed FROM word_block WHERE owner = ? AND analyser = ? AND spread = 1"
            " AND size < ? GROUP BY feed HAVING count(*) >= ? LIMIT 1",
            (OWNER, ANALYSER, _FEW, _MOST_SMALL_SPREAD),
        ),
        None,
    )
    if row is None:
        return False
    sizes = _blocks_of(db, row[0], spread=True)
    _rewrite(db, row[0], [id for id, size in sizes if size < _FEW], spread=True)
    return True
