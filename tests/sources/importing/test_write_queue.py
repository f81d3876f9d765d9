"""Tests of the write queue: batches are written while reading goes on, in order and once."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from typing import Any

import pytest
from tests.sources.harness import Counted, Harness, attachment, counts, items, note

from pdpp.sources.importing import write_queue
from pdpp.sources.importing import writer as writer_module
from pdpp.sources.importing.write_queue import WriteQueue
from pdpp.sources.importing.writer import RecordWriter
from pdpp.sources.item import Finding, ResumePoint
from pdpp.sources.keys import KeySealer
from pdpp.store.intake import IngestResultJson
from pdpp.store.tables.write.batch import TableBatch

DEADLINE_SECONDS = 30


def test_two_batches_are_on_their_way_while_one_is_gathered_and_never_more(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "BATCH_ITEMS", 2)
    gathered = threading.Semaphore(0)
    ahead: list[int] = []
    read = 0

    class Late(Counted):
        def write(self, *, lasting: bool = True) -> IngestResultJson:
            """Wait until the reader has gone on by two whole batches."""
            if not harness.batches:
                assert gathered.acquire(timeout=DEADLINE_SECONDS)
            ahead.append(read - sum(size for _, size in harness.batches) - 2)
            return super().write(lasting=lasting)

    with closing(
        RecordWriter(
            harness.store,
            "c1",
            partial(Late, harness),
            harness.report,
            blob_bytes=9,
            sealer=KeySealer(b"s", "notes"),
        )
    ) as writer:
        for number in range(10):
            writer.add(note(f"n{number}"))
            read += 1
            if read == 6:
                gathered.release()
            if writer.full:
                writer.send()
        writer.settle()
    assert counts(harness.report) == {"new": 10}
    assert ahead[0] == 4
    assert max(ahead) <= 4
    assert harness.keys() == [f"n{number}" for number in range(10)]


def test_words_are_worked_out_while_reading_would_wait_and_only_of_new_records(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "BATCH_ITEMS", 2)
    worked: list[list[str]] = []

    class Slow(Counted):
        def work_ahead(self, *, waiting: bool = True) -> None:
            assert isinstance(self._batch, TableBatch)
            worked.append([*self._batch.turn_of_key])
            super().work_ahead(waiting=waiting)

        def write(self, *, lasting: bool = True) -> IngestResultJson:
            """Wait until another batch has to be sent, or there is none."""
            assert needed.acquire(timeout=DEADLINE_SECONDS)
            return super().write(lasting=lasting)

    class Telling(WriteQueue):
        def settle(self, most: int = 0) -> None:
            for _ in range(len(self._underway) - most):
                needed.release()
            super().settle(most)

    monkeypatch.setattr(writer_module, "WriteQueue", Telling)
    for _ in range(2):
        needed = threading.Semaphore(0)
        harness.batches.clear()
        sealer = KeySealer(b"s", "notes")
        intake = partial(Slow, harness)
        with closing(
            RecordWriter(harness.store, "c1", intake, harness.report, blob_bytes=9, sealer=sealer)
        ) as writer:
            for number in range(10):
                writer.add(note(f"n{number}"))
                if writer.full:
                    writer.send()
            writer.settle()
        assert len(harness.batches) == 5
    assert worked == [["n6", "n7"], ["n8", "n9"]]
    assert harness.keys() == [f"n{number}" for number in range(10)]


def test_for_a_process_beside_words_are_worked_out_unless_it_has_had_nothing_to_do_for_long(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "BATCH_ITEMS", 1)
    monkeypatch.setattr(write_queue, "_IDLE_BATCHES", 4)
    worked: list[str] = []
    may_write = threading.Event()

    class Slow(Counted):
        def work_ahead(self, *, waiting: bool = True) -> None:
            assert isinstance(self._batch, TableBatch)
            worked.extend(self._batch.turn_of_key)
            super().work_ahead(waiting=waiting)

        def write(self, *, lasting: bool = True) -> IngestResultJson:
            assert may_write.wait(timeout=DEADLINE_SECONDS)
            return super().write(lasting=lasting)

    sealer = KeySealer(b"s", "notes")
    intake = partial(Slow, harness)
    with closing(
        RecordWriter(
            harness.store,
            "c1",
            intake,
            harness.report,
            blob_bytes=9,
            sealer=sealer,
            many=True,
            new=True,
        )
    ) as writer:

        def send(name: str) -> None:
            writer.add(note(name))
            writer.send()

        may_write.set()
        for number in range(6):
            send(f"idle{number}")
            writer.settle()
        may_write.clear()
        send("first")
        send("second")
        may_write.set()
        writer.settle()
        send("third")
    assert worked == ["idle0", "idle1", "idle2", "second", "third"]


def test_what_fails_while_it_is_written_is_raised_where_it_is_read(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "BATCH_ITEMS", 2)

    class Failing(Counted):
        def write(self, *, lasting: bool = True) -> IngestResultJson:
            if len(harness.batches) == 2:
                raise OSError("the disk is full")
            return super().write(lasting=lasting)

    monkeypatch.setattr(Harness, "intake", lambda _, feed: Failing(harness, feed))
    harness.put("a", "")
    with pytest.raises(OSError, match="the disk is full"):
        harness.read_parts(items(*(note(f"n{number}") for number in range(40))))
    assert harness.keys() == ["n0", "n1", "n2", "n3"]
    assert [held.items for held in harness.journal().positions.values()] == [4]
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("import")]


def test_what_was_sent_after_a_batch_that_failed_is_not_written(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be there without what came before, and keep whoever waits for the failure."""
    monkeypatch.setattr(writer_module, "BATCH_ITEMS", 2)
    sent = threading.Event()
    failures = 0

    class Failing(Counted):
        def write(self, *, lasting: bool = True) -> IngestResultJson:
            nonlocal failures
            if not failures:
                assert sent.wait(DEADLINE_SECONDS)
                failures += 1
                raise OSError("the disk was full")
            return super().write(lasting=lasting)

    intake = partial(Failing, harness)
    sealer = KeySealer(b"s", "notes")
    with closing(
        RecordWriter(harness.store, "c1", intake, harness.report, blob_bytes=9, sealer=sealer)
    ) as writer:
        for number in range(4):
            writer.add(note(f"n{number}", attachments=attachment(b"x")))
            if writer.full:
                writer.send()
        sent.set()
        for _ in range(2):
            with pytest.raises(OSError, match="the disk was full"):
                writer.settle()
    assert harness.keys() == []


