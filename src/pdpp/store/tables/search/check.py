"""Checking the word index against itself and against the records."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from pdpp.evidence.amount import counted
from pdpp.store.ranking.distinct import each_once
from pdpp.store.tables.database import TableReader
from pdpp.store.tables.mending import ADVICE
from pdpp.store.tables.search import long_postings, packing
from pdpp.store.tables.search.long_postings import id_of, is_reference


def word_problems(db: TableReader) -> Iterator[str]:
    """Yield what is wrong with the word index; nothing when all is well."""
    rows: list[Any] = db.execute(
        "SELECT b.feed, b.id, b.numbers, g.slots FROM word_block b"
        " LEFT JOIN word_gone g ON g.block = b.id"
    ).fetchall()
    numbers_by_feed: dict[int, list[Any]] = {}
    for feed, _, numbers, slots in rows:
        gone = np.frombuffer(slots or b"", "<u4").astype(np.int64)
        numbers_by_feed.setdefault(feed, []).append(np.delete(packing.longs(numbers), gone))
    feeds: list[Any] = db.execute(
        "SELECT id FROM feed WHERE record_count > 0 AND EXISTS"
        " (SELECT 1 FROM json_each(places, '$.lexical') WHERE value IS NOT NULL)"
    ).fetchall()
    for (feed,) in feeds:
        indexed = np.sort(
            np.concatenate([np.zeros(0, dtype=np.int64), *numbers_by_feed.get(feed, [])])
        )
        kept: list[Any] = db.execute(
            "SELECT id FROM record WHERE feed = ? ORDER BY id", (feed,)
        ).fetchall()
        wrong = len(np.setxor1d(indexed, [row[0] for row in kept]))
        wrong += len(indexed) - len(each_once(indexed))
        if wrong:
            records = counted(wrong, "record is", "records are")
            yield f"{records} not in the word index as in the store; {ADVICE}"
    yield from _posting_problems(db)


def _posting_problems(db: TableReader) -> Iterator[str]:
    """Yield which postings have no block, and which long ones are not there."""
    lost: Any = db.execute(
        "SELECT count(*) FROM posting p"
        " WHERE NOT EXISTS (SELECT 1 FROM word_block b WHERE b.id = p.block)"
    ).get
    long: list[Any] = db.execute("SELECT id FROM long_posting").fetchall()
    blocks = {id for (id,) in db.execute("SELECT id FROM word_block")}
    lost += sum(long_postings.block_of(id) not in blocks for (id,) in long)
    if lost:
        belong = "belongs" if lost == 1 else "belong"
        some = counted(lost, "posting")
        yield f"{some} of the word index {belong} to no block; {ADVICE}"
    short: list[Any] = db.execute(
        "SELECT block, data FROM posting WHERE length(data) = ?", (long_postings.REFERENCE_BYTES,)
    ).fetchall()
    wanted = {id_of(block, data) for block, data in short if is_reference(data)}
    if missing := len(wanted.difference(id for (id,) in long)):
        some = counted(missing, "long posting is", "long postings are")
        yield f"{some} missing in the word index; {ADVICE}"
