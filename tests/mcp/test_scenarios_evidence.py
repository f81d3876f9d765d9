"""The evidence ladder: what a search proves is shown, and every rung leads to the next."""

import json
import re
from typing import Any

import pytest
from bench.demo_records import LETTER, TRANSCRIPT_KEY
from tests.mcp.client import Client, Estate, Failure, Result
from tests.mcp.closure import uri_of
from tests.mcp.post import DIARY, FIRST, SECOND, SMALL
from tests.mcp.recorder import reads
from tests.mcp.sight import SIGHTS, Agent, see, text_calls
from tests.serving import grant

from pdpp.evidence.handle import WindowHandle, parse_handle, record_uri, window_uri

LETTER_ID = "cin_home/messages:m-invoice-4471"
TRANSCRIPT = f"cin_notes/documents:{TRANSCRIPT_KEY}"
SAME = f"{FIRST}/letters:same"
MOST_PREVIEW_CHARS = 240
RAW_URI = re.compile(r"pdpp://(?:record|field-window)/")


def evidence_of(result: Result, id: str, demo: Estate, token: str) -> dict[str, Any]:
    """Return the server's own excerpt for a hit, as the routes tell it to anybody."""
    params = {"q": result.arguments["query"], "streams[]": result.arguments["streams"]}
    whole = demo.world.server.client(token).get("/v1/search", params=params).json()["data"]
    [excerpt] = [hit["evidence_excerpts"][0] for hit in whole if hit["id"] == id]
    [hit] = [hit for hit in result.structured["data"]["data"] if hit["id"] == id]
    assert hit["evidence_excerpts"][0].items() <= excerpt.items()
    return dict(excerpt)


def in_text(preview: str) -> str:
    """Return a preview as it stands in a quoted line."""
    return preview.replace("\n", "⏎").replace('"', '\\"')


def has_no_raw_uri(result: Result) -> bool:
    return not RAW_URI.search(json.dumps([result.raw["content"], result.structured]))


def has_no_link(result: Result) -> bool:
    return [block["type"] for block in result.raw["content"]] == ["text"]


# Continuations


@pytest.mark.scenario("S001", 1, 2)
def test_whatever_is_cut_leads_on_inside_the_same_record(agent: Agent) -> None:
    page = agent.call("query_records", {"stream": "documents", "filter": {"id": TRANSCRIPT_KEY}})
    document = agent.call("fetch", {"id": TRANSCRIPT})
    hits = agent.call("search", {"query": "lighthouse", "limit": 1, "streams": ["documents"]})
    window = agent.call("read_record_field", {"id": TRANSCRIPT, "field_path": "body"})
    for seen in (page, document, window):
        onward = seen.shown("read_record_field")
        assert onward.arguments["id"] == TRANSCRIPT
        assert onward.arguments["field_path"] == "body"
        assert agent.passage(agent.follow(onward))
    assert hits.passing("cursor") is not None
    few = {"stream": "transactions", "metric": "count", "group_by": "category", "limit": 1}
    assert agent.call("aggregate", few).passing("limit") is not None
    assert agent.call("schema").shown("schema")


@pytest.mark.scenario("S001", 2)
def test_a_continuation_stays_inside_the_grant(demo: Estate, client: Client) -> None:
    shown = client.good("fetch", {"id": TRANSCRIPT})
    [onward] = [call for call in see(shown, "content").calls if call.tool == "read_record_field"]
    assert (onward.arguments["id"], onward.arguments["field_path"]) == (TRANSCRIPT, "body")
    narrow = grant(demo.store, connections=("cin_notes",), fields=("id", "title"))
    refused = demo.client(client.kind, narrow).call(onward.tool, onward.arguments)
    assert refused.code == "field_not_granted"


