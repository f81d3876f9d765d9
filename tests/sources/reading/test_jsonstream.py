"""Values of JSON documents of any size."""

import io
import json
import tracemalloc
from collections.abc import Iterable, Iterator
from itertools import chain, repeat
from pathlib import Path
from typing import Any, BinaryIO, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp.model.errors import DamagedFile
from pdpp.sources.item import Finding, Item, Seen, Skipped, Unknown
from pdpp.sources.reading import jsonstream
from pdpp.sources.reading.jsonstream import (
    JsonElement,
    elements,
    entry_elements,
    objects,
    read_each,
)
from pdpp.sources.reading.tree import open_tree

LEAVES = st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text()
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let documents arrive in pieces far smaller than their values."""
    monkeypatch.setattr(jsonstream, "_CHUNK", 7)


def find(text: str | bytes, *paths: str, **limits: Any) -> list[JsonElement | Skipped]:
    content = text.encode() if isinstance(text, str) else text
    return list(elements(io.BytesIO(content), *paths, **limits))


def values(found: list[JsonElement | Skipped]) -> list[Any]:
    return [item.value for item in found if isinstance(item, JsonElement)]


@given(st.lists(VALUES, max_size=6), st.sampled_from([None, 1]), st.booleans())
def test_the_elements_of_an_array_are_those_of_the_document(
    document: list[Any], indent: int | None, ascii_only: bool
) -> None:
    text = json.dumps(document, indent=indent, ensure_ascii=ascii_only)
    found = find(text, "item")
    assert values(found) == document
    assert [item.number for item in found if isinstance(item, JsonElement)] == list(
        range(1, len(document) + 1)
    )


@given(VALUES, VALUES, st.lists(VALUES, max_size=3))
def test_members_are_found_by_their_path_and_everything_else_is_passed_over(
    before: Any, after: Any, wanted: list[Any]
) -> None:
    chat = {"noise": before, "id": 7, "messages": wanted, "after": after}
    document = {"about": after, "chats": {"list": [chat, chat], "x": before}, "end": before}
    found = find(json.dumps(document), "chats.list.item.id", "chats.list.item.messages.item")
    assert values(found) == [7, *wanted, 7, *wanted]
    assert {item.path for item in found if isinstance(item, JsonElement)} <= {
        "chats.list.item.id",
        "chats.list.item.messages.item",
    }


def test_names_are_compared_as_they_mean_not_as_they_are_written() -> None:
    assert values(find('{"\\u0061": [1, 2]}', "a.item")) == [1, 2]


def test_a_mark_before_the_document_is_passed_over() -> None:
    assert values(find(b"\xef\xbb\xbf [1]", "item")) == [1]


def test_an_element_that_is_broken_in_itself_is_told_and_the_next_one_read() -> None:
    first, second, third = find('[{"a": 1}, {"b": bad}, {"c": 3}]', "item")
    assert isinstance(first, JsonElement)
    assert second == Skipped("not JSON", "item 2", lost=True)
    assert isinstance(third, JsonElement)
    assert third.value == {"c": 3}


@pytest.mark.parametrize(
    "large",
    [
        '{"x": "' + "y" * 300 + '"}',
        "[" * 150 + "]" * 150,
        '["' + '\\"]' * 150 + '"]',
        '[1,"a",2]' * 1,
    ],
)
def test_an_element_that_is_too_large_is_told_without_being_held(large: str) -> None:
    found = find(f'[1, {large}, "end"]', "item", longest=8)
    assert values(found) == [1, "end"]
    assert isinstance(found[1], Skipped)
    assert found[1].reason == "larger than 0 MiB"


def test_a_name_written_badly_leads_nowhere() -> None:
    assert find('{"\\x": 1, "a": 2}', "a") == [JsonElement("a", 1, 2)]


@given(st.lists(st.dictionaries(st.text(max_size=5), LEAVES, max_size=3), min_size=1), st.data())
def test_a_document_that_ends_in_the_middle_gives_what_came_before(
    document: list[Any], data: st.DataObject
) -> None:
    text = json.dumps(document).encode()
    cut = data.draw(st.integers(0, len(text) - 1))
    found: list[Any] = []
    with pytest.raises(DamagedFile, match=r"ends in the middle|not JSON"):
        found.extend(elements(io.BytesIO(text[:cut]), "item"))
    assert [item.value for item in found] == document[: len(found)]


@pytest.mark.parametrize(
    "text",
    ["[1 2]", "[1,,2]", '{"a" 1}', "{1: 2}", "[}", '{"a": 1 "b": 2}', "[1}", "[:]"],
)
def test_what_is_no_json_is_told_with_its_place(text: str) -> None:
    with pytest.raises(DamagedFile, match=r"not JSON at byte \d"):
        find(text, "item", "a", "b")


def test_a_word_without_an_end_is_no_json() -> None:
    with pytest.raises(DamagedFile, match="not JSON"):
        find("[" + "1" * 10_000 + "]", "item")


@pytest.mark.parametrize("edge", range(4, 12))
def test_a_number_at_the_edge_of_a_large_piece_is_whole(
    edge: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonstream, "_CHUNK", 1 << 16)
    text = " " * ((1 << 16) - edge) + '{"a":[1234,5],"b":"c"}' + " " * (1 << 16)
    assert values(find(text, "a.item", "b")) == [1234, 5, "c"]


def test_a_name_that_is_too_long_leads_nowhere() -> None:
    assert values(find('{"' + "a" * 300_000 + '": 1, "b": 2}', "b")) == [2]


def test_another_document_than_expected_holds_nothing() -> None:
    assert find('"text"', "item") == []
    assert find("5", "item") == []
    assert find('{"item": 5}', "a.item") == []
    assert find("[[1]]", "a") == []


class Endless(io.RawIOBase):
    """A document that is made as it is read."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)

    def read(self, size: int = -1) -> bytes:
        held = b""
        while len(held) < size and (piece := next(self._pieces, b"")):
            held += piece
        return held


