"""Presentation: roles decide what is promoted, and bytes are described and never shown."""

import random
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from tests.mcp.host import Host, Inside, KernelWire, inside, package
from tests.mcp.post import declaration
from tests.mcp.shelf import TEXT, stream
from tests.mcp.sight import object_calls, text_calls
from tests.serving import grant, keep, plant, planted_store, put, write

from pdpp.evidence.text import json_text
from pdpp.mcp.drawing.record import RecordBudget, document_text, names_within, show
from pdpp.mcp.reading.field_facts import NO_FACTS, facts_of
from pdpp.model.declaration import Kind

BYTES = random.Random(7).randbytes(6_000)
ENCODED = b64encode(BYTES).decode()
PICTURE = b"\x89PNG\r\n\x1a\n" + BYTES
LEAFLET = "A leaflet of text. " * 600

NAMED = stream(
    "named",
    {"title": TEXT, "subject": TEXT, "body": TEXT, "url": TEXT, "date": TEXT, "text": TEXT},
    query={"search": {"lexical_fields": ["title", "body"]}},
)
ROLES = stream(
    "roles",
    {
        "a": {**TEXT, "x_pdpp_role": "primary-title"},
        "b": {**TEXT, "x_pdpp_role": "body"},
        "c": {**TEXT, "x_pdpp_role": "link"},
        "d": {**TEXT, "format": "date-time", "x_pdpp_role": "event-time"},
        "title": TEXT,
    },
    query={"search": {"lexical_fields": ["b"]}},
)
FILES = stream(
    "files",
    {
        "declared": {**TEXT, "x_pdpp_type": "binary"},
        "loose": TEXT,
        "uri": TEXT,
        "picture": {"type": ["object", "null"], "x_pdpp_type": "blob"},
        "leaflet": {"type": ["object", "null"], "x_pdpp_type": "blob"},
        "nothing": {"type": ["object", "null"], "x_pdpp_type": "blob"},
        "body": {**TEXT, "x_pdpp_role": "body"},
    },
    query={"search": {"lexical_fields": ["body"]}},
)
BINARY = ("declared", "loose", "uri", "picture")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inside]:
    folder: Path = tmp_path_factory.mktemp("presentation")
    store = planted_store(folder, declaration("shelf", NAMED, ROLES, FILES), {"cin_s": "Shelf"})
    words = {
        "title": "T",
        "subject": "S",
        "body": "B kiln",
        "url": "https://u.example",
        "text": "X",
    }
    put(store, "cin_s", "named", {"id": "one", **words, "date": "2026-01-01"})
    roles = {"a": "Title by role", "b": "kiln by role", "c": "https://link.example/1"}
    put(store, "cin_s", "roles", {"id": "one", **roles, "d": "2026-05-06T07:08:09Z", "title": "no"})
    put(store, "cin_s", "roles", {"id": "two", "b": "kiln", "c": "javascript:alert(1)"})
    put(
        store,
        "cin_s",
        "files",
        {
            "id": "one",
            "declared": "c2hvcnQ=",
            "loose": ENCODED,
            "uri": f"data:image/png;base64,{ENCODED}",
            "picture": keep(store, PICTURE, "image/png"),
            "leaflet": keep(store, LEAFLET.encode(), "text/plain"),
            "nothing": keep(store, b"", "text/plain"),
            "body": "kiln",
        },
        {"id": "body", "body": ENCODED},
    )
    with inside(store) as made:
        yield made


@pytest.fixture(scope="module")
def host(world: Inside) -> Host:
    return world.host(grant(world.store))


def test_a_field_without_a_role_is_not_promoted_for_its_name(host: Host) -> None:
    [hit] = host.good("search", {"query": "kiln", "streams": ["named"]}).structured["results"]
    assert hit["title"].startswith("Shelf / ")
    document = host.good("fetch", {"id": "cin_s/named:one"}).structured
    assert document["title"].startswith("Shelf / named / ")
    assert document["url"].endswith("/r/cin_s/named/one")
    assert "link" not in document["metadata"]
    assert "event_time" not in document["metadata"]
    assert {"title: T", "subject: S", "body: B kiln"} <= set(document["text"].split("\n"))


