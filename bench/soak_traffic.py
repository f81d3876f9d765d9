"""Traffic: what a soak asks of a server, in the proportions of a working day."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle, islice
from random import Random

import orjson

from bench import measures, world
from bench.agent import calling
from bench.client import post
from bench.stock import Stock

_LINES = 20
_RING = 4_000
"""How many records are written again and again, so that the store does not grow without end."""
_WRITES = 400
_INVOICE = "invoice 4471"
_SHARES = {
    "page": 20,
    "record": 20,
    "window": 15,
    "search": 12,
    "aggregate": 5,
    "schema": 3,
    "MCP": 15,
    "ingest": 10,
}
"""Of a hundred requests, how many are of each kind."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One request and what kind it is of."""

    kind: str
    request: bytes

    def is_good(self, body: bytes) -> bool:
        """Tell whether an answer with success in its head is one in its body too."""
        if self.kind == "MCP":
            return b'"isError":false' in body
        return self.kind != "ingest" or b'"records_rejected":0' in body


def traffic(stock: Stock, demo_token: str) -> list[Ask]:
    """Return many requests of every kind, mixed, the same every time."""
    kinds = {
        kind: [Ask(kind, request) for request in requests]
        for kind, requests in _requests(stock, demo_token).items()
    }
    rounds = max(map(len, kinds.values())) // min(_SHARES.values())
    mixed = [
        ask for kind, share in _SHARES.items() for ask in islice(cycle(kinds[kind]), share * rounds)
    ]
    Random("traffic").shuffle(mixed)
    return mixed


def _requests(stock: Stock, demo_token: str) -> dict[str, list[bytes]]:
    token = stock.tokens.third
    words = (world.RARE, world.STEADY, world.MEDIUM)
    counts = ("metric=count", "metric=count&filter[size][gte]=45000")
    return {
        "page": measures.pages(stock, token) + measures.pages(stock, stock.tokens.narrow),
        "record": measures.records(stock, token),
        "window": measures.windows(stock, token),
        "search": [request for word in words for request in measures.search(word, token)],
        "aggregate": [request for c in counts for request in measures.aggregate(stock, c)],
        "schema": measures.schema(stock.tokens.everything),
        "MCP": list(_calls(stock, demo_token)),
        "ingest": list(_ingests(stock)),
    }


def _calls(stock: Stock, demo_token: str) -> Iterator[bytes]:
    feed = stock.world.biggest
    yield calling(demo_token, "search", {"query": _INVOICE})
    yield calling(demo_token, "schema", {})
    yield calling(stock.tokens.third, "search", {"query": world.STEADY, "limit": 5})
    place = {"stream": feed.stream, "connection_id": feed.connection_id}
    yield calling(stock.tokens.third, "query_records", {**place, "limit": 5})
    id = f"{feed.connection_id}/{feed.stream}:{feed.key(0)}"
    yield calling(stock.tokens.third, "fetch", {"id": id})
    yield calling(stock.tokens.third, "read_record_field", {"id": id, "field_path": "body"})


def _ingests(stock: Stock) -> Iterator[bytes]:
    """Yield writes of a few records each: most change some that were written before."""
    feed = stock.world.feeds[0]
    path = f"/v1/ingest/{feed.stream}?connection_id={feed.connection_id}"
    for turn in range(_WRITES):
        random = Random(f"write {turn}")
        lines = (_line(random, (turn * _LINES + number) % _RING) for number in range(_LINES))
        yield post(path, stock.tokens.owner, b"\n".join(lines))


def _line(random: Random, number: int) -> bytes:
    data = {
        "id": f"soak-{number}",
        "title": world.prose(random, 6),
        "body": world.prose(random, 60),
        "sender": "soak@mail.example",
        "sent_at": "2026-01-01T00:00:00Z",
        "size": random.randint(400, 90_000),
        "channel": "soak",
    }
    return orjson.dumps({"key": data["id"], "data": data})
