"""Closure: every id, cursor, address and call that is shown works here, and nowhere else.

The other tests of the demo world check it for whatever they were shown; these walk further: from
each kind of result to what it shows, and from there once more.
"""

from typing import Any

import pytest
from bench.demo_records import AWKWARD, TRANSCRIPT_KEY
from tests.engine import revoke_grant
from tests.mcp.client import KINDS, Client, Estate, Result
from tests.mcp.closure import REFUSALS, Closure, legacy, uri_of
from tests.mcp.post import DIARY, FIRST, SECOND
from tests.mcp.sight import SIGHTS, see
from tests.serving import grant, put
from tests.soak import SOAK

from pdpp.authz.selection import Selection
from pdpp.evidence.handle import Handle, parse_handle, record_uri

Step = tuple[str, dict[str, Any]]

TRANSCRIPT = f"cin_notes/documents:{TRANSCRIPT_KEY}"
CORPUS: list[Step] = [
    ("schema", {}),
    ("schema", {"stream": "messages"}),
    ("schema", {"stream": "messages", "connection_id": "cin_home"}),
    ("schema", {"stream": "accounts", "connection_id": "cin_bank", "detail": "full"}),
    ("schema", {"stream": "messages", "detail": "full"}),
    ("schema", {"detail": "full"}),
    ("search", {"query": "invoice 4471", "limit": 4}),
    ("search", {"query": "plum cake"}),
    ("search", {"query": "kitchen", "connection_id": "cin_home", "limit": 2}),
    ("search", {"query": "zzz-nothing"}),
    ("query_records", {"stream": "documents", "connection_id": "cin_notes", "limit": 3}),
    ("query_records", {"stream": "photos", "connection_id": "cin_photos", "limit": 2}),
    ("query_records", {"stream": "calendars", "connection_id": "cin_calendar"}),
    (
        "query_records",
        {"stream": "threads", "connection_id": "cin_home", "limit": 3, "expand": ["messages"]},
    ),
    (
        "query_records",
        {"stream": "notebooks", "connection_id": "cin_notes", "changes_since": "beginning"},
    ),
    ("query_records", {"stream": "messages", "connection_id": "cin_home", "fields": ["colour"]}),
    ("query_records", {"stream": "colours", "connection_id": "cin_home"}),
    ("query_records", {"stream": "photos", "connection_id": "cin_photos", "cursor": "edited"}),
    ("query_records", {"stream": "photos", "limt": 2}),
    (
        "aggregate",
        {
            "stream": "transactions",
            "connection_id": "cin_bank",
            "metric": "count",
            "group_by": "category",
            "limit": 2,
        },
    ),
    ("fetch", {"id": TRANSCRIPT}),
    ("fetch", {"id": "cin_home/threads:t-invoice-4471", "expand": ["messages"]}),
    ("fetch", {"id": "cin_home/attachments:f-invoice-1"}),
    ("fetch", {"id": "cin_home/messages:nothing"}),
    (
        "read_record_field",
        {"id": TRANSCRIPT, "field_path": "body", "query": "haunted"},
    ),
    ("read_record_field", {"id": "cin_home/attachments:f-invoice-1", "field_path": "content"}),
    ("read_record_field", {"id": "cin_home/messages:m-invoice-4471", "field_path": "colour"}),
    (
        "read_record_field",
        {"id": "cin_home/messages:m-invoice-4471", "field_path": "body", "query": "zebra"},
    ),
    ("read_record_field", {"id": "nothing"}),
]


def steps(result: Result) -> list[Step]:
    """Return the calls that either half shows."""
    found = {call.key: call for sight in SIGHTS for call in see(result, sight).calls}
    return [(call.tool, dict(call.arguments)) for call in found.values()]


@pytest.mark.parametrize("packaged", [False, True], ids=["grant", "package"])
@pytest.mark.parametrize(("tool", "arguments"), CORPUS)
def test_what_is_shown_leads_on_for_two_steps(
    demo: Estate,
    demo_token: str,
    demo_package: str,
    demo_closure: Closure,
    tool: str,
    arguments: dict[str, Any],
    packaged: bool,
) -> None:
    token = demo_package if packaged else demo_token
    client = demo.client("http-legacy", token)
    first = client.call(tool, arguments)
    demo_closure.check_result(token, first)
    for next_tool, next_arguments in steps(first)[:4]:
        demo_closure.check_result(token, client.call(next_tool, next_arguments))


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        (name, kind)
        for at, name in enumerate(sorted(AWKWARD))
        for kind in (KINDS if SOAK else KINDS[at % len(KINDS) :][:1])
    ],
)
def test_an_awkward_record_is_found_by_every_handle_of_it(
    demo: Estate, demo_token: str, demo_closure: Closure, name: str, kind: str
) -> None:
    """Each over some way to the server, and in a soak over all of them."""
    client = demo.client(kind, demo_token)
    client.seen.clear()
    handle = Handle(*AWKWARD[name])
    fetched = client.good("fetch", {"id": handle.id})
    assert fetched.structured["id"] == handle.id
    assert client.good("fetch", {"id": record_uri(handle)}).structured == fetched.structured
    scoped = {"id": legacy(handle.id), "connection_id": handle.connection_id}
    assert client.good("fetch", scoped).structured == fetched.structured
    wanted = {"stream": handle.stream, "connection_id": handle.connection_id}
    page = client.good("query_records", {**wanted, "filter": {"id": handle.record_id}})
    for sight in SIGHTS:
        assert see(page, sight).ids == (handle.id,)
    demo_closure.check(client)


