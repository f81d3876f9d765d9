"""Ids: one handle is enough to fetch, and a wrong one reaches no server."""

import json
import re
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from tests.mcp.client import Client, Estate, Result, StdioWire, connect_to
from tests.mcp.closure import legacy
from tests.mcp.foreign import Foreign
from tests.mcp.launch import VERSION
from tests.mcp.post import FIRST, SECOND
from tests.mcp.recorder import reads
from tests.mcp.sight import see
from tests.serving import grant, running


@pytest.mark.scenario("S096", 1, 2, 3)
def test_results_of_several_sources_carry_their_connection(postman: Client) -> None:
    found = postman.good("search", {"query": "heron"})
    results = found.structured["results"]
    assert len({hit["connection_id"] for hit in results}) == 3
    for hit in results:
        assert hit["id"] == f"{hit['connection_id']}/{hit['stream']}:{hit['record_id']}"
    assert list(see(found, "content").ids) == [hit["id"] for hit in results]


@pytest.mark.scenario("S097", 1, 2, 3)
def test_an_id_from_the_text_is_enough_to_fetch(postman: Client, post: Estate) -> None:
    hits = see(postman.good("search", {"query": "cobalt"}), "content")
    [id] = [id for id in hits.ids if id.endswith("/letters:same")]
    postman.refused("ambiguous_connection", "fetch", {"id": legacy(id)})
    with post.recorder.listening() as sent:
        found = postman.good("fetch", {"id": id})
    [one] = reads(sent)
    assert one.path == "/v1/streams/letters/records/same"
    assert one.query == (("connection_id", SECOND),)
    assert found.structured["id"] == id
    assert "cobalt" in found.structured["text"]


@pytest.mark.scenario("S098", 1)
def test_an_id_without_a_connection_still_works_as_it_did(postman: Client, post: Estate) -> None:
    with post.recorder.listening() as sent:
        scoped = postman.good("fetch", {"id": "letters:same", "connection_id": FIRST})
    assert reads(sent)[0].query == (("connection_id", FIRST),)
    assert "amber" in scoped.structured["text"]
    alone = postman.good("fetch", {"id": "cards:card-1"})
    assert alone.structured["id"] == f"{FIRST}/cards:card-1"
    with post.recorder.listening() as sent:
        found = postman.refused("ambiguous_connection", "fetch", {"id": "letters:same"})
    assert [one.query for one in reads(sent)] == [()]
    error = found.structured["error"]
    assert error["retry_with"] == "connection_id"
    assert {c["connection_id"] for c in error["available_connections"]} == {FIRST, SECOND}
    assert error["request_id"]


@pytest.mark.scenario("S064", 1)
@pytest.mark.scenario("S096", 1, 2, 3)
@pytest.mark.scenario("S097", 1, 3)
def test_a_grant_that_hides_the_key_has_ids_of_its_own_that_are_as_good(
    postman: Client, post: Estate
) -> None:
    chosen = {"streams": ("letters",), "fields": ("headline", "body")}
    own, other = (post.client(postman.kind, grant(post.store, **chosen)) for _ in range(2))
    found = own.good("search", {"query": "cobalt amber"})
    results = found.structured["results"]
    again = own.good("search", {"query": "cobalt amber"}).structured["results"]
    assert [hit["id"] for hit in results] == [hit["id"] for hit in again]
    assert {hit["connection_id"] for hit in results} == {FIRST, SECOND}
    for hit in results:
        assert hit["id"] == f"{hit['connection_id']}/letters:{hit['record_id']}"
        assert len(hit["record_id"]) <= 32
        assert "same" not in hit["record_id"]
        assert hit["title"].strip()
        assert hit["url"].partition("#")[0].endswith(f"/r/{hit['id'].replace(':', '/')}")
    assert list(see(found, "content").ids) == [hit["id"] for hit in results]
    for hit in results:
        with post.recorder.listening() as sent:
            document = own.good("fetch", {"id": hit["id"]}).structured
        assert reads(sent)[0].query == (("connection_id", hit["connection_id"]),)
        assert document["id"] == hit["id"]
        scoped = {"id": legacy(hit["id"]), "connection_id": hit["connection_id"]}
        assert own.good("fetch", scoped).structured["text"] == document["text"]
        other.refused("not_found", "fetch", {"id": hit["id"]})


@pytest.mark.scenario("S099", 1, 2)
@pytest.mark.parametrize("tool", ["fetch", "read_record_field"])
def test_two_different_connections_are_refused_before_any_read(
    postman: Client, post: Estate, tool: str
) -> None:
    more = {} if tool == "fetch" else {"field_path": "body"}
    asked = {"id": f"{FIRST}/letters:same", "connection_id": SECOND, **more}
    with post.recorder.listening() as sent:
        found = postman.refused("invalid_request", tool, asked)
    assert sent == []
    assert FIRST in found.text
    assert SECOND in found.text
    same = postman.good(tool, {**asked, "connection_id": FIRST})
    assert "amber" in same.text


@pytest.mark.scenario("S100", 1, 2)
@pytest.mark.parametrize(
    "id",
    [
        "/letters:same",
        "cin_first/:same",
        "cin_first/letters:",
        "cin_first/letters",
        "cin_first/extra/letters:same",
        "cin_first//letters:same",
        "cin_first/letters:a/b",
        "../letters:same",
        "cin_first/..:same",
        "cin_first/letters:..",
        "cin_first/letters:%2e%2e",
        "cin_first/letters:..%2f..%2fowner",
        "pdpp://record/cin_first%2F..%3Asame",
        "pdpp://elsewhere/cin_first",
    ],
)
def test_a_malformed_id_is_refused_before_any_read(postman: Client, post: Estate, id: str) -> None:
    for tool, more in (("fetch", {}), ("read_record_field", {"field_path": "body"})):
        with post.recorder.listening() as sent:
            found = postman.refused("invalid_request", tool, {"id": id, **more})
        assert sent == []
        assert found.structured["error"]["param"] == "id"


@pytest.mark.scenario("S045", 1, 2, 3, on="stdio")
def test_an_address_of_another_server_is_shown_as_an_id(tmp_path: Path) -> None:
    excerpt = {"field_path": "body", "preview_text": "a <mark>heron</mark> by the ferry"}
    hit = {"record_uri": "pdpp://record/acc%2Fletters%3Ar2", "evidence_excerpts": [excerpt]}
    foreign = Foreign(answer=lambda _: JSONResponse({"data": [hit]}))
    with running(Starlette(routes=foreign.routes())) as server:
        wire = StdioWire(server.url, connect_to(server.url, tmp_path, "a-token"), VERSION)
        try:
            asked = {"name": "search", "arguments": {"query": "heron"}}
            found = Result("search", {}, wire.request("tools/call", asked))
        finally:
            wire.close()
    results, ladder = found.structured["results"], found.structured["content_ladder"]
    assert [one["id"] for one in results] == ["acc/letters:r2"]
    assert [rung["id"] for rung in ladder["records"]] == ["acc/letters:r2"]
    assert see(found, "content").ids == ("acc/letters:r2",)
    assert not re.search(
        "pdpp://(?:record|field-window)/", json.dumps([found.raw["content"], results, ladder])
    )
    read = see(found, "content").shown("read_record_field")
    assert read.arguments == {"id": "acc/letters:r2", "field_path": "body"}
