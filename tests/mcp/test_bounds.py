"""The bounds of every result, on both halves, with data made to break them."""

import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from tests.mcp.client import HttpWire
from tests.mcp.foreign import Foreign
from tests.mcp.host import Host, hosted, package
from tests.mcp.post import declaration
from tests.mcp.shelf import GROWING, NOTES, TEXT, stream
from tests.mcp.sight import object_calls
from tests.serving import World, grant, living, plant, planted_store

from pdpp.evidence.fence import CLOSING, OPENING, PREFIX
from pdpp.evidence.text import json_text
from pdpp.mcp.tools.definition import SIGNATURES

MEGABYTE = 1 << 20


def growing(kind: str, length: int) -> str:
    """Return a text of a kind that begins with the word that is searched."""
    piece = GROWING[kind]
    return ("kiln " + piece * (length // len(piece) + 1))[:length]


def records() -> dict[tuple[str, str], list[dict[str, Any]]]:
    notes = [
        {
            "id": f"{kind}-{number}",
            "title": growing(kind, 300),
            "body": growing(kind, 9_000),
            "kind": growing(kind, 700),
            "extra": {"inner": [growing(kind, 500)]},
        }
        for kind in GROWING
        for number in range(3)
    ]
    longest = [
        {"id": f"{number:02}" + "k" * 500, "title": "kiln " + "t" * 400, "body": "kiln " * 60}
        for number in range(12)
    ]
    many = [
        {"id": f"m-{number}", "title": f"Note {number}", "body": f"kiln {number} " * 20}
        for number in range(120)
    ]
    family = [{"id": "mother", "title": "Mother", "body": "A kiln of her own."}]
    family += [
        {"id": f"child-{n}", "title": growing("quotes", 200), "body": "b" * 900, "parent": "mother"}
        for n in range(100)
    ]
    huge = [{"id": f"huge-{kind}", "body": growing(kind, MEGABYTE)} for kind in ("words", "quotes")]
    wide = [{"id": "wide", **{f"field_{n:03}": "w" * 50 for n in range(200)}}]
    deep = [{"id": "deep", **{f"field_{n:03}": "w" * 5_000 for n in range(200)}}]
    return {
        ("cin_notes", "notes"): notes + longest + many + family + huge,
        ("cin_notes", "forms"): wide + deep,
    }


FORMS = stream("forms", {f"field_{number:03}": TEXT for number in range(200)})


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("bounds")
    store = planted_store(
        folder, declaration("shelf", NOTES, FORMS), {"cin_notes": "Notes"}, records()
    )
    with living(store) as made:
        yield made


@pytest.fixture(scope="module")
def host(world: World) -> Host:
    return hosted(world.server, grant(world.store))


@pytest.mark.parametrize("version", ["2025-06-18", "2026-07-28"])
def test_the_list_of_tools_fits_in_both_eras(world: World, version: str) -> None:
    wire = HttpWire(world.server.client(grant(world.store)), version)
    listed = wire.request("tools/list", {})
    assert len(json_text(listed).encode()) <= 7_500
    assert [tool["name"] for tool in listed["tools"]] == list(SIGNATURES)


# Schema


def _streams(prefix: str, count: int) -> list[dict[str, Any]]:
    return [stream(f"{prefix}_{number}".ljust(40, "x"), {"body": TEXT}) for number in range(count)]


@pytest.mark.parametrize("token_kind", ["grant", "package"])
@pytest.mark.parametrize("shape", ["a source each", "one source", "long names"])
def test_an_index_of_two_hundred_streams_names_them_all(
    tmp_path: Path, shape: str, token_kind: str
) -> None:
    store = planted_store(tmp_path, declaration("seed", stream("seeds", {})), {})
    named: set[str] = set()
    ids = [str(uuid.UUID(int=n, version=4)) for n in range(40)]
    if shape == "one source":
        streams = _streams("one", 5)
        named |= {made["name"] for made in streams}
        plant(store, declaration("one", *streams), dict.fromkeys(ids, "Connection with a name"))
    else:
        key = "connector-with-a-rather-long-key-{}" if shape == "long names" else "c{}"
        for number, id in enumerate(ids):
            streams = _streams(f"s{number}", 5)
            named |= {made["name"] for made in streams}
            label = f"Connection {number} " * (6 if shape == "long names" else 1)
            plant(store, declaration(key.format(number), *streams), {id: label})
    token = grant(store) if token_kind == "grant" else package(store)[0]
    with living(store) as world:
        found = hosted(world.server, token).good("schema")
    shown = json_text(found.structured)
    assert [name for name in named if name not in found.text] == []
    assert [name for name in named if name not in shown] == []
    assert [id for id in ids if id not in found.text or id not in shown] == []
    assert found.structured["data"]["stream_count"] == 200


def test_an_index_too_large_even_for_names_says_what_it_leaves_out_and_how_to_get_it(
    tmp_path: Path,
) -> None:
    store = planted_store(tmp_path, declaration("vast0", *_streams("v0", 180)), {"cin_0": "Vast 0"})
    for number in range(1, 5):
        made = declaration(f"vast{number}", *_streams(f"v{number}", 180))
        plant(store, made, {f"cin_{number}": f"Vast {number}"})
    with living(store) as world:
        host = hosted(world.server, grant(store))
        found = host.good("schema")
        assert found.text.count("180 streams") == 5
        assert "note: stream names are left out to fit" in found.text
        data = found.structured["data"]
        assert [c["stream_names_left_out"] for c in data["connectors"]] == [180] * 5
        assert "left out to fit" in data["note"]
        one = host.good("schema", {"connection_id": "cin_3"})
        assert one.text.count("v3_") == 181


def _wide(connectors: int, connections: int, streams: int, *, shared: bool) -> dict[str, Any]:
    """Return the compact schema of a server that opens very much."""
    flags = {"id": "t=text,eq", "body": "t=text,role=body,lex"}
    rows = []
    for number in range(connectors):
        key = f"connector_{number:04}"
        ids = [f"cin_{number:04}_{one:04}" for one in range(connections)]
        prefix = "kind" if shared else f"s{number:04}"
        made = [
            {"name": f"{prefix}_{one:04}", "field_capabilities": flags} for one in range(streams)
        ]
        granted = [{"connection_id": id, "display_name": f"Account {id}"} for id in ids]
        rows.append({"connector_key": key, "granted_connections": granted, "streams": made})
    total = connectors * connections * streams
    return {"object": "schema", "detail": "compact", "connectors": rows, "stream_count": total}


def _scoped(body: dict[str, Any], request: Request) -> Response:
    """Answer as a server does, with the stream and the connection that are asked for."""
    stream, connection = (request.query_params.get(n) for n in ("stream", "connection_id"))
    connectors = []
    for one in body["connectors"]:
        rows = [row for row in one["streams"] if stream in (None, row["name"])]
        granted = [
            account
            for account in one["granted_connections"]
            if connection in (None, account["connection_id"])
        ]
        if rows and granted:
            connectors.append({**one, "streams": rows, "granted_connections": granted})
    return JSONResponse({**body, "connectors": connectors})


@pytest.mark.parametrize(
    ("connectors", "connections", "streams", "shared"),
    [(200, 1, 20, False), (200, 1, 20, True), (1, 1, 4_000, False), (1, 3_000, 2, True)],
)
def test_whatever_a_grant_opens_its_index_is_answered_and_leads_on(
    connectors: int, connections: int, streams: int, shared: bool
) -> None:
    body = _wide(connectors, connections, streams, shared=shared)
    with Foreign(answer=lambda request: _scoped(body, request)).served() as (_, host):
        first = host.good("schema")
        assert "left out to fit" in first.text
        data = first.structured["data"]
        assert "left out to fit" in data["note"]
        assert data["stream_count"] == connectors * connections * streams
        if connections == 1:
            ids = {f"cin_{number:04}_0000" for number in range(connectors)}
            assert all(id in first.text for id in ids)
            assert ids == {id for one in data["connectors"] for id in one["granted_connections"]}
        page, asked = first, [dict[str, Any]()]
        while (call := next(iter(object_calls(page.structured)))).tool == "schema":
            assert call.arguments not in asked
            asked.append(dict(call.arguments))
            page = host.good(call.tool, call.arguments)
        assert "body  text role=body lex" in page.text
        assert asked[-1].keys() == {"stream", "connection_id"}
        assert len(asked) <= 4


def test_a_stream_of_very_many_fields_says_how_to_get_them_all(tmp_path: Path) -> None:
    fields = {f"field_number_{number:03}".ljust(60, "x"): TEXT for number in range(400)}
    store = planted_store(tmp_path, declaration("wide", stream("wide", fields)), {"cin_w": "W"})
    with living(store) as world:
        host = hosted(world.server, grant(store))
        for scope in ({}, {"connection_id": "cin_w"}):
            found = host.good("schema", {"stream": "wide", **scope})
            assert "what each field offers and the names of 301 more are left out" in found.text
            assert "left out to fit" in found.structured["data"]["note"]
            assert ("detail full" in found.text) == bool(scope)
        found = host.good("schema", {"stream": "wide", "detail": "full"})
        assert [name for name in fields if name not in found.text] == []
        assert "what each field offers is left out to fit" in found.text
        [call] = object_calls(found.structured)
        assert host.good(call.tool, call.arguments)


def test_the_flags_of_many_fields_come_with_the_full_schema(tmp_path: Path) -> None:
    fields = {f"field_number_{number:03}".ljust(34, "x"): TEXT for number in range(200)}
    store = planted_store(tmp_path, declaration("wide", stream("wide", fields)), {"cin_w": "W"})
    with living(store) as world:
        host = hosted(world.server, grant(store))
        found = host.good("schema", {"stream": "wide", "connection_id": "cin_w"})
        assert [name for name in fields if name not in found.text] == []
        assert (
            "what each field offers is left out to fit; ask schema with detail full" in found.text
        )
        full = {"stream": "wide", "connection_id": "cin_w", "detail": "full"}
        assert f"{list(fields)[-1]}  text eq" in host.good("schema", full).text


def test_a_search_cut_by_room_says_how_to_get_more_at_once(host: Host) -> None:
    first = host.good("search", {"query": "kiln"})
    shown = len(first.structured["results"])
    assert 1 < shown < 10
    assert "with a higher limit up to 30,000 come at once" in first.text
    assert "30,000" in first.structured["content_ladder"]["notes"][-1]
    longer = host.good("search", {"query": "kiln", "limit": 50})
    assert len(longer.structured["results"]) > shown
    assert "30,000" not in longer.text
    assert "30,000" not in host.good("search", {"query": "kiln", "limit": 1}).text


# Search


@pytest.mark.parametrize("limit", [None, 100])
def test_every_hit_is_shown_once_however_small_the_pages_must_be(
    host: Host, world: World, limit: int | None
) -> None:
    given = {"query": "kiln"} if limit is None else {"query": "kiln", "limit": limit}
    ids: list[str] = []
    for page in host.pages("search", given):
        shown = [hit["id"] for hit in page.structured["results"]]
        assert shown
        assert all(id in page.text for id in shown)
        assert [row["id"] for row in page.structured["content_ladder"]["records"]] == shown
        enveloped = page.structured["data"]["data"]
        assert [hit["id"] for hit in enveloped] in (shown, [])
        ids += shown
    with world.client() as rest:
        total = rest.get("/v1/search", params={"q": "kiln"}).json()["meta"]["count"]["value"]
    assert len(ids) == len(set(ids)) == total > 150


def test_a_search_whose_arguments_are_long_still_fits(host: Host) -> None:
    query = " ".join(["kiln"] * 16) + " " * 300
    found = host.good("search", {"query": query, "streams": ["notes"] * 90})
    assert found.structured["results"]
    long = {"query": "kiln", "filter": {"kind": "\x01" * 450}}
    assert host.good("search", long).structured["results"] == []


# Records


def test_every_record_is_shown_once_and_nothing_is_cut_without_the_call_that_reads_on(
    host: Host,
) -> None:
    ids: list[str] = []
    for page in host.pages("query_records", {"stream": "notes", "limit": 100}):
        for row in page.structured["data"]["data"]:
            ids.append(row["id"])
            for name, cut in row.get("truncation", {}).items():
                assert cut["served_chars"] < cut["total_chars"]
                assert len(row["data"][name]) == cut["served_chars"]
                assert cut["read_record_field"]["field_path"] == name
                assert cut["read_record_field"]["offset_chars"] == cut["served_chars"]
                assert f"{cut['served_chars']} of {cut['total_chars']} chars" in page.text
    expected = [record["id"] for record in records()["cin_notes", "notes"]]
    assert sorted(ids) == sorted(expected)


def test_a_record_of_two_hundred_long_fields_names_those_it_does_not_show(host: Host) -> None:
    page = host.good("query_records", {"stream": "forms"})
    rows = page.structured["data"]["data"]
    assert rows
    for row in rows:
        names = {*row["data"], *row.get("omitted_fields", [])}
        assert names == {"id", *(f"field_{number:03}" for number in range(200))}
        assert all(name in page.text for name in names)
        if "omitted_fields" in row:
            assert row["omitted_count"] == len(row["omitted_fields"])
            assert "not shown, ask with fields: " in page.text


def test_a_page_of_expanded_records_fits_and_says_what_it_leaves_out(host: Host) -> None:
    asked = {"stream": "notes", "expand": ["children"], "expand_limit": {"children": 100}}
    shown: set[str] = set()
    for page in host.pages("query_records", {**asked, "limit": 100}):
        for row in page.structured["data"]["data"]:
            related = row.get("expanded", {}).get("children", {"data": []})
            if row["id"] == "mother":
                shown = {child["id"] for child in related["data"]}
                left_out = related.get("left_out", 0)
                assert len(shown) + left_out == 100
                assert f"({len(shown)} shown" in page.text
                if left_out:
                    assert f"{left_out} left out to fit" in page.text
    assert shown


# One field


def window(result: Any) -> tuple[str, dict[str, Any]]:
    lines = result.text.split("\n")
    assert lines[-1] == CLOSING
    opened = lines.index(OPENING)
    assert all(line.startswith(PREFIX) for line in lines[opened + 1 : -1])
    return result.structured["window"]["text"], result.structured["window"]


@pytest.mark.parametrize("limit", [None, 4_096, 16_384])
@pytest.mark.parametrize("kind", GROWING)
def test_a_field_is_read_to_its_end_window_by_window(
    host: Host, kind: str, limit: int | None
) -> None:
    whole = growing(kind, 9_000)
    arguments: dict[str, Any] = {"id": f"cin_notes/notes:{kind}-0", "field_path": "body"}
    if limit is not None:
        arguments["limit_chars"] = limit
    read = ""
    while True:
        result = host.good("read_record_field", arguments)
        text, facts = window(result)
        assert facts["start_chars"] == len(read)
        read += text
        assert facts["end_chars"] == len(read)
        assert facts["total_chars"] == len(whole)
        if not facts["has_more"]:
            break
        [arguments] = [
            dict(call.arguments)
            for call in object_calls(result.structured["next"])
            if call.arguments["offset_chars"] == len(read)
        ]
    assert read == whole


@pytest.mark.parametrize("kind", GROWING)
def test_a_window_around_a_match_fits(host: Host, kind: str) -> None:
    for around in (0, 512, 8_192):
        result = host.good(
            "read_record_field",
            {
                "id": f"cin_notes/notes:{kind}-0",
                "field_path": "body",
                "query": "kiln",
                "before_chars": around,
                "after_chars": around,
            },
        )
        assert "kiln" in window(result)[0]


def test_a_megabyte_is_read_from_any_place(host: Host) -> None:
    for kind in ("words", "quotes"):
        result = host.good(
            "read_record_field",
            {
                "id": f"cin_notes/notes:huge-{kind}",
                "field_path": "body",
                "offset_chars": MEGABYTE - 10,
            },
        )
        assert window(result)[0] == growing(kind, MEGABYTE)[-10:]
        assert "end reached" in result.text


# Documents


@pytest.mark.parametrize("id", [*(f"{kind}-1" for kind in GROWING), "huge-words", "huge-quotes"])
def test_a_document_holds_what_fits_and_tells_how_to_read_on(host: Host, id: str) -> None:
    document = host.good("fetch", {"id": f"cin_notes/notes:{id}"}).structured
    assert document.keys() == {"id", "title", "text", "url", "metadata"}
    assert len(document["text"]) <= 20_000
    kind = id.removesuffix("-1").removeprefix("huge-")
    whole = growing(kind, MEGABYTE if id.startswith("huge") else 9_000)
    cut = document["metadata"].get("truncation", {}).get("body")
    if cut is None:
        assert document["text"].endswith(whole)
        return
    assert cut["total_chars"] == len(whole)
    assert document["text"].endswith(whole[: cut["served_chars"]])
    rest = host.good("read_record_field", cut["read_record_field"])
    assert whole[cut["served_chars"] :].startswith(rest.structured["window"]["text"])


def test_a_wide_document_is_fetched_piece_by_piece_until_every_field_was_shown(host: Host) -> None:
    for id in ("wide", "deep"):
        seen: set[str] = set()
        arguments: dict[str, Any] | None = {"id": f"cin_notes/forms:{id}"}
        left = 201
        while arguments is not None:
            document = host.good("fetch", arguments).structured
            metadata = document["metadata"]
            seen |= {line.partition(": ")[0] for line in document["text"].split("\n")}
            if "omitted_count" in metadata:
                assert metadata["omitted_count"] < left
                left = metadata["omitted_count"]
                arguments = metadata["fetch"]
            elif len(seen) < 201:
                missing = sorted({"id", *(f"field_{n:03}" for n in range(200))} - seen)
                arguments = {"id": f"cin_notes/forms:{id}", "fields": missing[:100]}
                left = 201
            else:
                arguments = None
        assert len(seen) == 201


def test_a_document_with_a_hundred_relatives_fits(host: Host) -> None:
    asked = {"id": "cin_notes/notes:mother", "expand": ["children"]}
    document = host.good("fetch", {**asked, "expand_limit": {"children": 100}}).structured
    children = document["metadata"]["expanded"]["children"]
    assert len(children["data"]) + children.get("left_out", 0) == 100


# Aggregates


def test_groups_whose_keys_are_long_texts_fit_and_say_how_long_they_are(host: Host) -> None:
    found = host.good(
        "aggregate", {"stream": "notes", "metric": "count", "group_by": "kind", "limit": 1000}
    )
    groups = found.structured["data"]["groups"]
    assert {g["key_chars"] for g in groups if "key_chars" in g} == {700}
    assert all(len(str(g["key"])) <= 200 for g in groups)
    assert "keys are cut at 200 characters" in found.text
    assert "keys are cut" in json_text(found.structured)


def test_more_groups_than_fit_are_counted_in_other_count(tmp_path: Path) -> None:
    rows = [
        {"id": str(number), "kind": f"{number:03}" + GROWING["controls"] * 70}
        for number in range(300)
    ]
    store = planted_store(
        tmp_path, declaration("shelf", NOTES), {"cin_n": "N"}, {("cin_n", "notes"): rows}
    )
    with living(store) as world:
        host = hosted(world.server, grant(store))
        asked = {"stream": "notes", "metric": "count", "group_by": "kind"}
        found = host.good("aggregate", {**asked, "limit": 1000})
        groups, data = found.structured["data"]["groups"], found.structured["data"]
        assert 0 < len(groups) < 300
        assert data["other_count"] == 300 - len(groups)
        assert f"only {len(groups)} groups fit an answer" in found.text
        assert f"other_count {data['other_count']}" in found.text
        few = host.good("aggregate", {**asked, "limit": 5})
        assert [call.arguments["limit"] for call in object_calls(few.structured)] == [20]


# Errors


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("schema", {"stream": "s" * 4_096}),
        ("query_records", {"stream": "s" * 1_000}),
        ("query_records", {"stream": "\x01" * 255}),
        ("query_records", {"stream": "notes", **{f"wrong_{n}" * 20: n for n in range(100)}}),
        ("query_records", {"stream": "notes", "filter": {f"f{n}": "x" * 900 for n in range(99)}}),
        ("query_records", {"stream": "notes", "filter": {"\x01" * 900: 1}}),
        ("query_records", {"stream": "notes", "filter": {"unknown" * 40: 1}}),
        ("query_records", {"stream": "notes", "fields": ["n" * 25] * 100}),
        ("query_records", {"stream": "notes", "fields": ["n" * 200] * 100}),
        ("query_records", {"stream": "notes", "cursor": "c" * 4_096}),
        ("query_records", {"stream": "notes", "changes_since": "b" * 4_096}),
        ("query_records", {"stream": "notes", "expand_limit": {"x" * 500: 1}}),
        ("aggregate", {"stream": "notes", "metric": "count", "group_by": '"' * 1_000}),
        ("search", {"query": "\\" * 1_024}),
        ("search", {"query": "kiln", "cursor": "c" * 4_096}),
        ("fetch", {"id": "cin_notes/notes:" + "\U0001f600" * 500}),
        ("fetch", {"id": "x" * 16_000}),
        ("fetch", {"id": "pdpp://blob/" + "b" * 500}),
        ("read_record_field", {"id": "cin_notes/notes:wide", "field_path": "f" * 1_000}),
        (
            "read_record_field",
            {"id": "cin_notes/notes:words-0", "field_path": "body", "query": "q" * 500},
        ),
    ],
)
def test_an_error_is_short_however_long_the_call(
    host: Host, tool: str, arguments: dict[str, Any]
) -> None:
    assert host.call(tool, arguments).is_error


def test_a_document_in_the_text_half_is_the_same_object(host: Host) -> None:
    result = host.good("fetch", {"id": "cin_notes/notes:bidi-0"})
    assert "\u202e" not in result.text
    assert "\\u202e" in result.text
    assert (
        json.loads(result.text)["text"].endswith(growing("bidi", 9_000)[-2:])
        or (result.structured["metadata"]["truncation"])
    )