def test_a_batch_on_its_way_is_written_when_reading_breaks_off(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "BATCH_ITEMS", 2)

    def read(entry: Any, place: ResumePoint) -> Iterator[Finding]:
        yield from (note("a"), note("b"), note("c"))
        raise KeyboardInterrupt

    harness.put("a", "")
    with pytest.raises(KeyboardInterrupt):
        harness.read_parts(read)
    assert harness.keys() == ["a", "b"]
    assert not harness.journal().positions


def test_how_far_an_import_came_is_noted_once_the_disk_has_it(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "BATCH_ITEMS", 2)
    settled: list[int] = []

    def settle() -> None:
        settled.append(len(harness.batches))
        if len(settled) == 3:
            raise OSError("the disk is gone")

    monkeypatch.setattr(harness.store, "settle", settle)
    harness.put("a", "")
    with pytest.raises(OSError, match="the disk is gone"):
        harness.read_parts(items(*(note(f"n{number}") for number in range(40))))
    assert [place <= count for place, count in enumerate(settled, 1)] == [True] * len(settled)
    assert [held.items for held in harness.journal().positions.values()] == [4]
    assert len(harness.keys()) >= 6


class Beside:
    """Tells when batches are to be written by a process of its own, as the store is asked."""

    def __init__(self, harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
        self.told: list[str] = []
        self._harness = harness
        monkeypatch.setattr(harness.store, "writing_beside", self._writing_beside)

    @contextmanager
    def _writing_beside(self) -> Iterator[None]:
        assert [thread for thread in threading.enumerate() if thread.name.startswith("import")]
        self.told.append(f"begins after {sum(size for _, size in self._harness.batches)}")
        yield
        self.told.append(f"ends after {sum(size for _, size in self._harness.batches)}")


def test_much_is_written_by_a_process_of_its_own_until_the_import_ends(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "BATCH_ITEMS", 2)
    monkeypatch.setattr(writer_module, "_MANY_ITEMS", 7)
    monkeypatch.setattr(write_queue, "_MOST_UNDERWAY", 1)
    beside = Beside(harness, monkeypatch)
    harness.put("a", "")
    assert harness.read_parts(items(*(note(f"n{number}") for number in range(6))))
    assert beside.told == []
    harness.batches.clear()
    assert harness.read_parts(items(*(note(f"n{number}") for number in range(20))))
    assert beside.told[0] in {"begins after 4", "begins after 6"}
    assert beside.told[1:] == ["ends after 20"]


def test_who_interrupts_the_waiting_leaves_no_process(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    def shutdown(_: object) -> None:
        raise KeyboardInterrupt

    beside = Beside(harness, monkeypatch)
    writer = harness.writer(many=True)
    with monkeypatch.context() as patch:
        patch.setattr(ThreadPoolExecutor, "shutdown", shutdown)
        with pytest.raises(KeyboardInterrupt):
            writer.close()
    assert beside.told == ["begins after 0", "ends after 0"]


def test_what_is_known_to_be_much_is_so_from_its_beginning(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = Beside(harness, monkeypatch)
    with closing(harness.writer(many=True)) as writer:
        assert beside.told == ["begins after 0"]
        writer.add(note("n"))
        writer.send()
    assert beside.told == ["begins after 0", "ends after 1"]
