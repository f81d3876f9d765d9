"""Text: numbers, groups, hits and documents as a model reads them."""

import json
import re
from typing import Any

import pytest
from bench.demo_records import TRANSCRIPT_KEY
from tests.mcp.client import (
    Client,
    Estate,
    compact,
)
from tests.mcp.post import FIRST
from tests.mcp.sight import Agent, see
from tests.serving import grant

from pdpp.evidence.fence import visible

LETTER_ID = "cin_home/messages:m-invoice-4471"


# Search and fetch


@pytest.mark.scenario("S064", 1)
def test_search_results_have_stable_ids_titles_and_addresses(client: Client, demo: Estate) -> None:
    first = client.good("search", {"query": "invoice 4471"}).structured["results"]
    again = client.good("search", {"query": "invoice 4471"}).structured["results"]
    assert [hit["id"] for hit in first] == [hit["id"] for hit in again]
    for hit in first:
        assert hit["title"].strip()
        assert re.match(r"https?://[^/]+/r/", hit["url"])
    narrow = demo.client(client.kind, grant(demo.store, connections=("cin_bank",)))
    few = narrow.good("search", {"query": "invoice 4471"}).structured["results"]
    assert [hit["id"] for hit in few] == [
        h["id"] for h in first if h["connection_id"] == "cin_bank"
    ]
    assert few


@pytest.mark.scenario("S066", 1)
def test_the_native_tools_keep_the_servers_envelopes(client: Client, demo: Estate) -> None:
    http = demo.world.server.client(client.token)
    asked = {"stream": "accounts", "count": "exact", "limit": 2}
    page = client.good("query_records", asked).structured["data"]
    rest = http.get("/v1/streams/accounts/records", params={"count": "exact", "limit": 2}).json()
    for name in ("object", "has_more", "next_cursor", "meta"):
        assert page[name] == rest[name]
    for row, original in zip(page["data"], rest["data"], strict=True):
        assert {k: v for k, v in row.items() if k != "fetch"} == original
    counted = {"stream": "accounts", "metric": "count"}
    answer = http.get("/v1/streams/accounts/aggregate", params={"metric": "count"}).json()
    assert client.good("aggregate", counted).structured["data"] == answer
    index = http.get("/v1/schema", params={"view": "compact"}).json()
    assert client.good("schema").structured["data"] == index
    streams = {row["name"] for row in http.get("/v1/streams").json()["data"]}
    named = {row["name"] for kind in index["connectors"] for row in kind["streams"]}
    assert named == streams
    photo = client.good("query_records", {"stream": "photos", "limit": 1})
    about = client.good("fetch", see(photo, "content").shown("fetch", holding="blob").arguments)
    exported = http.get(about.structured["metadata"]["export"]["route"])
    assert len(exported.content) == about.structured["metadata"]["size_bytes"]


# Aggregates


@pytest.mark.scenario("S079", 1, 2)
def test_a_number_stands_in_the_text_with_what_it_counts(client: Client, demo: Estate) -> None:
    asked = {"stream": "transactions", "metric": "count"}
    found = client.good("aggregate", asked)
    value = found.structured["data"]["value"]
    assert found.text.startswith(f"count of transactions: {value}")
    assert found.structured["data"]["object"] == "aggregation"
    assert len(found.text) < 200
    http = demo.world.server.client(client.token)
    rest = http.get("/v1/streams/transactions/aggregate", params={"metric": "count"}).json()
    assert found.structured["data"] == rest
    largest = {"stream": "transactions", "metric": "max", "field": "amount"}
    found = client.good("aggregate", largest)
    assert f"max of amount of transactions: {found.structured['data']['value']}" in found.text


@pytest.mark.scenario("S080", 1, 2)
@pytest.mark.scenario("S082", 1, 2)
def test_groups_stand_in_the_text_with_their_counts_and_the_rest(
    client: Client, demo: Estate
) -> None:
    asked = {"stream": "transactions", "metric": "count", "group_by": "category", "limit": 4}
    found = client.good("aggregate", asked)
    groups = found.structured["data"]["groups"]
    assert len(groups) == 4
    other = found.structured["data"]["other_count"]
    assert other > 0
    [line, *_] = found.text.split("\n")
    assert line.startswith("count of transactions by category: ")
    for group in groups:
        assert re.search(rf'[ "]{group["key"]}"? {group["count"]} ·', line)
    assert f"other_count {other}" in line
    assert "{" not in line
    http = demo.world.server.client(client.token)
    by_day: dict[str, Any] = {
        "metric": "count",
        "group_by_time": "sent_at",
        "granularity": "day",
        "limit": 1000,
    }
    many = client.good("aggregate", {"stream": "messages", **by_day})
    rest = http.get("/v1/streams/messages/aggregate", params=by_day).json()
    assert many.structured["data"] == rest
    assert len(rest["groups"]) > 400
    assert "count of messages by day of sent_at (UTC): " in many.text
    assert len(many.text) <= 30_000


