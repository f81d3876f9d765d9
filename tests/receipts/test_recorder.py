"""Receipts are written soon, off the read path; what cannot be written down is not read."""

import logging
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from tests.engine import database_of, hold_receipts, let_receipts, open_store, stop_receipts
from tests.receipts.served import QUICK, good, kept
from tests.resource.library import library_store
from tests.serving import DEADLINE, UNENCRYPTED, UNLIMITED, World, grant, living, refused

from pdpp.authz.principal import Principal
from pdpp.authz.token import TokenKind, mint
from pdpp.model import instant
from pdpp.model.errors import Overloaded, StoreError
from pdpp.receipts.recorder import AnsweredRead, ReceiptPolicy, Recorder
from pdpp.receipts.served import Served
from pdpp.store.receipts import LogEvent, Receipt, ReceiptQuery
from pdpp.store.sqlite.receipt_file import RECEIPTS_NAME

ROOT = Path(__file__).parents[2]
BOOKS = "/v1/streams/books/records"


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline
        threading.Event().wait(0.005)


def count(world: World) -> int:
    return sum(1 for _ in world.store.receipts.receipts(ReceiptQuery()))


@pytest.fixture
def quick(tmp_path: Path) -> Iterator[World]:
    """A library whose receipts are written almost at once."""
    with living(library_store(tmp_path), QUICK) as world:
        yield world


def test_receipts_are_written_while_the_server_runs(quick: World) -> None:
    client = quick.client(connections=("home",))
    for number in range(1, 4):
        good(client.get(BOOKS))
        wait_for(lambda number=number: count(quick) == number)  # type: ignore[misc]


def test_the_default_is_to_write_within_a_second() -> None:
    assert ReceiptPolicy().seconds == 1.0
    assert UNLIMITED.receipts == ReceiptPolicy()


@pytest.mark.parametrize(
    "policy", [ReceiptPolicy(3_600, batch_bytes=99), ReceiptPolicy(3_600, most_rows=80)]
)
def test_a_full_batch_is_written_before_it_is_time_to(
    tmp_path: Path, policy: ReceiptPolicy
) -> None:
    with living(library_store(tmp_path), replace(UNLIMITED, receipts=policy)) as world:
        client = world.client(connections=("home",))
        for _ in range(5):
            good(client.get(BOOKS))
        wait_for(lambda: count(world) >= 5)


def test_a_read_over_many_streams_is_told_whole_on_one_batch(tmp_path: Path) -> None:
    with living(library_store(tmp_path), UNLIMITED) as world:
        path = "/v1/streams/books/records/b1?connection_id=home&expand=author&expand=reviews"
        for _ in range(3):
            good(world.client(connections=("home",)).get(path))
    store = open_store(tmp_path)
    found = [entry.receipt for entry in store.receipts.receipts(ReceiptQuery())]
    batches = {entry.hash for entry in store.receipts.receipts(ReceiptQuery())}
    store.close()
    assert [receipt.stream for receipt in found[::-1]] == ["books", "authors", "reviews"] * 3
    assert len({receipt.at for receipt in found}) == 3
    assert len(batches) <= 3


def test_many_readers_at_once_are_all_told(tmp_path: Path) -> None:
    with living(library_store(tmp_path), QUICK) as world:
        tokens = [grant(world.store, connections=("home",)) for _ in range(4)]

        def read(token: str) -> None:
            with httpx.Client(
                base_url=world.server.url,
                headers={"Authorization": f"Bearer {token}"},
                verify=UNENCRYPTED,
            ) as client:
                for _ in range(25):
                    good(client.get(BOOKS))

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(read, tokens))
    receipts = kept(tmp_path)
    assert len(receipts) == 100
    assert sorted(_counts(receipts)) == [25, 25, 25, 25]


def _counts(receipts: list[Receipt]) -> list[int]:
    grants = [receipt.grant_id for receipt in receipts]
    return [grants.count(name) for name in set(grants)]


# Where it cannot be written


SMALL = replace(UNLIMITED, receipts=ReceiptPolicy(seconds=0.02, waiting_bytes=20_000))


def read_until_refused(client: httpx.Client) -> int:
    """Read until the server says no; return how often it had answered."""
    for answered in range(2_000):
        answer = client.get(BOOKS)
        if answer.status_code != 200:
            error = refused(answer, 503, "overloaded")
            assert "cannot be written down" in error["message"]
            assert answer.headers["retry-after"] == "5"
            return answered
    raise AssertionError("never refused")


