"""The log of receipts: kept in order, sealed, bounded, and telling when it was touched."""

import multiprocessing
import os
import shutil
import signal
import stat
from collections.abc import Iterator
from itertools import pairwise
from multiprocessing.connection import Connection
from pathlib import Path

import apsw
import pytest
from tests.store.world import NOW, Clock

from pdpp.model import instant
from pdpp.model.errors import NewerDatabase, StoreError
from pdpp.store.receipt_batch import ReceiptBatch
from pdpp.store.receipts import ChainedReceipt, LogEvent, Receipt, ReceiptQuery
from pdpp.store.sqlite.receipt_file import RECEIPTS_NAME, ReceiptFile
from pdpp.store.sqlite.store import SqliteStore

pytestmark = pytest.mark.embedded("about the file of the embedded engine")

ALL = ReceiptQuery()


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[SqliteStore]:
    opened = SqliteStore(tmp_path / "data", clock)
    yield opened
    opened.close()


@pytest.fixture
def book(store: SqliteStore) -> ReceiptFile:
    return store.receipts


def read(number: int = 0, **more: object) -> Receipt:
    """Return the receipt of some read."""
    told = Receipt(
        at=1_000 + number,
        operation="listRecords",
        client_id="agent",
        grant_id="grt_1",
        connection_id="cin_1",
        stream="notes",
        fields=("id", "title"),
        records=(f"n{number}",),
        characters=10,
    )
    return told._replace(**more)  # type: ignore[arg-type]


def fill(book: ReceiptFile, count: int = 10) -> None:
    """Write receipts, each on a batch of its own."""
    book.write([ReceiptBatch([read(number)]) for number in range(count)])


def tampered(store: SqliteStore, *statements: str) -> tuple[str, ...]:
    """Return what a look at the chain tells after somebody changed the file behind our back."""
    path = store._folder / RECEIPTS_NAME
    db = apsw.Connection(str(path))
    for statement in statements:
        db.execute(statement)
    db.close()
    return store.receipts.verify().problems


def cut(which: str) -> tuple[str, str]:
    """Return what takes batches away, with all that names them."""
    return f"DELETE FROM batch WHERE {which}", f"DELETE FROM reader WHERE {which}"


def test_receipts_come_back_newest_first_as_they_were_given(book: ReceiptFile) -> None:
    given = [
        read(1, package_id="pkg_1"),
        read(2, fields=None, client_id=None, grant_id=None),
        read(3, operation="readBlob", detail="ab" * 32, bytes=70, fields=("cover",)),
        read(4, records=("ключ", "k2"), fields=()),
    ]
    book.write([ReceiptBatch(given)])
    kept = list(book.receipts(ALL))
    assert [entry.receipt for entry in kept] == given[::-1]
    assert [entry.number for entry in kept] == [4, 3, 2, 1]
    assert [entry.number for entry in book.receipts(ALL, 2)] == [4, 3]
    assert book.hash_of(4) == kept[0].hash
    assert book.hash_of(5) is None
    assert not any(entry.receipt.is_event for entry in kept)


def test_receipts_are_found_by_client_grant_and_time(book: ReceiptFile) -> None:
    book.write([ReceiptBatch([read(1), read(2, client_id="other"), read(3, grant_id="grt_2")])])
    numbers = {
        "client": [e.number for e in book.receipts(ReceiptQuery(client_id="agent"))],
        "grant": [e.number for e in book.receipts(ReceiptQuery(grant_id="grt_1"))],
        "since": [e.number for e in book.receipts(ReceiptQuery(since=1_002))],
        "both": [e.number for e in book.receipts(ReceiptQuery(1_002, "agent"))],
    }
    assert numbers == {"client": [3, 1], "grant": [2, 1], "since": [3, 2], "both": [3]}


def test_what_happened_to_the_log_is_told_apart_and_who_read_last(book: ReceiptFile) -> None:
    gap = Receipt(2_000, LogEvent.GAP, detail="something is missing")
    book.write([ReceiptBatch([read(1), gap, read(2), read(3, client_id="other")])])
    assert [entry.receipt for entry in book.events()] == [gap]
    assert list(book.events(2_001)) == []
    assert book.last_read("agent") == 1_002
    assert book.last_read("nobody") is None


