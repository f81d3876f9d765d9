"""The scenarios that concern the adapter, beside a server of another implementation.

Those of packages, of the hosted endpoint and its metadata, of the setup, of the list of tools and
of our own ``/v1`` and program are not the adapter's, and not here: a reference server knows no
packages, and the tools are the same whichever server is read.
"""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from tests.mcp.client import Result
from tests.mcp.host import Host
from tests.mcp.sight import fenced, object_calls, text_calls
from tests.mcp.test_reference_server import CALLS, reading
from tests.reference_server import Behaviour, ReferenceServer
from tests.reference_server.server import Asked
from tests.reference_server.world import LONG_BODY, PICTURE

from pdpp.evidence.text import json_text

M0, M1 = "cin_work/messages:m0", "cin_work/messages:m1"
WORK = {"stream": "messages", "connection_id": "cin_work"}
SMALL = "Please find invoice 1 for the heron attached."


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[ReferenceServer, Host]]:
    with reading(Behaviour(flags="typed", legend=True)) as made:
        yield made


@pytest.fixture
def server(served: tuple[ReferenceServer, Host]) -> ReferenceServer:
    served[0].asked.clear()
    return served[0]


@pytest.fixture
def host(served: tuple[ReferenceServer, Host]) -> Host:
    return served[1]


def record_uri(id: str) -> str:
    return f"pdpp://record/{quote(id, safe='')}"


def read_resource(host: Host, uri: str) -> str:
    [content] = host.wire.request("resources/read", {"uri": uri})["contents"]
    return str(content["text"])


def sent_by(server: ReferenceServer, asked: Asked) -> Any:
    return server.answer(asked, f"Bearer {server.token}")[1]


def not_schema(server: ReferenceServer) -> list[Asked]:
    return [asked for asked in server.asked if asked.path != "/v1/schema"]


def only_text(found: Result) -> bool:
    return [block["type"] for block in found.raw["content"]] == ["text"]


# What is cut, and where it goes on


@pytest.mark.scenario("S001", 1, 2, on="stdio")
@pytest.mark.scenario("S002", 1, 2, on="stdio")
@pytest.mark.scenario("S039", 1, on="stdio")
def test_what_is_cut_goes_on_by_the_call_beside_it(host: Host) -> None:
    page = host.good("query_records", {**WORK, "limit": 1})
    [call] = [call for call in text_calls(page.text) if call.tool == "read_record_field"]
    assert (call.arguments["id"], call.arguments["field_path"]) == (M0, "body")
    offset = call.arguments["offset_chars"]
    window = host.good(call.tool, call.arguments).structured["window"]
    assert window["text"] == LONG_BODY[offset : window["end_chars"]]
    for found in (page, host.good("search", {"query": "walk"}), host.good("fetch", {"id": M0})):
        assert M0 in found.text
        calls = {call.key for call in object_calls(found.structured)}
        assert calls
        assert found.tool == "fetch" or calls >= {call.key for call in text_calls(found.text)}


@pytest.mark.scenario("S003", 1, on="stdio")
@pytest.mark.scenario("S010", 1, on="stdio")
@pytest.mark.scenario("S046", 1, 2, on="stdio")
def test_a_record_address_is_read_and_taken(host: Host) -> None:
    uri = record_uri(M1)
    document = host.good("fetch", {"id": uri}).structured
    assert document["id"] == M1
    assert json.loads(read_resource(host, uri)) == document
    found = host.good("read_record_field", {"id": uri, "field_path": "body"})
    assert fenced(found.text) == SMALL
    assert only_text(found)


@pytest.mark.scenario("S011", 1, 2, on="stdio")
@pytest.mark.scenario("S040", 1, on="stdio")
@pytest.mark.scenario("S042", 1, 2, 3, 4, on="stdio")
@pytest.mark.scenario("S012", 1, 2, on="stdio")
def test_a_window_address_is_beside_the_result_and_gives_the_same(host: Host) -> None:
    asked = {"id": M0, "field_path": "body", "offset_chars": 200, "limit_chars": 100}
    found = host.good("read_record_field", asked)
    assert fenced(found.text) == LONG_BODY[200:300]
    assert "chars 200–300 of 12800" in found.text
    assert {call.what for call in text_calls(found.text)} == {"read on", "before"}
    assert only_text(found)
    assert "pdpp://" not in found.text + json_text(found.structured)
    uri = found.raw["_meta"]["pdpp/resource_uri"]
    assert LONG_BODY[200:300] in read_resource(host, uri)
    again = host.good("read_record_field", {"id": uri})
    assert again.structured["window"]["text"] == LONG_BODY[200:300]


