"""Packages: several grants under one token, read as one where that is clear and never guessed."""

import asyncio
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.engine import copy_store, open_store, revoke_grant, revoke_package
from tests.mcp.host import Host, Inside, inside, package
from tests.mcp.post import declaration
from tests.mcp.shelf import NOTES, TEXT, stream
from tests.mcp.sight import object_calls, text_calls
from tests.serving import living, plant, planted_store, put, refused
from tests.soak import SOAK

from pdpp.authz.selection import Selection
from pdpp.mcp.reading import package as packages
from pdpp.mcp.reading import package_cursor
from pdpp.mcp.reading.transport import HttpReply
from pdpp.model import instant
from pdpp.model.grant import Interval
from pdpp.store.port import Store

CHILDREN = 24
OWN = stream(
    "own",
    {"body": {**TEXT, "x_pdpp_role": "body"}, "colour": TEXT},
    query={"search": {"lexical_fields": ["body"]}},
)

DATED = stream(
    "dated",
    {"body": TEXT, "at": {"type": "string", "format": "date-time"}},
    consent_time_field="at",
    query={"search": {"lexical_fields": ["body"]}, "range_filters": {"at": ["lt"]}},
)


def connections() -> list[str]:
    return [f"cin_{number:02}" for number in range(CHILDREN)]