def test_totals_count_each_record_once_and_every_character(book: ReceiptFile) -> None:
    book.write(
        [
            ReceiptBatch(
                [
                    read(1, records=("a", "b"), characters=20),
                    read(2, records=("b", "c"), characters=30),
                    read(3, records=("b",), stream="tasks", characters=5),
                    read(4, connection_id="cin_2", records=(), bytes=9, characters=100),
                    read(5, client_id=None, records=("z",), characters=1),
                    read(6, connection_id=None, records=(), characters=7),
                ]
            )
        ]
    )
    found = [tuple(total) for total in book.totals(ALL)]
    assert found == [
        ("agent", "cin_2", 0, 100, 9, 1_004),
        ("agent", "cin_1", 4, 55, 0, 1_003),
        (None, "cin_1", 1, 1, 0, 1_005),
    ]
    assert [total.records for total in book.totals(ReceiptQuery(since=1_002))] == [0, 3, 1]


def test_a_log_as_it_was_written_is_whole(book: ReceiptFile) -> None:
    assert book.verify().problems == ()
    assert book.verify().length == 0
    fill(book, 3)
    fill(book, 2)
    verdict = book.verify()
    assert verdict.problems == ()
    assert (verdict.first, verdict.last, verdict.length) == (1, 5, 5)
    assert verdict.hash == book.hash_of(5)


def test_batches_of_any_length_are_one_chain_of_numbered_receipts(book: ReceiptFile) -> None:
    given = [read(number, client_id=f"agent{number % 3}") for number in range(9)]
    book.write(
        [ReceiptBatch(given[:1]), ReceiptBatch(given[1:6]), ReceiptBatch(), ReceiptBatch(given[6:])]
    )
    kept = list(book.receipts(ALL))[::-1]
    assert [(entry.number, entry.receipt) for entry in kept] == list(enumerate(given, 1))
    assert [len(set(hashes)) for hashes in _hashes(kept, (0, 1, 6, 9))] == [1, 1, 1]
    assert [book.hash_of(entry.number) for entry in kept] == [entry.hash for entry in kept]
    mine = [entry.number for entry in book.receipts(ReceiptQuery(1_004, "agent1"))]
    assert mine == [8, 5]
    assert book.last_read("agent0") == 1_006
    assert (book.verify().length, book.verify().problems) == (9, ())


def _hashes(kept: list[ChainedReceipt], ends: tuple[int, ...]) -> list[list[bytes]]:
    return [[e.hash for e in kept[start:end]] for start, end in pairwise(ends)]


def test_what_many_receipts_have_in_common_is_written_once(store: SqliteStore) -> None:
    store.receipts.write([ReceiptBatch([read(number) for number in range(100)])])
    content = bytes(store.receipts._db.execute("SELECT content FROM batch").get)
    assert content.count(b"grt_1") == content.count(b"listRecords") == 1
    assert len(content) < 100 * 30


def test_nothing_to_write_writes_nothing(book: ReceiptFile) -> None:
    book.write([ReceiptBatch([])])
    assert (book.verify().length, book.verify().problems) == (0, ())


PLACE, RECEIPT = "$.places[0]", "$.receipts[0]"
VALUES = {
    "at": f"{RECEIPT}[0]",
    **{name: f"{PLACE}[{place}]" for place, name in enumerate(Receipt._fields[1:9])},
    "records": f"{RECEIPT}[2][0]",
    "characters": f"{RECEIPT}[3]",
    "bytes": f"{RECEIPT}[4]",
    "detail": f"{RECEIPT}[5]",
}
"""Where each value of a receipt stands on its batch."""


def changed(path: str, value: str) -> str:
    """Return the expression that changes something on a batch."""
    return f"content = CAST(json_set(CAST(content AS TEXT), '{path}', {value}) AS BLOB)"