def test_reads_under_a_grant_stop_when_they_cannot_be_recorded_and_none_is_lost(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "pdpp.receipts")
    with living(library_store(tmp_path), SMALL) as world:
        client, owner = world.client(connections=("home",)), world.owner()
        good(client.get(BOOKS))
        wait_for(lambda: count(world) == 1)
        stop_receipts(world.store)
        answered = read_until_refused(client)
        refused(client.get("/v1/schema"), 503, "overloaded")
        good(owner.get(BOOKS))
        good(owner.get("/v1/streams"))
        let_receipts(world.store)
        wait_for(lambda: client.get(BOOKS).status_code == 200)
    receipts = kept(tmp_path)
    assert sum(receipt.client_id is not None for receipt in receipts) == answered + 2
    gaps = [receipt.detail for receipt in receipts if receipt.operation == LogEvent.GAP]
    assert gaps == ["2 reads of the owner could not be recorded"]
    told = [record.getMessage() for record in caplog.records if record.name == "pdpp.receipts"]
    assert [line.partition(",")[0] for line in told] == [
        "receipts cannot be written",
        "receipts are written again",
    ]


def test_a_receipt_that_could_not_be_written_is_written_later_without_another_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = open_store(tmp_path)
    recorder = Recorder(store.receipts, instant.now, ReceiptPolicy(seconds=0.02))
    for _ in range(200):
        recorder.take(reading())
    store.receipts.begin()
    stop_receipts(store)
    recorder._thread.start()
    wait_for(lambda: "receipts cannot be written" in caplog.text)
    let_receipts(store)
    wait_for(lambda: store.receipts.verify().length == 200)
    recorder.close()
    store.close()


def test_what_waits_is_bounded_where_nothing_fails_too(tmp_path: Path) -> None:
    policy = ReceiptPolicy(seconds=3_600, batch_bytes=1 << 30, waiting_bytes=5_000)
    with living(library_store(tmp_path), replace(UNLIMITED, receipts=policy)) as world:
        answered = read_until_refused(world.client(connections=("home",)))
    assert len(kept(tmp_path)) == answered > 3


def test_a_server_that_ends_with_unwritten_receipts_says_so_and_leaves_a_gap(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with living(library_store(tmp_path), QUICK) as world:
        stop_receipts(world.store)
        for _ in range(40):
            good(world.client(connections=("home",)).get(BOOKS))
    assert "could not be written; a gap will be told" in caplog.text
    with living(open_store(tmp_path), QUICK):
        pass
    assert [receipt.operation for receipt in kept(tmp_path)][-1] == LogEvent.GAP


@pytest.mark.embedded("about the file of the embedded engine")
def test_a_server_does_not_start_over_a_log_it_cannot_open(tmp_path: Path) -> None:
    store = library_store(tmp_path)
    (tmp_path / RECEIPTS_NAME).write_bytes(b"something else entirely " * 50)
    with pytest.raises(StoreError, match="cannot open the receipts"), living(store):
        raise AssertionError("it started")


# Bounds


def test_the_log_is_kept_within_its_bounds_while_it_is_written(tmp_path: Path) -> None:
    settings = replace(UNLIMITED, receipts=ReceiptPolicy(seconds=0.005, most_rows=50))
    with living(library_store(tmp_path), settings) as world:
        client = world.client(connections=("home",))
        for _ in range(300):
            good(client.get("/v1/streams"))
    receipts = kept(tmp_path)
    assert len(receipts) <= 51
    assert LogEvent.TRIMMED in {receipt.operation for receipt in receipts}


# The end of a process


SERVE = """
import sys
from dataclasses import replace
from pathlib import Path
from tests.receipts.served import UNLIMITED
from tests.serving import living, grant
from pdpp.receipts.recorder import ReceiptPolicy
from tests.engine import database_of, let_receipts, open_store, stop_receipts
store = open_store(Path(sys.argv[1]))
settings = replace(UNLIMITED, receipts=ReceiptPolicy(seconds=float(sys.argv[2])))
with living(store, settings) as world:
    print(world.server.url, grant(store, connections=("home",)), flush=True)
    sys.stdin.read()
"""


def killed_after(folder: Path, seconds: float, act: Callable[[httpx.Client], None]) -> None:
    """Serve a folder in another process, read from it, and kill that process."""
    with subprocess.Popen(
        [sys.executable, "-c", SERVE, str(folder), str(seconds)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "src")))},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        url, token = process.stdout.readline().split()
        headers = {"Authorization": f"Bearer {token}"}
        with httpx.Client(base_url=url, headers=headers) as client:
            act(client)
        os.kill(process.pid, signal.SIGKILL)


def test_a_server_that_was_stopped_and_started_again_has_no_gap(tmp_path: Path) -> None:
    library_store(tmp_path).close()
    for _ in range(3):
        with living(open_store(tmp_path), UNLIMITED) as world:
            good(world.client(connections=("home",)).get(BOOKS))
    assert [receipt.operation for receipt in kept(tmp_path)] == ["listRecords"] * 3


