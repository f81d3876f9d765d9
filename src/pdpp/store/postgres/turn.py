"""Turns: one program at a time does a kind of work for an owner, on whatever machine it runs."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b

import psycopg

from pdpp.store.postgres.database import PostgresDatabase

_PAUSE_SECONDS = 0.2


@contextmanager
def database_turn(
    database: PostgresDatabase, work: str, wait: Callable[[], None]
) -> Iterator[None]:
    """Hold the lock of an owner's work; call ``wait`` again and again while another holds it."""
    # A session of its own: the lock lasts for hours and ends with the session, also when the
    # program is killed, while the worker's other connections are handed on at any moment.
    db = database.connections.open()
    try:
        number = _number(database.owner, work)
        while not db.run("SELECT pg_try_advisory_lock($1)", (number,)).get:
            wait()
            time.sleep(_PAUSE_SECONDS)
        yield
    finally:
        with suppress(psycopg.Error):
            db.close()


def _number(owner: int, work: str) -> int:
    """Return the number of the lock; only equal work of one owner has the same."""
    digest = blake2b(f"turn {owner} {work}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
