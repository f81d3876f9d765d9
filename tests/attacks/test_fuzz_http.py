"""Raw bytes on the socket: the server answers or hangs up, and serves whoever comes next."""

import json
import re
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.attacks.contract import TRACES
from tests.attacks.dose import dose
from tests.attacks.mutation import Cut, cuts, spoilt
from tests.cli.shell import Served, serving
from tests.serving import grant, owner, seeded_store

from pdpp.mcp.kernel.http import MAX_BYTES

PATIENCE = 30.0
"""What a busy machine may take. An answer that never ends takes longer."""
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
SEARCH = {**CALL, "params": {"name": "search", "arguments": {"query": "invoice"}}}
LINE = b'{"key":"z","data":{"id":"z","name":"New","created_at":"2026-01-01T00:00:00Z"}}\n'


class Target(NamedTuple):
    """A real server in a process of its own, so that what it costs and logs can be told."""

    served: Served
    good: list[bytes]

    @property
    def wire(self) -> "Socket":
        return Socket(self.served.url)


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """Serve demo data that the generated requests may write to."""
    folder = tmp_path_factory.mktemp("bytes")
    store = seeded_store(folder / "data")
    good = requests(owner(store), grant(store))
    store.close()
    with serving(folder / "data", folder / "notes") as served:
        yield Target(served, good)
        said = served.err.read_text()
        assert "Traceback" not in said, said


class Socket:
    """Sends bytes to a server and takes whatever comes back until the end."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.address = (str(parts.hostname), int(parts.port or 0))

    def send(self, content: bytes) -> bytes:
        """Send everything, say that no more comes, and read to the end."""
        with socket.create_connection(self.address, PATIENCE) as connection:
            with suppress(OSError):
                connection.sendall(content)
                connection.shutdown(socket.SHUT_WR)
            return drained(connection)

    def alive(self) -> None:
        """Check that a plain request is answered."""
        head = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        assert self.send(head).startswith(b"HTTP/1.1 200 ")


def drained(connection: socket.socket) -> bytes:
    """Return what comes until the other side hangs up, which it must within the deadline."""
    said, deadline = b"", time.monotonic() + PATIENCE
    with suppress(ConnectionError):
        while chunk := connection.recv(65_536):
            said += chunk
            assert time.monotonic() < deadline
    return said


STATUS = re.compile(rb"HTTP/1\.[01] (\d{3})")


def check_answer(said: bytes) -> None:
    """Check that no status in an answer is a fault, and that it tells nothing of our insides."""
    for status in STATUS.findall(said):
        assert int(status) < 500, said[:2_000]
    assert not any(trace.encode() in said for trace in TRACES[:3]), said[:2_000]


def requests(person: str, agent: str) -> list[bytes]:
    """Return good requests of every kind, with the tokens of the owner and of an agent."""
    host = "Host: localhost\r\n"
    bearer = f"{host}Authorization: Bearer {agent}\r\n"
    told = f"{host}Authorization: Bearer {person}\r\n"
    rpc = json.dumps(SEARCH).encode()
    form = b"grant_type=refresh_token&refresh_token=x&client_id=y"
    posts = [
        ("/mcp", bearer + "Content-Type: application/json\r\nAccept: application/json\r\n", rpc),
        ("/v1/ingest/notebooks?connection_id=cin_notes", told, LINE * 3),
        ("/v1/blobs", told + "Content-Type: text/plain\r\n", b"a blob"),
        ("/oauth/token", f"{host}Content-Type: application/x-www-form-urlencoded\r\n", form),
        ("/login", f"{host}Content-Type: application/x-www-form-urlencoded\r\n", b"passphrase=x"),
    ]
    made = [
        f"GET /v1/search?q=invoice&limit=2 HTTP/1.1\r\n{bearer}\r\n".encode(),
        f"GET /v1/streams/messages/records?limit=2&filter[id]=a HTTP/1.1\r\n{bearer}\r\n".encode(),
        f"GET /r/cin_home/messages/x HTTP/1.1\r\n{host}Cookie: a=b; c=d\r\n\r\n".encode(),
    ]
    for path, head, body in posts:
        length = f"POST {path} HTTP/1.1\r\n{head}Content-Length: {len(body)}\r\n\r\n"
        made.append(length.encode() + body)
        chunked = f"POST {path} HTTP/1.1\r\n{head}Transfer-Encoding: chunked\r\n\r\n"
        made.append(chunked.encode() + b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body))
    return made


HTTP_PIECES = [
    *(b"\r\n", b"\r\n\r\n", b"\n", b"\r", b" ", b"\t", b":", b"\x00", b"HTTP/1.1", b"HTTP/0.9"),
    *(b"GET / HTTP/1.1\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\x16\x03\x01\x02\x00\x01"),
    *(b"Content-Length: 9\r\n", b"Content-Length: -1\r\n", b"Content-Length: 99999999999\r\n"),
    *(b"Transfer-Encoding: chunked\r\n", b"Transfer-Encoding: gzip, chunked\r\n", b"0\r\n\r\n"),
    *(
        b"fffffffffffffffff\r\n",
        b"5;ext=1\r\nhello\r\n",
        b"Host: a\r\n",
        b"Host:\r\n",
        b"Expect: x\r\n",
    ),
    *(b"X: " + b"y" * 70_000 + b"\r\n", b"X: 1\r\n" * 500, b"Upgrade: websocket\r\n", b"\xff\xfe"),
    *(
        b"Content-Encoding: gzip\r\n",
        b"Range: bytes=9-1\r\n",
        b"Connection: upgrade\r\n",
        b" folded\r\n",
    ),
]


def test_spoilt_requests_are_refused_and_the_next_is_served(target: Target) -> None:
    wire, good = target.wire, target.good
    piece = st.sampled_from(HTTP_PIECES)
    edits = st.one_of(
        cuts,
        st.lists(
            st.builds(Cut, st.integers(0, 1_000), st.sampled_from(["insert", "replace"]), piece),
            min_size=1,
            max_size=3,
        ),
    )

    @settings(max_examples=dose(150))
    @given(st.sampled_from(good), st.sampled_from(good), edits)
    def check(request: bytes, other: bytes, changes: list[Cut]) -> None:
        check_answer(wire.send(spoilt(request, changes, other)))

    check()
    wire.alive()


def test_bytes_of_any_kind_are_refused(target: Target) -> None:
    wire = target.wire

    @settings(max_examples=dose(40))
    @given(st.lists(st.one_of(st.integers(0, len(HTTP_PIECES) - 1), st.binary(max_size=20))))
    def check(parts: list[int | bytes]) -> None:
        sent = (HTTP_PIECES[part] if isinstance(part, int) else part for part in parts)
        check_answer(wire.send(b"".join(sent)))

    check()
    wire.alive()


def test_good_and_spoilt_requests_on_one_connection_harm_only_themselves(target: Target) -> None:
    wire, good = target.wire, target.good
    for number, request in enumerate(good):
        following = good[(number + 1) % len(good)]
        check_answer(wire.send(good[0] * 3 + request + following[: len(following) // 2]))
        check_answer(wire.send(good[0] + b"\r\n\r\n" + request))
        check_answer(wire.send(request + b"GARBAGE" + following))
    wire.alive()
    assert "failed" not in target.served.err.read_text()


def test_a_request_that_stops_anywhere_is_given_up(target: Target) -> None:
    wire = target.wire
    for request in target.good:
        for at in range(0, len(request), max(1, len(request) // 12)):
            check_answer(wire.send(request[:at]))
    wire.alive()


# What it costs


def peak(process: int) -> int:
    """Return the most memory that a process ever held, in bytes."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    assert found
    return int(found[1]) * 1024