def test_a_killed_server_loses_at_most_what_it_had_not_saved_and_the_next_says_so(
    tmp_path: Path,
) -> None:
    library_store(tmp_path).close()

    def saved(client: httpx.Client) -> None:
        store = open_store(tmp_path)
        good(client.get(BOOKS))
        wait_for(lambda: any(True for _ in store.receipts.receipts(ReceiptQuery())))
        store.close()

    def unsaved(client: httpx.Client) -> None:
        good(client.get(BOOKS))

    killed_after(tmp_path, 0.02, saved)
    killed_after(tmp_path, 3_600, unsaved)
    with living(open_store(tmp_path), QUICK):
        pass
    operations = [receipt.operation for receipt in kept(tmp_path)]
    assert operations == ["listRecords", LogEvent.GAP, LogEvent.GAP]


# By itself


def reading(**more: object) -> AnsweredRead:
    _, token = mint(TokenKind.CLIENT, "c", 0)
    taken = AnsweredRead(instant.now(), Principal(token, ()), "listRecords", "notes", [])
    return taken._replace(**more)  # type: ignore[arg-type]


def fails() -> list[Served]:
    raise ValueError("a bug")


def test_a_read_that_cannot_be_told_is_still_told_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = open_store(tmp_path)
    recorder = Recorder(store.receipts, instant.now)
    recorder.start()
    recorder.take(reading(served=[fails]))
    recorder.close()
    store.close()
    (receipt,) = kept(tmp_path)
    assert (receipt.operation, receipt.stream, receipt.fields) == ("listRecords", "notes", None)
    assert "a read could not be told" in caplog.text


@pytest.mark.embedded("puts a trigger of the embedded engine into its file")
def test_a_log_that_cannot_be_trimmed_or_ended_is_still_written(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = open_store(tmp_path)
    recorder = Recorder(store.receipts, instant.now, ReceiptPolicy(seconds=0.02, most_rows=1))
    recorder.start()
    forbid = "CREATE TRIGGER no BEFORE DELETE ON batch BEGIN SELECT raise(ABORT, 'no'); END"
    database_of(store.receipts).execute(forbid)
    for number in (2, 4):
        recorder.take(reading())
        recorder.take(reading())
        wait_for(lambda number=number: store.receipts.verify().length == number)  # type: ignore[misc]
    database_of(store)._writer.pragma("query_only", True)
    recorder.close()
    store.close()
    assert "old receipts could not be dropped" in caplog.text
    assert "the end of the receipts could not be written" in caplog.text


def test_a_recorder_that_never_started_takes_no_more_than_there_is_room_for(
    tmp_path: Path,
) -> None:
    store = open_store(tmp_path)
    recorder = Recorder(store.receipts, instant.now, ReceiptPolicy(waiting_bytes=10))
    recorder.take(reading())
    with pytest.raises(Overloaded):
        recorder.take(reading())
    recorder.close()
    store.close()


class Telling:
    """Tells of nothing, and can be seen to be gone."""

    def __call__(self) -> list[Served]:
        return []


def test_what_an_operation_put_aside_is_not_kept_until_it_is_written(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    recorder = Recorder(store.receipts, instant.now, ReceiptPolicy(seconds=3_600))
    telling = Telling()
    seen = weakref.ref(telling)
    recorder.take(reading(served=[telling]))
    del telling
    assert seen() is None
    recorder.close()
    store.close()


def test_what_is_read_while_the_last_is_written_is_written_too(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    recorder = Recorder(store.receipts, instant.now, ReceiptPolicy(seconds=0.01))
    recorder.start()
    with hold_receipts(store):
        recorder.take(reading())
        wait_for(lambda: bool(recorder._full))
        recorder.take(reading())
        closing = threading.Thread(target=recorder.close)
        closing.start()
        wait_for(lambda: recorder._ending)
    closing.join()
    store.close()
    assert len(kept(tmp_path)) == 2


def test_what_failed_is_written_at_the_end_with_what_came_since(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    recorder = Recorder(store.receipts, instant.now)
    recorder.take(reading(operation="failed"))
    store.receipts.begin()
    stop_receipts(store)
    recorder._write()
    let_receipts(store)
    recorder.take(reading(operation="came since"))
    recorder._ending = True
    recorder._thread.start()
    recorder.close()
    store.close()
    assert [receipt.operation for receipt in kept(tmp_path)] == ["failed", "came since"]


@pytest.mark.embedded("takes a row out of the file of the embedded engine")
def test_a_log_that_is_not_as_it_must_be_is_written_again_once_it_is(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Else one failure that nobody foresaw would end all receipts, and reads would go on."""
    store = open_store(tmp_path)
    recorder = Recorder(store.receipts, instant.now, ReceiptPolicy(seconds=0.02))
    recorder.start()
    log = database_of(store.receipts)
    [head] = log.execute("DELETE FROM head RETURNING *").fetchall()
    recorder.take(reading())
    wait_for(lambda: recorder.failing)
    log.execute("INSERT INTO head VALUES (?, ?, ?, ?, ?)", head)
    wait_for(lambda: not recorder.failing)
    assert store.receipts.verify().length == 1
    recorder.close()
    store.close()
    assert caplog.text.count("receipts cannot be written") == 1
    assert "Traceback" in caplog.text
