"""Callers who are slow, silent or many do not hold up the others, and are cut off at a limit."""

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.cli.shell import DECLARATION, pdpp, serving
from tests.engine import database_of
from tests.faults.callers import crowd, dial, is_cut, patient, wait_until
from tests.serving import World, keep, owner, planted_store

from pdpp.serving.process import configure
from pdpp.serving.slow_clients import ClientLimits
from pdpp.store.port import Store

SHORT = ClientLimits(seconds=1.0, least_bytes=1)
LARGE = 24 << 20
IDLE = 2_000
GIVEN_UP = 4


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return planted_store(tmp_path / "data", DECLARATION, {"cin_diary": "My days"})


@pytest.fixture
def world(store: Store) -> Iterator[World]:
    """A diary whose callers have a second to do something."""
    with patient(store, SHORT) as made:
        yield made


def asking(path: str, token: str, *headers: str, method: str = "GET") -> bytes:
    lines = (f"{method} {path} HTTP/1.1", "Host: x", f"Authorization: Bearer {token}", *headers)
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def test_a_caller_who_reads_a_byte_at_a_time_is_cut_off_and_holds_up_nobody(world: World) -> None:
    secret = owner(world.store)
    blob = keep(world.store, bytes(LARGE), "application/octet-stream")
    others = world.owner()
    with dial(world.server.url, receive_bytes=4_096) as slow:
        slow.sendall(asking(f"/v1/blobs/{blob['blob_id']}", secret))
        assert slow.recv(4) == b"HTTP"
        longest, until = 0.0, time.monotonic() + 4 * SHORT.seconds
        while time.monotonic() < until:
            before = time.perf_counter()
            assert others.get("/v1/streams").status_code == 200
            longest = max(longest, time.perf_counter() - before)
            slow.recv(1)
            threading.Event().wait(0.05)
        assert left_in(slow) < LARGE // 2
    assert longest < 2


def left_in(connection: socket.socket) -> int:
    """Return how many bytes come from a connection until it ends."""
    count = 0
    try:
        while piece := connection.recv(1 << 20):
            count += len(piece)
    except ConnectionError:
        return count
    return count


def test_a_caller_who_reads_slowly_but_steadily_gets_everything(world: World) -> None:
    secret = owner(world.store)
    blob = keep(world.store, bytes(LARGE), "application/octet-stream")
    with dial(world.server.url) as steady:
        ask = asking(f"/v1/blobs/{blob['blob_id']}", secret, "Connection: close")
        steady.sendall(ask)
        started, body = time.monotonic(), 0
        while piece := steady.recv(1 << 20):
            body += len(piece)
            threading.Event().wait(0.15)
    assert body > LARGE
    assert time.monotonic() - started > SHORT.seconds


@pytest.mark.skipif(sys.platform != "linux", reason="what a process reads is told the Linux way")
def test_a_download_that_is_given_up_is_read_no_further(store: Store, tmp_path: Path) -> None:
    blob, secret = keep(store, bytes(LARGE), "application/octet-stream"), owner(store)
    store.close()
    with serving(tmp_path / "data", tmp_path / "notes") as served:
        assert served.get("/v1/streams", secret).status_code == 200
        before = read_bytes(served.process.pid)
        for _ in range(GIVEN_UP):
            with dial(served.url, receive_bytes=4_096) as leaving:
                leaving.sendall(asking(f"/v1/blobs/{blob['blob_id']}", secret))
                assert leaving.recv(4) == b"HTTP"
        assert served.get("/v1/streams", secret).status_code == 200
        assert read_bytes(served.process.pid) - before < GIVEN_UP * LARGE // 2


@pytest.mark.parametrize(
    "begun",
    [
        b"",
        b"GET /v1/str",
        b"POST /v1/blobs HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nabc",
    ],
    ids=["nothing", "half a head", "half a body"],
)
def test_a_caller_who_says_no_more_is_cut_off(world: World, begun: bytes) -> None:
    secret = owner(world.store).encode()
    with dial(world.server.url) as silent:
        silent.sendall(begun.replace(b"Host: x", b"Host: x\r\nAuthorization: Bearer " + secret))
        before = time.monotonic()
        wait_until(lambda: is_cut(silent))
        assert time.monotonic() - before > SHORT.seconds / 2
    assert world.owner().get("/v1/streams").status_code == 200


def test_a_caller_who_waits_for_a_long_answer_is_not_cut_off(world: World) -> None:
    line = b'{"key":"e1","data":{"id":"e1"}}'
    secret = owner(world.store)
    where = "/v1/ingest/entries?connection_id=cin_diary"
    length = f"Content-Length: {len(line)}"
    with dial(world.server.url) as waiting:
        with database_of(world.store).writing():
            waiting.sendall(asking(where, secret, length, method="POST") + line)
            threading.Event().wait(3 * SHORT.seconds)
            assert not is_cut(waiting)
        waiting.setblocking(True)
        assert waiting.recv(1 << 16).startswith(b"HTTP/1.1 200")


def test_a_connection_between_two_requests_is_closed_before_it_would_be_cut() -> None:
    assert 5 < configure(None).timeout_keep_alive < ClientLimits().seconds


def test_idle_callers_make_room_for_new_ones(store: Store) -> None:
    with patient(store, ClientLimits(seconds=60, connections=20)) as world, ExitStack() as stack:
        idle = crowd(world.server.url, 60, stack)
        wait_until(lambda: sum(map(is_cut, idle)) >= 40)
        assert world.owner().get("/v1/streams").status_code == 200


@pytest.mark.parametrize(
    ("soft", "hard", "most", "files"),
    [(1_024, 1_024, 768, 1_024), (300, 4_096, 3_840, 4_096), (128, 128, 64, 128)],
)
def test_a_server_holds_as_many_callers_as_it_may_open_files(
    soft: int, hard: int, most: int, files: int
) -> None:
    code = (
        "import resource as r; from pdpp.serving.slow_clients import most_connections as m;"
        f"r.setrlimit(r.RLIMIT_NOFILE, ({soft}, {hard}));"
        "print(m(), r.getrlimit(r.RLIMIT_NOFILE)[0])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(most), str(files)]


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read the Linux way")
def test_two_thousand_idle_callers_are_held_in_little_memory(store: Store, tmp_path: Path) -> None:
    store.close()
    data = tmp_path / "data"
    token = pdpp("owner", "token", "--json", data=data).document["owner_token"]
    with serving(data, tmp_path / "notes") as served, ExitStack() as stack:
        assert served.get("/v1/streams", token).status_code == 200
        before = resident(served.process.pid)
        idle = crowd(served.url, IDLE, stack)
        for _ in range(20):
            asked = time.perf_counter()
            assert served.get("/v1/streams", token).status_code == 200
            assert time.perf_counter() - asked < 5
        assert not any(map(is_cut, idle))
        assert resident(served.process.pid) - before < 60
        assert len(list(Path(f"/proc/{served.process.pid}/fd").iterdir())) > IDLE
        stack.close()
        wait_until(lambda: len(list(Path(f"/proc/{served.process.pid}/fd").iterdir())) < 100)
        assert served.get("/v1/streams", token).status_code == 200
        assert served.stop() == 0


def read_bytes(pid: int) -> int:
    """Return how many bytes a process has read from files and connections."""
    return int(Path(f"/proc/{pid}/io").read_text().split()[1])


def resident(pid: int) -> float:
    """Return how many megabytes a process occupies."""
    text = Path(f"/proc/{pid}/status").read_text()
    return int(text.partition("VmRSS:")[2].split()[0]) / 1024