def test_both_halves_show_the_same_ids_and_calls(client: Client) -> None:
    shown: list[Step] = [
        ("search", {"query": "kitchen"}),
        ("query_records", {"stream": "documents", "limit": 10}),
        (
            "read_record_field",
            {"id": TRANSCRIPT, "field_path": "body"},
        ),
        ("query_records", {"stream": "messages", "cursor": "edited"}),
        ("aggregate", {"stream": "transactions", "metric": "count", "group_by": "category"}),
        ("schema", {"stream": "messages"}),
    ]
    for tool, arguments in shown:
        result = client.call(tool, arguments)
        text, body = (see(result, sight) for sight in SIGHTS)
        if tool in ("search", "query_records"):
            assert text.ids == body.ids
        keys = {call.key for call in body.calls if call.what != "id"}
        assert {call.key for call in text.calls} <= keys
        spare = [call for call in body.calls if call.key not in {c.key for c in text.calls}]
        assert all(call.tool == "fetch" and call.arguments["id"] in text.ids for call in spare)


def test_a_cursor_of_one_grant_is_refused_under_another_of_the_same_reach(demo: Estate) -> None:
    mine, theirs = (demo.client("http-legacy", grant(demo.store)) for _ in range(2))
    for tool, arguments in (
        ("query_records", {"stream": "photos", "limit": 1}),
        ("search", {"query": "kitchen", "limit": 1}),
    ):
        following = see(mine.good(tool, arguments), "content").passing("cursor")
        assert following is not None
        theirs.refused("invalid_cursor", tool, following.arguments)


def test_a_bookmark_of_one_grant_is_refused_under_another(demo: Estate) -> None:
    mine, theirs = (demo.client("http-legacy", grant(demo.store)) for _ in range(2))
    asked = {"stream": "notebooks", "connection_id": "cin_notes", "changes_since": "beginning"}
    resume = see(mine.good("query_records", asked), "content").passing("changes_since")
    assert resume is not None
    theirs.refused("invalid_cursor", resume.tool, resume.arguments)


def test_a_package_cursor_is_refused_by_every_other_token(post: Estate) -> None:
    token, _ = post.package()
    asked = {"query": "heron", "limit": 1}
    found = post.client("http-legacy", token).good("search", asked)
    following = see(found, "content").passing("cursor")
    assert following is not None
    same, _ = post.package()
    narrower, _ = post.package(Selection(connections=(FIRST, DIARY)))
    for other in (same, narrower, grant(post.store)):
        post.client("http-legacy", other).refused("invalid_cursor", "search", following.arguments)


def test_a_package_cursor_is_bound_to_its_search(post: Estate) -> None:
    token, _ = post.package()
    client = post.client("http-legacy", token)
    found = client.good("search", {"query": "heron", "limit": 1})
    cursor = found.structured["data"]["next_cursor"]
    client.refused("invalid_cursor", "search", {"query": "ferry", "cursor": cursor})
    client.refused(
        "invalid_cursor", "search", {"query": "heron", "streams": ["pages"], "cursor": cursor}
    )


@pytest.mark.parametrize(
    "scope",
    [
        {"connections": (SECOND,)},
        {"connections": (FIRST,), "streams": ("cards",)},
        {"keys": ("linked",)},
    ],
)
def test_an_id_is_refused_where_the_grant_does_not_reach(
    post: Estate, scope: dict[str, Any]
) -> None:
    client = post.client("http-modern", grant(post.store, **scope))
    id = f"{FIRST}/letters:same"
    for form in (id, uri_of(id)):
        for tool, more in (("fetch", {}), ("read_record_field", {"field_path": "body"})):
            refused = client.call(tool, {"id": form, **more})
            assert refused.code in REFUSALS, refused.text
            assert "amber" not in refused.text


def test_an_address_without_a_connection_takes_one_beside_it(post: Estate, postman: Client) -> None:
    uri = record_uri(parse_handle("letters:same"))
    postman.refused("ambiguous_connection", "fetch", {"id": uri})
    found = postman.good("fetch", {"id": uri, "connection_id": SECOND})
    assert "cobalt" in found.structured["text"]


def test_a_revoked_grant_closes_what_it_has_shown(post: Estate) -> None:
    token, grants = post.package()
    client = post.client("http-legacy", token)
    put(post.store, FIRST, "letters", {"id": "closing", "body": "A pelican."})
    put(post.store, SECOND, "letters", {"id": "closing", "body": "A pelican."})
    found = client.good("search", {"query": "pelican", "limit": 1})
    shown = {
        id: see(client.good("fetch", {"id": id}), "content") for id in see(found, "content").ids
    }
    [id] = shown
    revoke_grant(post.store, grants[parse_handle(id).connection_id or ""])
    client.refused("grant_revoked", "fetch", {"id": id})
    following = see(found, "content").passing("cursor")
    assert following is not None
    rest = client.good(following.tool, following.arguments)
    assert id not in see(rest, "content").ids