@pytest.mark.scenario("S002", 1, 2)
def test_text_alone_carries_evidence_identity_and_the_next_step(client: Client) -> None:
    agent = Agent(client, "content")
    hits = agent.call("search", {"query": "adhesive grout"})
    assert "<mark>adhesive</mark>" in hits.visible
    assert LETTER_ID in hits.ids
    assert hits.shown("read_record_field", holding=LETTER_ID)
    page = agent.call("query_records", {"stream": "messages", "limit": 3})
    assert len(page.ids) == 3
    assert page.passing("cursor") is not None
    document = agent.document(agent.call("fetch", {"id": page.ids[0]}))
    assert document["id"] == page.ids[0]
    assert document["metadata"]["connection_id"] == page.ids[0].partition("/")[0]
    long = agent.call("fetch", {"id": TRANSCRIPT})
    assert agent.passage(agent.follow(long.shown("read_record_field", holding=TRANSCRIPT)))


@pytest.mark.scenario("S003", 1)
def test_what_a_resource_would_give_a_tool_gives_too(client: Client) -> None:
    found = client.good("read_record_field", {"id": TRANSCRIPT, "field_path": "body"})
    uri = found.raw["_meta"]["pdpp/resource_uri"]
    assert client.good("read_record_field", {"id": uri}).text == found.text == client.read(uri)
    record = uri_of(TRANSCRIPT)
    assert client.good("fetch", {"id": record}).text == client.read(record)
    with pytest.raises(Failure):
        client.read("pdpp://record/cin_notes%2Fdocuments%3Anothing")


@pytest.mark.scenario("S004", 1, 2)
@pytest.mark.scenario("S013", 1, 2)
@pytest.mark.scenario("S041", 1, 2, 3)
@pytest.mark.scenario("S042", 1, 2, 3, 4)
def test_a_small_field_is_read_inline_with_where_it_ends(client: Client) -> None:
    found = client.good("read_record_field", {"id": LETTER_ID, "field_path": "body"})
    assert has_no_link(found)
    agent = Agent(client, "content")
    assert agent.passage(see(found, "content")) == LETTER
    size = len(LETTER)
    assert f"chars 0–{size} of {size}, whole field" in found.text
    window = found.structured["window"]
    assert window["text"] == LETTER
    assert (window["start_chars"], window["end_chars"], window["total_chars"]) == (0, size, size)
    assert window["complete"] is True
    assert window["has_more"] is False
    assert window["next_offset_chars"] is None
    assert client.read(found.raw["_meta"]["pdpp/resource_uri"]) == found.text


@pytest.mark.scenario("S013", 1)
def test_an_incomplete_read_says_so_and_how_to_go_on(client: Client) -> None:
    asked = {"id": LETTER_ID, "field_path": "body", "offset_chars": 10, "limit_chars": 50}
    found = client.good("read_record_field", asked)
    assert f"chars 10–60 of {len(LETTER)}, more follows" in found.text
    assert found.structured["window"]["complete"] is False
    onward = {"id": LETTER_ID, "field_path": "body", "offset_chars": 60}
    earlier = {"id": LETTER_ID, "field_path": "body", "offset_chars": 0, "limit_chars": 10}
    for sight in SIGHTS:
        assert [call.arguments for call in see(found, sight).calls] == [onward, earlier]


# Roles


@pytest.mark.scenario("S005", 1, 2)
def test_only_declared_roles_make_a_title_a_body_or_a_link(postman: Client) -> None:
    declared = postman.good("fetch", {"id": f"{FIRST}/letters:linked"}).structured
    assert declared["title"] == "Letter linked"
    assert declared["text"].endswith("\n\nNothing but a greeting.")
    assert declared["metadata"]["link"] == "https://amber.example/4"
    guessed = postman.good("fetch", {"id": f"{FIRST}/cards:card-1"}).structured
    assert guessed["title"] == "First post / cards / 2026-01-02T03:04:05Z"
    assert not guessed["text"].endswith("\n\nA body of no declared role.")
    assert "body: A body of no declared role." in guessed["text"]
    assert "link" not in guessed["metadata"]
    [hit] = postman.good("search", {"query": "observatory"}).structured["results"]
    assert hit["title"] == "First post / cards / 2026-01-02T03:04:05Z"


# Search evidence