@pytest.mark.scenario("S081", 1)
def test_the_description_tells_of_other_count(client: Client) -> None:
    [described] = [tool["description"] for tool in client.tools() if tool["name"] == "aggregate"]
    assert "other_count" in described
    assert re.search(r"above 0 means top-N truncation", described)


# Text of search and fetch


@pytest.mark.scenario("S083", 1, 2, 3)
def test_search_text_has_whole_ids_labels_and_how_to_fetch(client: Client) -> None:
    found = client.good("search", {"query": "invoice 4471"})
    seen = see(found, "content")
    lines = found.text.split("\n")
    assert list(seen.ids) == [hit["id"] for hit in found.structured["results"]]
    for number, hit in enumerate(found.structured["results"], 1):
        [head] = [line for line in lines if line.startswith(f"{number}. ")]
        assert hit["id"] in head
        following = lines[lines.index(head) + 1 :][:3]
        [labels] = [line for line in following if line.startswith(f'   "{hit["title"]}"')]
        for value in ("stream", "display_name", "connector_key"):
            assert f" · {hit[value]}" in labels
        if "evidence" in hit:
            assert hit["evidence"].replace("\n", "⏎") in found.text
    assert "call fetch with the id above" in found.text
    assert "add connection_id only where one is shown" in found.text
    assert '"connection_id"' not in found.text


@pytest.mark.scenario("S084", 1, 2)
def test_search_text_stays_bounded_and_the_envelope_whole(client: Client, demo: Estate) -> None:
    found = client.good("search", {"query": "the", "limit": 100})
    assert len(found.text) <= 30_000
    assert len(compact(found.structured)) <= 30_000
    envelope = found.structured["data"]
    assert len(envelope["data"]) == len(found.structured["results"]) > 10
    assert envelope["has_more"] is True
    http = demo.world.server.client(client.token)
    params = {"q": "the", "limit": str(len(envelope["data"]))}
    whole = http.get("/v1/search", params=params).json()["data"]
    asked = http.get("/v1/search", params=params, headers={"PDPP-Envelope": "lean"}).json()
    assert envelope["data"] == asked["data"]
    for lean, hit, result in zip(envelope["data"], whole, found.structured["results"], strict=True):
        assert lean["id"] == hit["id"] == result["id"]
        assert lean.get("matched_fields", []) == hit["matched_fields"]
        for mine, theirs in zip(
            lean.get("evidence_excerpts", []), hit["evidence_excerpts"], strict=True
        ):
            assert mine.items() <= theirs.items()
            assert result["evidence"] == visible(theirs["preview_text"])
    few = client.good("search", {"query": "the"})
    assert len(few.text) <= 6_000
    assert len(compact(few.structured)) <= 10_000


@pytest.mark.scenario("S085", 1, 2, 3)
def test_fetch_text_has_identity_source_and_the_words(client: Client) -> None:
    found = Agent(client, "content").call("fetch", {"id": LETTER_ID})
    for part in (
        f'"id":"{LETTER_ID}"',
        '"title":"Invoice 4471 for the kitchen tiles"',
        '"connection_id":"cin_home"',
        '"stream":"messages"',
        '"display_name":"Home mail"',
        '"connector_key":"demo_mail"',
        "please find attached invoice 4471",
    ):
        assert part in found.visible
    long = client.good("fetch", {"id": f"cin_notes/documents:{TRANSCRIPT_KEY}"})
    assert len(long.text) <= 30_000
    assert long.structured["metadata"]["truncation"]
    assert 1_000 < len(long.structured["text"]) <= 20_000
    assert json.loads(long.text)["text"] == long.structured["text"]


@pytest.mark.scenario("S086", 1, 2)
def test_a_document_is_made_from_the_record_inside_its_envelope(
    client: Client, demo: Estate, postman: Client
) -> None:
    http = demo.world.server.client(client.token)
    record = http.get(
        "/v1/streams/messages/records/m-invoice-4471", params={"connection_id": "cin_home"}
    ).json()
    document = client.good("fetch", {"id": LETTER_ID}).structured
    assert document["title"] == record["data"]["subject"]
    assert document["text"].endswith(record["data"]["body"])
    assert document["url"].endswith("/r/cin_home/messages/m-invoice-4471")
    for name in ("connection_id", "connector_key", "display_name", "stream"):
        assert document["metadata"][name] == record[name]
    linked = postman.good("fetch", {"id": f"{FIRST}/letters:linked"})
    assert linked.structured["metadata"]["link"] == "https://amber.example/4"
    assert "structuredContent" not in linked.text