def peak_of(pieces: Iterable[bytes], **limits: Any) -> tuple[int, int]:
    """Return how many elements a document has, and the bytes held at the most."""
    stream = cast(BinaryIO, Endless(pieces))
    tracemalloc.start()
    count = len(list(map(type, elements(stream, "item", **limits))))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return count, peak


def test_memory_stays_small_over_a_large_document(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonstream, "_CHUNK", 1 << 16)
    message = json.dumps({"text": "message " * 1_000}).encode()
    count, peak = peak_of([b"[", *([message, b","] * 3_000), b"1]"])
    assert count == 3_001
    assert peak < 1 << 20


@pytest.mark.parametrize(
    ("before", "piece", "after"),
    [
        (b'{"x": "', b"y" * 10_000, b'"}'),
        (b'"', b"y" * 10_000, b'"'),
        (b"[0", b",1" * 5_000, b"]"),
        (b" ", b"[" * 50, b"]" * 30_000),
    ],
)
def test_memory_stays_small_over_an_element_that_is_too_large(
    before: bytes, piece: bytes, after: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonstream, "_CHUNK", 1 << 16)
    ends = (after[at : at + 10_000] for at in range(0, len(after), 10_000))
    pieces = chain([b"[", before], repeat(piece, 600), ends, [b",5]"])
    count, peak = peak_of(pieces, longest=20_000)
    assert count == 2
    assert peak < 2 << 20


def test_each_value_goes_to_a_reader_and_one_that_surprises_it_loses_no_other(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"all": [{"id": "1"}, {}, {"id": bad}, {"id": "4"}]}')
    [entry] = open_tree(path).entries

    def reader(value: Any, where: str) -> Iterator[Finding]:
        yield Item("things", value["id"], {"where": where})

    findings = list(read_each(entry, reader, "all.item", noun="thing"))
    assert findings.count(Seen("thing")) == 3
    first, second, third, fourth = [found for found in findings if not isinstance(found, Seen)]
    assert first == Item("things", "1", {"where": "a.json thing 1"})
    assert second == Unknown("a shape that is not known", "a.json thing 2 (KeyError)")
    assert isinstance(third, Skipped)
    assert fourth == Item("things", "4", {"where": "a.json thing 4"})


def nothing(value: Any, where: str) -> Iterator[Finding]:
    yield Item("things", where, {"value": value})


@pytest.mark.parametrize(
    ("content", "path", "is_told"),
    [
        ('{"all": {"value": [1]}}', "all.item", True),
        ('{"all": "words"}', "all.item", True),
        ('{"others": [1]}', "all.item", True),
        ('{"value": [1]}', "item", True),
        ('{"all": []}', "all.item", False),
        ('{"all": null, "more": 1}', "all.item", False),
        ("[]", "item", False),
        ("{}", "item", False),
    ],
)
def test_a_document_without_the_list_that_it_is_read_for_is_told(
    content: str, path: str, is_told: bool, tmp_path: Path
) -> None:
    (tmp_path / "a.json").write_text(content)
    [entry] = open_tree(tmp_path / "a.json").entries
    told = [Unknown("a file of another layout", "a.json")] if is_told else []
    assert list(read_each(entry, nothing, path)) == told


def test_a_list_that_is_not_always_there_is_told_only_where_it_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"some": {"value": [1]}}')
    [entry] = open_tree(tmp_path / "a.json").entries
    assert list(read_each(entry, nothing, "all.item", always=False)) == []
    assert len(list(read_each(entry, nothing, "some.item", always=False))) == 1


def test_a_list_on_the_way_where_an_object_is_expected_is_told_where_that_is_wanted() -> None:
    text = '{"chats": [[{"text": "a"}], {"text": "b"}], "more": {"text": "c"}}'
    assert values(find(text, "chats.item.text")) == ["b"]
    odd, first = find(text, "chats.item.text", odd="odd")
    assert odd == Skipped("odd", "chats.item", lost=True)
    assert isinstance(first, JsonElement)
    [odd] = find('{"chats": {"value": 1}}', "chats.item.text", odd="odd")
    assert odd == Skipped("odd", "chats", lost=True)


def test_the_objects_of_a_list_come_without_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('[{"a": 1}, 2, {"b": oh}, [{}], {"c": 3}]')
    assert list(objects(open_tree(path).entries[0])) == [{"a": 1}, {"c": 3}]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("[1, 2]\n[3]", ["a.json byte 7"]),
        ('[1, 2]{"a": 3}', ["a.json byte 6"]),
        ("[1, 2] \n", []),
        ("[1, 2]\n<!-- saved -->", []),
        ("[1, 2]" + "\0" * 20, []),
    ],
)
def test_a_document_behind_the_first_is_told(content: str, told: list[str], tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(content)
    [entry] = open_tree(tmp_path / "a.json").entries
    found = list(entry_elements(entry, "item"))
    assert values(found) == [1, 2]
    skipped = [item for item in found if isinstance(item, Skipped)]
    assert [item.example for item in skipped] == told
    assert all(item.cut for item in skipped)