@pytest.mark.scenario("S007", 1, 2, 3)
@pytest.mark.scenario("S037", 1, 2)
@pytest.mark.scenario("S044", 1, 2, 3)
def test_a_proven_match_stands_first_with_its_field_its_id_and_the_call(
    client: Client, demo: Estate
) -> None:
    found = client.good("search", {"query": "+adhesive +grout", "streams": ["messages"]})
    excerpt = evidence_of(found, LETTER_ID, demo, client.token)
    lines = found.text.split("\n")
    span = f"{excerpt['start_chars']}–{excerpt['end_chars']} of {excerpt['total_chars']}"
    assert lines[0] == f"1. {excerpt['field_path']} {span} in {LETTER_ID}"
    assert lines[1].strip() == f'"{in_text(excerpt["preview_text"])}"'
    assert "<mark>adhesive</mark>" in lines[1]
    assert len(re.sub("</?mark>", "", excerpt["preview_text"])) <= MOST_PREVIEW_CHARS
    [call] = text_calls(lines[2])
    assert call.tool == "read_record_field"
    assert call.arguments["id"] == LETTER_ID
    assert call.arguments["field_path"] == excerpt["field_path"]
    assert has_no_raw_uri(found)
    read = client.good(call.tool, call.arguments)
    assert "adhesive" in read.structured["window"]["text"]


@pytest.mark.scenario("S037", 3, 4)
def test_the_structured_half_holds_the_same_evidence(client: Client, demo: Estate) -> None:
    found = client.good("search", {"query": "+adhesive +grout", "streams": ["messages"]})
    excerpt = evidence_of(found, LETTER_ID, demo, client.token)
    [result] = found.structured["results"]
    assert result["id"] == LETTER_ID
    assert result["evidence"] == excerpt["preview_text"]
    assert len(re.sub("</?mark>", "", result["evidence"])) <= MOST_PREVIEW_CHARS
    [rung] = found.structured["content_ladder"]["records"]
    assert rung["id"] == LETTER_ID
    marked = re.sub("</?mark>", "", rung["evidence"])
    assert marked in re.sub("</?mark>", "", excerpt["preview_text"])
    assert "<mark>" in rung["evidence"]
    assert found.structured["data"]["object"] == "list"


@pytest.mark.scenario("S008", 1, 2)
def test_evidence_holds_the_words_around_the_match(client: Client, demo: Estate) -> None:
    found = client.good("search", {"query": "lighthouse", "streams": ["documents"], "limit": 5})
    previews = [hit["evidence"] for hit in found.structured["results"]]
    assert len(previews) == 5
    for preview in previews:
        bare = preview.replace("<mark>", "").replace("</mark>", "")
        assert preview.count("<mark>") == preview.count("</mark>") >= 1
        marked = re.findall("<mark>(.*?)</mark>", preview)
        assert all(word.casefold().startswith("lighthouse") for word in marked)
        assert len("lighthouse") + 40 < len(bare) <= MOST_PREVIEW_CHARS
        assert f'"{in_text(preview)}"' in found.text


@pytest.mark.scenario("S008", 2)
def test_a_field_that_is_only_the_word_is_the_whole_evidence(client: Client) -> None:
    found = client.good("search", {"query": "Paperbacks", "limit": 1})
    assert found.structured["results"][0]["evidence"] == "<mark>Paperbacks</mark>"


@pytest.mark.scenario("S009", 1, 2)
@pytest.mark.scenario("S038", 2)
def test_a_match_outside_the_body_shows_no_body(client: Client) -> None:
    found = client.good("search", {"query": "cake", "streams": ["documents"]})
    id = "cin_notes/documents:recipe: plum cake of Helga"
    [hit] = [hit for hit in found.structured["results"] if hit["id"] == id]
    assert "evidence" not in hit
    [rung] = [rung for rung in found.structured["content_ladder"]["records"] if rung["id"] == id]
    assert rung == {"id": id, "fetch": {"id": id}}
    [line] = [line for line in found.text.split("\n") if "plum cake of Helga" in line[:60]]
    assert re.fullmatch(rf'\d+\. "{re.escape(id)}" · matched in title only, no body evidence', line)
    assert "Half a kilo" not in found.text
    fetch = see(found, "content").shown("fetch", holding="plum cake")
    assert "Half a kilo" in client.good(fetch.tool, fetch.arguments).text


