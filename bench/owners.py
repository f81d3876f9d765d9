"""The benchmark of many owners in one database: what it takes to add one, and to read as one."""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg

from bench.postgres_server import running_server
from bench.report import Row, table
from pdpp.authz.token import TokenKind, hash_token
from pdpp.store.postgres.opening import prepare, worker_connections
from pdpp.store.postgres.pool import WorkerConnections
from pdpp.store.postgres.schema import SCHEMA
from pdpp.store.postgres.store import PostgresStore
from pdpp.store.vault import Token

OWNERS = 100_000
_TIMES = 200
_ADD_GOAL = 20
_GROWTH_GOAL = 1.5
_TICK = 1_000 / os.sysconf("SC_CLK_TCK")


class _Worker:
    """A worker's connections, and the processor time that it and its sessions take."""

    def __init__(self, url: str, folder: Path) -> None:
        self._url = url
        self._folder = folder
        self.connections: WorkerConnections = worker_connections(url)

    def open(self, name: str) -> PostgresStore:
        return PostgresStore(self._url, self._folder, owner=name, connections=self.connections)

    def _milliseconds(self) -> float:
        with psycopg.connect(self._url) as session:
            asked = "SELECT pid FROM pg_stat_activity WHERE application_name = 'pdpp'"
            pids = [pid for (pid,) in session.execute(asked)]
        stats = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids]
        return sum(_TICK * (int(stat[11]) + int(stat[12])) for stat in stats)

    def measured(self, work: Callable[[int], object]) -> tuple[float, float]:
        """Return the milliseconds of a turn: of processor, and the median by the clock."""
        work(0)
        walls, sessions, process = [], self._milliseconds(), time.process_time()
        for number in range(1, _TIMES + 1):
            start = time.perf_counter()
            work(number)
            walls.append(1_000 * (time.perf_counter() - start))
        spent = 1_000 * (time.process_time() - process) + self._milliseconds() - sessions
        return spent / _TIMES, statistics.median(walls)


def add_many(url: str, prefix: str, count: int) -> None:
    """Add owners who have nothing, all at once."""
    with psycopg.connect(url, autocommit=True) as session:
        session.execute(
            f"WITH added AS (INSERT INTO {SCHEMA}.owner_name (name)"
            f" SELECT %s || n FROM generate_series(1, %s) AS n RETURNING id)"
            f" INSERT INTO {SCHEMA}.owner (id) SELECT id FROM added",
            (prefix, count),
        )
        session.execute("VACUUM ANALYZE")


def owner_rows(url: str, folder: Path, owners: int = OWNERS) -> Iterator[Row]:
    """Yield what it takes to add an owner, and to ask for one among few and among many."""
    prepare(url)
    worker, stamp = _Worker(url, folder), f"{time.time_ns():x}"
    try:

        def add(number: int) -> None:
            store = worker.open(f"{stamp}-new-{number}")
            store.secret()
            store.vault.keep_token(Token(hash_token(f"t{number}"), TokenKind.OWNER, "first", 1))
            _ = store.receipts

        def read(number: int) -> None:
            store = worker.open(f"{stamp}-new-{number}")
            with store.reading():
                store.catalogue()
                assert store.vault.token(hash_token(f"t{number}")) is not None

        few, few_wall = worker.measured(add)
        among_few, _ = worker.measured(read)
        add_many(url, f"{stamp}-many-", owners)
        added, wall = worker.measured(lambda number: add(number + 10 * _TIMES))
        among_many, read_wall = worker.measured(read)
    finally:
        worker.connections.close()
    name = f"{owners:,} others"
    note = f"{few:.1f} ms among few, {few_wall:.1f} ms by the clock; {name}: {wall:.1f} ms"
    yield Row("add an owner: name, secret, token, receipts", added, "ms", _ADD_GOAL, note)
    note = f"{among_many:.2f} ms of processor against {among_few:.2f}, {read_wall:.1f} by the clock"
    growth = among_many / among_few
    yield Row(f"open an owner and read, with {name}", growth, "×", _GROWTH_GOAL, note)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m bench.owners", description=__doc__)
    parser.add_argument("--owners", type=int, default=OWNERS, help="how many others there are")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        with running_server(folder / "server") as url:
            print(table(list(owner_rows(url, folder / "data", chosen.owners))))


if __name__ == "__main__":
    main()
