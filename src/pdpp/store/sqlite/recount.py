"""Recounting: reading the log of receipts back, adding it up, and proving it whole."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import apsw
import orjson

from pdpp.store.receipts import Event, Kept, Receipt, ReceiptQuery, Total, Verdict
from pdpp.store.sqlite import chain
from pdpp.store.sqlite.chain import Head

COLUMNS = ", ".join(Receipt._fields)
HEAD = "SELECT first, before, last, hash, seal FROM head"


def receipts(
    db: apsw.Connection, query: ReceiptQuery, limit: int | None, *, events: bool = False
) -> Iterator[Kept]:
    """Yield receipts, newest first, or only what happened to the log itself."""
    chosen, values = _where(query)
    if events:
        chosen += f" AND operation IN {tuple(map(str, Event))}"
    for number, *columns, stored in db.execute(
        f"SELECT number, {COLUMNS}, hash FROM receipt WHERE {chosen} ORDER BY number DESC LIMIT ?",
        (*values, -1 if limit is None else limit),
    ):
        yield Kept(number, stored, _receipt(columns))


def _receipt(columns: Sequence[Any]) -> Receipt:
    found = Receipt(*columns)
    fields = None if found.fields is None else tuple(orjson.loads(columns[7]))
    return found._replace(fields=fields, records=tuple(orjson.loads(columns[8])))


def _where(query: ReceiptQuery) -> tuple[str, tuple[int | str, ...]]:
    asked = {
        "at >= ?": query.since,
        "client_id = ?": query.client_id,
        "grant_id = ?": query.grant_id,
    }
    given = {text: value for text, value in asked.items() if value is not None}
    return " AND ".join(given) or "true", tuple(given.values())


def totals(db: apsw.Connection, query: ReceiptQuery) -> tuple[Total, ...]:
    """Return what was read, by client and connection, most characters first."""
    chosen, values = _where(query)
    counts = {
        (client_id, connection_id): count
        for client_id, connection_id, count in db.execute(
            "SELECT client_id, connection_id, count(*) FROM (SELECT DISTINCT client_id,"
            " connection_id, stream, key.value FROM receipt, json_each(records) AS key"
            f" WHERE connection_id IS NOT NULL AND {chosen}) GROUP BY client_id, connection_id",
            values,
        )
    }
    found = [
        Total(client_id, connection_id, counts.get((client_id, connection_id), 0), *sums)
        for client_id, connection_id, *sums in db.execute(
            "SELECT client_id, connection_id, sum(characters), sum(bytes), max(at) FROM receipt"
            f" WHERE connection_id IS NOT NULL AND {chosen} GROUP BY client_id, connection_id",
            values,
        )
    ]
    return tuple(sorted(found, key=lambda total: (-total.characters, total.connection_id)))


def hash_of(db: apsw.Connection, number: int) -> bytes | None:
    """Return the hash of a receipt that is still there."""
    found = db.execute("SELECT hash FROM receipt WHERE number = ?", (number,)).get
    return None if found is None else bytes(found)


def verify(db: apsw.Connection, key: bytes, anchor: tuple[int, bytes] | None) -> Verdict:
    """Compute the whole chain again, and compare its ends with what is sealed and remembered."""
    *ends, seal = db.execute(HEAD).get
    head = Head(*ends)
    found = list(islice(_problems(db, head), chain.MOST_PROBLEMS))
    if not chain.is_sealed(head, key, seal):
        found.append("the ends of the log are not sealed by this store")
    if not holds(db, head, anchor):
        found.append("the log is not the one that the store remembers")
    return Verdict(head.first, head.last, head.hash, tuple(found))


def _problems(db: apsw.Connection, head: Head) -> Iterator[str]:
    rows = db.execute(f"SELECT number, {COLUMNS}, hash FROM receipt ORDER BY number")
    try:
        yield from chain.problems(rows, head)
    except (apsw.Error, UnicodeError) as problem:
        yield f"the log cannot be read: {problem}"


def holds(db: apsw.Connection, head: Head, anchor: tuple[int, bytes] | None) -> bool:
    """Tell whether the log holds a receipt that is remembered, or once held it and let it go."""
    if anchor is None or anchor[0] < head.first:
        return True
    return hash_of(db, anchor[0]) == anchor[1]
