import io
import os
import threading
import time
from pathlib import Path

import pytest
from tests.engine import age_blob, blob_content, blob_file, open_store
from tests.resource.library import library_store
from tests.serving import UNLIMITED, SetClock, put
from tests.store.sqlite.test_deletion import holders

from pdpp.authz.principal import Principal
from pdpp.jobs.anchoring import ANCHOR, anchor_kind
from pdpp.jobs.context import JobCancelled, JobContext
from pdpp.jobs.housekeeping import COLLECT, PRUNE, SWEEP, TEND, Housekeeping
from pdpp.jobs.runner import JobRunner
from pdpp.model import instant
from pdpp.receipts.recorder import AnsweredRead, ReceiptPolicy, Recorder
from pdpp.store.jobs import Job, JobLease, JobOrder, JobStatus
from pdpp.store.port import Store
from pdpp.store.tables.vault import transaction
from pdpp.store.vault import ShortLivedSecret, Token


def keep_house(store: Store, clock: instant.Clock, kind: str) -> Job:
    """Do one piece of housekeeping now, as a server would."""
    kinds = Housekeeping(store, UNLIMITED, clock).kinds()
    return JobRunner(store, kinds, clock).run_now(JobOrder(kind))


def test_everything_that_ended_is_swept_away_however_much_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transaction, "_MOST_SWEPT", 2)
    clock = SetClock()
    store = open_store(tmp_path, clock)
    with store.vault.transaction() as book:
        for number in range(5):
            book.add_secret(
                ShortLivedSecret(str(number), "review", {}, clock.now, clock.now + number)
            )
    clock.advance(60)
    swept = keep_house(store, clock, SWEEP)
    assert (swept.status, (swept.result or {})["entries_dropped"]) == (JobStatus.SUCCEEDED, 5)
    assert all(store.vault.secret("review", str(number)) is None for number in range(5))
    store.close()


