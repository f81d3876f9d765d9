"""The sink: checks, mending, and files before their records."""

import io
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from enum import StrEnum
from functools import partial
from typing import Any

import pytest
from tests.sources.harness import Counted, Harness, counts, note
from tests.sources.kit import stored

from pdpp.model.errors import DamagedFile, ImportRefused
from pdpp.sources.importing import writer as writer_module
from pdpp.sources.importing.writer import RecordWriter
from pdpp.sources.item import START, Attachment, Finding, Item, ResumePoint
from pdpp.sources.keys import KeySealer
from pdpp.store.batch import Line
from pdpp.store.intake import IngestResultJson
from pdpp.store.tables.write.batch import TableBatch

DEADLINE_SECONDS = 30


KINDS = ("notes", "tags")


def items(*found: Item) -> Callable[[Any, ResumePoint], Iterator[Finding]]:
    def read(entry: Any, place: ResumePoint) -> Iterator[Finding]:
        assert place == START
        assert entry.name
        yield from found

    return read


def test_a_record_that_breaks_its_declaration_is_told_with_the_rule(harness: Harness) -> None:
    harness.put("a", "")
    bad = Item("notes", "bad", {"id": "bad", "text": 5})
    assert harness.read_parts(items(note("good"), bad, note("a/b")))
    reasons = [case["reason"] for case in harness.report.document()["skipped"]]
    assert len(reasons) == 2
    assert any(reason.startswith("refused as schema_violation: data/text") for reason in reasons)
    assert counts(harness.report) == {"read": 3, "new": 1, "skipped": 2}


def test_halves_of_characters_are_mended_and_what_is_no_json_is_told(
    harness: Harness,
) -> None:
    harness.put("a", "")
    huge = Item("notes", "huge", {"id": "huge", "text": "x", "number": 1 << 80})
    assert harness.read_parts(items(note("half", "\ud83d!"), huge))
    assert stored(harness.store)[("notes", "half")]["text"] == "\ufffd!"
    [case] = harness.report.document()["skipped"]
    assert (case["reason"], case["examples"]) == ("a value that JSON cannot say", ["notes huge"])


def attachment(content: bytes, media_type: str = "text/plain") -> tuple[Attachment, ...]:
    return (Attachment("file", lambda: io.BytesIO(content), media_type),)


def test_a_file_becomes_a_blob_and_its_record_refers_to_it(harness: Harness) -> None:
    harness.put("a", "")
    assert harness.read_parts(items(note("one", attachments=attachment(b"hello"))))
    held = stored(harness.store)[("notes", "one")]["file"]
    blob = harness.store.blob(held["blob_id"])
    assert blob is not None
    with harness.store.open_blob(blob.blob_id) as source:
        assert source.read() == b"hello"
    assert (held["mime_type"], held["size_bytes"]) == ("text/plain", 5)
    assert harness.report.document()["files"]["kept"] == 1


def test_a_file_of_no_known_kind_is_kept_as_bytes(harness: Harness) -> None:
    harness.put("a", "")
    assert harness.read_parts(items(note("one", attachments=attachment(b"x", "what is this"))))
    assert (
        stored(harness.store)[("notes", "one")]["file"]["mime_type"] == "application/octet-stream"
    )


def test_a_file_that_cannot_be_kept_is_told_and_its_record_stays(harness: Harness) -> None:
    def broken() -> Any:
        raise DamagedFile("photo.jpg cannot be read")

    harness.put("a", "")
    large = note("large", attachments=attachment(b"x" * 2_000))
    torn = note("torn", attachments=(Attachment("file", broken, "image/jpeg"),))
    assert harness.read_parts(items(large, torn))
    assert harness.keys() == ["large", "torn"]
    [case] = harness.report.document()["skipped"]
    assert case["reason"] == "a file that cannot be kept"
    assert case["examples"] == [
        "large: A blob holds at most 1000 bytes.",
        "torn: photo.jpg cannot be read",
    ]


def test_a_stream_that_is_not_declared_is_a_mistake_of_the_source(harness: Harness) -> None:
    harness.put("a", "")
    with pytest.raises(ImportRefused, match="declares no stream 'photos'"):
        harness.read_parts(items(Item("photos", "p", {})))


class Mood(StrEnum):
    GOOD = "good"


def test_what_json_has_no_type_for_is_kept_as_json_says_it(harness: Harness) -> None:
    harness.put("a", "")
    data = {"id": "n", "text": Mood.GOOD, "pair": (1, 2), "gap": float("nan"), "big": 1.0}
    assert harness.read_parts(items(Item("notes", "n", data)))
    kept = {"id": "n", "text": "good", "pair": [1, 2], "gap": None, "big": 1.0}
    assert stored(harness.store)[("notes", "n")] == kept
    feed = harness.store.catalogue().feeds[("c1", "notes")]
    assert harness.store.write(feed, [Line(0, "n", 1, kept)]).unchanged == 1


def test_a_source_may_use_one_object_for_all_of_its_items(harness: Harness) -> None:
    def read(entry: Any, place: ResumePoint) -> Iterator[Finding]:
        data: dict[str, Any] = {"id": "", "text": "", "tags": [""]}
        for name in ("a", "b"):
            data.update(id=name, text=f"about {name}")
            data["tags"][0] = name
            yield Item("notes", name, data)

    harness.put("a", "")
    assert harness.read_parts(read)
    assert stored(harness.store) == {
        ("notes", name): {"id": name, "text": f"about {name}", "tags": [name]} for name in "ab"
    }


