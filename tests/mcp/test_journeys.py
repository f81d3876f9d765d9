"""Journeys: a model that sees one half of each result, and reads no resources, reaches the answer.

Every step after the first follows a call or an id that the step before has shown.
"""

import json
from hashlib import sha256
from typing import Any

import pytest
from bench.demo_records import DIARY_KEY, LEDGER, LETTER, TRANSCRIPT_KEY
from tests.mcp.client import Client, Estate
from tests.mcp.closure import uri_of
from tests.mcp.post import FIRST, LEAFLET, SCAN, SCAN_BYTES, SECOND, letter
from tests.mcp.sight import Agent, Seen, follow_all, read_to_the_end
from tests.serving import World, all_rows, put

from pdpp.evidence.handle import WindowHandle, parse_handle, window_uri

TRANSCRIPT = f"cin_notes/documents:{TRANSCRIPT_KEY}"


def rows(demo: Estate, token: str, path: str, **params: Any) -> list[dict[str, Any]]:
    return all_rows(demo.world.server.client(token), path, limit=100, **params)


def record(demo: Estate, id: str) -> dict[str, Any]:
    handle = parse_handle(id)
    client = World(demo.store, demo.world.server).client()
    path = f"/v1/streams/{handle.stream}/records/{handle.record_id}"
    answer = client.get(path, params={"connection_id": handle.connection_id})
    found: dict[str, Any] = answer.json()["data"]
    return found


# Finding and quoting


def test_a_fact_is_found_and_quoted(agent: Agent) -> None:
    hits = agent.call("search", {"query": "invoice 4471", "streams": ["messages"]})
    read = hits.shown("read_record_field", holding="m-invoice-4471-paid")
    passage = agent.passage(agent.follow(read))
    assert "invoice 4471 is paid, I sent the 2,386.40 euros this morning" in passage


def test_a_fact_across_sources_is_found_in_one_search(agent: Agent) -> None:
    hits = agent.call("search", {"query": "invoice 4471"})
    for source in ("cin_home/messages", "cin_bank/transactions", "cin_team/messages"):
        assert any(id.startswith(source) for id in hits.ids), hits.visible


def test_search_results_are_paged_to_the_end_each_hit_once(
    agent: Agent, demo: Estate, demo_token: str
) -> None:
    first = agent.call("search", {"query": "bread", "limit": 20})
    found = [id for page in follow_all(agent, first) for id in page.ids]
    expected = [hit["id"] for hit in rows(demo, demo_token, "/v1/search", q="bread")]
    assert found == expected
    assert len(set(found)) == len(found) > 40


def test_a_match_in_a_very_long_line_is_read_around_and_to_its_end(
    agent: Agent, demo: Estate
) -> None:
    body = record(demo, TRANSCRIPT)["body"]
    assert len(body) > 200_000
    assert "\n" not in body
    asked = {"query": "lighthouse", "filter": {"id": TRANSCRIPT_KEY}, "streams": ["documents"]}
    read = agent.call("search", asked).shown("read_record_field", holding=TRANSCRIPT_KEY)
    seen = agent.follow(read, limit_chars=16_384)
    assert "lighthouse" in agent.passage(seen)[:600]
    offset = read.arguments["offset_chars"]
    assert read_to_the_end(agent, seen) == body[offset:]


def test_the_text_before_a_match_is_read_back_to_the_start(agent: Agent, demo: Estate) -> None:
    body = record(demo, TRANSCRIPT)["body"]
    seen = agent.call(
        "read_record_field", {"id": TRANSCRIPT, "field_path": "body", "offset_chars": 9_000}
    )
    pieces: list[str] = []
    while True:
        start = seen.arguments["offset_chars"]
        before = [c for c in seen.calls if c.arguments["offset_chars"] < start]
        if not before:
            break
        seen = agent.follow(before[0])
        pieces.insert(0, agent.passage(seen))
    assert "".join(pieces) == body[:9_000]


def test_a_passage_is_read_around_words(agent: Agent, demo: Estate) -> None:
    body = record(demo, TRANSCRIPT)["body"]
    asked = {"id": TRANSCRIPT, "field_path": "body", "query": "haunted"}
    seen = agent.call("read_record_field", {**asked, "before_chars": 250, "after_chars": 250})
    passage = agent.passage(seen)
    assert "haunted" in passage
    assert passage in body
    assert seen.size < 2_500


def test_a_hit_that_matched_only_in_its_title_is_opened(agent: Agent) -> None:
    hits = agent.call("search", {"query": "cake", "streams": ["documents"]})
    opened = agent.follow(hits.shown("fetch", holding="plum cake of Helga"))
    assert "Half a kilo of plums" in agent.document(opened)["text"]


