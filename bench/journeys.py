"""Journeys: fixed ways from a question to its answer, and how much a model reads on them."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from bench.agent import HALVES, LEGACY, MODERN, Agent, Call, Seen
from bench.demo_records import DIARY_KEY, LEDGER, TRANSCRIPT_KEY
from bench.estate import TRANSCRIPT_ID, UNIQUE, long_line
from bench.report import Row
from pdpp import demo
from pdpp.evidence.handle import blob_uri

_AROUND = 250
_WINDOW: Mapping[str, Any] = {"before_chars": _AROUND, "after_chars": _AROUND}
_DIARY = f"cin_notes/documents:{DIARY_KEY}"
_LETTER = "cin_home/messages:m-invoice-4471"
_TRANSCRIPT: Mapping[str, Any] = {"id": TRANSCRIPT_ID, "field_path": "body"}
_HOME: Mapping[str, Any] = {"stream": "messages", "connection_id": "cin_home"}
_EUROS: Mapping[str, Any] = {
    "stream": "transactions",
    "metric": "sum",
    "field": "amount",
    "group_by": "category",
    "filter": {"currency": "EUR"},
}


def journeys() -> dict[str, Sequence[Call]]:
    """Return fifteen journeys through the demo world, each by what it is after."""
    return {**_finding(), **_listing(), **_reckoning(), **_opening()}


def _finding() -> dict[str, Sequence[Call]]:
    in_transcript = {"filter": {"id": TRANSCRIPT_KEY}, "streams": ["documents"]}
    return {
        "find a fact and quote it": [
            ("search", {"query": "invoice 4471", "streams": ["messages"]}),
            ("read_record_field", {"id": f"{_LETTER}-paid", "field_path": "body"}),
        ],
        "find a fact across sources": [("search", {"query": "invoice 4471"})],
        "look through many hits": [("search", {"query": "kitchen", "limit": 20})],
        "read around a match in a very long line": [
            ("search", {"query": "lighthouse", **in_transcript}),
            ("read_record_field", {**_TRANSCRIPT, "query": "lighthouse"}),
        ],
        "read a passage around a word": [
            ("read_record_field", {**_TRANSCRIPT, "query": "haunted", **_WINDOW}),
        ],
        "open a hit that matched in its title": [
            ("search", {"query": "plum cake", "streams": ["documents"]}),
            ("fetch", {"id": "cin_notes/documents:recipe: plum cake of Helga"}),
        ],
    }


def _listing() -> dict[str, Sequence[Call]]:
    by_amount = {"filter": {"amount": {"lt": -500}}, "sort": "amount", "fields": ["amount"]}
    return {
        "discover and list": [
            ("schema", {}),
            ("schema", {"stream": "transactions"}),
            ("query_records", {"stream": "transactions", "limit": 5}),
        ],
        "filter and sort": [("query_records", {"stream": "transactions", **by_amount})],
        "count exactly": [("query_records", {**_HOME, "count": "exact", "limit": 1})],
    }


def _reckoning() -> dict[str, Sequence[Call]]:
    count = {"stream": "messages", "metric": "count"}
    monthly = {"group_by_time": "sent_at", "granularity": "month"}
    return {
        "count by month": [("aggregate", {**count, "connection_id": "cin_home", **monthly})],
        "sum by category": [("aggregate", _EUROS)],
        "compare two accounts": [
            ("aggregate", {**count, "connection_id": connection_id})
            for connection_id in ("cin_home", "cin_work")
        ],
    }


def _opening() -> dict[str, Sequence[Call]]:
    [ledger] = [blob.blob_id for blob in demo.blobs() if blob.content == LEDGER.encode()]
    named = {"filter": {"filename": "invoice-4471.csv"}}
    return {
        "fetch a long document and read on": [
            ("fetch", {"id": _DIARY}),
            ("read_record_field", {"id": _DIARY, "field_path": "body", "offset_chars": 20_000}),
        ],
        "expand a thread and open a letter": [
            ("fetch", {"id": "cin_home/threads:t-invoice-4471", "expand": ["messages"]}),
            ("fetch", {"id": _LETTER}),
        ],
        "inspect an attachment": [
            ("query_records", {"stream": "attachments", **named}),
            ("fetch", {"id": blob_uri(ledger)}),
        ],
    }


def size_rows(agent: Agent) -> Iterator[Row]:
    """Yield what an agent of the demo world is shown before and on the journeys."""
    for era, version in (("legacy", LEGACY), ("modern", MODERN)):
        note = f"the result as it is serialised, revision {version}"
        yield Row(f"tools/list, {era} clients", len(agent.tools(version)), "bytes", 7_500, note)
    ways = journeys()
    seen = {name: [agent.call(*call) for call in calls] for name, calls in ways.items()}
    calls = sum(map(len, ways.values()))
    for half in HALVES:
        parts = {name: _size(half, found) for name, found in seen.items()}
        longest = max(parts, key=parts.__getitem__)
        note = f"{calls} calls; most to {longest}: {parts[longest]:,}"
        name = f"{len(ways)} journeys, {half} half"
        yield Row(name, sum(parts.values()), "characters", None, note, parts=parts)


def letter_rows(agent: Agent) -> Iterator[Row]:
    """Yield how much an agent reads to find little: two letters, or a word in a long line."""
    found = agent.call("search", {"query": "invoice 4471"})
    for half, goal in zip(HALVES, (1_300, 2_700), strict=True):
        note = "one hit in a body, one only in a title"
        yield Row(f"search of 2 hits, {half} half", _size(half, [found]), "characters", goal, note)
    yield from _word_rows(agent)


def _word_rows(agent: Agent) -> Iterator[Row]:
    """The bound is the text half's: the structured half of one hit carries the server's own."""
    line = long_line()
    start = line.index(UNIQUE)
    around = line[start - _AROUND : start + len(UNIQUE) + _AROUND]
    found = agent.call("search", {"query": UNIQUE})
    read = agent.call("read_record_field", {**_TRANSCRIPT, "query": UNIQUE, **_WINDOW})
    where = f"{len(line):,} characters in one line"
    row = partial(Row, unit="characters", note=where)
    for half, context, passage in zip(HALVES, (700, None), (1_500, None), strict=True):
        assert UNIQUE in found.half(half), found
        assert around in read.half(half), read
        one, two = _size(half, [found]), _size(half, [found, read])
        yield row(f"a unique word seen in context, one call, {half} half", one, goal=context)
        yield row(f"500 characters around it, two calls, {half} half", two, goal=passage)


def _size(half: str, seen: Sequence[Seen]) -> int:
    return sum(len(one.half(half)) for one in seen)