def many(folder: Path) -> Store:
    """Open a store of many connections; every third also has a stream of another source."""
    store = planted_store(
        folder,
        declaration("shelf", NOTES),
        {id: f"Shelf {id}" for id in connections()},
        {
            (id, "notes"): [
                {"id": f"n-{number}", "title": f"{id} {number}", "body": f"kiln {'x ' * number}"}
                for number in range(order % 7)
            ]
            for order, id in enumerate(connections())
        },
    )
    plant(store, declaration("other", OWN), {"cin_own": "Own"})
    plant(store, declaration("third", NOTES, OWN), {"cin_both": "Both"})
    with_own = [{"id": "o-1", "body": "kiln of one's own", "colour": "red"}]
    for id in ("cin_own", "cin_both"):
        put(store, id, "own", *with_own)
    return store


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a store of many connections, which each test has a copy of."""
    folder = tmp_path_factory.mktemp("filled") / "store"
    many(folder).close()
    return folder


@pytest.fixture
def world(filled: Path, tmp_path: Path) -> Iterator[Inside]:
    copy_store(filled, tmp_path / "store")
    with inside(open_store(tmp_path / "store")) as made:
        yield made


@pytest.fixture
def token(world: Inside) -> str:
    return package(world.store)[0]


@pytest.fixture
def host(world: Inside, token: str) -> Host:
    return world.host(token)


def all_ids(host: Host, **arguments: Any) -> list[str]:
    found: list[str] = []
    for page in host.pages("search", arguments):
        hits = [hit["id"] for hit in page.structured["results"]]
        assert len(hits) <= arguments.get("limit", 10)
        found += hits
    return found


def expected() -> set[str]:
    notes = {
        f"{id}/notes:n-{number}"
        for order, id in enumerate(connections())
        for number in range(order % 7)
    }
    return notes | {"cin_own/own:o-1", "cin_both/own:o-1"}


# Search


@pytest.mark.parametrize("limit", [1, 3, 10, 100])
def test_a_search_over_many_grants_shows_every_hit_once(host: Host, limit: int) -> None:
    ids = all_ids(host, query="kiln", limit=limit)
    assert len(ids) == len(set(ids))
    assert set(ids) == expected()


def test_the_order_of_hits_does_not_depend_on_the_size_of_pages(host: Host) -> None:
    assert all_ids(host, query="kiln", limit=100) == all_ids(host, query="kiln", limit=7)


def test_hits_of_equal_worth_are_taken_from_the_sources_in_turn(world: Inside) -> None:
    chosen = Selection(connections=("cin_20", "cin_19", "cin_18"))
    host = world.host(package(world.store, chosen)[0])
    first = host.good("search", {"query": "kiln", "limit": 3}).structured["results"]
    assert sorted(hit["connection_id"] for hit in first) == ["cin_18", "cin_19", "cin_20"]


def test_all_grants_are_searched_in_one_request(world: Inside, host: Host) -> None:
    host.good("search", {"query": "kiln"})
    assert world.transport.grants == [None]


def test_grants_that_are_asked_different_things_are_asked_each_under_its_own_name(
    world: Inside, host: Host
) -> None:
    host.good("search", {"query": "kiln", "streams": ["own", "notes"]})
    assert len(world.transport.targets) == CHILDREN + 2
    assert len(set(world.transport.grants)) == CHILDREN + 2
    assert None not in world.transport.grants


def apart(world: Inside, status: int = 503) -> None:
    """Let the server be too busy for a search of all grants at once."""
    error = {"type": "api_error", "code": "overloaded", "message": "Too much at once."}
    reply = HttpReply(status, {}, json.dumps({"error": error}).encode())

    async def refuse(target: str, headers: Mapping[str, str]) -> HttpReply | None:
        return reply if "PDPP-Grant" not in headers and "/search" in target else None

    world.transport.before = refuse


@pytest.mark.parametrize("limit", [1 if SOAK else 3, 10, 100])
def test_grants_that_do_not_answer_together_are_searched_one_by_one(
    world: Inside, host: Host, limit: int
) -> None:
    apart(world)
    ids = all_ids(host, query="kiln", limit=limit)
    assert len(ids) == len(set(ids))
    assert set(ids) == expected()


def test_a_grant_with_most_of_the_best_hits_is_asked_for_more_of_them(tmp_path: Path) -> None:
    rich = [{"id": f"n-{n}", "title": "kiln", "body": "kiln kiln kiln"} for n in range(40)]
    poor = [{"id": "n-0", "body": "kiln " + "x " * 200}]
    ids = ["cin_a", "cin_b", "cin_c", "cin_d"]
    records = {(id, "notes"): rich if id == "cin_c" else poor for id in ids}
    names = {id: f"Shelf {id}" for id in ids}
    with inside(planted_store(tmp_path, declaration("shelf", NOTES), names, records)) as world:
        host = world.host(package(world.store)[0])
        apart(world)
        first = host.good("search", {"query": "kiln", "limit": 10}).structured["results"]
        assert len(world.targets()) == 1 + len(ids) + 1
        assert {hit["connection_id"] for hit in first} == {"cin_c"}
        found = all_ids(host, query="kiln", limit=10)
    assert len(found) == len(set(found)) == 43
    assert found[:40] == [id for id in found if id.startswith("cin_c/")]


def test_a_server_that_wants_fewer_requests_does_not_get_more(world: Inside, host: Host) -> None:
    apart(world, 429)
    host.refused("overloaded", "search", {"query": "kiln"})
    assert len(world.targets()) == 1


def test_a_list_begun_together_is_not_gone_on_with_otherwise(
    world: Inside, host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packages, "PAGE_SECONDS", 0.05)
    page = host.good("search", {"query": "kiln", "limit": 2}).structured
    [following] = [c for c in object_calls(page["next"]) if c.tool == "search"]
    apart(world)
    host.refused("overloaded", "search", following.arguments)

    async def hold(_: str, __: Mapping[str, str]) -> HttpReply | None:
        await asyncio.Event().wait()
        return None

    world.transport.before = hold
    host.refused("overloaded", "search", following.arguments)
    world.transport.before = None
    monkeypatch.setattr(packages, "PAGE_SECONDS", 60.0)
    assert host.good("search", following.arguments).structured["results"]


def test_a_grant_for_another_time_is_named_and_the_others_answer(tmp_path: Path) -> None:
    rows = [{"id": "d-1", "body": "kiln", "at": "2020-01-01T00:00:00Z"}]
    store = planted_store(
        tmp_path,
        declaration("shelf", DATED),
        {"cin_old": "Old", "cin_new": "New"},
        {("cin_old", "dated"): rows, ("cin_new", "dated"): rows},
    )
    lately = Interval(since=instant.parse("2025-01-01T00:00:00Z"))
    token, _ = package(
        store,
        Selection(connections=("cin_old",)),
        Selection(connections=("cin_new",), time=lately),
    )
    with inside(store) as world:
        asked = {"query": "kiln", "filter": {"at": {"lt": "2021-01-01T00:00:00Z"}}}
        found = world.host(token).good("search", asked)
    assert [hit["id"] for hit in found.structured["results"]] == ["cin_old/dated:d-1"]
    [other] = found.structured["content_ladder"]["unavailable_connections"]
    assert (other["connection_id"], other["code"]) == ("cin_new", "grant_time_range_exceeded")


def test_some_grants_are_asked_at_the_same_time_and_never_more(world: Inside, host: Host) -> None:
    waiting = most = 0
    enough = asyncio.Event()

    async def until_enough_wait(_: str, __: Mapping[str, str]) -> HttpReply | None:
        nonlocal waiting, most
        waiting += 1
        most = max(most, waiting)
        if waiting == packages.AT_ONCE:
            enough.set()
        await asyncio.wait_for(enough.wait(), 5)
        waiting -= 1
        return None

    world.transport.before = until_enough_wait
    found = host.good("search", {"query": "kiln", "streams": ["own", "notes"]})
    assert most == packages.AT_ONCE
    assert len(world.transport.targets) == CHILDREN + 2
    assert "unavailable_connections" not in found.structured["content_ladder"]


def test_a_grant_without_the_stream_is_not_asked(world: Inside, host: Host) -> None:
    found = host.good("search", {"query": "kiln", "streams": ["own"]})
    assert {hit["id"] for hit in found.structured["results"]} == {
        "cin_own/own:o-1",
        "cin_both/own:o-1",
    }
    [target] = world.targets()
    assert target.count("streams%5B%5D=") == target.count("streams%5B%5D=own") == 1
    host.good("search", {"query": "kiln", "streams": ["own", "nothing"]})
    assert "nothing" not in world.targets()[0]


def test_each_grant_is_asked_only_for_streams_it_opens(world: Inside, host: Host) -> None:
    host.good("search", {"query": "kiln", "streams": ["own", "notes"]})
    asked = sorted(target.count("streams%5B%5D=") for target in world.targets())
    assert asked == [1] * (CHILDREN + 1) + [2]


def test_a_stream_that_no_grant_opens_asks_nobody(world: Inside, host: Host) -> None:
    error = host.refused(
        "grant_stream_not_allowed", "search", {"query": "kiln", "streams": ["nothing"]}
    )
    assert "'nothing'" in error["message"]
    assert error["param"] == "streams"
    assert world.targets() == []


def test_a_search_of_one_connection_asks_its_grant_alone(world: Inside, host: Host) -> None:
    found = host.good("search", {"query": "kiln", "connection_id": "cin_04"})
    assert {hit["connection_id"] for hit in found.structured["results"]} == {"cin_04"}
    assert len(world.targets()) == 1
    host.refused("invalid_request", "search", {"query": "kiln", "connection_id": "cin_no"})
    assert world.targets() == []


def test_the_text_says_which_sources_the_hits_are_from(host: Host) -> None:
    found = host.good("search", {"query": "kiln"})
    mix = next(line for line in found.text.split("\n") if line.startswith("sources: "))
    sources = {hit["connection_id"] for hit in found.structured["results"]}
    assert len(sources) > 1
    assert all(f"({source})" in mix for source in sources)


def of_years(folder: Path) -> Store:
    years = {"cin_a": 2020, "cin_b": 2020, "cin_c": 2021}
    rows = {
        (id, "dated"): [{"id": "d-1", "body": "kiln", "at": f"{year}-05-01T00:00:00Z"}]
        for id, year in years.items()
    }
    names = {id: f"Shelf {id}" for id in years}
    return planted_store(folder, declaration("shelf", DATED), names, rows)


@pytest.mark.parametrize("way", ["together", "apart"])
@pytest.mark.parametrize(("asked", "told"), [("May 2020", 0), ("May 2021", 0), ("May 2019", 1)])
def test_a_time_is_called_empty_once_and_only_if_it_is_so_in_every_account(
    tmp_path: Path, asked: str, told: int, way: str
) -> None:
    with inside(of_years(tmp_path)) as world:
        host = world.host(package(world.store)[0])
        if way == "apart":
            apart(world)
        found = host.good("search", {"query": f"kiln in {asked}"})
    assert len(found.structured["results"]) == 3
    assert len(found.structured["data"]["meta"]["warnings"]) == told
    assert found.text.count("is of the time") == told


@pytest.mark.parametrize("way", ["together", "apart"])
def test_a_time_is_not_called_empty_where_the_accounts_that_have_it_are_shown_already(
    tmp_path: Path, way: str
) -> None:
    with inside(of_years(tmp_path)) as world:
        host = world.host(package(world.store)[0])
        if way == "apart":
            apart(world)
        paged = list(host.pages("search", {"query": "kiln in May 2020", "limit": 1}))
    assert [page.structured["data"]["meta"]["warnings"] for page in paged] == [[], [], []]


@pytest.mark.parametrize("way", ["together", "apart"])
def test_a_source_that_cannot_filter_is_left_out_and_named(
    world: Inside, host: Host, way: str
) -> None:
    if way == "apart":
        apart(world)
    found = host.good("search", {"query": "kiln", "filter": {"colour": "red"}})
    assert len(found.structured["results"]) == 2
    assert "left out: " in found.text
    assert "cin_00" in found.structured["data"]["meta"]["warnings"][-1]["message"]
    error = host.refused("unknown_field", "search", {"query": "kiln", "filter": {"no": "x"}})
    assert "unavailable_connections" not in error


@pytest.mark.parametrize("streams", [["notes"], ["own", "notes"]])
def test_a_refusal_of_the_question_itself_reaches_the_model(host: Host, streams: list[str]) -> None:
    assert host.refused("invalid_request", "search", {"query": "*", "streams": streams})["param"]
    assert host.refused("invalid_request", "search", {"query": "*"})["param"]


# Cursors


def test_a_cursor_is_short_even_with_many_grants_deep_in_their_lists(
    world: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(package_cursor, "MOST_CURSOR_CHARS", 400)
    apart(world)
    host = world.host(package(world.store)[0])
    ids: list[str] = []
    lengths = []
    for page in host.pages("search", {"query": "kiln", "limit": 2}):
        ids += [hit["id"] for hit in page.structured["results"]]
        lengths.append(len(page.structured["data"].get("next_cursor", "")))
    assert max(lengths) < 500
    assert len(ids) == len(set(ids))
    assert set(ids) == expected()


def test_a_place_without_its_cursor_is_found_again_by_counting(
    world: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(package_cursor, "MOST_CURSOR_CHARS", 0)
    apart(world)
    chosen = Selection(connections=("cin_06", "cin_13"))
    host = world.host(package(world.store, chosen)[0])
    ids = all_ids(host, query="kiln", limit=2)
    assert len(ids) == len(set(ids)) == 12


def test_a_place_that_no_longer_exists_ends_its_list(world: Inside) -> None:
    token, grants = package(world.store, Selection(connections=("cin_06", "cin_13")))
    host = world.host(token)
    apart(world)
    found = host.good("search", {"query": "kiln", "limit": 2})
    cursor = found.structured["data"]["next_cursor"]
    mark = cursor.partition("~")[0]
    beyond = host.good("search", {"query": "kiln", "cursor": f"{mark}~0.500.0.~1.5.0."})
    assert len(beyond.structured["results"]) == 1
    assert len(grants) == 2


@pytest.mark.parametrize("way", ["together", "apart"])
@pytest.mark.parametrize("change", ["query", "streams", "filter", "mode", "edit", "token"])
def test_a_cursor_is_good_for_its_own_search_alone(
    world: Inside, host: Host, change: str, way: str
) -> None:
    if way == "apart":
        apart(world)
    found = host.good("search", {"query": "kiln", "limit": 2})
    [following] = [c for c in object_calls(found.structured["next"]) if c.tool == "search"]
    arguments: dict[str, Any] = dict(following.arguments)
    cursor = arguments["cursor"]
    if change == "token":
        host = world.host(package(world.store)[0])
    elif change == "edit":
        arguments["cursor"] = cursor[:-3] + "x.y"
    else:
        changed: dict[str, Any] = {
            "query": "own",
            "streams": ["notes"],
            "filter": {"id": "n-1"},
            "mode": "hybrid",
        }
        arguments[change] = changed[change]
    world.targets()
    host.refused("invalid_cursor", "search", arguments)
    assert len(world.targets()) == (1 if way == "together" else 0)
    world.transport.before = None
    mark = cursor.partition("~")[0] if way == "apart" else cursor[:12]
    for wrong in ("~", mark, f"{cursor}~99.0.0.", f"{cursor}~-1.0.0."):
        host.refused("invalid_cursor", "search", {"query": "kiln", "limit": 2, "cursor": wrong})


def test_the_way_out_of_a_bad_cursor_is_the_search_without_it(host: Host) -> None:
    result = host.call("search", {"query": "kiln", "cursor": "nonsense"})
    [again] = object_calls(result.structured)
    assert again.arguments == {"query": "kiln"}
    assert [call.key for call in text_calls(result.text)] == [again.key]


# Grants that cannot be used


def test_a_revoked_grant_is_named_and_the_others_answer(world: Inside) -> None:
    token, grants = package(world.store)
    host = world.host(token)
    first = host.good("search", {"query": "kiln", "limit": 5})
    revoke_grant(world.store, grants["cin_06"])
    [following] = [c for c in object_calls(first.structured["next"]) if c.tool == "search"]
    second = host.good(following.tool, following.arguments)
    [gone] = second.structured["content_ladder"]["unavailable_connections"]
    assert (gone["connection_id"], gone["code"]) == ("cin_06", "grant_revoked")
    assert "unavailable: cin_06 (grant_revoked)" in second.text
    assert all(hit["connection_id"] != "cin_06" for hit in second.structured["results"])
    index = host.good("schema")
    assert "unavailable: cin_06 (grant_revoked)" in index.text
    [gone] = index.structured["data"]["unavailable_connections"]
    assert gone["connection_id"] == "cin_06"
    assert "(cin_06)" not in index.text.replace("unavailable: cin_06", "")


def test_a_list_goes_on_when_all_grants_but_one_are_revoked(world: Inside) -> None:
    token, grants = package(world.store, Selection(connections=("cin_06", "cin_13")))
    host = world.host(token)
    first = host.good("search", {"query": "kiln", "limit": 3}).structured
    revoke_grant(world.store, grants["cin_13"])
    [following] = [c for c in object_calls(first["next"]) if c.tool == "search"]
    rest = host.good(following.tool, {**following.arguments, "limit": 10}).structured
    shown = {hit["id"] for page in (first, rest) for hit in page["results"]}
    assert {id for id in shown if id.startswith("cin_06/")} == {
        f"cin_06/notes:n-{number}" for number in range(6)
    }
    [gone] = rest["content_ladder"]["unavailable_connections"]
    assert (gone["connection_id"], gone["code"]) == ("cin_13", "grant_revoked")


def test_a_revoked_grant_is_never_offered(world: Inside) -> None:
    chosen = Selection(connections=tuple(connections()[:5]))
    token, grants = package(world.store, chosen)
    host = world.host(token)
    revoke_grant(world.store, grants["cin_03"])
    error = host.refused("ambiguous_connection", "query_records", {"stream": "notes"})
    offered = [choice["connection_id"] for choice in error["available_connections"]]
    assert offered == ["cin_00", "cin_01", "cin_02", "cin_04"]
    assert error["total"] == 4
    [gone] = error["unavailable_connections"]
    assert (gone["connection_id"], gone["code"]) == ("cin_03", "grant_revoked")
    asked = {"stream": "notes", "connection_id": "cin_03"}
    host.refused("grant_revoked", "query_records", asked)


def test_when_every_grant_refuses_the_refusal_is_typed(world: Inside) -> None:
    chosen = Selection(connections=("cin_01", "cin_02"))
    token, grants = package(world.store, chosen)
    host = world.host(token)
    page = host.good("search", {"query": "kiln", "limit": 1}).structured["data"]
    cursor = page["next_cursor"]
    for grant_id in grants.values():
        revoke_grant(world.store, grant_id)
    for tool, arguments in (
        ("search", {"query": "kiln"}),
        ("search", {"query": "kiln", "cursor": cursor}),
        ("schema", {}),
    ):
        error = host.refused("grant_revoked", tool, arguments)
        gone = [child["connection_id"] for child in error["unavailable_connections"]]
        assert gone == ["cin_01", "cin_02"]


def test_many_unavailable_grants_leave_room_for_the_hits(world: Inside) -> None:
    token, grants = package(world.store)
    host = world.host(token)
    for id in connections()[1:]:
        revoke_grant(world.store, grants[id])
    found = host.good("search", {"query": "kiln"})
    assert len(found.structured["results"]) == 2
    gone = found.structured["content_ladder"]["unavailable_connections"]
    assert [child["connection_id"] for child in gone] == connections()[1:]
    assert {child["code"] for child in gone} == {"grant_revoked"}


def slow(world: Inside, connection: str, grants: Mapping[str, str]) -> None:
    """Let all grants together be slow, and one of them when each is asked."""

    async def hold(_: str, headers: Mapping[str, str]) -> HttpReply | None:
        if "PDPP-Grant" not in headers:
            await asyncio.Event().wait()
        if headers["PDPP-Grant"] == grants[connection]:
            raise TimeoutError  # As its deadline would; that of the others must not depend on load.
        return None

    world.transport.before = hold


def test_a_slow_grant_is_named_as_missing_and_does_not_hold_the_answer(
    world: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packages, "TOGETHER_SECONDS", 0.05)
    token, grants = package(world.store)
    host = world.host(token)
    slow(world, "cin_06", grants)
    found = host.good("search", {"query": "kiln", "limit": 100})
    [late] = found.structured["content_ladder"]["unavailable_connections"]
    assert (late["connection_id"], late["code"]) == ("cin_06", "timed_out")
    assert "unavailable: cin_06 (timed_out)" in found.text
    assert len(found.structured["results"]) > 10
    assert "unavailable: cin_06 (timed_out)" in host.good("schema").text


@pytest.mark.parametrize("way", ["late", "overloaded"])
def test_the_hits_of_a_grant_that_was_late_once_come_with_a_later_page(
    world: Inside, way: str
) -> None:
    token, grants = package(world.store)
    host = world.host(token)
    error = {"type": "api_error", "code": "overloaded", "message": "Too much at once."}
    busy = HttpReply(503, {}, json.dumps({"error": error}).encode())
    late = {grants["cin_06"], grants["cin_20"]}

    async def fail_once(_: str, headers: Mapping[str, str]) -> HttpReply | None:
        grant = headers.get("PDPP-Grant")
        if grant is None:
            return busy
        if grant not in late:
            return None
        late.remove(grant)
        if way == "late":
            raise TimeoutError  # As the deadline of the request would.
        return busy

    world.transport.before = fail_once
    pages = list(host.pages("search", {"query": "kiln", "limit": 5}))
    gone = pages[0].structured["content_ladder"]["unavailable_connections"]
    assert {one["connection_id"] for one in gone} == {"cin_06", "cin_20"}
    ids = [hit["id"] for page in pages for hit in page.structured["results"]]
    assert len(ids) == len(set(ids))
    assert set(ids) == expected()
    assert {len(page.structured["results"]) for page in pages[:-1]} == {5}


def test_when_no_grant_answers_in_time_that_is_said(
    world: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packages, "TOGETHER_SECONDS", 0.05)
    monkeypatch.setattr(packages, "CHILD_SECONDS", 0.05)
    host = world.host(package(world.store, Selection(connections=("cin_01", "cin_02")))[0])

    async def hold(_: str, __: Mapping[str, str]) -> HttpReply | None:
        await asyncio.Event().wait()
        return None

    world.transport.before = hold
    error = host.refused("overloaded", "search", {"query": "kiln"})
    assert {child["code"] for child in error["unavailable_connections"]} == {"timed_out"}


# A source must be named


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("query_records", {"stream": "notes"}),
        ("aggregate", {"stream": "notes", "metric": "count"}),
        ("fetch", {"id": "notes:n-1"}),
        ("read_record_field", {"id": "notes:n-1", "field_path": "body"}),
        ("read_record_field", {"stream": "notes", "record_id": "n-1", "field_path": "body"}),
        ("schema", {"stream": "notes", "detail": "full"}),
    ],
)
def test_a_read_that_names_no_source_is_refused_at_once_with_the_choices(
    world: Inside, host: Host, tool: str, arguments: dict[str, Any]
) -> None:
    result = host.call(tool, arguments)
    assert result.code == "ambiguous_connection"
    assert world.targets() == []
    error = result.structured["error"]
    assert error["retry_with"] == "connection_id"
    assert error["total"] == CHILDREN + 1
    assert error["truncated"] is True
    assert 1 <= len(error["available_connections"]) <= 12
    calls = {call.key: call for call in object_calls(result.structured)}
    assert set(calls) == {call.key for call in text_calls(result.text)}
    assert "schema {}" in result.text
    retries = [call for call in calls.values() if call.tool == tool and call.arguments]
    assert [c for c in retries if "connection_id" in c.arguments]
    for call in retries:
        if call.arguments.get("connection_id") == "cin_05":
            host.good(call.tool, call.arguments)


def test_one_grant_alone_needs_no_choice(world: Inside) -> None:
    host = world.host(package(world.store, Selection(connections=("cin_05",)))[0])
    assert host.good("query_records", {"stream": "notes"}).structured["data"]["data"]
    assert host.good("fetch", {"id": "notes:n-1"}).structured["id"] == "cin_05/notes:n-1"
    assert host.good("search", {"query": "kiln"}).structured["results"]


def test_a_read_that_names_its_source_goes_through_its_grant(world: Inside) -> None:
    token, grants = package(world.store)
    host = world.host(token)
    host.good("query_records", {"stream": "notes", "connection_id": "cin_05"})
    assert set(world.transport.grants) == {grants["cin_05"]}


# Schema


def test_the_index_is_of_all_grants(host: Host) -> None:
    index = host.good("schema").structured["data"]
    assert index["stream_count"] == CHILDREN + 3
    assert [c["connector_key"] for c in index["connectors"]] == ["other", "shelf", "third"]
    assert [len(c["granted_connections"]) for c in index["connectors"]] == [1, CHILDREN, 1]


def test_a_stream_is_described_for_every_grant_that_opens_it(world: Inside, host: Host) -> None:
    found = host.good("schema", {"stream": "own"})
    assert len(world.targets()) == 2
    assert "cin_own" in found.text
    assert "cin_both" in found.text
    one = host.good("schema", {"stream": "own", "connection_id": "cin_both"})
    assert "cin_own" not in one.text


def test_grants_of_different_fields_are_described_apart(world: Inside) -> None:
    some = Selection(connections=("cin_01",), fields=("id", "title"))
    token = package(world.store, some, Selection(connections=("cin_02", "cin_03")))[0]
    found = world.host(token).good("schema", {"stream": "notes"})
    rows = found.structured["data"]["connectors"][0]["streams"]
    assert [list(row["record_counts"]) for row in rows] == [["cin_01"], ["cin_02", "cin_03"]]
    assert "body" not in rows[0]["field_capabilities"]


def test_a_stream_of_no_grant_is_refused(host: Host) -> None:
    host.refused("grant_stream_not_allowed", "schema", {"stream": "nothing"})


# Blobs


def test_a_blob_that_no_grant_shows_is_not_found(host: Host) -> None:
    host.refused("blob_not_found", "fetch", {"id": "pdpp://blob/" + "0" * 64})


# The token at the resource server itself


def test_at_the_resource_server_a_package_reads_through_its_good_grants(tmp_path: Path) -> None:
    store = many(tmp_path)
    token, grants = package(store, Selection(connections=("cin_01", "cin_02", "cin_03")))
    with living(store) as world:
        client = world.server.client(token)
        index = client.get("/v1/schema").json()
        assert index["stream_count"] == 3
        page = client.get("/v1/search", params={"q": "kiln", "limit": 2}).json()
        refused(client.get("/v1/streams/notes/records"), 409, "ambiguous_connection")
        one = {"connection_id": "cin_02"}
        assert len(client.get("/v1/streams/notes/records", params=one).json()["data"]) == 2
        chosen = world.server.client(token, **{"PDPP-Grant": grants["cin_03"]})
        assert len(chosen.get("/v1/streams/notes/records").json()["data"]) == 3
        again = {"q": "kiln", "limit": 2, "cursor": page["next_cursor"]}
        refused(chosen.get("/v1/search", params=again), 400, "invalid_cursor")
        stranger = world.server.client(token, **{"PDPP-Grant": "grt_no"})
        refused(stranger.get("/v1/schema"), 403, "grant_invalid")
        revoke_grant(store, grants["cin_03"])
        assert client.get("/v1/schema").json()["stream_count"] == 2
        refused(chosen.get("/v1/schema"), 403, "grant_revoked")


def test_a_revoked_package_is_refused_by_the_very_next_call(tmp_path: Path) -> None:
    store = many(tmp_path)
    token, grants = package(store)
    with living(store) as world:
        client = world.server.client(token)
        page = client.get("/v1/search", params={"q": "kiln", "limit": 2}).json()
        found = store.vault.grant(grants["cin_00"])
        assert found is not None
        assert found.package_id is not None
        revoke_package(store, found.package_id)
        again = {"q": "kiln", "limit": 2, "cursor": page["next_cursor"]}
        refused(client.get("/v1/search", params=again), 403, "grant_revoked")
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        answer = client.post("/mcp", json=message)
        assert answer.status_code == 403
        assert answer.json()["error"]["code"] == "grant_revoked"