def test_a_document_is_fetched_and_its_cut_remainder_read(agent: Agent, demo: Estate) -> None:
    id = f"cin_notes/documents:{DIARY_KEY}"
    body = record(demo, id)["body"]
    fetched = agent.call("fetch", {"id": id})
    text = agent.document(fetched)["text"]
    read = fetched.shown("read_record_field", holding='"body"')
    served = read.arguments["offset_chars"]
    assert text.endswith(body[:served])
    rest = read_to_the_end(agent, agent.follow(read, limit_chars=16_384), limit_chars=16_384)
    assert body[:served] + rest == body


def test_what_a_citation_quotes_can_be_opened_by_a_person(agent: Agent, demo: Estate) -> None:
    fetched = agent.call("fetch", {"id": "cin_home/messages:m-invoice-4471"})
    address = agent.document(fetched)["url"]
    assert address.endswith("/r/cin_home/messages/m-invoice-4471")
    path = "/" + address.split("/", 3)[3]
    page = demo.world.server.client().get(path)
    assert page.status_code == 401
    assert "text/html" in page.headers["content-type"]


# Discovering and paging


def test_discovery_leads_from_the_index_to_records(agent: Agent) -> None:
    index = agent.call("schema")
    assert "transactions" in index.visible
    scoped = agent.follow(index.shown("schema"), stream="transactions")
    assert "booked_on" in scoped.visible
    page = agent.follow(scoped.shown("query_records"))
    assert page.ids
    assert all(id.startswith("cin_bank/transactions:") for id in page.ids)


def test_a_filtered_and_sorted_list_is_paged_to_its_end_in_order(
    agent: Agent, demo: Estate, demo_token: str
) -> None:
    wanted = {"stream": "transactions", "filter": {"amount": {"lt": -500}}, "sort": "amount"}
    first = agent.call("query_records", {**wanted, "limit": 7, "fields": ["amount"]})
    found = [id for page in follow_all(agent, first) for id in page.ids]
    listed = rows(
        demo,
        demo_token,
        "/v1/streams/transactions/records",
        sort="amount",
        **{"filter[amount][lt]": -500},
    )
    assert found == [f"cin_bank/transactions:{row['id']}" for row in listed]
    amounts = [row["data"]["amount"] for row in listed]
    assert amounts == sorted(amounts)
    assert len(found) > 20


def test_a_page_that_shrinks_to_fit_goes_on_where_it_ended(
    agent: Agent, demo: Estate, demo_token: str
) -> None:
    first = agent.call("query_records", {"stream": "documents", "limit": 100})
    pages = list(follow_all(agent, first))
    found = [id for page in pages for id in page.ids]
    listed = rows(demo, demo_token, "/v1/streams/documents/records")
    assert found == [f"cin_notes/documents:{row['id']}" for row in listed]
    assert max(page.size for page in pages) <= 30_000


def test_a_long_field_of_a_page_is_read_on(agent: Agent, demo: Estate) -> None:
    asked = {"stream": "documents", "filter": {"id": TRANSCRIPT_KEY}, "fields": ["title", "body"]}
    page = agent.call("query_records", asked)
    read = page.shown("read_record_field", holding=TRANSCRIPT_KEY)
    offset = read.arguments["offset_chars"]
    body = record(demo, TRANSCRIPT)["body"]
    assert agent.passage(agent.follow(read)) == body[offset : offset + 4_096]


def test_an_exact_count_is_seen(agent: Agent, demo: Estate, demo_token: str) -> None:
    asked = {"stream": "messages", "connection_id": "cin_home", "count": "exact", "limit": 1}
    expected = len(rows(demo, demo_token, "/v1/streams/messages/records", connection_id="cin_home"))
    assert str(expected) in agent.call("query_records", asked).visible


# Reckoning


def test_messages_are_counted_by_month(agent: Agent, demo: Estate, demo_token: str) -> None:
    asked = {"stream": "messages", "connection_id": "cin_home", "metric": "count"}
    seen = agent.call("aggregate", {**asked, "group_by_time": "sent_at", "granularity": "month"})
    listed = rows(demo, demo_token, "/v1/streams/messages/records", connection_id="cin_home")
    months = [row["data"]["sent_at"][:7] for row in listed]
    for month in set(months):
        assert _shows_group(seen, month, months.count(month))


