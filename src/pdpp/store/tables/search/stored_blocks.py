"""Stored blocks: the blocks of the word index as they lie in their tables."""

import zlib
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from pdpp.store.ranking.distinct import in_either
from pdpp.store.tables.database import TableConnection, TableReader
from pdpp.store.tables.numbering import PLACE_BITS
from pdpp.store.tables.records.predicate import OWNER
from pdpp.store.tables.search import blocks, index, long_postings, packing
from pdpp.store.tables.search.block_row import BlockRow
from pdpp.store.tables.search.blocks import Block, Longs, PlacePostings, Words
from pdpp.store.tables.search.entry import Indexed
from pdpp.store.tables.search.long_postings import NumberedPiece, Reference

Posting = tuple[str, int, bytes]
"""A term, the number of its list, and a piece as ``packing.py`` writes it."""

WordList = tuple[int, bytes, bytes]
"""A place, the least impact of each record there, and the terms, compressed."""

PostingKey = tuple[str, int, int]
"""A term, the number of its list, and that of its block."""


class SpreadWords(NamedTuple):
    """The words of a spread block, the postings in the order of their table.

    Of long ones there are references, and the pieces beside them.
    """

    lists: Sequence[WordList]
    postings: Sequence[Posting]
    long: Sequence[NumberedPiece]


def remove(db: TableConnection, feed: int, entries: Sequence[Indexed]) -> None:
    """Take records out, each given as it had been added."""
    if not entries:
        return
    db.executemany(
        "DELETE FROM thread_place WHERE feed = ? AND thread = ? AND time = ? AND ordinal = ?"
        " AND surrogate = ?",
        [place for *place, _ in index.thread_rows(feed, entries)],
    )
    numbers = np.array([item.number for item in entries], dtype=np.int64)
    times = [item.entry.time for item in entries]
    # A block covers a stretch of time: only blocks that reach into the times of these records can
    # hold them.
    earliest, latest = min(times), max(times)
    rows: list[Any] = db.execute(
        "SELECT id, numbers FROM word_block WHERE owner = ? AND feed = ?"
        " AND last_time >= ? AND first_time <= ?",
        (OWNER, feed, earliest, latest),
    ).fetchall()
    for block, packed_numbers in rows:
        slots = np.flatnonzero(np.isin(packing.longs(packed_numbers), numbers))
        if len(slots):
            mark_gone(db, block, slots)


def mark_gone(db: TableConnection, block: int, slots: Longs) -> None:
    """Take records out of a block by their slots."""
    every = in_either(gone(db, block), slots.astype(np.uint32))
    db.execute("REPLACE INTO word_gone VALUES (?, ?)", (block, every.astype("<u4").tobytes()))


def gone(db: TableReader, block: int) -> Words:
    """Return the slots of a block whose records are gone."""
    row: Any = next(db.execute("SELECT slots FROM word_gone WHERE block = ?", (block,)), None)
    return np.frombuffer(b"" if row is None else row[0], "<u4").astype(np.uint32)


def row_of(block: Block, *, spread: bool = False) -> BlockRow:
    """Return the row of a block, which has its postings too where they are not spread."""
    return BlockRow(
        block.size,
        int(block.times[0]),
        int(block.times[-1]),
        packing.long_bytes(block.times),
        packing.long_bytes(block.numbers),
        b"" if spread else packing.pack(block, squeeze=block.size < index.SPREAD_FROM),
    )


def insert(db: TableConnection, feed: int, block: Block, *, spread: bool = False) -> int:
    """Write a block, and return its number."""
    id = index.insert_row(db, feed, row_of(block, spread=spread), spread=spread)
    if spread:
        words = spread_words(feed, block)
        insert_lists(db, id, words.lists)
        long_postings.insert(db, id, words.long)
        insert_postings(db, id, words.postings)
    return id


def spread_words(feed: int, block: Block) -> SpreadWords:
    """Return the words of a block as they are written where it is spread."""
    lists: list[WordList] = []
    postings: list[Posting] = []
    for place, field_postings in block.places.items():
        # The number of a list: the feed in the upper bits, the place of the field in the lower
        # ones, so that the lists of a feed are one range of numbers.
        list_ = feed << PLACE_BITS | place
        bases = packing.bases_of(field_postings, block.size)
        pieces = packing.spread_pieces(field_postings, bases)
        postings += [
            (term, list_, piece) for term, piece in zip(field_postings.terms, pieces, strict=True)
        ]
        terms = zlib.compress("\n".join(field_postings.terms).encode())
        lists.append((place, bases.tobytes(), terms))
    # In the order of the table, whose pages are then filled one after the other.
    postings.sort()
    return SpreadWords(lists, postings, _set_apart(postings))


