"""Every tool against the reference implementation's shapes, by a server that shares no code."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

import pytest
from tests.mcp.client import StdioWire, connect_to, open_wire
from tests.mcp.host import Host, KernelWire
from tests.mcp.sight import fenced, object_calls, text_calls
from tests.reference_server import Behaviour, ReferenceServer
from tests.reference_server.world import EMOJI, LONG_BODY

from pdpp.mcp.reading.reader import GrantReader
from pdpp.mcp.reading.resource_client import ResourceClient
from pdpp.mcp.reading.transport import NetworkTransport

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("schema", {}),
    ("schema", {"stream": "messages"}),
    ("schema", {"stream": "messages", "connection_id": "cin_work", "detail": "full"}),
    ("query_records", {"stream": "messages", "limit": 3}),
    ("query_records", {"stream": "messages"}),
    ("query_records", {"stream": "payments", "filter": {"paid_on": {"gte": "2026-02-03"}}}),
    ("aggregate", {"stream": "messages", "metric": "count"}),
    ("aggregate", {"stream": "messages", "metric": "count", "group_by": "from", "limit": 2}),
    ("search", {"query": "heron"}),
    ("search", {"query": "heron", "streams": ["messages"], "connection_id": "cin_home"}),
    ("fetch", {"id": "cin_work/messages:m0"}),
    ("fetch", {"id": "cin_bank/payments:p1", "fields": ["payee"]}),
    ("read_record_field", {"id": "cin_work/messages:m0", "field_path": "body"}),
    ("read_record_field", {"id": "cin_work/messages:m0", "field_path": "body", "query": "ferry"}),
    ("read_record_field", {"id": "cin_work/messages:m1", "field_path": "picture"}),
    ("read_record_field", {"id": "cin_work/messages:m1", "field_path": "size_bytes"}),
]


@contextmanager
def reading(behaviour: Behaviour | None = None) -> Iterator[tuple[ReferenceServer, Host]]:
    """Serve the reference with a host of the adapter over the network."""
    with ReferenceServer(behaviour) as server:
        network = NetworkTransport(server.url)
        reader = GrantReader(ResourceClient(network, server.token), {}, server.url)
        wire = KernelWire(lambda: reader)
        try:
            yield server, Host(wire)
        finally:
            wire.close()
            network.close()


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[ReferenceServer, Host]]:
    with reading() as made:
        yield made


@pytest.fixture(scope="module")
def host(served: tuple[ReferenceServer, Host]) -> Host:
    return served[1]


@pytest.mark.parametrize(("tool", "arguments"), CALLS)
def test_every_tool_answers_without_inventing_anything(
    host: Host, tool: str, arguments: dict[str, Any]
) -> None:
    found = host.good(tool, arguments)
    assert not re.search(r"\bNone\b|\bnull\b|unknown bytes", found.text)
    for call in object_calls(found.structured):
        host.good(call.tool, call.arguments)


# The schema


@pytest.mark.scenario("S061", 1, 2, 3, on="stdio")
@pytest.mark.parametrize("flags", ["declared", "typed"])
@pytest.mark.parametrize("scope", [{}, {"stream": "messages"}])
def test_a_compact_schema_is_passed_on_as_it_was_sent(flags: str, scope: dict[str, Any]) -> None:
    with reading(Behaviour(flags=flags, legend=True)) as (server, host):
        found = host.good("schema", scope)
        asked = server.asked[-1]
        assert asked.one("view") == "compact"
        _, sent = server.answer(asked, f"Bearer {server.token}")
        assert found.structured["data"] == sent
        for name in ("messages", *(("subject", "sent_at") if scope else ())):
            assert name in found.text


def test_flags_are_read_from_wherever_they_stand(host: Host) -> None:
    assert "subject  declared" in host.good("schema", {"stream": "messages"}).text
    with reading(Behaviour(flags="typed")) as (_, typed):
        found = typed.good("schema", {"stream": "messages"})
        assert "size_bytes  integer eq r=gte|gt|lte|lt a=sum|min|max" in found.text
        assert "expand: attachments (up to 50)" in found.text
        [example] = [c for c in object_calls(found.structured) if c.tool == "query_records"]
        assert example.arguments["filter"] == {"sent_at": {"gte": "2026-01-01T00:00:00Z"}}


def test_flags_that_say_nothing_lead_to_the_full_schema(host: Host) -> None:
    found = host.good("schema", {"stream": "messages"})
    [call] = [c for c in object_calls(found.structured) if c.tool == "schema"]
    assert call.arguments["detail"] == "full"
    assert "exact_filter" in host.good(call.tool, call.arguments).text


@pytest.mark.scenario("S062", 1, 2, on="stdio")
@pytest.mark.parametrize("compact", ["refused", "ignored"])
def test_a_projection_made_here_keeps_flags_roles_and_scope(compact: str) -> None:
    with reading(Behaviour(compact=compact)) as (_, host):
        scope = {"stream": "messages", "connection_id": "cin_home"}
        found = host.good("schema", scope)
        [connector] = found.structured["data"]["connectors"]
        assert [c["connection_id"] for c in connector["granted_connections"]] == ["cin_home"]
        assert connector["connector_id"] == "https://connectors.example/mail"
        [row] = connector["streams"]
        flags = row["field_capabilities"]
        assert flags["subject"] == "t=text,role=primary-title,eq,lex"
        assert flags["sent_at"].startswith("t=date-time,role=event-time,r=gte|gt|lte|lt,a=")
        assert flags["picture"] == "t=blob"
        assert row["expand_capabilities"] == [{"name": "attachments", "max_limit": 50}]
        index = host.good("schema").structured["data"]
        assert {row["name"] for c in index["connectors"] for row in c["streams"]} == {
            "messages",
            "payments",
        }


def test_an_unknown_stream_is_an_error_for_every_tool(host: Host) -> None:
    for tool, more in (
        ("schema", {}),
        ("schema", {"detail": "full"}),
        ("query_records", {}),
        ("aggregate", {"metric": "count"}),
        ("search", {"query": "heron", "streams": ["nope"]}),
        ("search", {"query": "heron", "streams": ["messages", "nope"]}),
        ("search", {"query": "heron", "streams": ["payments"], "connection_id": "cin_work"}),
        ("fetch", {"id": "cin_work/nope:m1"}),
        ("read_record_field", {"id": "cin_work/nope:m1", "field_path": "body"}),
    ):
        named = {} if tool in ("search", "fetch", "read_record_field") else {"stream": "nope"}
        found = host.call(tool, {**named, **more})
        assert found.code in ("grant_stream_not_allowed", "context.stream_not_allowed")
        assert "schema {}" in found.text


# Records


@pytest.mark.scenario("S005", 1, on="stdio")
@pytest.mark.scenario("S086", 1, 2, on="stdio")
@pytest.mark.parametrize("flags", ["declared", "typed"])
def test_titles_and_texts_come_from_declared_roles(flags: str) -> None:
    with reading(Behaviour(flags=flags)) as (_, host):
        found = host.good("fetch", {"id": "cin_work/messages:m1"}).structured
        assert found["title"] == "Invoice 1"
        assert found["url"] == "https://mail.example/m1"
        assert found["text"].endswith("\n\nPlease find invoice 1 for the heron attached.")
        assert found["metadata"]["event_time"] == "2026-03-02T09:00:00Z"
        page = host.good("query_records", {"stream": "messages", "limit": 2})
        assert '"Invoice 1"' in page.text


@pytest.mark.scenario("S005", 2, on="stdio")
def test_nothing_is_promoted_without_a_role() -> None:
    with reading(Behaviour(roles=False)) as (_, host):
        found = host.good("fetch", {"id": "cin_work/messages:m1"}).structured
        assert found["title"] == "Work mail / messages / 2026-08-21T08:00:00.000Z"


def test_more_rows_than_asked_for_are_told(host: Host) -> None:
    found = host.good("query_records", {"stream": "messages", "limit": 1})
    assert len(found.structured["data"]["data"]) == 1
    assert "the server sent 1 more records than asked" in found.text


def test_changes_go_on_with_the_cursor_alone_and_end_with_a_bookmark(
    served: tuple[ReferenceServer, Host],
) -> None:
    _, host = served
    asked = {"stream": "messages", "connection_id": "cin_work", "limit": 5}
    following = host.pages("query_records", {**asked, "changes_since": "beginning"})
    pages = list(islice(following, 3))
    ids = [row["id"] for page in pages[:3] for row in page.structured["data"]["data"]]
    assert ids == [*(f"m{n}" for n in range(12)), "gone"]
    for page in pages[:2]:
        assert "later changes" not in page.text
        assert "next_changes_since" not in page.structured["data"]
        [onward] = [c for c in object_calls(page.structured["next"]) if c.tool == "query_records"]
        assert "changes_since" not in onward.arguments
        again = host.good("query_records", {**onward.arguments, "changes_since": "beginning"})
        assert again.text == host.good("query_records", onward.arguments).text
    assert "later changes: query_records" in pages[2].text
    assert "cin_work/messages:gone" in pages[2].text
    assert "deleted at 2026-08-21" in pages[2].text


# One field


def test_a_field_beyond_the_basic_plane_is_read_to_its_end(host: Host) -> None:
    pieces, offset = [], 0
    while True:
        asked = {"id": "cin_work/messages:m0", "field_path": "body", "offset_chars": offset}
        found = host.good("read_record_field", asked)
        pieces.append(found.structured["window"]["text"])
        onward = [c for c in object_calls(found.structured.get("next")) if "read on" in found.text]
        following = [c for c in onward if c.arguments["offset_chars"] > offset]
        if not following:
            break
        offset = following[0].arguments["offset_chars"]
    assert "".join(pieces) == LONG_BODY
    assert EMOJI in pieces[0]


def test_a_field_that_is_not_text_is_told_with_the_records_facts(host: Host) -> None:
    found = host.good("read_record_field", {"id": "cin_work/messages:m1", "field_path": "picture"})
    assert "[image/png, 9 bytes, not shown]" in found.text
    assert found.structured["binary"]["media_type"] == "image/png"
    size = {"id": "cin_work/messages:m3", "field_path": "size_bytes"}
    assert fenced(host.good("read_record_field", size).text) == "300"


def test_a_field_that_is_not_text_names_its_connection_under_a_short_id(host: Host) -> None:
    found = host.good("read_record_field", {"id": "payments:p1", "field_path": "amount"})
    assert fenced(found.text) == "-10.5"
    assert found.structured["id"] == "cin_bank/payments:p1"
    assert found.structured["source"]["connection_id"] == "cin_bank"


# Errors


def test_choices_of_an_ambiguity_stand_in_the_text(host: Host) -> None:
    for tool, arguments in (
        ("fetch", {"id": "messages:m1"}),
        ("read_record_field", {"id": "messages:m1", "field_path": "body"}),
        ("query_records", {"stream": "messages", "changes_since": "beginning"}),
    ):
        found = host.call(tool, arguments)
        assert found.code == "ambiguous_connection"
        calls = [call for call in text_calls(found.text) if call.tool == tool]
        assert [call.what for call in calls] == ["Work mail", "Home mail"]
        assert not host.call(tool, calls[0].arguments).is_error


def test_a_wrong_bookmark_offers_to_start_again(host: Host) -> None:
    asked = {"stream": "messages", "connection_id": "cin_work", "changes_since": "odd"}
    found = host.call("query_records", asked)
    [call] = text_calls(found.text)
    assert call.arguments["changes_since"] == "beginning"
    assert not host.call(call.tool, call.arguments).is_error


def test_a_search_that_finds_nothing_in_a_stream_that_is_there_is_empty(host: Host) -> None:
    found = host.good("search", {"query": "heron", "streams": ["payments"]})
    assert found.structured["results"] == []


@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
def test_a_search_the_server_does_not_offer_is_an_error(host: Host, mode: str) -> None:
    assert host.call("search", {"query": "heron", "mode": mode}).is_error


@pytest.mark.scenario("S037", 1, 2, on="stdio")
def test_search_shows_evidence_and_callable_ids(host: Host) -> None:
    found = host.good("search", {"query": "ferry"})
    assert found.text.startswith("1. subject in cin_home/messages:m1\n")
    for hit in found.structured["results"]:
        assert "<mark>ferry</mark>" in hit["evidence"]
        assert hit["id"] == f"{hit['connection_id']}/{hit['stream']}:{hit['record_id']}"
        host.good("fetch", {"id": hit["id"]})
    assert found.structured["data"]["data"][0]["object"] == "search_result"


ENDED_CALLS: dict[str, dict[str, Any]] = {
    "schema": {},
    "query_records": {"stream": "messages"},
    "aggregate": {"stream": "messages", "metric": "count"},
    "search": {"query": "heron", "streams": ["messages"]},
    "fetch": {"id": "cin_work/messages:m0"},
    "read_record_field": {"id": "cin_work/messages:m0", "field_path": "body"},
}


def test_the_process_speaks_to_it_too(tmp_path: Any) -> None:
    with ReferenceServer() as server:
        root = connect_to(server.url, tmp_path, server.token)
        wire = StdioWire(server.url, root, "2025-11-25")
        try:
            opening = open_wire(wire, "2025-11-25")
            assert "the user's own email, payments" in opening["instructions"]
            asked = {"name": "search", "arguments": {"query": "heron"}}
            assert "cin_home/messages:m1" in json.dumps(wire.request("tools/call", asked))
            server.alive = False
            for tool, arguments in ENDED_CALLS.items():
                ended = wire.request("tools/call", {"name": tool, "arguments": arguments})
                assert ended["isError"] is True
                assert f"run: pdpp connect {server.url}" in ended["content"][0]["text"]
                error = ended["structuredContent"]["error"]
                assert error["code"] == "context.active_false"
                assert error["command"] == f"pdpp connect {server.url} --cache-root {root}"
        finally:
            wire.close()
