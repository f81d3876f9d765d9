"""Near and far, in both eras: a question has one answer, and a list goes on anywhere."""

import re
from collections.abc import Iterator, Mapping
from itertools import cycle
from typing import Any

import orjson
import pytest
from tests.mcp.client import KINDS, Client, Estate, Result

QUESTIONS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("schema", {}),
    ("schema", {"stream": "messages", "connection_id": "cin_home"}),
    ("schema", {"stream": "messages", "detail": "full"}),
    ("query_records", {"stream": "transactions", "limit": 3, "count": "exact"}),
    ("query_records", {"stream": "messages", "connection_id": "cin_team", "expand": ["nothing"]}),
    ("aggregate", {"stream": "transactions", "metric": "count", "group_by": "category"}),
    ("aggregate", {"stream": "nowhere", "metric": "count"}),
    ("search", {"query": "kitchen tiles", "limit": 4}),
    ("search", {"query": "kichen", "mode": "hybrid"}),
    ("search", {"query": "tiles", "cursor": "bad"}),
    ("fetch", {"id": "cin_work/messages:absent"}),
    ("fetch", {"id": "messages:absent", "surprise": 1}),
    ("read_record_field", {"id": "nonsense", "field_path": "body"}),
)
UNOPENED: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("schema", {"stream": "nowhere"}),
    ("schema", {"stream": "nowhere", "detail": "full"}),
    ("schema", {"stream": "nowhere", "connection_id": "cin_home"}),
    ("query_records", {"stream": "nowhere"}),
    ("aggregate", {"stream": "nowhere", "metric": "count"}),
    ("search", {"query": "tiles", "streams": ["nowhere"]}),
    ("search", {"query": "tiles", "streams": ["nowhere"], "connection_id": "cin_home"}),
    ("fetch", {"id": "nowhere:1"}),
    ("read_record_field", {"id": "nowhere:1", "field_path": "body"}),
)
LISTS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("search", {"query": "kitchen tiles invoice", "limit": 3}),
    ("query_records", {"stream": "transactions", "connection_id": "cin_bank", "limit": 7}),
    (
        "query_records",
        {"stream": "transactions", "connection_id": "cin_bank", "sort": "-amount", "limit": 9},
    ),
)
MOST_PAGES = 5


WAYS = (
    ("demo_token", KINDS),
    ("demo_package", ("stdio-legacy", "stdio-modern")),
    ("demo_package", ("http-legacy", "http-modern")),
)
"""Who asks: near, the server reads through all grants of a package at once; far, one by one."""


@pytest.fixture(params=WAYS)
def clients(request: pytest.FixtureRequest, demo: Estate) -> list[Client]:
    name, kinds = request.param
    token = request.getfixturevalue(name)
    return [demo.client(kind, token) for kind in kinds]


CHANCE = re.compile(r"req_[0-9a-f]{16}|http://127\.0\.0\.1:\d+")
"""The number of a request, and the address at which a server of the tests is asked."""


def said(answer: Result) -> Any:
    """Return all that an answer says to a model, but for what each request has of its own."""
    halves = answer.raw["content"], answer.raw["structuredContent"], answer.is_error
    return orjson.loads(CHANCE.sub("", orjson.dumps(halves).decode()))


@pytest.mark.parametrize(("tool", "arguments"), QUESTIONS)
def test_the_same_question_is_answered_alike_near_and_far_in_both_eras(
    clients: list[Client], tool: str, arguments: Mapping[str, Any]
) -> None:
    first, *others = (said(client.call(tool, arguments)) for client in clients)
    for client, other in zip(clients[1:], others, strict=True):
        assert other == first, client.kind


@pytest.mark.parametrize(("tool", "arguments"), UNOPENED)
def test_a_stream_that_nothing_opens_is_refused_in_the_same_words_under_every_token(
    demo: Estate, demo_token: str, demo_package: str, tool: str, arguments: Mapping[str, Any]
) -> None:
    told = []
    for kind in ("stdio-modern", "http-modern"):
        for token in (demo_token, demo_package):
            answer = demo.client(kind, token).refused("grant_stream_not_allowed", tool, arguments)
            error = {**answer.structured["error"]}
            error.pop("request_id", None)  # near, a package is refused without a request
            told.append((error, answer.structured["next"]))
    assert told == told[:1] * 4


def pages(clients: list[Client], tool: str, arguments: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the first pages of a list, each asked for by the next of some clients."""
    for client, _ in zip(cycle(clients), range(MOST_PAGES), strict=False):
        answer = client.good(tool, arguments)
        yield said(answer)
        arguments = answer.structured["next"][0]["arguments"]


@pytest.mark.parametrize(("tool", "arguments"), LISTS)
def test_a_list_goes_on_wherever_it_was_begun(
    clients: list[Client], tool: str, arguments: Mapping[str, Any]
) -> None:
    by_one = list(pages(clients[:1], tool, arguments))
    assert list(pages(clients, tool, arguments)) == by_one
    assert list(pages(clients[::-1], tool, arguments)) == by_one