def _set_apart(postings: list[Posting]) -> list[NumberedPiece]:
    """Put references in the place of long pieces, and return these."""
    long: list[NumberedPiece] = []
    for at, (term, list_, piece) in enumerate(postings):
        if len(piece) > long_postings.LONG:
            postings[at] = term, list_, long_postings.reference(at)
            long.append((at, piece))
    return long


def insert_lists(db: TableConnection, id: int, lists: Iterable[WordList]) -> None:
    """Write which terms a spread block has."""
    db.executemany("INSERT INTO word_list VALUES (?, ?, ?, ?)", [(id, *row) for row in lists])


def insert_postings(db: TableConnection, id: int, postings: Iterable[Posting]) -> None:
    """Write postings of a spread block."""
    db.executemany(
        "INSERT INTO posting VALUES (?, ?, ?, ?)",
        [(term, list_, id, piece) for term, list_, piece in postings],
    )


def rewrite(db: TableConnection, feed: int, ids: Sequence[int], *, spread: bool) -> None:
    """Put some blocks together, without what is gone of them."""
    merged = blocks.merge([(load(db, feed, id), gone(db, id)) for id in ids])
    drop(db, feed, ids)
    if merged.size:
        for piece in blocks.cut(merged, index.BLOCK_RECORDS if spread else merged.size):
            insert(db, feed, piece, spread=spread)


def load(db: TableReader, feed: int, id: int) -> Block:
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
            # CROSS JOIN keeps the rows in the order of the names; nothing else says which piece
            # belongs to which.
            "SELECT p.data FROM carray(?) AS t CROSS JOIN posting p"
            " ON p.term = t.value AND p.list = ? AND p.block = ?",
            (db.array(tuple(names)), feed << PLACE_BITS | place, id),
        ).fetchall()
        slots, counts, changed, values = packing.joined_pieces(_whole(db, id, rows))
        impacts = np.frombuffer(bases, np.uint8)[slots]
        impacts[changed] = values
        starts = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        joined = (slots << blocks.SLOT_SHIFT | impacts).astype(np.uint32)
        places[place] = PlacePostings(names, starts, joined)
    return Block(packing.longs(times), packing.longs(numbers), places)


def _whole(db: TableReader, block: int, rows: Iterable[tuple[bytes]]) -> list[bytes]:
    """Return the pieces in some rows of a block, also those that lie apart."""
    pieces = [data for (data,) in rows]
    long = [at for at, piece in enumerate(pieces) if long_postings.is_reference(piece)]
    long_postings.fetch(db, [Reference(pieces, at, block) for at in long])
    return pieces


def drop(db: TableConnection, feed: int, ids: Iterable[int]) -> None:
    """Remove blocks with their postings."""
    for id in ids:
        delete_postings(db, posting_keys(db, feed, id))
        drop_row(db, id)


def posting_keys(db: TableReader, feed: int, id: int) -> list[PostingKey]:
    """Return what the postings of a spread block are found by, in the order of the table."""
    lists: list[Any] = db.execute(
        "SELECT place, terms FROM word_list WHERE block = ?", (id,)
    ).fetchall()
    first = feed << PLACE_BITS
    return sorted((term, first | place, id) for place, terms in lists for term in _names(terms))


def delete_postings(db: TableConnection, keys: Sequence[PostingKey]) -> None:
    """Remove postings."""
    db.executemany("DELETE FROM posting WHERE term = ? AND list = ? AND block = ?", keys)


def drop_row(db: TableConnection, id: int) -> None:
    """Remove a block that has no postings any more but long ones."""
    long_postings.delete_all(db, id)
    db.execute("DELETE FROM word_list WHERE block = ?", (id,))
    db.execute("DELETE FROM word_gone WHERE block = ?", (id,))
    db.execute("DELETE FROM word_block WHERE id = ?", (id,))


def _names(packed: bytes) -> list[str]:
    return zlib.decompress(packed).decode().split("\n")


def forget_feed(db: TableConnection, feed: int) -> None:
    """Remove all words of a feed."""
    every: list[Any] = db.execute(
        "SELECT id FROM word_block WHERE owner = ? AND feed IN (?, ?)", (OWNER, feed, -feed)
    ).fetchall()
    drop(db, feed, [id for (id,) in every])
    db.execute("DELETE FROM thread_place WHERE feed = ?", (feed,))
