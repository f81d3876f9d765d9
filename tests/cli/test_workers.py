"""Several processes on one port and one store, as the program starts them."""

import json
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from tests.cli.shell import DEADLINE_SECONDS, Served, pdpp, pdpp_here, serving
from tests.engine import open_store
from tests.launching.spawning import SPAWNED

from pdpp.store.receipts import ReceiptQuery

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")

TWO = ("--workers", "2", "--access-log", "--log-format", "json")
WHERE = "/v1/ingest/entries?connection_id=cin_diary"


@pytest.fixture
def crew(diary: Path, tmp_path: Path) -> Iterator[Served]:
    """A server of two workers over the diary."""
    with serving(diary, tmp_path / "notes", *TWO) as served:
        yield served


def owner_token(data: Path) -> str:
    token: str = pdpp_here("owner", "token", "--json", data=data).document["owner_token"]
    return token


def arguments(pid: int) -> bytes:
    """Return how a process was started, nothing where it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def children(pid: int) -> set[int]:
    """Return the processes that a process has started and that serve, spawned or forked."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    found = {int(child) for task in tasks for child in (task / "children").read_text().split()}
    return {child for child in found if b"resource_tracker" not in arguments(child)}


def alive(pid: int) -> bool:
    return arguments(pid) != b""


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def answered(served: Served, token: str) -> int:
    """Return how many requests for health all workers say they have answered."""
    text = served.get("/metrics", token).text
    [line] = [line for line in text.splitlines() if 'route="/healthz",method="GET"' in line]
    return int(line.rpartition(" ")[2])


def test_workers_share_the_port_the_store_and_their_counts(crew: Served) -> None:
    check_that_they_share(crew, b"tests.launching.forker")


def test_workers_that_a_program_spawns_do_so_too(diary: Path, tmp_path: Path) -> None:
    with serving(diary, tmp_path / "notes", *TWO, env=SPAWNED) as crew:
        check_that_they_share(crew, b"spawn_main")


def check_that_they_share(crew: Served, started_by: bytes) -> None:
    token = owner_token(crew.data)
    workers = children(crew.process.pid)
    assert [started_by in arguments(worker) for worker in workers] == [True, True]
    line = json.dumps({"key": "e1", "data": {"id": "e1", "title": "Rain"}})
    answer = httpx.post(
        crew.url + WHERE,
        content=line,
        headers={"Authorization": f"Bearer {token}"},
        trust_env=False,
    )
    assert answer.json()["records_new"] == 1
    for _ in range(20):
        assert crew.get("/healthz", token).status_code == 200
        assert len(crew.get("/v1/search?q=rain", token).json()["data"]) == 1
    assert answered(crew, token) == 20
    assert crew.stop() == 0
    lines = crew.err.read_text().splitlines()
    logged = [json.loads(line) for line in lines if line.startswith("{")]
    assert sum(entry.get("route") == "/healthz" for entry in logged) == 20


def test_a_revoked_grant_is_refused_by_every_worker(crew: Served) -> None:
    ask = ("grant", "create", "--client", "a", "--purpose", "b", "--everything", "--json")
    made = pdpp_here(*ask, data=crew.data).document
    token = made["client_token"]
    assert all(crew.get("/v1/streams", token).status_code == 200 for _ in range(10))
    assert pdpp_here("grant", "revoke", made["grant_id"], data=crew.data).code == 0
    assert {crew.get("/v1/streams", token).status_code for _ in range(10)} == {403}


def test_what_every_worker_serves_is_in_one_sound_log_of_receipts(crew: Served) -> None:
    ask = ("grant", "create", "--client", "a", "--purpose", "b", "--everything", "--json")
    token = pdpp_here(*ask, data=crew.data).document["client_token"]
    for _ in range(30):
        assert crew.get("/v1/streams", token).status_code == 200
    assert crew.stop() == 0
    store = open_store(crew.data)
    try:
        receipts = list(store.receipts.receipts(ReceiptQuery()))
        assert [kept.receipt.operation for kept in receipts] == ["listStreams"] * 30
        assert store.check() == []
    finally:
        store.close()