@pytest.mark.scenario("S004", 1, 2, on="stdio")
@pytest.mark.scenario("S013", 1, 2, on="stdio")
@pytest.mark.scenario("S041", 1, 2, 3, on="stdio")
def test_a_small_field_is_read_in_place(host: Host) -> None:
    found = host.good("read_record_field", {"id": M1, "field_path": "body"})
    assert fenced(found.text) == SMALL
    assert "chars 0–45 of 45, whole field" in found.text
    assert found.structured["window"]["complete"] is True
    assert only_text(found)
    long = host.good("read_record_field", {"id": M0, "field_path": "body"})
    assert long.structured["window"]["complete"] is False
    assert "read on: read_record_field" in long.text


@pytest.mark.scenario("S006", 1, 2, 3, on="stdio")
@pytest.mark.scenario("S014", 1, 2, 3, on="stdio")
@pytest.mark.scenario("S052", 1, on="stdio")
def test_binary_content_is_told_by_facts(server: ReferenceServer, host: Host) -> None:
    for found in (
        host.good("query_records", {**WORK, "limit": 1}),
        host.good("fetch", {"id": M1}),
        host.good("read_record_field", {"id": M1, "field_path": "picture"}),
    ):
        assert "image/png, 9 bytes, not shown" in found.text
        assert "/v1/blobs/blob" in json_text(found.structured)
        assert "PNG" not in found.text + json_text(found.structured)
    server.asked.clear()
    document = host.good("fetch", {"id": "pdpp://blob/blob1"}).structured
    assert [asked.path for asked in server.asked] == ["/v1/blobs/blob1"]
    assert document["metadata"]["size_bytes"] == len(PICTURE)
    assert "sha256" not in json_text(document)


# Search


@pytest.mark.scenario("S007", 1, 2, 3, on="stdio")
@pytest.mark.scenario("S008", 1, on="stdio")
@pytest.mark.scenario("S037", 1, 2, 3, 4, on="stdio")
@pytest.mark.scenario("S044", 1, 2, 3, on="stdio")
@pytest.mark.scenario("S045", 1, 2, 3, on="stdio")
def test_evidence_comes_first_with_its_field_id_and_read(
    server: ReferenceServer, host: Host
) -> None:
    found = host.good("search", {"query": "ferry"})
    first = found.text.split("\n")
    assert first[0] == "1. subject in cin_home/messages:m1"
    assert first[1] == '   "Dinner at the <mark>ferry</mark>"'
    read = {"id": "cin_home/messages:m1", "field_path": "subject"}
    assert first[2] == f"   read: read_record_field {json_text(read)}"
    [hit, _], [rung, _] = found.structured["results"], found.structured["content_ladder"]["records"]
    assert hit["evidence"] == "Dinner at the <mark>ferry</mark>"
    assert "<mark>ferry</mark>" in rung["evidence"]
    assert rung["read_record_field"] == read
    assert found.structured["data"] == sent_by(server, not_schema(server)[0])
    shown = {k: found.structured[k] for k in ("results", "content_ladder")}
    assert "pdpp://" not in found.text + json_text(shown)


@pytest.mark.scenario("S008", 2, on="stdio")
def test_evidence_is_the_bare_match_only_where_the_field_holds_no_more(host: Host) -> None:
    whole = host.good("search", {"query": "Dinner at the ferry"})
    assert whole.structured["results"][0]["evidence"] == "<mark>Dinner at the ferry</mark>"
    assert '   "<mark>Dinner at the ferry</mark>"\n' in whole.text
    hits = host.good("search", {"query": "heron", "limit": 13}).structured["results"]
    assert len(hits) == 13
    for hit in hits:
        bare = hit["evidence"].replace("<mark>", "").replace("</mark>", "")
        assert len("heron") < len(bare) <= len("heron") + 80


