import io
import os
import time
from pathlib import Path

import pytest
from tests.engine import blob_file, open_store
from tests.resource.library import library_store
from tests.serving import UNLIMITED, SetClock, put

from pdpp.jobs.housekeeping import PRUNE, SWEEP, TEND, Housekeeping
from pdpp.jobs.runner import JobRunner
from pdpp.model import instant
from pdpp.store.jobs import Job, JobOrder, JobStatus
from pdpp.store.port import Store
from pdpp.store.sqlite.vault import transaction
from pdpp.store.vault import ShortLivedSecret


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
    fresh, old = (blob_file(store, kept).parents[1] / f".new-{name}" for name in ("fresh", "old"))
    for path in (fresh, old):
        path.write_bytes(b"half of")
    os.utime(old, (time.time() - 90_000,) * 2)
    keep_house(store, instant.now, SWEEP)
    assert (blob_file(store, kept).exists(), fresh.exists(), old.exists()) == (True, True, False)
    store.close()


def test_a_file_that_no_record_refers_to_for_a_day_is_removed(tmp_path: Path) -> None:
    store = library_store(tmp_path)
    unused = store.keep_blob(io.BytesIO(b"nobody needs this"), "text/plain", 100)
    for blob in store.blobs():
        os.utime(blob_file(store, blob), (time.time() - 90_000,) * 2)
    before = {blob.blob_id for blob in store.blobs()}
    keep_house(store, instant.now, SWEEP)
    assert {blob.blob_id for blob in store.blobs()} == before - {unused.blob_id}
    assert not blob_file(store, unused).exists()
    store.close()


def test_what_a_removed_connection_held_is_deleted(tmp_path: Path) -> None:
    store = library_store(tmp_path)
    store.remove_connection("home")
    keep_house(store, instant.now, SWEEP)
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
