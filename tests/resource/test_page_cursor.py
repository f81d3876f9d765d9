"""Cursors are short whatever records are sorted by, and pages keep their promise."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.serving import World, living, planted_store

STREAM = "/v1/streams/papers/records"
LONGEST_CURSOR = 500
SHARED = "In the beginning there was a very long title that many papers share, " * 70

DECLARATION: dict[str, Any] = {
    "protocol_version": "0.1.0",
    "source": {"kind": "connector", "id": "https://sources.example/papers"},
    "connector_key": "papers",
    "declaration_version": "1",
    "publisher": {"id": "https://sources.example"},
    "display": {"name": "Papers"},
    "streams": [
        {
            "name": "papers",
            "semantics": "mutable_state",
            "schema": {
                "type": "object",
                "properties": {
                    "id": {"type": "string"},
                    "title": {"type": "string", "x_pdpp_role": "primary-title"},
                    "rank": {"type": "integer"},
                },
            },
            "primary_key": ["id"],
            "query": {
                "range_filters": {
                    "title": ["gte", "gt", "lte", "lt"],
                    "rank": ["gte", "gt", "lte", "lt"],
                }
            },
        }
    ],
}


def paper(number: int) -> dict[str, Any]:
    """Return a paper; the titles of most differ only after thousands of characters."""
    title = f"{SHARED}{number:03}" if number % 4 else f"A short one, {number:03}"
    return {"id": f"p{number:03}", "title": title, "rank": 10 * number}


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    records = {("home", "papers"): [paper(number) for number in range(40)]}
    with living(planted_store(tmp_path, DECLARATION, {"home": "Home"}, records)) as served:
        yield served


def pages(client: httpx.Client, **asked: Any) -> Iterator[list[dict[str, Any]]]:
    """Yield pages to the end; between two of them a test can write."""
    cursor: dict[str, str] = {}
    while True:
        body = client.get(STREAM, params={**asked, **cursor}).json()
        yield body["data"]
        if not body["has_more"]:
            return
        assert len(body["next_cursor"]) <= LONGEST_CURSOR
        cursor = {"cursor": body["next_cursor"]}


def ids(read: Iterator[list[dict[str, Any]]]) -> list[str]:
    return [record["id"] for page in read for record in page]


@pytest.mark.parametrize("sort", ["title", "-title"])
@pytest.mark.parametrize("limit", [1, 3, 7])
def test_long_sort_values_page_in_order_and_their_cursors_are_short(
    world: World, sort: str, limit: int
) -> None:
    expected = sorted((paper(number) for number in range(40)), key=lambda one: str(one["title"]))
    wanted = [str(one["id"]) for one in expected]
    if sort.startswith("-"):
        wanted.reverse()
    assert ids(pages(world.client(), sort=sort, limit=limit)) == wanted


@pytest.mark.parametrize("sort", ["title", "-title"])
@pytest.mark.parametrize("ending", ["changed", "deleted"])
def test_a_long_value_that_went_away_under_a_cursor_loses_no_record(
    world: World, sort: str, ending: str
) -> None:
    read = pages(world.client(), sort=sort, limit=15)
    seen = [record["id"] for record in next(read)]
    last = seen[-1]
    if ending == "changed":
        world.put("home", "papers", {**paper(int(last[1:])), "title": "Now a short one"})
    else:
        world.owner().delete(f"{STREAM}/{last}").raise_for_status()
    seen += ids(read)
    stayed = {f"p{number:03}" for number in range(40)} - {last}
    assert stayed <= set(seen)
    again = [name for name in stayed if seen.count(name) > 1]
    assert all(paper(int(name[1:]))["title"].startswith(SHARED[:40]) for name in again)


@pytest.mark.parametrize(("move", "times"), [(-1, 1), (1_000, 2)])
def test_a_record_is_shown_once_for_each_place_it_has_after_the_cursor(
    world: World, move: int, times: int
) -> None:
    """Whose sort value does not change is shown once; one that moves ahead is met again."""
    read = pages(world.client(), sort="rank", limit=10)
    seen = [record["id"] for record in next(read)]
    world.put("home", "papers", {**paper(5), "rank": move})
    seen += ids(read)
    counts = {name: seen.count(name) for name in set(seen)}
    assert counts.pop("p005") == times
    assert set(counts) == {f"p{number:03}" for number in range(40)} - {"p005"}
    assert set(counts.values()) == {1}


def test_a_record_that_moves_behind_the_cursor_before_it_was_met_is_not_shown(
    world: World,
) -> None:
    read = pages(world.client(), sort="rank", limit=10)
    seen = [record["id"] for record in next(read)]
    world.put("home", "papers", {**paper(30), "rank": 1})
    seen += ids(read)
    assert "p030" not in seen
    assert len(seen) == len(set(seen)) == 39
