"""The floor of a fleet's writes: the same lines, copied into a bare table."""

import os
from collections.abc import Sequence

import orjson
import psycopg

from bench.fleet import pin
from bench.process import cpu_seconds


class BareWriter:
    """Copies batches into a table of its own with one index, on a core of its own."""

    def __init__(self, url: str, table: str, batches: Sequence[bytes], core: int | None) -> None:
        self._table = table
        self._core = core
        self._batches = iter([_packed(lines) for lines in batches])
        self._session = psycopg.connect(url, autocommit=True)
        self._pid = self._session.info.backend_pid
        self._session.execute(f"CREATE TABLE {table} (key text, data bytea)".encode())
        self._session.execute(f"CREATE INDEX ON {table} (key)".encode())
        self.write(1)
        pin(self._pid, core)

    def close(self) -> None:
        """Remove the table."""
        self._session.execute(f"DROP TABLE {self._table}".encode())
        self._session.close()

    def write(self, batches: int) -> None:
        """Copy batches, each in a transaction of its own."""
        if self._core is not None:
            os.sched_setaffinity(0, {self._core})
        for _ in range(batches):
            cursor = self._session.cursor()
            with cursor.copy(f"COPY {self._table} FROM STDIN (FORMAT binary)".encode()) as copy:
                copy.write(next(self._batches))

    def cpu_seconds(self) -> float:
        """Return the processor time that the session took."""
        return cpu_seconds(self._pid)


def _packed(lines: bytes) -> bytes:
    """Return lines with their keys as a binary copy takes them, so that nothing is left to do."""
    parts = [b"PGCOPY\n\xff\r\n\0" + bytes(8)]
    for line in lines.splitlines():
        key = str(orjson.loads(line)["key"]).encode()
        head = (2).to_bytes(2, "big")
        parts += [head, len(key).to_bytes(4, "big"), key, len(line).to_bytes(4, "big"), line]
    return b"".join([*parts, b"\xff\xff"])
