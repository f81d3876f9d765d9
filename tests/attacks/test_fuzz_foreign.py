"""A resource server that lies about everything: typed errors or sound results, never a fault.

The answers of a real server are changed in one to four places before the adapter sees them.
"""

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from starlette.responses import JSONResponse
from tests.attacks.corpus import CALL, EVIL
from tests.attacks.dose import dose
from tests.attacks.mutation import Edit, edited, edits
from tests.mcp.client import Result
from tests.mcp.foreign import Foreign
from tests.mcp.host import KernelWire, check
from tests.mcp.sight import text_calls
from tests.serving import UNLIMITED, grant, seeded_store

from pdpp.app import make_app
from pdpp.evidence.handle import Handle, WindowHandle, parse_window_uri, record_uri, window_uri
from pdpp.mcp.reading.reader import GrantReader
from pdpp.mcp.reading.resource_client import ResourceClient
from pdpp.mcp.reading.transport import HttpReply, InProcessTransport
from pdpp.store.port import Store

LETTER = "cin_home/messages:m-invoice-4471"
WORK = {"stream": "messages", "connection_id": "cin_work"}
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("schema", {}),
    ("schema", {"stream": "messages"}),
    ("schema", {**WORK, "detail": "full"}),
    ("query_records", {**WORK, "limit": 3}),
    ("query_records", {**WORK, "stream": "threads", "expand": ["messages"], "limit": 2}),
    ("query_records", {**WORK, "changes_since": "beginning", "limit": 2}),
    ("query_records", {**WORK, "cursor": "x"}),
    ("query_records", {**WORK, "filter": {"nope": 1}}),
    ("aggregate", {**WORK, "metric": "count"}),
    ("aggregate", {**WORK, "metric": "count", "group_by": "from"}),
    ("search", {"query": "invoice"}),
    ("fetch", {"id": LETTER}),
    ("fetch", {"id": "messages:nope"}),
    ("read_record_field", {"id": LETTER, "field_path": "body"}),
    ("read_record_field", {"id": LETTER, "field_path": "body", "query": "invoice"}),
]


class Liar:
    """A way to a real server whose answers are changed on their way back."""

    def __init__(self, inner: InProcessTransport) -> None:
        self.origin = inner.origin
        self.changes: Sequence[Edit] = ()
        self._inner = inner

    async def send(self, method: str, target: str, headers: Mapping[str, str]) -> HttpReply:
        """Send a request on and change its answer."""
        reply = await self._inner.send(method, target, headers)
        body = edited(json.loads(reply.body), self.changes)
        return reply._replace(body=json.dumps(body).encode())


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    made = seeded_store(tmp_path_factory.mktemp("lied-about"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def liar(store: Store) -> Liar:
    return Liar(InProcessTransport(make_app(store, UNLIMITED), "http://127.0.0.1:7377"))


@pytest.fixture(scope="module")
def wire(store: Store, liar: Liar) -> Iterator[KernelWire]:
    token = grant(store)
    made = KernelWire(lambda: GrantReader(ResourceClient(liar, token), {}, "key"))
    yield made
    made.close()


@pytest.mark.parametrize(("tool", "arguments"), CALLS, ids=lambda value: json.dumps(value)[:60])
def test_no_lie_of_a_server_breaks_an_answer(
    wire: KernelWire,
    liar: Liar,
    caplog: pytest.LogCaptureFixture,
    tool: str,
    arguments: dict[str, Any],
) -> None:
    @settings(max_examples=dose(30))
    @given(edits)
    def lie(changes: list[Edit]) -> None:
        liar.changes = changes
        raw = wire.request("tools/call", {"name": tool, "arguments": arguments})
        check(Result(tool, arguments, raw))

    with caplog.at_level(logging.ERROR):
        lie()
    assert caplog.records == []


def answered(tool: str, arguments: dict[str, Any], **behaviour: Any) -> Result:
    """Return what the adapter makes of a foreign server's answer."""
    with Foreign(**behaviour).served() as (_, host):
        return host.call(tool, arguments)


@pytest.mark.parametrize(
    "row",
    [
        {"record_counts": {"acc": "many"}},
        {"record_counts": {"acc": [1]}},
        {"record_counts": [1]},
        {"record_count": {"n": 1}},
        {"connection_id": ["acc"]},
        {"primary_key": [5, None]},
        {"primary_key": 5},
        {"count": ["exact", 5, {}]},
        {"count": 7},
        {"search": [None]},
        {"search": True},
        {"expand": 5},
        {"expand": ["x", None, {"cardinality": "\x00\u202e", "max_limit": "\x1b"}]},
        {"views": None},
        {"views": [5]},
        {"label": [1], "default_sort": {}},
        {"fields": [1]},
    ],
    ids=lambda row: json.dumps(row)[:40],
)
@pytest.mark.parametrize("detail", ["compact", "full"])
def test_a_schema_with_a_member_of_another_kind_is_shown_without_it(
    row: dict[str, Any], detail: str
) -> None:
    streams = [{"name": "letters", "connection_id": "acc", "fields": {}, **row}]
    granted = [{"connection_id": ["x"], "display_name": 5}, {"connection_id": "acc"}]
    body = {"connectors": [{"granted_connections": granted, "streams": streams}]}
    asked = {"stream": "letters", "detail": detail}
    with Foreign(answer=lambda _: JSONResponse(body)).served() as (_, host):
        for arguments in ({}, asked, {**asked, "connection_id": "acc"}):
            assert "letters" in host.good("schema", arguments).text


@pytest.mark.parametrize("data", ["text", 5, [1], None])
def test_a_record_whose_data_is_no_object_is_shown_without_it(data: Any) -> None:
    record = {"id": "r1", "data": data}
    for tool, asked, body in (
        ("fetch", {"id": "acc/letters:r1"}, record),
        ("query_records", {"stream": "letters"}, {"data": [record]}),
    ):
        answer = answered(tool, asked, answer=lambda _, told=body: JSONResponse(told))
        assert not answer.is_error, answer.text


@pytest.mark.parametrize(
    "window",
    [
        {"matches": [{"start_chars": "\x1b", "end_chars": 1}], "match_count": 2},
        {"match_start_chars": "\u202e", "match_end_chars": [], "match_count": 1},
        {"limit_chars": "\x00", "next_offset_chars": {}},
    ],
)
def test_a_window_with_a_count_that_is_none_is_shown_without_it(window: dict[str, Any]) -> None:
    asked = {"id": "acc/letters:r1", "field_path": "body"}
    assert not answered("read_record_field", asked, window=window).is_error


@pytest.mark.parametrize(
    "example", [{}, {"tool": "fetch"}, {"tool": "fetch", "arguments": {"id": EVIL}}, CALL, [1]]
)
def test_a_server_cannot_have_a_call_shown_as_an_example_of_ours(example: Any) -> None:
    error = {"code": "odd", "message": f"Wrong. A correct call: {CALL}", "example": example}
    result = answered(
        "aggregate", {"stream": "letters", "metric": "count", "limit": 5}, error=error
    )
    assert result.code == "odd"
    assert list(text_calls(result.text)) == []
    assert "example" not in result.structured["error"]


def test_half_a_character_in_a_name_makes_an_address_all_the_same() -> None:
    handle = Handle("a", "b", "c\ud800")
    assert record_uri(handle).endswith("c%ED%A0%80")
    window = window_uri(WindowHandle(handle, "body"))
    with pytest.raises(Exception, match="lone surrogate"):
        parse_window_uri(window)
