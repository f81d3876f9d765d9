"""Reading the log of receipts back, and verifying that it is whole."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

import orjson

from pdpp.model import instant
from pdpp.model.errors import StoreError
from pdpp.store import receipt_batch
from pdpp.store.receipts import ChainedReceipt, ChainVerdict, LogEvent, Receipt, ReceiptQuery
from pdpp.store.tables.database import TableReader
from pdpp.store.tables.receipts import chain
from pdpp.store.tables.receipts.chain import ChainHead, ChainLink

_NEVER = 1 << 62
"""Later than any receipt. A batch that was begun before a moment may have ended after it, though
hardly a day after."""

HEAD = "SELECT first, before, last, hash, seal FROM head"

_UNREADABLE = (orjson.JSONDecodeError, LookupError, TypeError, ValueError)
"""What reading a batch raises that somebody else wrote into."""


def receipts(
    db: TableReader, query: ReceiptQuery, limit: int | None, *, events: bool = False
) -> Iterator[ChainedReceipt]:
    """Yield receipts, newest first, or only what happened to the log itself."""
    return islice(_in_batches(db, query, events=events), limit)


def _in_batches(db: TableReader, query: ReceiptQuery, *, events: bool) -> Iterator[ChainedReceipt]:
    for last in _batches(db, query, events=events):
        row = db.execute("SELECT content, hash FROM batch WHERE last = ?", (last,)).get
        if row is None:
            continue  # somebody took it away; verifying the chain says so
        content, stored = row
        try:
            for behind, receipt in receipt_batch.chosen(content, query, events=events):
                yield ChainedReceipt(last - behind, stored, receipt)
        except _UNREADABLE as problem:
            raise StoreError(
                f"receipt {last} cannot be read: {problem}; pdpp receipts verify tells more"
            ) from problem


def _batches(db: TableReader, query: ReceiptQuery, *, events: bool) -> Iterator[int]:
    """Yield the numbers of the batches that may hold wanted receipts, newest first."""
    since = -1 if query.since is None else query.since
    if query.client_id is not None:
        rows = db.execute(
            "SELECT last FROM reader WHERE client_id = ? AND latest >= ? AND latest < ?"
            " ORDER BY last DESC",
            (query.client_id, since, _NEVER if query.until is None else query.until + instant.DAY),
        )
    elif events:
        rows = db.execute(
            "SELECT last FROM batch WHERE events AND latest >= ? ORDER BY last DESC", (since,)
        )
    elif query.since is not None:
        rows = db.execute("SELECT last FROM batch WHERE latest >= ? ORDER BY last DESC", (since,))
    else:
        rows = db.execute("SELECT last FROM batch ORDER BY last DESC")
    for (last,) in rows:
        yield last


def question(db: TableReader, number: int) -> list[ChainedReceipt]:
    """Return the receipts of one moment, client and operation, newest first, by one of them."""
    row = db.execute(
        "SELECT last, content, hash FROM batch WHERE last >= ? ORDER BY last LIMIT 1", (number,)
    ).get
    if row is None:
        return []
    last, content, stored = row
    chained = [
        ChainedReceipt(last - behind, stored, receipt)
        for behind, receipt in receipt_batch.chosen(content, ReceiptQuery())
    ]
    asked = next((one.receipt for one in chained if one.number == number), None)
    if asked is None:
        return []
    same = (asked.at, asked.client_id, asked.operation)
    return [
        one
        for one in chained
        if (one.receipt.at, one.receipt.client_id, one.receipt.operation) == same
    ]


def last_read(db: TableReader, client_id: str) -> int | None:
    """Return when a client last read something."""
    latest: int | None = db.execute(
        "SELECT max(latest) FROM reader WHERE client_id = ?", (client_id,)
    ).get
    return latest


def hash_of(db: TableReader, number: int) -> bytes | None:
    """Return the hash of a receipt that is still there: that of the batch it is on."""
    if number < db.execute("SELECT first FROM head").get:
        return None
    stored = db.execute(
        "SELECT hash FROM batch WHERE last >= ? ORDER BY last LIMIT 1", (number,)
    ).get
    return None if stored is None else bytes(stored)


def verify(db: TableReader, key: bytes, anchor: tuple[int, bytes] | None) -> ChainVerdict:
    """Compute the whole chain again, and compare its ends with what is sealed and remembered."""
    *ends, seal = db.execute(HEAD).get
    head = ChainHead(*ends)
    problems = list(islice(_problems(db, head), chain.MOST_PROBLEMS))
    if not chain.is_sealed(head, key, seal):
        problems.append("the ends of the log are not sealed by this store")
    if not holds(db, head, anchor):
        problems.append(older(head, anchor))
    return ChainVerdict(head.first, head.last, head.hash, tuple(problems))


def _problems(db: TableReader, head: ChainHead) -> Iterator[str]:
    listed = _Listed(db)
    try:
        yield from chain.problems(_links(db, listed), head)
        yield from listed.problems()
    except (db.failure, UnicodeError) as problem:
        yield f"the log cannot be read: {problem}"


def _links(db: TableReader, listed: "_Listed") -> Iterator[ChainLink]:
    for row in db.execute("SELECT last, latest, events, content, hash FROM batch ORDER BY last"):
        last, *_, content, stored = row
        receipts = _receipts(content)
        listed.compare(last, receipts or ())
        broken = [row.detail for row in receipts or () if row.operation == LogEvent.BROKEN]
        yield ChainLink(
            None if receipts is None else len(receipts),
            last,
            stored,
            partial(_follows, row),
            broken[0] if broken else None,
        )


def _receipts(content: Any) -> list[Receipt] | None:
    """Return the receipts of a batch; None where somebody else wrote into it."""
    try:
        return receipt_batch.receipts_of(content)
    except _UNREADABLE:
        return None


def _follows(row: tuple[Any, ...], before: bytes) -> bool:
    try:
        return bool(chain.link(before, *row[:-1]) == row[-1])
    except TypeError:
        return False  # a value of a kind that is never written


class _Listed:
    """Compares the list of who read, which no hash covers, with what the batches say."""

    def __init__(self, db: TableReader) -> None:
        self._db = db
        self._expected = 0
        self._missing: list[int] = []

    def compare(self, last: int, receipts: Sequence[Receipt]) -> None:
        """Look up all readers that are named in one batch."""
        for client_id, latest in receipt_batch.readers_of(receipts):
            self._expected += 1
            if not self._db.execute(
                "SELECT 1 FROM reader WHERE client_id = ? AND latest = ? AND last = ?",
                (client_id, latest, last),
            ).get:
                self._missing.append(last)

    def problems(self) -> Iterator[str]:
        """Yield what the list does not say, and that it says too much."""
        for last in self._missing:
            yield f"receipt {last} is not in the list of what its client read"
        listed = self._db.execute("SELECT count(*) FROM reader").get
        if listed != self._expected - len(self._missing):
            yield "the list of what clients read names receipts that are not theirs"


def older(head: ChainHead, anchor: tuple[int, bytes] | None) -> str:
    """Return what is wrong with a log that does not hold the receipt which the store remembers."""
    problem = "the log is not the one that the store remembers"
    if anchor is None or anchor[0] <= head.last:
        return problem
    return (
        f"{problem}: it ends with receipt {head.last}, and receipt {anchor[0]} was written; "
        f"{_missing(head.last + 1, anchor[0])}"
    )


def _missing(first: int, last: int) -> str:
    return f"receipt {last} is missing" if first == last else f"receipts {first} to {last} missing"


def holds(db: TableReader, head: ChainHead, anchor: tuple[int, bytes] | None) -> bool:
    """Tell whether the log holds a receipt that is remembered, or once held it and let it go."""
    if anchor is None or anchor[0] < head.first:
        return True
    return hash_of(db, anchor[0]) == anchor[1]