@pytest.mark.scenario("S010", 2, on="stdio")
def test_tools_say_that_they_take_an_address_and_what_is_shown_names_the_read(host: Host) -> None:
    tools = {tool["name"]: tool for tool in host.wire.request("tools/list", {})["tools"]}
    for name in ("fetch", "read_record_field"):
        assert "pdpp://" in tools[name]["inputSchema"]["properties"]["id"]["description"]
    found = host.good("search", {"query": "dinner"})
    [hit], calls = found.structured["results"], list(text_calls(found.text))
    assert [(call.tool, call.arguments["id"]) for call in calls] == [
        ("read_record_field", hit["id"])
    ]
    asked = {**calls[0].arguments, "id": record_uri(hit["id"])}
    assert fenced(host.good("read_record_field", asked).text) == "Dinner at the ferry"


def test_a_snippet_alone_is_evidence_without_offsets() -> None:
    with reading(Behaviour(snippets_only=True)) as (_, host):
        found = host.good("search", {"query": "ferry", "connection_id": "cin_home"})
        assert found.text.startswith(
            '1. subject in cin_home/messages:m1\n   "Dinner at the <mark>ferry</mark>"\n'
        )
        [hit] = found.structured["results"]
        assert hit["evidence"] == "Dinner at the <mark>ferry</mark>"
        assert "#" not in hit["url"]
        [call] = text_calls(found.text)
        assert call.arguments == {"id": hit["id"], "field_path": "subject"}
        assert "Dinner" in host.good(call.tool, call.arguments).text


@pytest.mark.scenario("S031", 6, on="stdio")
def test_a_made_title_tells_when_a_record_was_written_where_that_is_known(host: Host) -> None:
    asked = {"query": "dinner"}
    [taken_in] = host.good("search", asked).structured["results"]
    assert taken_in["title"] == "Home mail / messages / 2026-08-21T08:00:00.000Z"
    with reading(Behaviour(event_times=True)) as (server, other):
        found = other.good("search", asked)
        [hit] = found.structured["results"]
        [sent] = sent_by(server, not_schema(server)[0])["data"]
        assert sent["event_time"] != sent["emitted_at"]
        assert hit["title"] == f"Home mail / messages / {sent['event_time']}"
        assert sent["emitted_at"] not in found.text


@pytest.mark.scenario("S009", 1, 2, on="stdio")
@pytest.mark.scenario("S038", 1, 2, on="stdio")
def test_a_hit_that_nothing_proves_shows_no_passage() -> None:
    with reading(Behaviour(excerpts=False)) as (_, host):
        found = host.good("search", {"query": "picture"})
        assert "heron" not in found.text
        assert "evidence" not in found.structured["results"][0]
        [call] = [call for call in text_calls(found.text) if call.tool == "fetch"]
        assert call.arguments["id"] == "cin_home/messages:m1"
        assert "heron picture" in host.good(call.tool, call.arguments).text


@pytest.mark.scenario("S031", 1, 2, 3, 4, 5, on="stdio")
@pytest.mark.scenario("S032", 1, 2, on="stdio")
@pytest.mark.scenario("S064", 1, on="stdio")
@pytest.mark.scenario("S083", 1, 2, 3, on="stdio")
@pytest.mark.scenario("S096", 1, 2, 3, on="stdio")
def test_hits_of_all_connections_are_one_list(server: ReferenceServer, host: Host) -> None:
    found = host.good("search", {"query": "heron", "limit": 3})
    hits = found.structured["results"]
    assert len(hits) == 3
    for hit in hits:
        assert hit["id"] == f"{hit['connection_id']}/{hit['stream']}:{hit['record_id']}"
        assert hit["id"] in found.text
        assert hit["display_name"] in found.text
        assert "heron" not in hit["title"]
        assert hit["evidence"].count("<mark>") == hit["evidence"].count("</mark>") == 1
        assert hit["url"].startswith(f"{server.url}/v1/streams/messages/records/")
    assert "sources: Home mail (cin_home) 1, Work mail (cin_work) 2." in found.text
    assert "fetch with the id above" in found.text
    one = host.good("search", {"query": "heron", "limit": 2, "connection_id": "cin_work"})
    assert [hit["connection_id"] for hit in one.structured["results"]] == ["cin_work"] * 2


@pytest.mark.scenario("S084", 1, 2, on="stdio")
def test_search_text_stays_small(server: ReferenceServer, host: Host) -> None:
    found = host.good("search", {"query": "heron", "limit": 13})
    assert len(found.text) <= 6_000
    assert found.structured["data"] == sent_by(server, not_schema(server)[-1])


