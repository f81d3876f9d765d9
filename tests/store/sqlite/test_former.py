"""A log in its first form goes on: it is read, proven, added to and trimmed as it was before."""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import apsw
import orjson
import pytest
from tests.store.world import Clock

from pdpp.store.receipts import Event, Receipt, ReceiptQuery
from pdpp.store.sheet import Sheet
from pdpp.store.sqlite.receipts import chain
from pdpp.store.sqlite.receipts.anchor import SettingAnchor
from pdpp.store.sqlite.receipts.log import RECEIPTS_NAME
from pdpp.store.sqlite.store import SqliteStore

ALL = ReceiptQuery()

TABLES = """
CREATE TABLE receipt (
  number INTEGER PRIMARY KEY, at INTEGER NOT NULL, operation TEXT NOT NULL, client_id TEXT,
  grant_id TEXT, package_id TEXT, connection_id TEXT, stream TEXT, fields TEXT,
  records TEXT NOT NULL, characters INTEGER NOT NULL, bytes INTEGER NOT NULL, detail TEXT,
  hash BLOB NOT NULL
);
CREATE INDEX receipt_at ON receipt (at);
CREATE INDEX receipt_client ON receipt (client_id, at);
CREATE TABLE head (
  first INTEGER NOT NULL, before BLOB NOT NULL, last INTEGER NOT NULL, hash BLOB NOT NULL,
  seal BLOB NOT NULL
);
CREATE TABLE session (id TEXT PRIMARY KEY, began_at INTEGER NOT NULL) WITHOUT ROWID;
"""
"""The tables of the first form, as it was released."""

OLD = [
    Receipt(1_001, "listRecords", "agent", "g1", None, "mail", "inbox", ("id",), ("k1", "k2"), 20),
    Receipt(1_002, "readBlob", None, None, None, "mail", "inbox", None, ("k1",), 0, 9, "ab" * 32),
    Receipt(1_003, Event.GAP, detail="something is missing"),
    Receipt(1_004, "search", "other", "g2", "p1", "mail", "sent", (), ("ключ",), 5),
]
NEW = Receipt(2_000, "search", "agent", "g1", None, "mail", "inbox", ("id",), ("k2", "k3"), 7)


def write_former(store: SqliteStore, receipts: Sequence[Receipt]) -> list[bytes]:
    """Write a log in its first form beside a store; return the hash of each receipt."""
    db = apsw.Connection(str(store._folder / RECEIPTS_NAME))
    db.pragma("journal_mode", "wal")
    db.execute(TABLES)
    before, hashes = chain.NOTHING, []
    for number, receipt in enumerate(receipts, 1):
        fields = None if receipt.fields is None else orjson.dumps(receipt.fields).decode()
        records = orjson.dumps(receipt.records).decode()
        row = (number, *receipt[:7], fields, records, *receipt[9:])
        before = hashlib.sha256(before + orjson.dumps(row)).digest()
        hashes.append(before)
        db.execute(f"INSERT INTO receipt VALUES ({', '.join('?' * 14)})", (*row, before))
    head = chain.Head(last=len(receipts), hash=before)
    seal = chain.seal(head, chain.sealing_key(store.secret()))
    db.execute("INSERT INTO head VALUES (?, ?, ?, ?, ?)", (*head, seal))
    db.pragma("application_id", 0x50445052)
    db.pragma("user_version", 1)
    db.close()
    SettingAnchor(store._db).remember(len(receipts), before)
    return hashes


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "data", clock)
    yield opened
    opened.close()


def sql(store: SqliteStore, statement: str) -> None:
    db = apsw.Connection(str(store._folder / RECEIPTS_NAME))
    db.execute(statement)
    db.close()


def numbers(store: SqliteStore, query: ReceiptQuery) -> list[int]:
    return [entry.number for entry in store.receipts.receipts(query)]