def _shows_group(seen: Seen, key: str, count: int, value: float | None = None) -> bool:
    if not seen.visible.startswith("{"):
        tail = "" if value is None else f" = {value:.12g}"
        name = f'"{key}"' if " " in key else key
        return f"{name} {count}{tail} ·" in seen.visible
    group: dict[str, Any] = {"key": key, "count": count}
    if value is not None:
        group["value"] = value
    return group in json.loads(seen.visible)["data"]["groups"]


def test_amounts_are_summed_by_category(agent: Agent, demo: Estate, demo_token: str) -> None:
    asked = {"stream": "transactions", "metric": "sum", "field": "amount"}
    euros = {"currency": "EUR"}
    seen = agent.call("aggregate", {**asked, "group_by": "category", "filter": euros})
    listed = rows(
        demo, demo_token, "/v1/streams/transactions/records", **{"filter[currency]": "EUR"}
    )
    for category in {row["data"]["category"] for row in listed}:
        amounts = [r["data"]["amount"] for r in listed if r["data"]["category"] == category]
        assert _shows_group(seen, category, len(amounts), round(sum(amounts), 2))


@pytest.mark.parametrize(
    "grouping", [{}, {"group_by_time": "sent_at", "granularity": "month"}], ids=["one", "groups"]
)
def test_a_number_says_what_a_filter_left_out_of_it(agent: Agent, grouping: dict[str, Any]) -> None:
    asked = {"stream": "messages", "metric": "count", **grouping}
    seen = agent.call("aggregate", {**asked, "filter": {"thread_id": "kitchen"}})
    [said] = [line for line in seen.visible.splitlines() if "were left out" in line]
    assert "cin_team/messages" in said


def test_groups_beyond_the_limit_are_told_and_can_be_had(agent: Agent) -> None:
    asked = {"stream": "transactions", "metric": "count", "group_by": "category", "limit": 3}
    few = agent.call("aggregate", asked)
    assert "other_count" in few.visible
    more = few.passing("limit")
    assert more is not None
    all_of_them = agent.follow(more)
    assert "cash" not in few.visible
    assert "cash" in all_of_them.visible


def test_many_groups_are_all_seen(agent: Agent, demo: Estate, demo_token: str) -> None:
    asked = {"stream": "messages", "connection_id": "cin_work", "metric": "count"}
    seen = agent.call("aggregate", {**asked, "group_by": "thread_id", "limit": 400})
    listed = rows(demo, demo_token, "/v1/streams/threads/records", connection_id="cin_work")
    missing = [row["id"] for row in listed if row["id"] not in seen.visible]
    assert missing == []


def test_two_accounts_are_compared(agent: Agent, demo: Estate, demo_token: str) -> None:
    seen = {
        source: agent.call(
            "aggregate", {"stream": "messages", "metric": "count", "connection_id": source}
        )
        for source in ("cin_home", "cin_work")
    }
    for source, answer in seen.items():
        path = "/v1/streams/messages/records"
        listed = rows(demo, demo_token, path, connection_id=source)
        shown = [f": {len(listed)} ·", f'"value":{len(listed)},']
        assert any(number in answer.visible for number in shown)


# What belongs together, and what is no text


def test_a_thread_is_expanded_and_its_letters_opened(agent: Agent) -> None:
    asked = {"id": "cin_home/threads:t-invoice-4471", "expand": ["messages"]}
    thread = agent.call("fetch", asked)
    opened = agent.follow(thread.shown("fetch", holding="messages:m-invoice-4471"))
    assert LETTER in agent.document(opened)["text"]


def test_related_records_beyond_the_limit_are_had_by_the_call_that_is_shown(agent: Agent) -> None:
    asked = {"stream": "threads", "filter": {"id": "t-invoice-4471"}, "connection_id": "cin_home"}
    page = agent.call(
        "query_records", {**asked, "expand": ["messages"], "expand_limit": {"messages": 1}}
    )
    assert "m-invoice-4471-paid" not in page.visible
    more = page.shown("fetch", holding="expand_limit")
    assert "cin_home/messages:m-invoice-4471-paid" in agent.follow(more).visible


def test_a_binary_attachment_is_inspected_without_its_bytes(agent: Agent, demo: Estate) -> None:
    asked = {"stream": "attachments", "filter": {"media_type": "image/png"}, "limit": 1}
    page = agent.call("query_records", asked)
    [id] = page.ids
    content = record(demo, id)["content"]
    about = agent.document(agent.follow(page.shown("fetch", holding="pdpp://blob/")))
    assert about["metadata"]["media_type"] == "image/png"
    assert about["metadata"]["size_bytes"] == content["size_bytes"]
    assert about["metadata"]["sha256"] == content["sha256"]
    assert about["metadata"]["export"]["route"] == f"/v1/blobs/{content['blob_id']}"
    assert "PNG" not in about["text"]


