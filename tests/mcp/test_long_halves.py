"""A host that cuts long answers off loses nothing that leads on, whichever half it shows."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from tests.mcp.host import Host, hosted
from tests.mcp.post import declaration
from tests.mcp.shelf import NOTES, TEXT, stream
from tests.mcp.sight import Call, text_calls
from tests.serving import World, grant, living, plant, planted_store

from pdpp.evidence.text import json_text

CUT = 10_000
NOTE = "if the end of this one is missing, ask again with "
LONG = [
    {
        "id": f"n-{n:03}",
        "title": f"Note {n} " + "of a long name " * 10,
        "body": f"kiln {n} and many other words " * 20,
        "kind": f"kind {n} " + "k" * 150,
    }
    for n in range(150)
]
FAMILY = [{"id": f"child-{n}", "body": "b" * 400, "parent": "n-000"} for n in range(100)]
BOOK = {"id": "book", "title": "Book", "body": "word " * 10_000}
ASKED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("query_records", {"stream": "notes", "limit": 100}),
    ("query_records", {"stream": "notes", "limit": 100, "changes_since": "beginning"}),
    ("search", {"query": "kiln", "limit": 100}),
    ("aggregate", {"stream": "notes", "metric": "count", "group_by": "kind", "limit": 90}),
    ("read_record_field", {"id": "c/notes:book", "field_path": "body", "limit_chars": 16_384}),
    ("fetch", {"id": "c/notes:book"}),
    ("schema", {}),
)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    store = planted_store(
        tmp_path_factory.mktemp("long"),
        declaration("shelf", NOTES),
        {"c": "Notes"},
        {("c", "notes"): [*LONG, *FAMILY, BOOK]},
    )
    for number in range(40):
        made = [stream(f"s_{number}_{n}".ljust(40, "x"), {"body": TEXT}) for n in range(8)]
        plant(store, declaration(f"many{number}", *made), {f"c{number}": f"Many {number}"})
    with living(store) as made_world:
        yield made_world


@pytest.fixture(scope="module")
def host(world: World) -> Host:
    return hosted(world.server, grant(world.store))


def object_call(call: Call) -> str:
    """Return the arguments of a call as they stand in a structured half."""
    return json_text(dict(call.arguments))


@pytest.mark.parametrize(("tool", "asked"), ASKED, ids=[tool for tool, _ in ASKED])
def test_what_leads_on_stands_before_the_place_where_hosts_cut(
    host: Host, tool: str, asked: Mapping[str, Any]
) -> None:
    found = host.good(tool, asked)
    text, shaped = found.text, json_text(found.structured)
    assert min(len(text), len(shaped)) > CUT
    assert NOTE in text[:CUT]
    assert NOTE in shaped[:CUT]
    onward = [c for c in text_calls(text) if c.tool == tool] if tool != "fetch" else []
    for call in onward if tool != "search" else onward[-1:]:
        assert call in [*text_calls(text[:CUT])]
        assert object_call(call) in shaped[:CUT]


def test_a_cut_page_of_records_shows_how_many_there_are_and_the_way_on_first(host: Host) -> None:
    found = host.good("query_records", {"stream": "notes", "limit": 100})
    lines = found.text.split("\n")
    assert lines[0] == f"{len(found.structured['data']['data'])} records of notes."
    assert [call.tool for call in text_calls(lines[1])] == ["query_records"]
    assert lines[3].startswith("1. c/notes:")
    assert next(iter(found.structured)) == "note"


def test_a_cut_search_still_begins_with_evidence(host: Host) -> None:
    found = host.good("search", {"query": "kiln", "limit": 100})
    assert found.text.startswith("1. body ")
    [onward] = [call for call in text_calls(found.text[:3_000]) if call.tool == "search"]
    assert "cursor" in onward.arguments


def test_a_cut_document_keeps_its_address_and_the_call_that_reads_on(host: Host) -> None:
    found = host.good("fetch", {"id": "c/notes:book"})
    for half in (found.text, json_text(found.structured)):
        head = half[:3_000]
        assert '"url":' in head
        assert '"read_record_field":{"id":"c/notes:book","field_path":"body"' in head


def test_a_cut_list_of_related_records_keeps_the_call_that_shows_more(host: Host) -> None:
    asked = {"id": "c/notes:n-000", "expand": ["children"], "expand_limit": {"children": 100}}
    found = host.good("fetch", asked)
    assert len(found.text) > CUT
    assert '"left_out":' in found.text[:3_000]
    assert '"fetch":{"id":"c/notes:n-000","expand":["children"]' in found.text[:3_000]


def test_a_short_page_ends_with_the_way_on(host: Host) -> None:
    found = host.good("query_records", {"stream": "notes", "limit": 3})
    assert NOTE not in found.text + json_text(found.structured)
    assert [call.tool for call in text_calls(found.text.split("\n")[-1])] == ["query_records"]
    assert [*found.structured] == ["data", "next"]


def test_a_short_search_shows_its_hits_before_the_way_on(host: Host) -> None:
    found = host.good("search", {"query": "kiln"})
    assert [*found.structured] == ["data", "results", "content_ladder", "next"]