@pytest.mark.scenario("S009", 1, 2)
@pytest.mark.scenario("S038", 1, 2)
def test_a_field_that_is_called_body_is_not_taken_for_one(postman: Client) -> None:
    found = postman.good("search", {"query": "observatory", "streams": ["cards"]})
    assert "A body of no declared role" not in json.dumps(found.raw)
    assert f"{FIRST}/cards:card-1" in see(found, "content").ids
    call = see(found, "content").calls[0]
    assert "observatory" in postman.good(call.tool, call.arguments).text


@pytest.mark.scenario("S010", 2)
@pytest.mark.scenario("S045", 1, 2, 3)
def test_records_are_shown_by_their_id_and_never_by_address(agent: Agent) -> None:
    hits = agent.call("search", {"query": "invoice 4471"})
    page = agent.call("query_records", {"stream": "messages", "limit": 2})
    document = agent.call("fetch", {"id": LETTER_ID})
    for seen in (hits, page, document):
        assert not RAW_URI.search(seen.visible)
        assert seen.ids
        assert all(re.match(r"[^/]+/[^/:]+:", id) for id in seen.ids)
    read = hits.shown("read_record_field", holding=f'{LETTER_ID}"')
    assert read.arguments["id"] == LETTER_ID
    assert "4471" in agent.passage(agent.follow(read))
    takes = {tool["name"]: tool["inputSchema"]["properties"] for tool in agent.client.tools()}
    for name in ("fetch", "read_record_field"):
        assert "pdpp://" in takes[name]["id"]["description"]


@pytest.mark.scenario("S010", 1)
@pytest.mark.scenario("S046", 1, 2)
def test_a_record_address_names_the_same_record_as_its_id(client: Client) -> None:
    uri = uri_of(LETTER_ID)
    fetched = client.good("fetch", {"id": LETTER_ID})
    assert client.good("fetch", {"id": uri}).raw["content"] == fetched.raw["content"]
    assert json.loads(client.read(uri)) == fetched.structured
    asked = {"field_path": "body"}
    by_uri = client.good("read_record_field", {"id": uri, **asked})
    assert by_uri.structured["window"]["text"] == LETTER
    assert by_uri.structured["id"] == LETTER_ID
    assert has_no_link(by_uri)


@pytest.mark.scenario("S046", 1)
def test_a_record_address_is_held_to_the_same_grant(client: Client, demo: Estate) -> None:
    other = demo.client(client.kind, grant(demo.store, connections=("cin_bank",)))
    for id in (LETTER_ID, uri_of(LETTER_ID)):
        other.refused("grant_stream_not_allowed", "fetch", {"id": id})
    with pytest.raises(Failure):
        other.read(uri_of(LETTER_ID))


@pytest.mark.scenario("S011", 1, 2)
@pytest.mark.scenario("S012", 1, 2)
def test_a_window_address_stays_beside_the_result_and_is_taken_as_input(client: Client) -> None:
    asked = {"id": LETTER_ID, "field_path": "body", "query": "grout", "before_chars": 20}
    found = client.good("read_record_field", {**asked, "after_chars": 20})
    assert has_no_raw_uri(found)
    window = found.structured["window"]
    assert Agent(client, "content").passage(see(found, "content")) == window["text"]
    start, end = window["start_chars"], window["end_chars"]
    assert window["text"] == LETTER[start:end]
    assert f"chars {start}–{end} of {len(LETTER)}, more follows" in found.text
    assert window["complete"] is False
    assert window["match_count"] == 1
    assert LETTER[window["match_start_chars"] : window["match_end_chars"]] == "grout"
    assert f"match 1 of 1 at {window['match_start_chars']}" in found.text
    calls = see(found, "content").calls
    assert {call.tool for call in calls} == {"read_record_field"}
    assert [call.arguments["offset_chars"] for call in calls] == [end, 0]
    uri = found.raw["_meta"]["pdpp/resource_uri"]
    assert uri.startswith("pdpp://field-window/")
    again = client.good("read_record_field", {"id": uri})
    assert again.structured["window"]["text"] == window["text"]
    assert client.read(uri) == again.text


