"""The sink: checks, mending, and files before their records."""

import io
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from enum import StrEnum
from functools import partial
from typing import Any

import pytest
from tests.sources.desk import Counted, Desk, counts, note
from tests.sources.kit import stored

from pdpp.model.errors import DamagedFile, ImportRefused
from pdpp.sources import sink as sink_module
from pdpp.sources.item import START, Attachment, Found, Item, Place
from pdpp.sources.sink import Sink
from pdpp.store.port import Line

DEADLINE_SECONDS = 30


def items(*found: Item) -> Callable[[Any, Place], Iterator[Found]]:
    def read(entry: Any, place: Place) -> Iterator[Found]:
        assert place == START
        assert entry.name
        yield from found

    return read


def test_a_record_that_breaks_its_declaration_is_told_with_the_rule(desk: Desk) -> None:
    desk.put("a", "")
    bad = Item("notes", "bad", {"id": "bad", "text": 5})
    assert desk.travel(items(note("good"), bad, note("a/b"), note("late", emitted_at="soon")))
    reasons = [case["reason"] for case in desk.report.document()["skipped"]]
    assert len(reasons) == 3
    assert any(reason.startswith("refused as schema_violation: data/text") for reason in reasons)
    assert counts(desk.report) == {"read": 4, "new": 1, "skipped": 3}


def test_halves_of_characters_are_mended_and_what_is_no_json_is_told(desk: Desk) -> None:
    desk.put("a", "")
    huge = Item("notes", "huge", {"id": "huge", "text": "x", "number": 1 << 80})
    assert desk.travel(items(note("half", "\ud83d!"), huge))
    assert stored(desk.store)[("notes", "half")]["text"] == "\ufffd!"
    [case] = desk.report.document()["skipped"]
    assert (case["reason"], case["examples"]) == ("a value that JSON cannot say", ["notes huge"])


def attachment(content: bytes, media_type: str = "text/plain") -> tuple[Attachment, ...]:
    return (Attachment("file", lambda: io.BytesIO(content), media_type),)


def test_a_file_becomes_a_blob_and_its_record_refers_to_it(desk: Desk) -> None:
    desk.put("a", "")
    assert desk.travel(items(note("one", attachments=attachment(b"hello"))))
    held = stored(desk.store)[("notes", "one")]["file"]
    blob = desk.store.blob(held["blob_id"])
    assert blob is not None
    assert blob.path.read_bytes() == b"hello"
    assert (held["mime_type"], held["size_bytes"]) == ("text/plain", 5)
    assert desk.report.document()["files"]["kept"] == 1


def test_a_file_of_no_known_kind_is_kept_as_bytes(desk: Desk) -> None:
    desk.put("a", "")
    assert desk.travel(items(note("one", attachments=attachment(b"x", "what is this"))))
    assert stored(desk.store)[("notes", "one")]["file"]["mime_type"] == "application/octet-stream"


def test_a_file_that_cannot_be_kept_is_told_and_its_record_stays(desk: Desk) -> None:
    def broken() -> Any:
        raise DamagedFile("photo.jpg cannot be read")

    desk.put("a", "")
    large = note("large", attachments=attachment(b"x" * 2_000))
    torn = note("torn", attachments=(Attachment("file", broken, "image/jpeg"),))
    assert desk.travel(items(large, torn))
    assert desk.keys() == ["large", "torn"]
    [case] = desk.report.document()["skipped"]
    assert case["reason"] == "a file that cannot be kept"
    assert case["examples"] == [
        "large: A blob holds at most 1000 bytes.",
        "torn: photo.jpg cannot be read",
    ]


def test_a_stream_that_is_not_declared_is_a_mistake_of_the_source(desk: Desk) -> None:
    desk.put("a", "")
    with pytest.raises(ImportRefused, match="declares no stream 'photos'"):
        desk.travel(items(Item("photos", "p", {})))


class Mood(StrEnum):
    GOOD = "good"


def test_what_json_has_no_type_for_is_kept_as_json_says_it(desk: Desk) -> None:
    desk.put("a", "")
    data = {"id": "n", "text": Mood.GOOD, "pair": (1, 2), "gap": float("nan"), "big": 1.0}
    assert desk.travel(items(Item("notes", "n", data)))
    kept = {"id": "n", "text": "good", "pair": [1, 2], "gap": None, "big": 1.0}
    assert stored(desk.store)[("notes", "n")] == kept
    feed = desk.store.catalogue().feeds[("c1", "notes")]
    assert desk.store.write(feed, [Line(0, "n", 1, kept)]).unchanged == 1


