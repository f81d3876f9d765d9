"""The first form of the log: a row for each receipt. Such rows are read and let go, never written.

They come before every sheet, and the first sheet follows the last of them, so that a log that was
begun in this form is still one chain under the hashes that its owner may have noted down.
"""

import hashlib
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import apsw
import orjson

from pdpp.store.receipts import Event, Kept, Receipt, ReceiptQuery
from pdpp.store.sqlite.receipts.chain import Link

TABLE = """
CREATE TABLE IF NOT EXISTS receipt (
  number INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  operation TEXT NOT NULL,
  client_id TEXT,
  grant_id TEXT,
  package_id TEXT,
  connection_id TEXT,
  stream TEXT,
  fields TEXT,
  records TEXT NOT NULL,
  characters INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  detail TEXT,
  hash BLOB NOT NULL
);
"""

_COLUMNS = ", ".join(Receipt._fields)


def receipts(db: apsw.Connection, query: ReceiptQuery, *, events: bool) -> Iterator[Kept]:
    """Yield receipts, newest first, or only what happened to the log itself."""
    asked = {
        "at >= ?": query.since,
        "client_id = ?": query.client_id,
        "grant_id = ?": query.grant_id,
    }
    given = {text: value for text, value in asked.items() if value is not None}
    chosen = " AND ".join(given) or "true"
    if events:
        chosen += f" AND operation IN {tuple(map(str, Event))}"
    for number, *columns, stored in db.execute(
        f"SELECT number, {_COLUMNS}, hash FROM receipt WHERE {chosen} ORDER BY number DESC",
        tuple(given.values()),
    ):
        yield Kept(number, stored, _receipt(columns))


def _receipt(columns: Sequence[Any]) -> Receipt:
    found = Receipt(*columns)
    fields = None if found.fields is None else tuple(orjson.loads(columns[7]))
    return found._replace(fields=fields, records=tuple(orjson.loads(columns[8])))


def last_read(db: apsw.Connection, client_id: str) -> int | None:
    """Return when a client last read something."""
    found: int | None = db.execute(
        "SELECT max(at) FROM receipt WHERE client_id = ?", (client_id,)
    ).get
    return found


def hash_of(db: apsw.Connection, number: int) -> bytes | None:
    """Return the hash of a receipt that is still there."""
    found = db.execute("SELECT hash FROM receipt WHERE number = ?", (number,)).get
    return None if found is None else bytes(found)


def links(db: apsw.Connection) -> Iterator[Link]:
    """Yield the receipts in their order, each as it is linked to the one before."""
    rows = db.execute(f"SELECT number, {_COLUMNS}, hash FROM receipt ORDER BY number")
    for number, *columns, stored in rows:
        tampering = columns[-1] if columns[1] == Event.BROKEN else None
        yield Link(1, number, stored, partial(_follows, number, columns, stored), tampering)


def _follows(number: int, columns: Sequence[Any], stored: object, before: bytes) -> bool:
    try:
        return hashlib.sha256(before + orjson.dumps((number, *columns))).digest() == stored
    except TypeError:
        return False  # a value of a kind that is never written