@pytest.mark.parametrize("name", Receipt._fields)
@pytest.mark.parametrize("number", [1, 5, 10])
def test_a_change_of_any_value_shows(store: SqliteStore, name: str, number: int) -> None:
    store.receipts.write([ReceiptBatch([read(n, bytes=3, detail="d")]) for n in range(10)])
    value = "7" if name in ("at", "characters", "bytes") else "'x'"
    change = changed(VALUES[name], value)
    before = list(store.receipts.receipts(ALL))
    told = tampered(store, f"UPDATE batch SET {change} WHERE last = {number}")
    assert f"receipt {number} was changed, or the one it follows was" in told
    after = list(store.receipts.receipts(ALL))
    assert [old == new for old, new in zip(before, after, strict=True)].count(False) == 1


@pytest.mark.parametrize("value", ["7", "'x'", "CAST('x' AS BLOB)", "CAST(x'ff' AS TEXT)", "1.5"])
@pytest.mark.parametrize("column", ["latest", "events", "content", "hash"])
def test_a_change_of_any_column_shows(store: SqliteStore, column: str, value: str) -> None:
    fill(store.receipts)
    assert tampered(store, f"UPDATE batch SET {column} = {value} WHERE last = 5")


def test_a_change_on_a_batch_of_many_names_them_all(store: SqliteStore) -> None:
    store.receipts.write(
        [ReceiptBatch([read(1)]), ReceiptBatch([read(2), read(3)]), ReceiptBatch([read(4)])]
    )
    told = tampered(store, f"UPDATE batch SET {changed('$.receipts[0][3]', '1')} WHERE last = 3")
    assert told == ("receipts 2 to 3 were changed, or the one they follow was",)
    assert tampered(store, *cut("last = 3")) == ("receipts 2 to 3 missing",)


def test_a_receipt_taken_from_or_added_to_a_batch_shows(store: SqliteStore) -> None:
    store.receipts.write(
        [ReceiptBatch([read(1)]), ReceiptBatch([read(2), read(3)]), ReceiptBatch([read(4)])]
    )
    fewer = "content = CAST(json_remove(CAST(content AS TEXT), '$.receipts[0]') AS BLOB)"
    assert tampered(store, f"UPDATE batch SET {fewer} WHERE last = 3") == ("receipt 2 is missing",)
    again = changed("$.receipts[1]", "json_extract(CAST(content AS TEXT), '$.receipts[0]')")
    told = tampered(store, f"UPDATE batch SET {again} WHERE last = 3")
    assert told == ("receipts 2 to 3 were changed, or the one they follow was",)
    more = changed("$.receipts[2]", "json_extract(CAST(content AS TEXT), '$.receipts[0]')")
    told = tampered(store, f"UPDATE batch SET {more} WHERE last = 3")
    assert told == ("receipt 1 is where another belongs",)


def test_a_batch_taken_away_is_told_and_what_is_left_is_listed(store: SqliteStore) -> None:
    fill(store.receipts, 3)
    told = tampered(store, "DELETE FROM batch WHERE last = 2")
    assert told[0] == "receipt 2 is missing"
    mine = [entry.number for entry in store.receipts.receipts(ReceiptQuery(client_id="agent"))]
    assert mine == [3, 1]


def test_a_batch_that_cannot_be_read_is_told_by_number(store: SqliteStore) -> None:
    fill(store.receipts, 3)
    told = tampered(store, "UPDATE batch SET content = CAST('no' AS BLOB) WHERE last = 2")
    assert told[:1] == ("receipt 2 was changed, or the one it follows was",)
    with pytest.raises(StoreError, match=r"receipt 2 cannot be read: .*verify tells more"):
        list(store.receipts.receipts(ALL))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ("DELETE FROM reader WHERE last = 4", "receipt 4 is not in the list of what its client"),
        ("UPDATE reader SET client_id = 'x' WHERE last = 4", "receipt 4 is not in the list"),
        ("UPDATE reader SET latest = 7 WHERE last = 4", "receipt 4 is not in the list"),
        ("UPDATE reader SET last = 50 WHERE last = 4", "receipt 4 is not in the list"),
        ("INSERT INTO reader VALUES ('x', 1, 4)", "names receipts that are not theirs"),
        ("INSERT INTO reader VALUES ('agent', 1, 99)", "names receipts that are not theirs"),
    ],
)
def test_a_change_of_who_is_listed_as_reader_shows(
    store: SqliteStore, change: str, problem: str
) -> None:
    fill(store.receipts)
    assert problem in tampered(store, change)[0]