@pytest.mark.scenario("S097", 1, 2, 3, on="stdio")
@pytest.mark.scenario("S098", 1, on="stdio")
def test_an_id_of_a_hit_fetches_what_a_bare_one_leaves_open(
    server: ReferenceServer, host: Host
) -> None:
    [hit] = host.good("search", {"query": "dinner"}).structured["results"]
    server.asked.clear()
    document = host.good("fetch", {"id": hit["id"]}).structured
    assert document["id"] == hit["id"]
    assert not_schema(server)[0].one("connection_id") == "cin_home"
    host.refused("ambiguous_connection", "fetch", {"id": "messages:m1"})
    scoped = host.good("fetch", {"id": "messages:m1", "connection_id": "cin_home"}).structured
    assert scoped["id"] == hit["id"]
    assert host.good("fetch", {"id": "messages:m5"}).structured["id"] == "cin_work/messages:m5"


@pytest.mark.scenario("S099", 1, 2, on="stdio")
@pytest.mark.scenario("S100", 1, 2, on="stdio")
@pytest.mark.parametrize(
    "asked",
    [
        {"id": M1, "connection_id": "cin_home"},
        {"id": "cin_work/messages:"},
        {"id": "/messages:m1"},
        {"id": "cin_work/x/messages:m1"},
        {"id": "cin_work/messages:../m1"},
        {"id": ":"},
    ],
)
def test_an_id_that_cannot_be_is_refused_unasked(
    server: ReferenceServer, host: Host, asked: dict[str, str]
) -> None:
    for tool in ("fetch", "read_record_field"):
        more = {"field_path": "body"} if tool == "read_record_field" else {}
        assert host.call(tool, {**asked, **more}).code == "invalid_request"
    assert server.asked == []


# Discovery


@pytest.mark.scenario("S024", 1, 2, 3, on="stdio")
@pytest.mark.scenario("S050", 1, 2, on="stdio")
@pytest.mark.scenario("S066", 1, on="stdio")
def test_the_index_names_every_stream_and_where_it_is(server: ReferenceServer, host: Host) -> None:
    found = host.good("schema")
    for part in ("mail: Work mail (cin_work), Home mail (cin_home)", "messages", "payments"):
        assert part in found.text
    assert found.structured["data"] == sent_by(server, server.asked[0])
    [call] = text_calls(found.text)
    assert call.arguments == {"stream": "messages"}
    host.good(call.tool, call.arguments)
    page = host.good("query_records", {**WORK, "limit": 2}).structured["data"]
    sent = sent_by(server, not_schema(server)[-1])
    assert (page["object"], page["next_cursor"]) == (sent["object"], sent["next_cursor"])
    for row, original in zip(page["data"], sent["data"], strict=True):
        for name in ("object", "id", "stream", "connection_id", "display_name", "emitted_at"):
            assert row[name] == original[name]


@pytest.mark.scenario("S025", 1, 2, on="stdio")
@pytest.mark.scenario("S026", 1, 2, on="stdio")
@pytest.mark.scenario("S027", 1, 2, on="stdio")
def test_a_streams_flags_are_enough_to_ask(host: Host) -> None:
    both = host.good("schema", {"stream": "messages"}).text
    for words in (
        "Work mail (cin_work)",
        "Home mail (cin_home)",
        "size_bytes  integer eq",
        "flags:",
    ):
        assert words in both
    assert "none" not in both, "what the server does not tell is not denied"
    one = host.good("schema", {"stream": "messages", "connection_id": "cin_home"}).text
    assert "cin_work" not in one
    for words in ("messages · mail · Home mail (cin_home)", "key id", "expand: attachments"):
        assert words in one
    asked = {"stream": "messages", "connection_id": "cin_home"}
    ranged = {**asked, "filter": {"sent_at": {"gte": "2026-01-01"}}, "fields": ["subject"]}
    assert "Dinner" in host.good("query_records", ranged).text
    summed = {**asked, "metric": "sum", "field": "size_bytes"}
    assert "sum of size_bytes of messages: 100" in host.good("aggregate", summed).text


@pytest.mark.scenario("S028", 1, 2, on="stdio")
def test_full_detail_of_everything_is_refused_unasked(server: ReferenceServer, host: Host) -> None:
    error = host.refused("invalid_request", "schema", {"detail": "full"})
    assert "stream" in error["message"]
    assert server.asked == []


