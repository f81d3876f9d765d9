"""Recovery: from each typed error the shown call leads a model that sees one half back."""

from typing import Any

import pytest
from tests.mcp.client import Estate
from tests.mcp.post import FIRST, SECOND
from tests.mcp.sight import Agent
from tests.serving import UNLIMITED, running

from pdpp.app import make_app
from pdpp.model import instant


def test_an_unknown_argument_is_recovered_from(agent: Agent) -> None:
    refusal = agent.call("query_records", {"stream": "photos", "limt": 2})
    assert "limit" in refusal.visible
    assert len(agent.follow(refusal.shown("query_records")).ids) == 2


@pytest.mark.parametrize(
    "wrong", ["amount<-500", {"amount": {"below": -500}}, {"filter[amount]": 1}, {}]
)
def test_a_filter_of_the_wrong_form_is_recovered_from(agent: Agent, wrong: Any) -> None:
    refusal = agent.call("query_records", {"stream": "transactions", "filter": wrong})
    assert "invalid_filter" in refusal.visible
    example = refusal.shown("query_records").arguments["filter"]
    [limit] = example.values()
    form = {"amount": dict.fromkeys(limit, -500)}
    assert agent.call("query_records", {"stream": "transactions", "filter": form}).ids


@pytest.mark.parametrize("wrong", [{"filter": {"colour": "red"}}, {"fields": ["colour"]}])
def test_an_unknown_field_is_recovered_from(agent: Agent, wrong: dict[str, Any]) -> None:
    asked = {"stream": "transactions", "connection_id": "cin_bank", **wrong}
    refusal = agent.call("query_records", asked)
    assert "unknown_field" in refusal.visible
    scoped = agent.follow(refusal.shown("schema"))
    assert "category" in scoped.visible


def test_an_unknown_field_of_a_record_is_recovered_from(agent: Agent) -> None:
    asked = {"id": "cin_home/messages:m-invoice-4471", "field_path": "text"}
    refusal = agent.call("read_record_field", asked)
    assert "unknown_field" in refusal.visible
    scoped = agent.follow(refusal.shown("schema"))
    assert "body" in scoped.visible
    assert "channel_id" not in scoped.visible


def test_a_field_that_one_of_several_accounts_lacks_is_recovered_from(agent: Agent) -> None:
    asked = {"stream": "messages", "metric": "count", "group_by": "from"}
    refusal = agent.call("aggregate", asked)
    assert "unknown_field" in refusal.visible
    assert "Give connection_id to ask one that has it: cin_home, cin_work." in refusal.visible
    assert "Nora Winter" in agent.call("aggregate", {**asked, "connection_id": "cin_home"}).visible


def test_a_unit_in_the_place_of_a_time_field_is_recovered_from(agent: Agent) -> None:
    asked = {"stream": "transactions", "metric": "count", "group_by_time": "month"}
    refusal = agent.call("aggregate", asked)
    assert "granularity=month" in refusal.visible
    assert "group_by_time for: booked_on." in refusal.visible
    mended = {**asked, "group_by_time": "booked_on", "granularity": "month"}
    assert "2026-03" in agent.call("aggregate", mended).visible


def test_an_unknown_stream_is_recovered_from(agent: Agent) -> None:
    refusal = agent.call("aggregate", {"stream": "payments", "metric": "count"})
    assert "grant_stream_not_allowed" in refusal.visible
    assert "transactions" in agent.follow(refusal.shown("schema")).visible


def test_a_search_that_finds_nothing_shows_what_there_is(agent: Agent) -> None:
    found = agent.call("search", {"query": "heliotrope zeppelin"})
    assert not found.ids
    assert "transactions" in agent.follow(found.shown("schema")).visible


def test_an_unknown_relation_is_recovered_from(agent: Agent) -> None:
    asked = {"stream": "threads", "connection_id": "cin_home", "expand": ["letters"]}
    refusal = agent.call("query_records", asked)
    assert "invalid_expand" in refusal.visible
    assert "messages" in agent.follow(refusal.shown("schema")).visible


def _edited(cursor: str) -> str:
    return cursor[:-4] + ("AAAA" if cursor[-4:] != "AAAA" else "BBBB")


@pytest.mark.parametrize(
    ("tool", "asked"),
    [
        ("query_records", {"stream": "photos", "limit": 2}),
        ("search", {"query": "kitchen", "limit": 2}),
    ],
)
def test_an_edited_cursor_is_recovered_from(agent: Agent, tool: str, asked: dict[str, Any]) -> None:
    first = agent.call(tool, asked)
    following = first.passing("cursor")
    assert following is not None
    refusal = agent.follow(following, cursor=_edited(following.arguments["cursor"]))
    assert "invalid_cursor" in refusal.visible
    assert agent.follow(refusal.shown(tool)).ids == first.ids


def test_an_expired_bookmark_is_recovered_from(correspondent: Agent, post: Estate) -> None:
    asked = {"stream": "folders", "connection_id": FIRST}
    bookmark = _old_bookmark(post, correspondent.client.token)
    refusal = correspondent.call("query_records", {**asked, "changes_since": bookmark})
    assert "cursor_expired" in refusal.visible
    again = correspondent.follow(refusal.shown("query_records"))
    assert again.ids == (f"{FIRST}/folders:box",)


def _old_bookmark(post: Estate, token: str) -> str:
    """Return a bookmark as the same server gave it a hundred days ago."""
    then = instant.now() - 100 * instant.DAY
    with running(make_app(post.store, UNLIMITED, lambda: then)) as server:
        asked = {"connection_id": FIRST, "changes_since": "beginning"}
        answer = server.client(token).get("/v1/streams/folders/records", params=asked)
    return str(answer.json()["next_changes_since"])


def test_a_record_in_two_connections_is_narrowed_to_one(correspondent: Agent) -> None:
    for tool, more in (("fetch", {}), ("read_record_field", {"field_path": "body"})):
        refusal = correspondent.call(tool, {"id": "letters:same", **more})
        assert "ambiguous_connection" in refusal.visible
        chosen = correspondent.follow(refusal.shown(tool, holding=SECOND))
        assert "cobalt" in chosen.visible