def test_what_the_last_version_wrote_is_read_as_before(store: SqliteStore) -> None:
    hashes = write_former(store, OLD)
    book = store.receipts
    kept = list(book.receipts(ALL))[::-1]
    assert [(entry.number, entry.receipt) for entry in kept] == list(enumerate(OLD, 1))
    assert [entry.hash for entry in kept] == [book.hash_of(n) for n in (1, 2, 3, 4)] == hashes
    assert [entry.receipt for entry in book.events()] == [OLD[2]]
    assert numbers(store, ReceiptQuery(client_id="agent")) == [1]
    assert numbers(store, ReceiptQuery(grant_id="g2")) == [4]
    assert numbers(store, ReceiptQuery(since=1_003)) == [4, 3]
    assert (book.last_read("agent"), book.last_read("nobody")) == (1_001, None)
    assert store.check() == []


def test_new_receipts_follow_the_old_ones_in_one_chain(store: SqliteStore) -> None:
    hashes = write_former(store, OLD)
    store.receipts.begin()
    store.receipts.write([Sheet([NEW, NEW._replace(client_id=None)])])
    store.receipts.finish()
    assert [entry.receipt for entry in store.receipts.receipts(ALL, 3)] == [
        NEW._replace(client_id=None),
        NEW,
        OLD[3],
    ]
    assert numbers(store, ReceiptQuery(client_id="agent")) == [5, 1]
    verdict = store.receipts.verify()
    assert (verdict.first, verdict.last, verdict.problems) == (1, 6, ())
    assert store.receipts.hash_of(4) == hashes[3]
    assert store.receipts.last_read("agent") == 2_000
    found = {(t.client_id, t.records, t.characters) for t in store.receipts.totals(ALL)}
    assert found == {("agent", 3, 27), ("other", 1, 5), (None, 3, 7)}


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ("UPDATE receipt SET characters = 1 WHERE number = 2", "receipt 2 was changed"),
        ("UPDATE receipt SET detail = CAST('x' AS BLOB) WHERE number = 3", "receipt 3 was changed"),
        ("UPDATE receipt SET hash = zeroblob(32) WHERE number = 4", "receipt 4 was changed"),
        ("DELETE FROM receipt WHERE number = 2", "receipt 2 is missing"),
        ("DELETE FROM receipt WHERE number = 4", "receipt 4 is missing"),
        ("DELETE FROM receipt", "receipts 1 to 4 missing"),
        ("DELETE FROM sheet", "receipt 5 is missing"),
    ],
)
def test_old_receipts_that_are_touched_later_show(
    store: SqliteStore, change: str, problem: str
) -> None:
    write_former(store, OLD)
    store.receipts.write([Sheet([NEW])])
    assert store.receipts.verify().problems == ()
    sql(store, change)
    assert store.receipts.verify().problems[0].startswith(problem)


def test_an_old_log_that_was_touched_before_it_is_opened_shows(store: SqliteStore) -> None:
    write_former(store, OLD)
    sql(store, "DELETE FROM receipt WHERE number = 4")
    store.receipts.begin()
    told = [entry.receipt.operation for entry in store.receipts.receipts(ALL)]
    assert told[:2] == [Event.BROKEN, Event.BROKEN]
    assert "the end of the log was not as it had been left" in " ".join(store.check())


def test_tampering_that_the_last_version_found_stays_told(store: SqliteStore) -> None:
    write_former(store, [*OLD, Receipt(1_005, Event.BROKEN, detail="something was done")])
    assert store.check() == ["receipt 5 tells of tampering: something was done"]


def test_a_writer_of_the_last_version_that_was_killed_is_missed(store: SqliteStore) -> None:
    write_former(store, OLD)
    sql(store, "INSERT INTO session VALUES ('gone', 5)")
    store.receipts.begin()
    (gap, _) = store.receipts.events()
    assert (gap.receipt.operation, gap.number) == (Event.GAP, 5)
    assert "those after 1970-01-01T00:00:00.001004Z" in (gap.receipt.detail or "")
    assert store.check() == []


def test_the_oldest_make_room_first_in_either_form(store: SqliteStore) -> None:
    write_former(store, OLD)
    book = store.receipts
    book.write([Sheet([NEW])])
    book.write([Sheet([NEW])])
    book.trim(3, 1 << 30)
    assert (book.verify().first, book.verify().problems) == (4, ())
    assert numbers(store, ALL) == [7, 6, 5, 4]
    book.trim(2, 1 << 30)
    assert (book.verify().first, book.verify().problems) == (6, ())
    assert book.hash_of(3) is None
    assert store.check() == []