def test_a_text_attachment_is_inspected(agent: Agent) -> None:
    asked = {"stream": "attachments", "filter": {"filename": "invoice-4471.csv"}}
    page = agent.call("query_records", asked)
    about = agent.follow(page.shown("fetch", holding="pdpp://blob/"))
    assert agent.document(about)["text"] == LEDGER


def test_a_long_text_attachment_is_read_to_its_end(correspondent: Agent) -> None:
    asked = {"stream": "letters", "connection_id": FIRST, "filter": {"id": "leaflet"}}
    page = correspondent.call("query_records", asked)
    about = correspondent.follow(page.shown("fetch", holding="pdpp://blob/"))
    shown = correspondent.document(about)["text"]
    onward = about.shown("read_record_field")
    assert shown + read_to_the_end(correspondent, correspondent.follow(onward)) == LEAFLET


def test_a_field_of_encoded_bytes_is_described_and_never_shown(correspondent: Agent) -> None:
    asked = {"stream": "letters", "connection_id": FIRST, "filter": {"id": "scanned"}}
    page = correspondent.call("query_records", asked)
    about = correspondent.follow(page.shown("read_record_field", holding='"scan"'))
    for seen in (page, about):
        assert "image/png" in seen.visible
        assert str(len(SCAN_BYTES)) in seen.visible
        assert sha256(SCAN_BYTES).hexdigest() in seen.visible
        assert SCAN[:60] not in seen.visible


# Changes


def test_changes_are_resumed_with_the_bookmark(correspondent: Agent, post: Estate) -> None:
    asked = {"stream": "letters", "connection_id": SECOND, "changes_since": "beginning"}
    pages = list(follow_all(correspondent, correspondent.call("query_records", asked)))
    later = pages[-1].passing("changes_since")
    assert later is not None
    key = f"new-{correspondent.client.kind}-{correspondent.sight}"
    put(post.store, SECOND, "letters", letter(key, "Just arrived.", 9))
    changed = correspondent.follow(later)
    assert changed.ids == (f"{SECOND}/letters:{key}",)
    assert correspondent.follow(later).ids == changed.ids
    last = changed.passing("changes_since")
    assert last is not None
    assert correspondent.follow(last).ids == ()


# Packages


def test_an_ambiguous_stream_is_narrowed_to_one_connection(packaged: Agent) -> None:
    refusal = packaged.call("query_records", {"stream": "messages", "limit": 2})
    assert "ambiguous_connection" in refusal.visible
    assert "Work mail" in refusal.visible
    page = packaged.follow(refusal.shown("query_records", holding="cin_work"))
    assert len(page.ids) == 2
    assert all(id.startswith("cin_work/messages:") for id in page.ids)


def test_a_package_is_searched_to_the_end_each_hit_once(
    packaged: Agent, demo: Estate, demo_token: str
) -> None:
    first = packaged.call("search", {"query": "renovation", "limit": 20})
    found = [id for page in follow_all(packaged, first) for id in page.ids]
    expected = [hit["id"] for hit in rows(demo, demo_token, "/v1/search", q="renovation")]
    assert sorted(found) == sorted(expected)
    assert len({id.partition("/")[0] for id in found}) > 2
    assert len(found) > 40


# Addresses as input


def test_addresses_are_accepted_where_ids_are(agent: Agent) -> None:
    id = "cin_home/messages:m-invoice-4471"
    by_id = agent.call("fetch", {"id": id})
    assert agent.call("fetch", {"id": uri_of(id)}).visible == by_id.visible
    window = WindowHandle(parse_handle(id), "body", 12, 40)
    asked = {"id": id, "field_path": "body", "offset_chars": 12, "limit_chars": 40}
    by_parts = agent.call("read_record_field", asked)
    assert agent.call("read_record_field", {"id": window_uri(window)}).visible == by_parts.visible
    assert agent.passage(by_parts) == LETTER[12:52]


def test_addresses_are_read_as_resources_by_hosts_that_can(client: Client) -> None:
    id = "cin_home/messages:m-invoice-4471"
    assert json.loads(client.read(uri_of(id))) == client.good("fetch", {"id": id}).structured
    asked = {"id": id, "field_path": "body", "offset_chars": 12, "limit_chars": 40}
    found = client.good("read_record_field", asked)
    assert client.read(found.raw["_meta"]["pdpp/resource_uri"]) == found.text
