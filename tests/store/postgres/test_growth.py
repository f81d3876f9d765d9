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
from pdpp.store.postgres.schema import PARTITIONS
from pdpp.store.tables.records.predicate import OWNER

_PLACES = "INSERT OR REPLACE INTO thread_place VALUES (?, ?, ?, ?, ?, ?)"
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
                _PLACES, [(1, 1, number, 0, number, number) for number in range(first, end)]
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


_IN_ONE_PART = """
    SELECT n FROM generate_series(2, 100) AS n
    WHERE satisfies_hash_partition('pdpp.thread_place'::regclass, {0}, {1}, n::bigint)
    ORDER BY n LIMIT 2
"""

_KNOWN = """
    SELECT most_common_freqs[1] FROM pg_stats
    WHERE schemaname = 'pdpp' AND tablename = 'thread_place_p1' AND attname = 'owner'
"""


def test_an_owner_who_comes_to_the_rows_of_others_is_counted(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as other:
        found = other.execute(_IN_ONE_PART.format(PARTITIONS, 1).encode()).fetchall()
        (first,), (second,) = found
        db = PostgresConnection(open_session(url))

        def write(owner: int, rows: int, start: int = 0) -> int:
            db.set_owner(owner)
            numbers = range(start, start + rows)
            db.executemany(_PLACES, [(OWNER, 1, number, 0, number, number) for number in numbers])
            count_grown(db)
            row = other.execute(_COUNTED, ("thread_place",)).fetchone()
            return 0 if row is None else int(row[0])

        assert write(first, 9_000) == 9_000
        assert write(second, 900) == 9_000  # too few to look
        assert write(second, 1_100, 900) == 11_000, "as if the second owner had no rows"
        assert write(first, 1_000, 9_000) == 11_000  # not several times as many as before
        assert write(second, 3_000, 2_000) == 11_000
        assert write(second, 3_000, 5_000) == 18_000
        db.close()


def test_an_owner_whose_rows_were_taken_back_is_counted_with_the_next(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as other:
        found = other.execute(_IN_ONE_PART.format(PARTITIONS, 1).encode()).fetchall()
        db = PostgresConnection(open_session(url))

        def write(rows: int) -> None:
            db.executemany(
                _PLACES, [(OWNER, 1, number, 0, number, number) for number in range(rows)]
            )
            count_grown(db)

        def known() -> float:
            """Return which part of the rows is known to be of the first owner."""
            row = other.execute(_KNOWN).fetchone()
            return 0.0 if row is None else float(row[0])

        (first,), (second,) = found
        db.set_owner(first)
        write(9_000)
        db.set_owner(second)
        db.control("BEGIN")
        write(2_000)
        db.roll_back()
        assert known() == 1.0
        write(2_000)
        assert known() == pytest.approx(9 / 11, abs=0.05)
        db.close()