def test_what_a_killed_upload_left_is_removed_once_nobody_can_be_at_it(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    kept = store.keep_blob(io.BytesIO(b"whole"), "text/plain", 100)
    folder = blob_file(store, kept).parents[1]
    folder.mkdir(parents=True, exist_ok=True)
    fresh, old = (folder / f".new-{name}" for name in ("fresh", "old"))
    for path in (fresh, old):
        path.write_bytes(b"half of")
    os.utime(old, (time.time() - 90_000,) * 2)
    keep_house(store, instant.now, SWEEP)
    assert (fresh.exists(), old.exists()) == (True, False)
    assert blob_content(store, kept) == b"whole"
    store.close()


def test_a_file_that_no_record_refers_to_for_a_day_is_removed(tmp_path: Path) -> None:
    store = library_store(tmp_path)
    unused = store.keep_blob(io.BytesIO(b"nobody needs this"), "text/plain", 100)
    for blob in store.blobs():
        age_blob(store, blob)
    before = {blob.blob_id for blob in store.blobs()}
    keep_house(store, instant.now, COLLECT)
    assert {blob.blob_id for blob in store.blobs()} == before - {unused.blob_id}
    assert blob_content(store, unused) is None
    store.close()


def test_a_collection_that_is_cut_goes_on_after_the_files_it_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pdpp.store.tables.blob_table._COLLECTED", 2)
    store = open_store(tmp_path)
    unused = [store.keep_blob(io.BytesIO(bytes([n])), "text/plain", 9) for n in range(5)]
    for blob in unused:
        age_blob(store, blob)
    names = sorted(blob.blob_id for blob in unused)
    house = Housekeeping(store, UNLIMITED, instant.now)
    job = store.jobs.begin(JobOrder(COLLECT), JobLease("first", instant.now() + instant.DAY))
    with pytest.raises(JobCancelled):
        house.collect(JobContext(job, store.jobs, "first", lambda: True))
    cut = store.jobs.get(job.id)
    assert cut is not None
    assert cut.state == {"after": names[1]}
    assert sorted(blob.blob_id for blob in store.blobs()) == names[2:]
    house.collect(JobContext(cut, store.jobs, "first", lambda: False))
    assert list(store.blobs()) == []
    store.close()


def test_the_log_of_reads_is_anchored_by_a_job_and_again_after_a_failure(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    witness = tmp_path / "not there" / "witness.txt"
    policy = ReceiptPolicy(seconds=0.0, witness=str(witness))
    recorder = Recorder(store.receipts, instant.now, policy)
    kind = anchor_kind(recorder, 60.0)
    assert kind.wanted is not None
    assert not kind.wanted()
    recorder.start()
    token = Token("0" * 64, "owner", "a test", instant.now())
    recorder.take(AnsweredRead(instant.now(), Principal(token, ()), "listStreams", None, []))
    deadline = time.monotonic() + 30
    while not (wanted := kind.wanted()) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert wanted
    runner = JobRunner(store, [kind], instant.now)
    assert runner.run_now(JobOrder(ANCHOR)).status is JobStatus.FAILED
    witness.parent.mkdir()
    assert kind.wanted(), "a failure is tried again at the next look"
    ended = runner.run_now(JobOrder(ANCHOR))
    assert (ended.status, ended.result) == (JobStatus.SUCCEEDED, {"last_receipt": 1})
    assert witness.read_text().split()[1] == "1"
    assert not kind.wanted()
    recorder.close()
    store.close()


def test_what_a_removed_connection_held_is_deleted(tmp_path: Path) -> None:
    store = library_store(tmp_path)
    store.remove_connection("home")
    keep_house(store, instant.now, COLLECT)
    assert not store.delete_removed()
    assert store.check() == []
    store.close()


def test_the_index_is_put_together_after_writes_of_records_and_not_of_jobs(tmp_path: Path) -> None:
    store = library_store(tmp_path)
    house = Housekeeping(store, UNLIMITED, instant.now)
    looks = [house.wants_tending() for _ in range(3)]
    assert looks == [False, True, False]
    done = keep_house(store, instant.now, TEND)
    assert done.status is JobStatus.SUCCEEDED
    assert [house.wants_tending() for _ in range(3)] == [False, False, False]
    put(store, "home", "authors", {"id": "a3", "name": "Cleo"})
    assert [house.wants_tending() for _ in range(3)] == [False, True, False]
    store.close()


def test_the_index_is_put_together_while_somebody_writes_on_and_on(tmp_path: Path) -> None:
    store = library_store(tmp_path)
    house = Housekeeping(store, UNLIMITED, instant.now)
    looks = []
    for number in range(26):
        put(store, "home", "authors", {"id": f"n{number}", "name": "Nell"})
        looks.append(house.wants_tending())
    assert looks == [*[False] * 12, True] * 2
    store.close()


@pytest.mark.embedded("about the file of the embedded engine")
def test_what_a_reader_kept_from_being_removed_is_removed_after_it(tmp_path: Path) -> None:
    store = library_store(tmp_path)
    house = Housekeeping(store, UNLIMITED, instant.now)
    put(store, "home", "authors", {"id": "a3", "name": "Zanzibarine"})
    keep_house(store, instant.now, TEND)
    reading, done = threading.Event(), threading.Event()

    def read() -> None:
        with store.reading():
            store.catalogue()
            reading.set()
            done.wait()

    reader = threading.Thread(target=read)
    reader.start()
    reading.wait()
    put(store, "home", "authors", {"id": "a3", "name": "Cleo"})
    assert True in [house.wants_tending() for _ in range(3)]
    keep_house(store, instant.now, TEND)
    done.set()
    reader.join()
    assert holders(tmp_path, "Zanzibarine") != []
    assert True in [house.wants_tending() for _ in range(3)]
    keep_house(store, instant.now, TEND)
    assert holders(tmp_path, "Zanzibarine") == []
    assert not any(house.wants_tending() for _ in range(3))
    store.close()


def test_what_is_written_while_the_index_is_put_together_waits_for_the_next_time(
    tmp_path: Path,
) -> None:
    store = library_store(tmp_path)
    while store.tend():
        pass
    before = store.newest_block()
    put(store, "home", "authors", {"id": "a3", "name": "Cleo"})
    assert store.newest_block() > before
    assert not store.tend(before)
    assert store.tend()
    store.close()


def test_old_jobs_are_forgotten_and_of_those_that_repeat_few_are_kept(tmp_path: Path) -> None:
    clock = SetClock()
    store = open_store(tmp_path, clock)
    for _ in range(12):
        keep_house(store, clock, PRUNE)
        clock.advance(60)
    keep_house(store, clock, SWEEP)

    def ended() -> list[str]:
        return [job.kind for job in store.jobs.recent(100) if job.finished_at is not None]

    assert sorted(ended()) == [PRUNE] * 10 + [SWEEP]
    clock.advance(91 * 86_400)
    keep_house(store, clock, SWEEP)
    assert ended() == [SWEEP]
    store.close()