def test_a_field_is_promoted_by_its_role(host: Host) -> None:
    asked = {"query": "+kiln +role", "streams": ["roles"]}
    hits = host.good("search", asked).structured["results"]
    assert [hit["title"] for hit in hits] == ["Title by role"]
    document = host.good("fetch", {"id": "cin_s/roles:one"}).structured
    assert document["title"] == "Title by role"
    assert document["text"].endswith("\n\nkiln by role")
    assert document["metadata"]["link"] == "https://link.example/1"
    assert document["metadata"]["event_time"] == "2026-05-06T07:08:09Z"
    page = host.good("query_records", {"stream": "roles"})
    assert 'cin_s/roles:one · "Title by role" · Shelf' in page.text


def test_a_link_that_is_no_web_address_is_no_link(host: Host) -> None:
    document = host.good("fetch", {"id": "cin_s/roles:two"}).structured
    assert "link" not in document["metadata"]
    assert document["title"].startswith("Shelf / roles / ")


def no_bytes(shown: str) -> None:
    """Check that nothing of the bytes is in a text."""
    for start in range(0, len(ENCODED) - 24, 24):
        assert ENCODED[start : start + 24] not in shown


@pytest.mark.parametrize("field", BINARY)
def test_bytes_are_described_with_a_call_that_tells_more(host: Host, field: str) -> None:
    page = host.good("query_records", {"stream": "files"})
    row = next(row for row in page.structured["data"]["data"] if row["id"] == "one")
    facts = row["data"][field]["binary"]
    assert facts["size_bytes"] > 0
    assert len(facts["sha256"]) == 64
    if field in ("uri", "picture"):
        assert facts["media_type"] == "image/png"
    assert f"{field}: [{facts['media_type']}, {facts['size_bytes']} bytes" in page.text
    for shown in (page.text, json_text(page.structured)):
        no_bytes(shown)
    [call] = object_calls({"x": facts})
    assert call.key in {shown.key for shown in text_calls(page.text)}
    about = host.good(call.tool, call.arguments)
    for shown in (about.text, json_text(about.structured)):
        no_bytes(shown)
        assert facts["sha256"] in shown


def test_a_document_with_bytes_tells_of_them_in_its_metadata(host: Host) -> None:
    document = host.good("fetch", {"id": "cin_s/files:one"}).structured
    no_bytes(json_text(document))
    assert set(BINARY) <= document["metadata"]["binary_fields"].keys()
    for name, facts in document["metadata"]["binary_fields"].items():
        [call] = object_calls(facts)
        assert host.good(call.tool, call.arguments), name
    assert document["text"].endswith("\n\nkiln")


def test_a_body_of_bytes_is_described_too(host: Host) -> None:
    document = host.good("fetch", {"id": "cin_s/files:body"}).structured
    no_bytes(json_text(document))
    assert "body: [application/octet-stream, 6000 bytes, not shown]" in document["text"]
    found = host.good("read_record_field", {"id": "cin_s/files:body", "field_path": "body"})
    assert found.structured["binary"]["size_bytes"] == 6_000
    assert "6000 bytes, not shown" in found.text
    [call] = object_calls(found.structured)
    assert (call.tool, call.arguments) == ("fetch", {"id": "cin_s/files:body"})


def test_a_picture_is_read_as_its_facts_and_its_route(host: Host) -> None:
    found = host.good("read_record_field", {"id": "cin_s/files:one", "field_path": "picture"})
    facts = found.structured["binary"]
    digest = sha256(PICTURE).hexdigest()
    assert facts["blob_route"] == f"/v1/blobs/{digest}"
    assert f"GET /v1/blobs/{digest}" in found.text
    [call] = object_calls(found.structured)
    document = host.good(call.tool, call.arguments).structured
    assert document["metadata"]["export"] == {"method": "GET", "route": f"/v1/blobs/{digest}"}
    assert document["metadata"]["size_bytes"] == len(PICTURE)
    assert document["text"].startswith("[image/png, ")


def test_a_text_blob_is_read_in_windows_and_previewed(host: Host) -> None:
    found = host.good("read_record_field", {"id": "cin_s/files:one", "field_path": "leaflet"})
    assert found.structured["window"]["text"] == LEAFLET[: found.structured["window"]["end_chars"]]
    uri = f"pdpp://blob/{sha256(LEAFLET.encode()).hexdigest()}"
    document = host.good("fetch", {"id": uri}).structured
    assert LEAFLET.startswith(document["text"])
    cut = document["metadata"]["truncation"]
    assert (cut["served_chars"], cut["total_bytes"]) == (len(document["text"]), len(LEAFLET))


def test_an_empty_blob_is_told_to_be_empty(host: Host) -> None:
    uri = f"pdpp://blob/{sha256(b'').hexdigest()}"
    document = host.good("fetch", {"id": uri}).structured
    assert document["metadata"]["size_bytes"] == 0
    assert "error" not in document["text"]


