"""Tests of the record writer: checks, mending, and files before their records."""

import io
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Any

import pytest
from tests.sources.harness import Counted, Harness, attachment, counts, items, note
from tests.sources.kit import stored

from pdpp.model.errors import DamagedFile, ImportRefused
from pdpp.sources.importing import writer as writer_module
from pdpp.sources.importing.writer import RecordWriter
from pdpp.sources.item import Attachment, Finding, Item, ResumePoint
from pdpp.store.batch import Line

KINDS = ("notes", "tags")


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


def test_what_lacks_a_file_replaces_only_what_lacks_it_too(harness: Harness) -> None:
    harness.put("a", "")
    file = Attachment("file", lambda: io.BytesIO(b"bytes"), "text/plain")
    older, newer = (Item("notes", "a", {"id": "a", "text": x}, lacks="file") for x in "on")
    whole = Item("notes", "b", {"id": "b", "text": "whole"}, (file,))
    part = Item("notes", "b", {"id": "b", "text": "part"}, lacks="file")
    assert harness.read_parts(items(older, newer, part, whole, part))
    texts = {key: data["text"] for (_, key), data in stored(harness.store).items()}
    assert texts == {"a": "n", "b": "whole"}


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


# How large batches are


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