def test_a_source_may_use_one_object_for_all_of_its_items(desk: Desk) -> None:
    def read(entry: Any, place: Place) -> Iterator[Found]:
        data: dict[str, Any] = {"id": "", "text": "", "tags": [""]}
        for name in ("a", "b"):
            data.update(id=name, text=f"about {name}")
            data["tags"][0] = name
            yield Item("notes", name, data)

    desk.put("a", "")
    assert desk.travel(read)
    assert stored(desk.store) == {
        ("notes", name): {"id": name, "text": f"about {name}", "tags": [name]} for name in "ab"
    }


@pytest.mark.parametrize("data", [None, "text", [1]])
def test_an_item_whose_data_is_no_object_is_refused(data: Any, desk: Desk) -> None:
    desk.put("a", "")
    assert desk.travel(items(note("good"), Item("notes", "bad", data)))
    [case] = desk.report.document()["skipped"]
    assert (case["reason"], case["examples"]) == (
        "refused as invalid_data: data is an object.",
        ["notes bad"],
    )
    assert desk.keys() == ["good"]


# Writing while reading


def test_threads_take_turns_as_before_when_a_sink_is_closed(desk: Desk) -> None:
    usual = sys.getswitchinterval()
    with closing(desk.sink()):
        assert sys.getswitchinterval() < usual / 10
    assert sys.getswitchinterval() == usual


def test_batches_begin_small_and_grow(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sink_module, "FIRST_ITEMS", 2)
    monkeypatch.setattr(sink_module, "BATCH_ITEMS", 7)
    desk.put("a", "")
    assert desk.travel(items(*(note(f"n{number}") for number in range(21))))
    assert [size for _, size in desk.batches] == [2, 4, 7, 7, 1]


def test_the_next_batch_is_gathered_while_one_is_written_and_never_a_third(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sink_module, "BATCH_ITEMS", 2)
    gathered = threading.Semaphore(0)
    ahead: list[int] = []
    read = 0

    class Late(Counted):
        def write(self) -> dict[str, Any]:
            """Wait until the reader has gone on by a whole batch."""
            if not desk.batches:
                assert gathered.acquire(timeout=DEADLINE_SECONDS)
            ahead.append(read - sum(size for _, size in desk.batches) - 2)
            return super().write()

    with closing(Sink(desk.store, "c1", partial(Late, desk), desk.report, blob_bytes=9)) as sink:
        for number in range(10):
            sink.add(note(f"n{number}"))
            read += 1
            if read == 4:
                gathered.release()
            if sink.full:
                sink.send()
        sink.settle()
    assert counts(desk.report) == {"new": 10}
    assert ahead[0] == 2
    assert max(ahead) <= 2
    assert desk.keys() == [f"n{number}" for number in range(10)]


def test_what_fails_while_it_is_written_is_raised_where_it_is_read(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sink_module, "BATCH_ITEMS", 2)

    class Failing(Counted):
        def write(self) -> dict[str, Any]:
            if len(desk.batches) == 2:
                raise OSError("the disk is full")
            return super().write()

    monkeypatch.setattr(Desk, "intake", lambda _, feed: Failing(desk, feed))
    desk.put("a", "")
    with pytest.raises(OSError, match="the disk is full"):
        desk.travel(items(*(note(f"n{number}") for number in range(40))))
    assert desk.keys() == ["n0", "n1", "n2", "n3"]
    assert [held.items for held in desk.journal().positions.values()] == [4]
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("import")]


def test_a_batch_on_its_way_is_written_when_reading_breaks_off(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sink_module, "BATCH_ITEMS", 2)

    def read(entry: Any, place: Place) -> Iterator[Found]:
        yield from (note("a"), note("b"), note("c"))
        raise KeyboardInterrupt

    desk.put("a", "")
    with pytest.raises(KeyboardInterrupt):
        desk.travel(read)
    assert desk.keys() == ["a", "b"]
    assert not desk.journal().positions
