"""Ids: one handle is enough to fetch, and a wrong one reaches no server."""

import pytest
from tests.mcp.client import Client, Estate
from tests.mcp.closure import legacy
from tests.mcp.post import FIRST, SECOND
from tests.mcp.recorder import reads
from tests.mcp.sight import see


@pytest.mark.scenario("S096")
def test_results_of_several_sources_carry_their_connection(postman: Client) -> None:
    found = postman.good("search", {"query": "heron"})
    results = found.structured["results"]
    assert len({hit["connection_id"] for hit in results}) == 3
    for hit in results:
        assert hit["id"] == f"{hit['connection_id']}/{hit['stream']}:{hit['record_id']}"
    assert list(see(found, "content").ids) == [hit["id"] for hit in results]


@pytest.mark.scenario("S097")
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


@pytest.mark.scenario("S098")
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


@pytest.mark.scenario("S099")
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


@pytest.mark.scenario("S100")
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
