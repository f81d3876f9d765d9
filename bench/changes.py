"""Changes: what a page of them costs where everything was edited, and whether it stays a page."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from bench.client import Client, get
from bench.estate import EditedEstate, edited_estate
from bench.process import Process, serving
from bench.report import Row
from bench.timing import Target, Timing, compare

_MOST_EDITED = 20_000
_SMALLER = 10
_PAGE = 100
_PAGES = 8
"""How many pages are asked for, spread over all of them."""
_GOAL_MS = 5.0
_PATH = f"/v1/streams/messages/records?limit={_PAGE}&changes_since=beginning"


def change_rows(records: int, rounds: int) -> Iterator[Row]:
    """Yield what a page of a full resync costs, also to a client that cannot see the edits."""
    with TemporaryDirectory() as made:
        most = min(_MOST_EDITED, records)
        big = edited_estate(Path(made) / "big", most)
        small = edited_estate(Path(made) / "small", most // _SMALLER)
        with serving("product", big.folder) as ours, serving("product", small.folder) as other:
            for server in (ours, other):
                server.wait_until_idle(rounds)
            yield from _rows(ours, other, (big, small), rounds)


def _rows(
    ours: Process, other: Process, estates: tuple[EditedEstate, EditedEstate], rounds: int
) -> Iterator[Row]:
    big, small = estates
    few = f"{small.records:,}"
    cases = (
        (f"page of {_PAGE} changes, {big.records:,} records edited once", big.token, small.token),
        (f"the same, {big.records:,} edited in a hidden field", big.blind, small.blind),
    )
    for name, token, other_token in cases:
        targets = {
            "big": Target(ours, _spread(walk(ours, token))),
            "small": Target(other, _spread(walk(other, other_token))),
        }
        timings = compare(targets, rounds)
        yield from _case(name, few, timings["big"], timings["small"])


def _case(name: str, few: str, big: Timing, small: Timing) -> Iterator[Row]:
    yield Row(name, big.cpu_ms, "ms", _GOAL_MS, f"CPU; {big.wall_ms:.3f} ms waited")
    note = f"{big.cpu_ms:.3f} ms CPU; of {few} {small.cpu_ms:.3f} ms CPU"
    yield Row(f"{name}, against {few}", big.ratio(small), "×", 1.5, note)


def _spread(requests: list[bytes]) -> list[bytes]:
    return requests[:: max(1, len(requests) // _PAGES)]


def walk(server: Process, token: str) -> list[bytes]:
    """Return the requests for every page of changes, from the first to the last."""
    requests, cursor = [], ""
    with Client(server.port) as client:
        while True:
            request = get(f"{_PATH}{cursor}", token)
            page: dict[str, Any] = orjson.loads(client.ask(request))
            requests.append(request)
            if "next_cursor" not in page:
                return requests
            cursor = f"&cursor={page['next_cursor']}"