def test_every_byte_of_every_row_counts(store: SqliteStore, tmp_path: Path) -> None:
    fill(store.receipts, 3)
    folder = tmp_path / "copy"
    store.backup(folder)
    path = folder / RECEIPTS_NAME
    good = path.read_bytes()
    whole = bytes(store.receipts._db.execute("SELECT content FROM batch WHERE last = 2").get)
    start = good.index(whole)
    missed = []
    for place in range(start, start + len(whole)):
        changed = bytearray(good)
        changed[place] ^= 1
        path.write_bytes(changed)
        copy = SqliteStore(folder)
        if not copy.check():
            missed.append(place)
        copy.close()
    assert missed == []


def test_a_receipt_taken_out_of_the_middle_is_named(store: SqliteStore) -> None:
    fill(store.receipts)
    told = tampered(store, *cut("last = 4"))
    assert told == ("receipt 4 is missing",)
    told = tampered(store, *cut("last = 5"))
    assert told == ("receipts 4 to 5 missing",)


def test_a_tail_that_was_cut_off_is_told(store: SqliteStore) -> None:
    fill(store.receipts)
    told = tampered(store, *cut("last > 8"))
    assert told == ("receipts 9 to 10 missing",)


def test_a_tail_that_was_cut_off_with_its_end_moved_is_not_sealed(store: SqliteStore) -> None:
    fill(store.receipts)
    told = tampered(
        store,
        *cut("last > 8"),
        "UPDATE head SET last = 8, hash = (SELECT hash FROM batch WHERE last = 8)",
    )
    assert told == ("the ends of the log are not sealed by this store",)


def test_a_beginning_that_was_cut_off_is_told(store: SqliteStore) -> None:
    fill(store.receipts)
    assert tampered(store, *cut("last < 3")) == ("receipts 1 to 2 missing",)
    moved = tampered(store, "UPDATE head SET first = 3, before = zeroblob(32)")
    assert "the ends of the log are not sealed by this store" in moved


def test_swapped_receipts_are_told(store: SqliteStore) -> None:
    fill(store.receipts)
    told = tampered(
        store,
        *(
            f"UPDATE {table} SET last = {to} WHERE last = {which}"
            for table in ("batch", "reader")
            for which, to in ((4, 99), (5, 4), (99, 5))
        ),
    )
    assert [line.partition(" was")[0] for line in told] == ["receipt 4", "receipt 5", "receipt 6"]


def test_a_receipt_put_in_from_outside_is_told(store: SqliteStore) -> None:
    fill(store.receipts)
    again = "latest, events, content, hash FROM batch WHERE last = 10"
    told = tampered(store, f"INSERT INTO batch SELECT 11, {again}")
    assert "receipts 11 to 11 were added from outside" in told
    before = tampered(store, f"INSERT INTO batch SELECT 0, {again}")
    assert "receipt 0 is where another belongs" in before


def test_a_last_receipt_made_anew_is_told(store: SqliteStore) -> None:
    fill(store.receipts, 2)
    chain_of = "UPDATE head SET hash = (SELECT hash FROM batch WHERE last = 1)"
    assert "the end of the log is another than receipt 2" in tampered(store, chain_of)


def test_tampering_is_not_sealed_over_by_going_on(store: SqliteStore) -> None:
    fill(store.receipts)
    tampered(
        store,
        *cut("last > 8"),
        "UPDATE head SET last = 8, hash = (SELECT hash FROM batch WHERE last = 8)",
    )
    fill(store.receipts, 2)
    kept = [entry.receipt.operation for entry in store.receipts.receipts(ALL, 3)]
    assert kept == ["listRecords", "listRecords", LogEvent.BROKEN]
    told = "receipt 9 tells of tampering: the end of the log was not as it had been left"
    assert store.receipts.verify().problems == (told,)