BIG = MAX_BYTES * 8
_HEAD = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
_FORM = b"POST /login HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
_CHUNKED = _FORM + b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n"
GIANTS = {
    "a header": b"GET / HTTP/1.1\r\nX: " + b"y" * BIG,
    "a path": b"GET /" + b"a" * BIG,
    "a query": b"GET /v1/search?q=" + b"a" * BIG,
    "many headers": b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * (BIG // 6),
    "a name of a header": b"GET / HTTP/1.1\r\n" + b"X" * BIG,
    "a body": _HEAD + b"Content-Length: %d\r\n\r\n" % BIG + b"[" * BIG,
    "many chunks": _HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\n[\r\n" * (BIG // 60),
    "a form": _FORM + b"Content-Length: %d\r\n\r\n" % BIG + b"a=b&" * (BIG // 4),
    "a trailer": _CHUNKED + b"0\r\nX: " + b"y" * BIG,
    "many trailers": _CHUNKED + b"0\r\n" + b"X: y\r\n" * (BIG // 6),
    "an extension of a chunk": _CHUNKED + b"1;" + b"y" * BIG,
    "many requests": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" * 200_000,
}


@pytest.mark.parametrize("name", GIANTS)
def test_what_is_giant_costs_little_memory_and_is_refused(target: Target, name: str) -> None:
    process = target.served.process.pid
    if not Path(f"/proc/{process}/status").exists():
        pytest.skip("only Linux tells what a process held at most")
    target.wire.alive()
    Path(f"/proc/{process}/clear_refs").write_text("5")
    before = peak(process)
    check_answer(target.wire.send(GIANTS[name]))
    target.wire.alive()
    assert peak(process) - before < 4 * MAX_BYTES