def test_a_worker_that_dies_is_replaced_and_the_counts_go_on(crew: Served) -> None:
    token = owner_token(crew.data)
    for _ in range(5):
        crew.get("/healthz", token)
    first = children(crew.process.pid)
    killed = min(first)
    os.kill(killed, signal.SIGKILL)
    until(lambda: len(children(crew.process.pid) - {killed}) == 2)
    for _ in range(5):
        assert crew.get("/healthz", token).status_code == 200
    assert answered(crew, token) == 10
    assert crew.stop() == 0
    assert "ended with -9; starting it again" in crew.err.read_text()


def test_a_worker_that_dies_again_before_it_answers_is_replaced_too(crew: Served) -> None:
    token = owner_token(crew.data)
    gone: set[int] = set()
    for _ in range(3):
        until(lambda: len(children(crew.process.pid) - gone) == 2)
        newest = max(children(crew.process.pid) - gone)
        os.kill(newest, signal.SIGKILL)
        gone.add(newest)
    until(lambda: len(children(crew.process.pid) - gone) == 2)
    for _ in range(5):
        assert crew.get("/healthz", token).status_code == 200
    assert crew.stop() == 0


def test_workers_that_die_together_before_they_answer_count_each_for_itself(crew: Served) -> None:
    token = owner_token(crew.data)
    gone: set[int] = set()
    for _ in range(4):
        until(lambda: len(children(crew.process.pid) - gone) == 2)
        for worker in children(crew.process.pid) - gone:
            os.kill(worker, signal.SIGKILL)
            gone.add(worker)
    until(lambda: len(children(crew.process.pid) - gone) == 2)
    for _ in range(5):
        assert crew.get("/healthz", token).status_code == 200
    assert crew.stop() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_every_worker_and_leaves_nothing(number: int, crew: Served) -> None:
    workers = children(crew.process.pid)
    assert crew.stop(number) == 0
    assert not any(map(alive, workers))
    assert not (crew.err.parent / "ready.json").exists()
    assert "Traceback" not in crew.err.read_text()


def test_workers_end_when_the_process_that_started_them_is_killed(crew: Served) -> None:
    workers = children(crew.process.pid)
    crew.process.kill()
    crew.process.wait()
    until(lambda: not any(map(alive, workers)))


def test_a_request_in_flight_is_finished_before_its_worker_stops(crew: Served) -> None:
    token = owner_token(crew.data)
    host, port = crew.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        line = json.dumps({"key": "late", "data": {"id": "late", "title": "Late"}}).encode()
        head = (
            f"POST {WHERE} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
            f"Expect: 100-continue\r\nContent-Length: {len(line)}\r\n\r\n"
        )
        connection.sendall(head.encode())
        assert connection.recv(4_096).startswith(b"HTTP/1.1 100")
        crew.process.terminate()
        timer = threading.Timer(0.3, connection.sendall, [line])
        timer.start()
        assert connection.recv(65_536).startswith(b"HTTP/1.1 200")
        timer.join()
    assert crew.process.wait(timeout=DEADLINE_SECONDS) == 0
    assert pdpp_here("check", data=crew.data).code == 0


def test_workers_that_cannot_start_end_the_server_with_one_line(
    diary: Path, tmp_path: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import os, sys\nif any('spawn_main' in part for part in sys.orig_argv):\n    os._exit(3)\n"
    )
    path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    ready = tmp_path / "ready"
    options = ("--port", "0", "--workers", "2", "--ready-file", ready)
    ended = pdpp("serve", *options, data=diary, env={"PYTHONPATH": path, **SPAWNED})
    assert ended.failed() == "a worker ended before it could answer; see the log above"
    assert not ready.exists()