@pytest.mark.scenario("S029", 1, 3, 4, 5, on="stdio")
@pytest.mark.scenario("S063", 1, 2, on="stdio")
def test_full_detail_of_a_stream_is_the_servers(server: ReferenceServer, host: Host) -> None:
    found = host.good("schema", {**WORK, "detail": "full"})
    data = found.structured["data"]
    assert data == sent_by(server, server.asked[-1])
    [connector] = data["connectors"]
    assert [row["name"] for row in connector["streams"]] == ["messages"]
    assert [c["connection_id"] for c in connector["granted_connections"]] == ["cin_work"]
    assert data.get("detail") != "compact"


@pytest.mark.scenario("S029", 2, on="stdio")
def test_full_detail_of_a_shared_stream_asks_for_a_connection_first(host: Host) -> None:
    error = host.refused(
        "ambiguous_schema_detail", "schema", {"stream": "messages", "detail": "full"}
    )
    assert (error["retry_with"], error["total"]) == ("connection_id", 2)
    assert [choice["connection_id"] for choice in error["available_connections"]] == [
        "cin_work",
        "cin_home",
    ]
    found = host.call("schema", {"stream": "messages", "detail": "full"})
    assert "exact_filter" not in found.text + json_text(found.structured)
    calls = text_calls(found.text)
    assert [call.arguments["connection_id"] for call in calls] == ["cin_work", "cin_home"]
    for call in calls:
        host.good(call.tool, call.arguments)
    host.good("schema", {"stream": "payments", "detail": "full"})


@pytest.mark.scenario("S029", 1, 3, 6, on="stdio")
def test_no_row_of_full_detail_stands_twice() -> None:
    with reading(Behaviour(repeats_streams=True)) as (server, host):
        data = host.good("schema", {**WORK, "detail": "full"}).structured["data"]
        assert "streams" in sent_by(server, server.asked[-1]), "the server does repeat them"
        assert "streams" not in data
        assert [row["name"] for c in data["connectors"] for row in c["streams"]] == ["messages"]
        assert (data["stream_count"], data["connector_count"]) == (1, 1)


# Records and numbers


@pytest.mark.scenario("S060", 1, on="stdio")
def test_tools_read_with_the_one_bearer_and_show_no_more_than_is_sent(
    server: ReferenceServer, host: Host
) -> None:
    for tool, arguments in CALLS:
        server.asked.clear()
        server.bearers.clear()
        host.good(tool, arguments)
        assert server.asked
        assert {asked.method for asked in server.asked} == {"GET"}
        assert all(asked.path.startswith("/v1/") for asked in server.asked)
        assert set(server.bearers) == {f"Bearer {server.token}"}
    server.asked.clear()
    asked = {"stream": "payments", "limit": 2}
    page = host.good("query_records", asked).structured["data"]
    sent = sent_by(server, not_schema(server)[-1])
    assert [row["data"] for row in page["data"]] == [row["data"] for row in sent["data"]]
    assert len(page["data"]) == 2


@pytest.mark.scenario("S030", 1, 2, on="stdio")
@pytest.mark.scenario("S051", 1, 2, on="stdio")
@pytest.mark.scenario("S071", 1, 2, on="stdio")
@pytest.mark.scenario("S072", 1, on="stdio")
def test_what_is_asked_reaches_the_server_as_given(server: ReferenceServer, host: Host) -> None:
    asked = {
        **WORK,
        "filter": {"from": "person1@example.org", "sent_at": {"gte": "2026-03-01", "lt": "2027"}},
        "fields": ["subject", "from"],
        "sort": "-sent_at",
        "order": "desc",
        "count": "exact",
        "limit": 2,
    }
    found = host.good("query_records", asked)
    assert not_schema(server)[0].query == {
        "connection_id": ["cin_work"],
        "filter[from]": ["person1@example.org"],
        "filter[sent_at][gte]": ["2026-03-01"],
        "filter[sent_at][lt]": ["2027"],
        "fields": ["subject", "from"],
        "sort": ["-sent_at"],
        "order": ["desc"],
        "count": ["exact"],
        "limit": ["2"],
    }
    [onward] = [call for call in text_calls(found.text) if call.tool == "query_records"]
    assert onward.arguments == {**asked, "cursor": "cur_2"}
    assert host.good(onward.tool, onward.arguments).structured["data"]["data"]
    host.refused("invalid_request", "query_records", {**WORK, "connector_instance_id": "cin_work"})