def test_a_package_finds_a_blob_through_the_grant_that_shows_it(world: Inside) -> None:
    plant(world.store, declaration("other", stream("other", {})), {"cin_other": "Other"})
    host = world.host(package(world.store)[0])
    uri = f"pdpp://blob/{sha256(PICTURE).hexdigest()}"
    assert host.good("fetch", {"id": uri}).structured["metadata"]["size_bytes"] == len(PICTURE)


def test_resources_are_the_same_reads(host: Host) -> None:
    listed = host.wire.request("resources/list", {})["resources"]
    assert {item["name"] for item in listed} >= {"files", "named", "roles"}
    uris = [
        "pdpp://stream/named",
        "pdpp://record/cin_s%2Fnamed%3Aone",
        "pdpp://field-window/cin_s%2Fnamed%3Aone?field=body",
        f"pdpp://blob/{sha256(PICTURE).hexdigest()}",
    ]
    for uri in uris:
        [content] = host.wire.request("resources/read", {"uri": uri})["contents"]
        assert content["uri"] == uri
        assert content["text"]


@pytest.mark.parametrize("uri", ["pdpp://other/x", "https://x.example", "pdpp://record/x"])
def test_an_address_of_nothing_is_no_resource(world: Inside, uri: str) -> None:
    wire = world.host(grant(world.store)).wire
    assert isinstance(wire, KernelWire)
    assert wire.refusal("resources/read", {"uri": uri}) == -32002


def test_a_window_address_and_the_same_field_beside_it_agree(host: Host) -> None:
    uri = "pdpp://field-window/cin_s%2Fnamed%3Aone?field=body&offset_chars=2"
    asked = {"id": uri, "field_path": "body", "limit_chars": 2}
    assert host.good("read_record_field", asked).structured["window"]["text"] == "ki"


def test_a_record_that_went_away_is_told_without_its_data(world: Inside) -> None:
    put(world.store, "cin_s", "named", {"id": "gone", "title": "Once"})
    host = world.host(grant(world.store))
    asked = {"stream": "named", "connection_id": "cin_s", "changes_since": "beginning"}
    first = host.good("query_records", asked)
    [later] = [
        call
        for call in object_calls(first.structured["next"])
        if call.arguments["changes_since"] != "beginning"
    ]
    line = {"key": "gone", "op": "delete"}
    write(world.store, "cin_s", "named", [line])
    found = host.good(later.tool, later.arguments)
    [row] = found.structured["data"]["data"]
    assert row["deleted"] is True
    assert "data" not in row
    assert f"cin_s/named:gone · Shelf · deleted at {row['deleted_at']}" in found.text


# The pure part


def test_flags_that_say_nothing_known_are_left() -> None:
    facts = facts_of({"a": "t=text,role=body,eq", "b": "t=odd", "c": 5})
    assert dict(facts.roles) == {"a": "body"}
    assert dict(facts.kinds) == {"a": Kind.TEXT}


def test_a_value_is_shown_whole_or_with_what_is_left() -> None:
    assert show("c/s:1", "f", {"a": 1}, None, 100).value == {"a": 1}
    shown = show("c/s:1", "f", {"a": "x" * 100}, None, 10)
    assert shown.value == '{"a":"xxxx'
    assert shown.cut is not None
    assert (shown.cut.served_chars, shown.cut.total_chars) == (10, 108)


def test_a_document_gives_its_body_at_least_half(world: Inside) -> None:
    data: dict[str, Any] = {f"f{n}": "y" * 900 for n in range(50)}
    facts = facts_of({"body": "t=text,role=body"})
    shown = document_text("c/s:1", {**data, "body": "b" * 5_000}, facts, RecordBudget(4_000))
    assert shown.text.count("b") >= 2_000
    assert len(shown.text) <= 4_000
    assert [*shown.fields, *shown.omitted] == [*list(data)[:2], "body", *list(data)[2:]]


def test_a_document_without_a_body_is_its_fields() -> None:
    shown = document_text("c/s:1", {"a": 1, "b": None, "c": [True]}, NO_FACTS, RecordBudget(100))
    assert shown.text == "a: 1\nc: [true]"
    assert not shown.cuts
    assert not shown.binaries


def test_names_are_listed_as_far_as_there_is_room() -> None:
    assert names_within(["a" * 10] * 5, 30) == ["a" * 10] * 2
    assert names_within(["a" * 10], 3) == []