@pytest.mark.parametrize("data", [None, "text", [1]])
def test_an_item_whose_data_is_no_object_is_refused(data: Any, harness: Harness) -> None:
    harness.put("a", "")
    assert harness.read_parts(items(note("good"), Item("notes", "bad", data)))
    [case] = harness.report.document()["skipped"]
    assert (case["reason"], case["examples"]) == (
        "refused as invalid_data: data is an object.",
        ["notes bad"],
    )
    assert harness.keys() == ["good"]


def test_items_are_made_ready_together_and_long_ones_do_not_wait(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What waits as it was read is bounded by its number and its size."""
    taken: list[list[str]] = []

    class Noted(Counted):
        def take_records(
            self, keys: Sequence[str], data: Sequence[Any], texts: Sequence[bytes]
        ) -> None:
            taken.append([*keys])
            super().take_records(keys, data, texts)

    monkeypatch.setattr(Harness, "intake", lambda _, feed: Noted(harness, feed))
    monkeypatch.setattr(writer_module, "_GROUP_ITEMS", 3)
    monkeypatch.setattr(writer_module, "_GROUP_BYTES", 1_000)
    harness.put("a", "")
    nested = Item("notes", "d", {"id": "d", "text": "d", "tags": ["x" * 1_000]})
    found = (note("a"), note("b"), note("c"), nested, note("e"), note("f", "x" * 1_000), note("g"))
    assert harness.read_parts(items(*found))
    assert taken == [["a", "b", "c"], ["d"], ["e", "f"], ["g"]]


def test_items_of_several_streams_wait_together(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What waits is bounded however many streams it belongs to."""
    most = 0

    class Watched(RecordWriter):
        def add(self, item: Item) -> None:
            nonlocal most
            super().add(item)
            most = max(most, sum(len(load.waiting) for load in self._loads.values()))

    monkeypatch.setattr(writer_module, "_GROUP_ITEMS", 3)
    monkeypatch.setattr("tests.sources.harness.RecordWriter", Watched)
    found = [
        Item(name, f"k{at}", {"id": f"k{at}", "text": "x"}) for at in range(4) for name in KINDS
    ]
    harness.put("a", "")
    assert harness.read_parts(items(*found))
    assert most == 2
    assert counts(harness.report) == {"read": 8, "new": 8}


def test_an_item_that_is_no_json_costs_none_that_waits_beside_it(harness: Harness) -> None:
    huge = Item("notes", "a", {"id": "a", "text": "x", "number": 1 << 80})
    harness.put("a", "")
    assert harness.read_parts(items(note("a", "one"), huge, note("b", "\ud83d!"), note("a", "two")))
    kept = {key: data["text"] for (_, key), data in stored(harness.store).items()}
    assert kept == {"a": "two", "b": "\ufffd!"}
    assert counts(harness.report) == {"read": 4, "new": 2, "unchanged": 1, "skipped": 1}


# Writing while reading


def test_only_a_program_that_imports_changes_how_threads_take_turns(harness: Harness) -> None:
    usual = sys.getswitchinterval()
    with closing(harness.writer()):
        assert sys.getswitchinterval() == usual
    with writer_module.short_turns():
        assert sys.getswitchinterval() < usual / 10
    assert sys.getswitchinterval() == usual


def test_turns_are_short_until_the_last_of_several_imports_ends() -> None:
    usual = sys.getswitchinterval()
    first, second = writer_module.short_turns(), writer_module.short_turns()
    with first:
        second.__enter__()
    assert sys.getswitchinterval() < usual / 10
    second.__exit__(None, None, None)
    assert sys.getswitchinterval() == usual


def test_batches_begin_small_and_grow(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer_module, "FIRST_ITEMS", 2)
    monkeypatch.setattr(writer_module, "BATCH_ITEMS", 7)
    harness.put("a", "")
    assert harness.read_parts(items(*(note(f"n{number}") for number in range(21))))
    assert [size for _, size in harness.batches] == [2, 4, 7, 7, 1]


def test_a_large_batch_is_a_small_part_of_what_was_sent_before(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is left to read while the last batch is written."""
    monkeypatch.setattr(writer_module, "FIRST_ITEMS", 2)
    monkeypatch.setattr(writer_module, "USUAL_ITEMS", 5)
    monkeypatch.setattr(writer_module, "BATCH_ITEMS", 7)
    harness.put("a", "")
    assert harness.read_parts(items(*(note(f"n{number}") for number in range(90))))
    sizes = [2, 4, *[5] * 9, 6, 7, 7, 7, 7, 5]
    assert [size for _, size in harness.batches] == sizes


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
        def work_ahead(self) -> None:
            assert isinstance(self._batch, TableBatch)
            worked.append([*self._batch.turn_of_key])
            super().work_ahead()

        def write(self, *, lasting: bool = True) -> IngestResultJson:
            """Wait until another batch has to be sent, or there is none."""
            assert needed.acquire(timeout=DEADLINE_SECONDS)
            return super().write(lasting=lasting)

    class Telling(RecordWriter):
        def _settle(self, most: int) -> None:
            for _ in range(len(self._underway) - most):
                needed.release()
            super()._settle(most)

    for _ in range(2):
        needed = threading.Semaphore(0)
        harness.batches.clear()
        sealer = KeySealer(b"s", "notes")
        intake = partial(Slow, harness)
        with closing(
            Telling(harness.store, "c1", intake, harness.report, blob_bytes=9, sealer=sealer)
        ) as writer:
            for number in range(10):
                writer.add(note(f"n{number}"))
                if writer.full:
                    writer.send()
            writer.settle()
        assert len(harness.batches) == 5
    assert worked == [["n6", "n7"], ["n8", "n9"]]
    assert harness.keys() == [f"n{number}" for number in range(10)]


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
    monkeypatch.setattr(writer_module, "_MOST_UNDERWAY", 1)
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
