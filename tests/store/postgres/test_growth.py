"""Tables that have grown are counted by whoever made them grow; no others are looked at."""

from collections.abc import Iterator
from uuid import uuid4

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from tests.postgres_server import server_url

from pdpp.store.postgres.connection import PostgresConnection
from pdpp.store.postgres.growth import count_grown
from pdpp.store.postgres.opening import open_session, prepare

_PLACES = "INSERT OR REPLACE INTO thread_place VALUES (?, ?, ?, ?, ?)"
_BY_ANOTHER = """
    INSERT INTO pdpp.ghost (owner, feed, version, surrogate, key, time, emitted)
    SELECT 1, 1, n, n, 'key', n, n FROM generate_series(1, 5000) AS n
"""
_COUNTED = """
    SELECT sum(greatest(reltuples, 0))::bigint FROM pg_class
    WHERE relkind = 'r' AND relname LIKE %s || '\\_p%%'
"""


@pytest.fixture
def url() -> Iterator[str]:
    """A database of its own, in which nobody counts but the program."""
    name = f"growth_{uuid4().hex[:12]}"
    with psycopg.connect(server_url(), autocommit=True) as outside:
        outside.execute(f"CREATE DATABASE {name}".encode())
        try:
            url = make_conninfo(server_url(), dbname=name)
            prepare(url)
            yield url
        finally:
            outside.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def test_what_grew_several_times_is_counted_and_what_others_wrote_is_left_to_them(
    url: str,
) -> None:
    with psycopg.connect(url, autocommit=True) as other:

        def counted(table: str) -> int:
            row = other.execute(_COUNTED, (table,)).fetchone()
            return 0 if row is None else int(row[0])

        other.execute(_BY_ANOTHER)
        db = PostgresConnection(open_session(url))
        db.set_owner(1)

        def write(first: int, end: int) -> None:
            db.executemany(
                _PLACES, [(1, 1, number, number, number) for number in range(first, end)]
            )
            count_grown(db)

        write(0, 900)
        assert counted("thread_place") == 0  # too few to look
        write(900, 2_000)
        assert (counted("thread_place"), counted("ghost")) == (2_000, 0)
        write(2_000, 4_000)
        assert counted("thread_place") == 2_000  # twice as many are not worth it
        write(4_000, 9_000)
        assert counted("thread_place") == 9_000
        db.close()
