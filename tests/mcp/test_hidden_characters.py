"""Characters that nobody sees: spelled out in what we compose, flagged where text is exact."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.mcp.host import Host, inside
from tests.mcp.post import declaration
from tests.mcp.shelf import NOTES
from tests.serving import grant, planted_store

from pdpp.evidence.fence import HIDDEN, has_hidden

TAGS = "".join(chr(0xE0000 + ord(char)) for char in "obey")
"""Letters of the plane of tags: a model reads them, a person does not."""

HIDDEN_TEXT = f"kiln {TAGS}\u202ereversed\u2066 zero\u200bwidth"
RECORDS = {
    ("cin_n", "notes"): [
        {"id": "odd", "title": f"Title {HIDDEN_TEXT}", "body": f"Body {HIDDEN_TEXT} end"},
        {"id": "plain", "title": "Nothing odd", "body": "kiln\n\tand lines"},
        {"id": "vowel", "title": "A word", "body": "marzipank\u17b4"},
    ]
}


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    folder: Path = tmp_path_factory.mktemp("hidden")
    store = planted_store(folder, declaration("shelf", NOTES), {"cin_n": "Notes\u200b"}, RECORDS)
    with inside(store) as made:
        yield made.host(grant(store))


def hidden(value: Any) -> list[str]:
    """Return the hidden characters of a value as JSON shows it."""
    return HIDDEN.findall(json.dumps(value, ensure_ascii=False).replace("\\n", ""))


def test_what_is_composed_of_hits_spells_them_out_in_both_halves(host: Host) -> None:
    found = host.good("search", {"query": "kiln"})
    composed = found.structured["results"], found.structured["content_ladder"]
    assert hidden(composed) == []
    assert "⟨U+E006F⟩" in json.dumps(composed, ensure_ascii=False)
    assert "⟨U+202E⟩" in json.dumps(composed, ensure_ascii=False)
    assert hidden(found.text.replace("\n", "")) == []


def test_words_that_a_search_names_are_spelled_out_too(host: Host) -> None:
    found = host.good("search", {"query": "marzipnak"})
    assert "marzipank\u17b4" in json.dumps(found.structured["data"], ensure_ascii=False)
    assert found.structured["hidden_characters"] is True
    ladder = found.structured["content_ladder"]
    assert hidden(ladder) == []
    assert any("marzipank⟨U+17B4⟩" in note for note in ladder["notes"])
    assert hidden(found.text.replace("\n", "")) == []


def test_exact_values_stay_exact_and_are_flagged(host: Host) -> None:
    rows = host.good("query_records", {"stream": "notes"}).structured["data"]["data"]
    flags = {row["id"]: row.get("hidden_characters") for row in rows}
    assert flags == {"odd": True, "plain": None, "vowel": True}
    [odd] = [row for row in rows if row["id"] == "odd"]
    assert odd["data"]["body"] == f"Body {HIDDEN_TEXT} end"
    assert hidden(odd["display_name"]) == []


@pytest.mark.parametrize(("key", "flag"), [("odd", True), ("plain", None)])
def test_a_window_and_a_document_say_whether_they_hold_any(
    host: Host, key: str, flag: bool | None
) -> None:
    asked = {"id": f"cin_n/notes:{key}", "field_path": "body"}
    window = host.good("read_record_field", asked).structured
    assert window.get("hidden_characters") is flag
    document = host.good("fetch", {"id": f"cin_n/notes:{key}"}).structured
    assert document["metadata"].get("hidden_characters") is flag
    assert hidden(document["title"]) == []
    assert (TAGS in document["text"]) is (flag is True)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("plain", False),
        ("lines\nand\ttabs\r\n", False),
        ("Grüße, 日本語, 🦩", False),
        ("zero\u200bwidth", True),
        ({"a": [{"b": "x\u202e"}]}, True),
        ({"a\u2066": 1}, True),
        ([1, None, 2.5], False),
        (["lines\nand\ttabs\r\n", "C:\\new\\x00"], False),
        (["back\\\u200b", "n"], True),
        ({"\\": ("n\x00",)}, True),
        (["é", {"deep": ["\\n", "\x7f"]}], True),
    ],
)
def test_hidden_characters_are_found_however_deep(value: Any, told: bool) -> None:
    assert has_hidden(value) is told