def test_many_problems_are_told_in_a_few_lines(store: SqliteStore) -> None:
    fill(store.receipts, 100)
    assert len(tampered(store, f"UPDATE batch SET {changed(VALUES['at'], '1')}")) == 20


def test_the_log_of_another_store_is_not_sealed_by_this_one(
    store: SqliteStore, tmp_path: Path
) -> None:
    fill(store.receipts)
    store.backup(tmp_path / "copy")
    other = SqliteStore(tmp_path / "other")
    shutil.copy(tmp_path / "copy" / RECEIPTS_NAME, tmp_path / "other" / RECEIPTS_NAME)
    assert other.check() == ["the ends of the log are not sealed by this store"]
    other.close()


# Beginning and ending


def events(book: ReceiptFile) -> list[tuple[str, str | None]]:
    told = [entry.receipt for entry in book.receipts(ALL) if entry.receipt.is_event]
    return [(receipt.operation, receipt.detail) for receipt in reversed(told)]


def test_a_log_that_was_ended_properly_has_no_gap(tmp_path: Path, clock: Clock) -> None:
    for _ in range(3):
        store = SqliteStore(tmp_path, clock)
        store.receipts.begin()
        fill(store.receipts)
        store.receipts.finish()
        store.receipts.finish()
        store.close()
    store = SqliteStore(tmp_path, clock)
    store.receipts.begin()
    assert events(store.receipts) == []
    store.close()


def test_a_writer_that_did_not_end_leaves_a_gap(tmp_path: Path, clock: Clock) -> None:
    store = SqliteStore(tmp_path, clock)
    store.receipts.begin()
    store.receipts.write([ReceiptBatch([read(at=clock() + instant.SECOND)])])
    store.close()
    clock.pass_by(60)
    store = SqliteStore(tmp_path, clock)
    store.receipts.begin()
    moment = instant.to_text(NOW + instant.SECOND)
    told = f"the server ended without writing its last receipts, those after {moment}"
    assert events(store.receipts) == [(LogEvent.GAP, told)]
    store.receipts.finish()
    store.close()
    store = SqliteStore(tmp_path, clock)
    store.receipts.begin()
    assert len(events(store.receipts)) == 1
    assert store.receipts.verify().problems == ()
    store.close()


def test_a_second_writer_is_no_gap_and_both_write_one_chain(tmp_path: Path, clock: Clock) -> None:
    one, two = SqliteStore(tmp_path, clock), SqliteStore(tmp_path, clock)
    one.receipts.begin()
    two.receipts.begin()
    for book in (one.receipts, two.receipts) * 3:
        fill(book, 2)
    one.receipts.finish()
    fill(two.receipts, 1)
    two.receipts.finish()
    assert events(two.receipts) == []
    assert two.receipts.verify().problems == ()
    assert two.receipts.verify().length == 13
    one.close()
    two.close()


def test_a_writer_that_was_killed_beside_others_is_missed_by_the_next_one(
    tmp_path: Path, clock: Clock
) -> None:
    stays, killed, next_one = (SqliteStore(tmp_path, clock) for _ in range(3))
    stays.receipts.begin()
    killed.receipts.begin()
    killed.close()
    next_one.receipts.begin()
    assert [kind for kind, _ in events(next_one.receipts)] == [LogEvent.GAP]
    for store in (stays, next_one):
        store.receipts.finish()
        store.close()
    assert list(tmp_path.glob("*.lock")) == []


def _write_until_killed(folder: Path, told: Connection) -> None:
    store = SqliteStore(folder)
    store.receipts.begin()
    number = 0
    while True:
        number += 1
        store.receipts.write([ReceiptBatch([read(number, at=instant.now())])])
        told.send(number)


