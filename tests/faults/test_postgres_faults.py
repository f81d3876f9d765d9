"""What befalls a PostgreSQL while a worker writes or reads: it is told, and nothing is lost."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import psycopg
import pytest
from tests.cli.shell import DECLARATION, entry
from tests.faults.cluster import Cluster, new_cluster, until
from tests.faults.disk import SmallDisk, mounted
from tests.faults.test_postgres_killed import kill
from tests.postgres_server import server_url
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


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with new_cluster() as cluster:
        yield cluster


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