@pytest.mark.scenario("S073", 1, 2, on="stdio")
@pytest.mark.scenario("S074", 1, 2, on="stdio")
@pytest.mark.scenario("S075", 1, 2, on="stdio")
def test_a_filter_in_another_form_is_refused_unasked(server: ReferenceServer, host: Host) -> None:
    for wrong in ("from=x", {}, {"from[gte]": "x"}, {"filter[from]": "x"}):
        for tool, more in (("query_records", {}), ("aggregate", {"metric": "count"})):
            found = host.call(tool, {**WORK, **more, "filter": wrong})
            assert found.code == "invalid_filter"
            assert '"filter":{"sent_at"' in found.text
    assert server.asked == []
    counted = {**WORK, "metric": "count", "filter": {"from": "person1@example.org"}}
    assert "count of messages: 4" in host.good("aggregate", counted).text
    assert server.asked[-1].one("filter[from]") == "person1@example.org"


@pytest.mark.scenario("S076", 1, 2, on="stdio")
@pytest.mark.scenario("S077", 1, 2, on="stdio")
@pytest.mark.scenario("S078", 1, 2, on="stdio")
def test_expand_limits_reach_the_server_in_brackets(server: ReferenceServer, host: Host) -> None:
    more: dict[str, Any] = {"expand": ["attachments"], "expand_limit": {"attachments": 3}}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("query_records", {**WORK, "limit": 1}),
        ("fetch", {"id": M1}),
    ]
    for tool, asked in calls:
        server.asked.clear()
        host.good(tool, {**asked, **more})
        query = not_schema(server)[0].query
        assert (query["expand"], query["expand_limit[attachments]"]) == (["attachments"], ["3"])
        assert "expand_limit" not in query
        server.asked.clear()
        for wrong in ({}, {"expand_limit[attachments]": 3}, "attachments=3"):
            assert (
                host.call(tool, {**asked, **more, "expand_limit": wrong}).code == "invalid_expand"
            )
        assert server.asked == []


@pytest.mark.scenario("S079", 1, 2, on="stdio")
@pytest.mark.scenario("S080", 1, 2, on="stdio")
@pytest.mark.scenario("S082", 1, 2, on="stdio")
def test_numbers_and_groups_are_in_the_text(server: ReferenceServer, host: Host) -> None:
    one = host.good("aggregate", {"stream": "payments", "metric": "sum", "field": "amount"})
    assert one.text.startswith("sum of amount of payments: -105.0 · 4 records")
    assert one.structured["data"] == sent_by(server, server.asked[-1])
    grouped = {"stream": "messages", "metric": "count", "group_by": "from", "limit": 2}
    groups = host.good("aggregate", grouped)
    line = "count of messages by from: person1@example.org 5 · person0@example.org 4"
    assert groups.text.startswith(f"{line} · other_count 4 · 13 records")
    assert groups.structured["data"] == sent_by(server, server.asked[-1])


# Documents


@pytest.mark.scenario("S033", 1, 2, 3, 4, on="stdio")
@pytest.mark.scenario("S065", 1, on="stdio")
@pytest.mark.scenario("S085", 1, 2, 3, on="stdio")
def test_a_record_is_one_document(host: Host) -> None:
    found = host.good("fetch", {"id": M1})
    document = found.structured
    assert document.keys() == {"id", "title", "text", "url", "metadata"}
    assert json.loads(found.text) == document
    assert (document["id"], document["title"]) == (M1, "Invoice 1")
    assert SMALL in document["text"]
    source = {"connection_id": "cin_work", "stream": "messages", "display_name": "Work mail"}
    assert source.items() <= document["metadata"].items()


@pytest.mark.scenario("S034", 1, 2, 3, on="stdio")
@pytest.mark.scenario("S035", 1, 2, on="stdio")
@pytest.mark.scenario("S043", 1, 2, 3, on="stdio")
def test_only_the_fields_that_were_asked_for_are_shown(server: ReferenceServer, host: Host) -> None:
    found = host.good("fetch", {"id": M1, "fields": ["subject"]})
    assert not_schema(server)[0].query["fields"] == ["subject"]
    assert "person1" not in found.text + json_text(found.structured)
    assert (found.structured["id"], only_text(found)) == (M1, True)
    assert found.structured["metadata"]["connection_id"] == "cin_work"
    assert "pdpp://" not in found.text
    page = host.good("query_records", {**WORK, "fields": ["subject"], "limit": 2})
    for row in page.structured["data"]["data"]:
        assert row["data"].keys() == {"id", "subject"}
    assert "person" not in page.text + json_text(page.structured)