def test_a_killed_writer_loses_nothing_it_had_written(tmp_path: Path) -> None:
    # Each is a fork of one process that has imported this module, and has no file of this one.
    forking = multiprocessing.get_context("forkserver")
    forking.set_forkserver_preload([__name__])
    acknowledged = 0
    for _ in range(4):
        listen, tell = forking.Pipe(duplex=False)
        process = forking.Process(target=_write_until_killed, args=(tmp_path, tell))
        process.start()
        tell.close()
        for _ in range(5):
            listen.recv()
            acknowledged += 1
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        while listen.poll():
            try:
                listen.recv()
            except EOFError:
                break
            acknowledged += 1
        listen.close()
    store = SqliteStore(tmp_path)
    store.receipts.begin()
    kept = [entry.receipt for entry in store.receipts.receipts(ALL)]
    assert sum(not receipt.is_event for receipt in kept) >= acknowledged
    assert len(events(store.receipts)) == 4
    assert store.receipts.verify().problems == ()
    store.close()


def test_a_log_that_was_deleted_or_put_back_is_told(tmp_path: Path, clock: Clock) -> None:
    folder = tmp_path / "data"
    store = SqliteStore(folder, clock)
    store.receipts.begin()
    fill(store.receipts)
    store.backup(tmp_path / "older")
    fill(store.receipts)
    store.receipts.finish()
    store.close()
    path = folder / RECEIPTS_NAME
    shutil.copy(tmp_path / "older" / RECEIPTS_NAME, path)
    store = SqliteStore(folder, clock)
    older = "it ends with receipt 10, and receipt 20 was written; receipts 11 to 20 missing"
    assert store.check() == [f"the log is not the one that the store remembers: {older}"]
    store.close()
    path.unlink()
    store = SqliteStore(folder, clock)
    assert store.check() == ["the log of receipts is missing"]
    store.receipts.begin()
    gone = "it ends with receipt 0, and receipt 20 was written; receipts 1 to 20 missing"
    told = f"the log is not the one that the store remembers: {gone}"
    assert events(store.receipts) == [(LogEvent.BROKEN, told)]
    assert store.check() == [f"receipt 1 tells of tampering: {told}"]
    store.close()


# Bounds


def test_the_oldest_make_room_and_that_is_written_down(
    store: SqliteStore, book: ReceiptFile
) -> None:
    fill(book, 100)
    book.trim(100, 1 << 30)
    assert book.verify().length == 100
    fill(book, 1)
    book.trim(100, 1 << 30)
    verdict = book.verify()
    assert verdict.problems == ()
    assert verdict.first == 7
    assert events(book) == [(LogEvent.TRIMMED, "receipts 1 to 6 made room for newer")]
    assert tampered(store, *cut("last = 7")) == ("receipt 7 is missing",)


def test_far_too_many_go_at_once(book: ReceiptFile) -> None:
    fill(book, 100)
    book.trim(10, 1 << 30)
    assert book.verify().length == 11
    assert book.verify().problems == ()


def test_receipts_that_were_written_together_go_together(book: ReceiptFile) -> None:
    for start in range(0, 100, 25):
        book.write(
            [ReceiptBatch([read(number, client_id=f"agent{start}") for number in range(25)])]
        )
    book.trim(99, 1 << 30)
    verdict = book.verify()
    assert (verdict.first, verdict.length, verdict.problems) == (26, 76, ())
    assert events(book) == [(LogEvent.TRIMMED, "receipts 1 to 25 made room for newer")]
    assert (book.last_read("agent0"), book.last_read("agent25")) == (None, 1_024)
    assert book.hash_of(25) is None
    assert book.hash_of(26) == book.hash_of(50) is not None


def test_a_log_stays_within_its_bytes(book: ReceiptFile) -> None:
    most = 300_000
    for _ in range(60):
        book.write([ReceiptBatch([read(number, records=("k" * 400,) * 5) for number in range(20)])])
        book.trim(1_000_000, most)
    assert book._path.stat().st_size < 2 * most
    assert book.verify().problems == ()
    assert book.verify().length > 50


