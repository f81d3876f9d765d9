"""The page of a search: as many hits as fit, and the cursor right after them."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest
from tests.mcp.client import Client, Estate

from pdpp.evidence.text import json_text
from pdpp.mcp.reading.reader import GrantReader
from pdpp.mcp.reading.resource_client import ResourceClient
from pdpp.mcp.reading.transport import HttpReply
from pdpp.mcp.tools.search import search


class Shelf:
    """A server of ten hits whose titles are so long; it tells the cursors after the last few."""

    origin = "https://data.example"

    def __init__(self, title_chars: int, tells: int) -> None:
        self.hits = [
            {
                "id": f"c/s:{number}",
                "connection_id": "c" if number % 2 else "d",
                "stream": "s",
                "record_key": str(number),
                "title": "t" * title_chars,
                "note": "n" * 700,
            }
            for number in range(10)
        ]
        self.tells = tells
        self.asked: list[str] = []

    async def send(self, _method: str, target: str, headers: Mapping[str, str]) -> HttpReply:
        """Answer with the first hits, as many as were asked for."""
        self.asked.append(target)
        assert int(headers["PDPP-Room"]) > 1_000
        hits = self.hits[: int(target.rpartition("limit=")[2])]
        body = {"object": "list", "url": target, "data": hits, "has_more": len(hits) < 10}
        if len(hits) < 10:
            body["next_cursor"] = f"C{len(hits)}" * 40
        numbers = range(max(0, len(hits) - self.tells), len(hits))
        cursors = ",".join(f"C{number + 1}" * 40 for number in numbers)
        told = {"pdpp-cursors": cursors} if self.tells else {}
        return HttpReply(200, told, json.dumps(body).encode())


def found_on(shelf: Shelf) -> dict[str, Any]:
    reading = GrantReader(ResourceClient(shelf, "t"), {}, "key")
    return asyncio.run(search(reading, {"query": "a"}))


@pytest.mark.parametrize("tells", [10, 2, 0])
def test_a_page_is_as_long_as_fits_and_goes_on_after_its_last_hit(tells: int) -> None:
    lengths: set[int] = set()
    for title_chars in range(1, 240, 4):
        shelf = Shelf(title_chars, tells)
        found = found_on(shelf)
        structured = found["structuredContent"]
        assert len(json_text(structured)) <= 10_000
        shown = [hit["id"] for hit in structured["results"]]
        lengths.add(len(shown))
        assert shown == [hit["id"] for hit in shelf.hits[: len(shown)]]
        assert [hit["id"] for hit in structured["data"]["data"]] == shown
        assert [rung["id"] for rung in structured["content_ladder"]["records"]] == shown
        calls = structured.get("next", [])
        if len(shown) == 10:
            assert calls == []
        else:
            assert [call["arguments"]["cursor"] for call in calls] == [f"C{len(shown)}" * 40]
            one_more = json_text([structured["data"]["data"][0], structured["results"][0]])
            assert len(json_text(structured)) + 2 * len(one_more) > 10_000
        assert len(shelf.asked) == 1 or len(shown) <= 10 - tells
    assert {8, 9, 10} <= lengths


def test_the_length_of_a_page_does_not_depend_on_earlier_ones() -> None:
    shelf = Shelf(200, tells=10)
    reading = GrantReader(ResourceClient(shelf, "t"), {}, "key")
    long = asyncio.run(search(reading, {"query": "a"}))
    shelf.hits = Shelf(1, tells=10).hits
    assert asyncio.run(search(reading, {"query": "a"})) == found_on(Shelf(1, tells=10))
    shelf.hits = Shelf(200, tells=10).hits
    assert asyncio.run(search(reading, {"query": "a"})) == long


def test_a_search_that_finds_nothing_says_how_many_streams_it_searched(
    client: Client, demo: Estate
) -> None:
    http = demo.world.server.client(client.token)
    told = http.get("/v1/search", params={"q": "zyzzyva"}).json()["meta"]["try"]
    assert told["stream_count"] == len(told["streams_searched"]) > 12
    found = client.good("search", {"query": "zyzzyva"})
    [line] = [line for line in found.text.split("\n") if "streams searched: " in line]
    named, _, more = line.partition("streams searched: ")[2].partition(" and ")
    assert named.split(", ") == told["streams_searched"][:12]
    assert more == f"{told['stream_count'] - 12} more"