@pytest.mark.scenario("S015", 1, on="rest")
def test_rest_search_describes_the_passage_and_how_to_read_it(demo: Estate) -> None:
    client = demo.world.client()
    asked = {"q": "+adhesive +grout", "streams[]": "messages"}
    [hit] = client.get("/v1/search", params=asked).json()["data"]
    [excerpt] = hit["evidence_excerpts"]
    assert excerpt["object"] == "evidence_excerpt"
    assert excerpt["field_path"] == "body"
    bare = excerpt["preview_text"].replace("<mark>", "").replace("</mark>", "")
    assert bare == LETTER[excerpt["start_chars"] : excerpt["end_chars"]]
    assert excerpt["truncated"] is True
    read = excerpt["read"]
    assert read["method"] == "GET"
    params = {k: v for k, v in read.items() if k not in ("method", "route", "stream", "record_id")}
    window = client.get(read["route"], params=params).json()["window"]
    assert window["text"].startswith(bare[:20])


@pytest.mark.scenario("S039", 1)
def test_an_incomplete_preview_is_read_on_by_tools_alone(agent: Agent, demo: Estate) -> None:
    asked = {"query": "lighthouse", "filter": {"id": TRANSCRIPT_KEY}, "streams": ["documents"]}
    hits = agent.call("search", asked)
    preview = agent.follow(hits.shown("read_record_field", holding=TRANSCRIPT_KEY))
    assert "lighthouse" in agent.passage(preview)
    document = agent.call("fetch", {"id": TRANSCRIPT})
    rest = agent.follow(document.shown("read_record_field"))
    served = rest.arguments["offset_chars"]
    asked = {"id": TRANSCRIPT, "field_path": "body", "offset_chars": served}
    assert agent.passage(rest) == agent.passage(agent.call("read_record_field", asked))


@pytest.mark.scenario("S040", 1)
@pytest.mark.parametrize(
    "selector",
    [
        {"field_path": "body"},
        {"field_path": "body", "offset_chars": 30, "limit_chars": 25},
        {"field_path": "body", "query": "grout"},
    ],
)
def test_a_window_address_reads_what_the_tool_reads(
    client: Client, demo: Estate, selector: dict[str, Any]
) -> None:
    window = WindowHandle(
        parse_handle(LETTER_ID),
        selector["field_path"],
        selector.get("offset_chars"),
        selector.get("limit_chars"),
        selector.get("query"),
    )
    uri = window_uri(window)
    assert client.read(uri) == client.good("read_record_field", {"id": LETTER_ID, **selector}).text
    assert "pdpp://field-window/{handle}" in client.templates()
    blind = demo.client(client.kind, grant(demo.store, fields=("id", "subject")))
    with pytest.raises(Failure):
        blind.read(uri)


@pytest.mark.scenario("S043", 1, 2, 3)
def test_a_small_projected_document_is_inline(client: Client) -> None:
    found = client.good("fetch", {"id": LETTER_ID, "fields": ["subject", "sent_at"]})
    assert has_no_link(found)
    assert json.loads(found.text) == found.structured
    assert "Invoice 4471 for the kitchen tiles" in found.text
    assert found.structured["id"] == LETTER_ID
    assert has_no_raw_uri(found)


@pytest.mark.scenario("S045", 1, 2, 3)
def test_an_address_that_the_server_gives_is_shown_as_an_id(post: Estate, postman: Client) -> None:
    found = postman.good("search", {"query": "heron"})
    for record in (f"{FIRST}/letters:same", f"{SECOND}/letters:same", f"{DIARY}/pages:p-1"):
        assert record in [result["id"] for result in found.structured["results"]]
        assert record_uri(parse_handle(record)) not in json.dumps(found.raw)
    assert has_no_raw_uri(found)
    with post.recorder.listening() as sent:
        read = see(found, "content").shown("read_record_field", holding=FIRST)
        assert SMALL in postman.good(read.tool, read.arguments).structured["window"]["text"]
    [one] = reads(sent)
    assert one.values("connection_id") == [FIRST]
