"""Both ways to a server: in its own process and over the network the adapter answers the same."""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, get_type_hints

import pytest
from tests.mcp.host import ORIGIN, Host, KernelWire, Recording, hosted, package
from tests.mcp.post import declaration
from tests.mcp.shelf import NOTES, TEXT, stream
from tests.serving import UNLIMITED, grant, living, planted_store

from pdpp.app import make_app
from pdpp.authz.principal import Gate
from pdpp.evidence import lean
from pdpp.hosted import BoundedDict, HostedCaller, make_reader
from pdpp.mcp.reading.reader import GrantReader
from pdpp.mcp.reading.resource_client import ResourceClient
from pdpp.mcp.reading.transport import HttpReply, InProcessTransport, NetworkTransport
from pdpp.model import instant
from pdpp.resource.answers import SearchResultJson
from pdpp.service.service import INNER
from pdpp.store.port import Store

FACTS = stream(
    "facts",
    {f"f{number:02}": TEXT for number in range(14)},
    query={"search": {"lexical_fields": [f"f{number:02}" for number in range(14)]}},
)
LONG = "kiln " + "and the clay of the river bank was dry " * 40
NAMES = {"cin_a": 'Odd "name" {a}', "cin_b": "Zero\u200bwidth", "cin_c": "c" * 300}
NOTED: list[dict[str, Any]] = [
    {"id": "plain", "title": "A kiln", "body": "The kiln was hot."},
    {"id": "only-title", "title": "Kiln and clay", "body": "Nothing else."},
    {"id": "no title", "body": 'kiln\n\tof lines \\ and "quotes" <mark>kiln</mark>'},
    {"id": "50%: ~é", "title": "", "body": "clay only"},
    {"id": "hidden\u200b", "title": "kiln \u202etitle", "body": "kiln \U000e0041 hidden"},
    {"id": "long", "title": "kiln " * 90, "body": LONG},
    {"id": "k" * 500, "title": "kiln", "body": "kiln \N{SNOWMAN} and clay"},
    *({"id": f"n-{number}", "title": f"Kiln {number}", "body": LONG} for number in range(25)),
]
QUESTIONS: list[Mapping[str, Any]] = [
    {"query": "kiln"},
    {"query": "kiln", "limit": 3},
    {"query": "kiln clay river", "limit": 30},
    {"query": "clay bricks " + "w" * 60, "limit": 10},
    {"query": "kiin", "streams": ["notes"]},
    {"query": "nothing-of-this"},
    {"query": "kiln", "mode": "hybrid", "limit": 2},
    {"query": "kiln", "mode": "semantic"},
    {"query": "kiln", "connection_id": "cin_c", "limit": 100},
    {"query": "everywhere", "streams": ["facts"]},
    {"query": "kiln", "streams": ["absent"]},
    {"query": "kiln", "cursor": "bad"},
]


def full(folder: Path) -> Store:
    facts = {f"f{number:02}": "everywhere" for number in range(14)}
    records: dict[tuple[str, str], list[dict[str, Any]]] = {
        (id, "notes"): NOTED if id == "cin_a" else NOTED[:4] for id in NAMES
    }
    records["cin_b", "facts"] = [{"id": "fact", **facts}]
    return planted_store(folder, declaration("shelf", NOTES, FACTS), NAMES, records)


class Watched(InProcessTransport):
    """A transport that notes whether it was answered in values."""

    unwritten = 0

    async def send(self, method: str, target: str, headers: Mapping[str, str]) -> HttpReply:
        reply = await super().send(method, target, headers)
        self.unwritten += reply.values is not None
        return reply


@contextmanager
def in_process(
    store: Store, token: str, marks: Mapping[str, Any]
) -> Iterator[tuple[Host, Watched]]:
    """Yield a host of the adapter in a server's process, marked as the server's own or not."""
    transport = Watched(make_app(store, UNLIMITED), ORIGIN, marks)
    gate = Gate(store, instant.now)

    def reader_of() -> GrantReader:
        caller = HostedCaller(token, gate.admit(f"Bearer {token}"))
        return make_reader(transport, BoundedDict(), caller)

    with closing(KernelWire(reader_of)) as wire:
        yield Host(wire), transport


def all_pages(host: Host, question: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return every page that a question leads to, or the refusal."""
    result = host.call("search", question)
    pages = [without_id(dict(result.raw))]
    while following := result.structured.get("next"):
        if following[0]["tool"] != "search":
            break
        result = host.call("search", following[0]["arguments"])
        pages.append(without_id(dict(result.raw)))
    return pages


def without_id(result: dict[str, Any]) -> dict[str, Any]:
    """Return a result without the id that every request has of its own."""
    error = result["structuredContent"].get("error")
    own = error and error.pop("request_id", None)
    if own:
        result["content"][0]["text"] = result["content"][0]["text"].replace(own, "")
    return result


@pytest.mark.parametrize("several", [False, True])
def test_values_and_json_are_answered_alike(tmp_path: Path, several: bool) -> None:
    with closing(full(tmp_path)) as store:
        token = package(store)[0] if several else grant(store)
        with (
            in_process(store, token, {}) as (written, its),
            in_process(store, token, {INNER: True}) as (unwritten, own),
        ):
            for question in QUESTIONS:
                assert all_pages(unwritten, question) == all_pages(written, question), question
    assert its.unwritten == 0
    assert own.unwritten >= len(QUESTIONS) / 2


def test_the_hosted_adapter_and_one_far_away_answer_alike(tmp_path: Path) -> None:
    store = full(tmp_path)
    with living(store) as world:
        token = grant(store)
        near = hosted(world.server, token)
        network = NetworkTransport(world.server.url)
        far = Recording(network)
        far.origin = UNLIMITED.origin  # The hosted adapter cites the address that is configured.
        reader = GrantReader(ResourceClient(far, token), {}, "key")
        with closing(network), closing(KernelWire(lambda: reader)) as wire:
            for question in QUESTIONS:
                assert all_pages(near, question) == all_pages(Host(wire), question), question


@pytest.mark.parametrize("id", [1, "one", 2**70])
def test_tools_are_listed_alike_under_any_id(tmp_path: Path, id: str | int) -> None:
    store = full(tmp_path)
    with living(store) as world:
        token = grant(store)
        network = NetworkTransport(world.server.url)
        reader = GrantReader(ResourceClient(network, token), {}, "key")
        with closing(network), closing(KernelWire(lambda: reader)) as wire:
            listed = wire.request("tools/list", {})
        asked = {"jsonrpc": "2.0", "id": id, "method": "tools/list"}
        for _ in range(2):
            answer = world.server.client(token).post("/mcp", json=asked)
            assert answer.json() == {"jsonrpc": "2.0", "id": id, "result": listed}


def test_the_lean_form_says_of_every_member_of_a_hit_what_becomes_of_it() -> None:
    follow_from_its_id = ("object", "record_key", "stream", "connection_id", "record_url")
    told = [*lean.KEPT, *lean.SHOWN, *follow_from_its_id]
    assert sorted(told) == sorted(get_type_hints(SearchResultJson))
