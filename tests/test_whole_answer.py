"""Whole answers: head and body leave together, and nobody waits for a head that stands alone."""

import socket
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.shell import DECLARATION
from tests.faults.callers import dial, patient
from tests.serving import World, keep, owner, planted_store

from pdpp.serving.slow_clients import ClientLimits

_ASKED = 20
_LONG = bytes(300_000)
_SEGMENTS_AT = 152
"""Where the system tells how many packets with data came in."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder: Path = tmp_path_factory.mktemp("diary") / "data"
    store = planted_store(folder, DECLARATION, {"cin_diary": "My days"})
    with patient(store, ClientLimits()) as made:
        yield made


def asking(world: World, line: str, *headers: str, body: bytes = b"") -> bytes:
    lines = (f"{line} HTTP/1.1", "Host: x", f"Authorization: Bearer {owner(world.store)}", *headers)
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


def read_head(connection: socket.socket) -> bytes:
    """Return the head of an answer, and what came with it."""
    found = b""
    while b"\r\n\r\n" not in found:
        found += connection.recv(1 << 16)
    return found


def read_answer(connection: socket.socket) -> bytes:
    """Return the body of an answer."""
    head, _, body = read_head(connection).partition(b"\r\n\r\n")
    _, _, length = head.lower().partition(b"content-length: ")
    while len(body) < int(length.split(b"\r\n")[0]):
        body += connection.recv(1 << 16)
    return body


@pytest.mark.skipif(sys.platform != "linux", reason="there the system counts packets of data")
def test_a_short_answer_is_one_packet(world: World) -> None:
    request = asking(world, "GET /v1/streams")
    with dial(world.server.url) as connection:
        for _ in range(_ASKED):
            connection.sendall(request)
            assert read_answer(connection).startswith(b"{")
        told = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 192)
        assert struct.unpack_from("I", told, _SEGMENTS_AT)[0] == _ASKED


@pytest.mark.parametrize("connection", ["keep-alive", "close"])
def test_an_answer_without_a_body_is_sent(world: World, connection: str) -> None:
    request = asking(world, "HEAD /v1/openapi.json", f"Connection: {connection}")
    with dial(world.server.url) as line:
        line.sendall(request)
        assert read_head(line).endswith(b"\r\n\r\n")


def test_a_caller_that_waits_with_its_body_is_told_to_go_on(world: World) -> None:
    body = b"{}\n"
    headers = ("Expect: 100-continue", f"Content-Length: {len(body)}")
    request = asking(world, "POST /v1/ingest/none?connection_id=cin_diary", *headers)
    with dial(world.server.url) as line:
        line.sendall(request)
        assert read_head(line) == b"HTTP/1.1 100 Continue\r\n\r\n"
        line.sendall(body)
        assert b"error" in read_answer(line)


def test_a_long_body_arrives_whole(world: World) -> None:
    blob = keep(world.store, _LONG, "application/octet-stream")
    with dial(world.server.url) as line:
        line.sendall(asking(world, f"GET /v1/blobs/{blob['blob_id']}"))
        assert read_answer(line) == _LONG


def test_answers_to_requests_sent_ahead_come_in_their_order(world: World) -> None:
    first, second = asking(world, "GET /v1/streams"), asking(world, "GET /healthz")
    with dial(world.server.url) as line:
        line.sendall(first + second + first)
        found = b""
        while found.count(b"HTTP/1.1 200 OK") < 3 or not found.endswith(b"}"):
            found += line.recv(1 << 16)
    assert [part.count(b'"list"') > 0 for part in found.split(b"HTTP/1.1 200 OK")[1:]] == [
        True,
        False,
        True,
    ]