def test_a_log_far_beyond_its_bytes_is_trimmed_until_it_fits(book: ReceiptFile) -> None:
    book.write([ReceiptBatch([read(n, records=("k" * 400,) * 20)]) for n in range(64)])
    book.trim(1_000_000, 200_000)
    verdict = book.verify()
    assert verdict.problems == ()
    assert 10 < verdict.length < 30


def test_a_log_is_never_trimmed_to_nothing(book: ReceiptFile) -> None:
    book.trim(0, 0)
    book.write([ReceiptBatch([read()])])
    book.trim(0, 0)
    assert book.verify().length == 1


# The file


def test_only_the_owner_of_the_folder_reads_the_file(store: SqliteStore) -> None:
    fill(store.receipts)
    files = list(store._folder.glob("receipts*"))
    assert files
    for path in files:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


def test_writing_receipts_leaves_the_state_of_the_store_alone(store: SqliteStore) -> None:
    store.receipts.begin()
    before = store.state()
    fill(store.receipts)
    store.receipts.trim(5, 1 << 30)
    assert store.state() == before


def test_a_backup_holds_the_log_and_nobody_is_missed_there(
    store: SqliteStore, tmp_path: Path
) -> None:
    store.receipts.begin()
    fill(store.receipts)
    store.backup(tmp_path / "copy")
    copy = SqliteStore(tmp_path / "copy")
    assert stat.S_IMODE((tmp_path / "copy" / RECEIPTS_NAME).stat().st_mode) == 0o600
    copy.receipts.begin()
    assert events(copy.receipts) == []
    assert copy.check() == []
    assert copy.receipts.verify().length == 10
    copy.close()


def test_a_store_without_receipts_is_checked_and_backed_up_without_them(
    store: SqliteStore, tmp_path: Path
) -> None:
    assert store.check() == []
    store.backup(tmp_path / "copy")
    assert not (tmp_path / "copy" / RECEIPTS_NAME).exists()
    assert not (store._folder / RECEIPTS_NAME).exists()


def test_a_file_that_is_something_else_is_left_alone(store: SqliteStore) -> None:
    path = store._folder / RECEIPTS_NAME
    db = apsw.Connection(str(path))
    db.execute("CREATE TABLE mine (x)")
    db.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="holds something else"):
        _ = store.receipts
    assert path.read_bytes() == before
    assert store.check() == ["receipts.db holds something else than receipts; move it away"]


def test_a_file_that_is_no_database_is_told_in_one_line(store: SqliteStore) -> None:
    (store._folder / RECEIPTS_NAME).write_bytes(b"not a database at all, " * 100)
    with pytest.raises(StoreError, match=r"cannot open the receipts .*move it away"):
        _ = store.receipts


def test_a_file_on_a_full_disk_is_not_to_be_moved_away(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise apsw.FullError("database or disk is full")

    monkeypatch.setattr(ReceiptFile, "_open", fail)
    with pytest.raises(StoreError, match=r"cannot open the receipts .*make room$"):
        _ = store.receipts


@pytest.mark.parametrize(("version", "kind"), [(99, NewerDatabase), (2, StoreError)])
def test_a_file_of_another_version_of_the_program_is_left_alone(
    store: SqliteStore, version: int, kind: type[StoreError]
) -> None:
    fill(store.receipts)
    store.receipts._db.pragma("user_version", version)
    store.close()
    again = SqliteStore(store._folder)
    with pytest.raises(kind):
        _ = again.receipts
    again.close()


def test_a_file_that_cannot_be_written_is_an_error_and_nothing_is_kept(
    store: SqliteStore, book: ReceiptFile
) -> None:
    fill(book, 2)
    book._db.pragma("max_page_count", 1)
    with pytest.raises(StoreError, match=r"cannot write to .*full"):
        book.write(
            [ReceiptBatch([read(number, records=("k" * 500,) * 20) for number in range(50)])]
        )
    assert book.verify().length == 2
    book._db.pragma("max_page_count", 1_000_000)
    fill(book, 1)
    assert book.verify().problems == ()
    assert store.check() == []
