"""Steps from one schema to the next: whole or not at all, once, and never back."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from tests.postgres_server import server_url

from pdpp.model.errors import NewerDatabase, StoreError
from pdpp.store.postgres import schema
from pdpp.store.postgres.migration import MIGRATIONS, Migration, migrate
from pdpp.store.postgres.opening import prepare

NOW = schema.VERSION
COLUMN = Migration(NOW + 1, ["ALTER TABLE about ADD COLUMN note TEXT"])
FILLED = Migration(
    NOW + 2, ["UPDATE about SET note = 'x'", "ALTER TABLE about ADD COLUMN more INT"]
)
CUT = "SELECT pg_terminate_backend(pg_backend_pid())"


@pytest.fixture(scope="module")
def empty() -> Iterator[str]:
    """A database with the schema of today, to make others from."""
    with made("template1") as url:
        prepare(url)
        yield url


@contextmanager
def made(template: str) -> Iterator[str]:
    """Make a database that is dropped when the block ends."""
    name = f"migration_{uuid4().hex[:12]}"
    outside(f"CREATE DATABASE {name} TEMPLATE {template}")
    try:
        yield make_conninfo(server_url(), dbname=name)
    finally:
        outside(f"DROP DATABASE {name} WITH (FORCE)")


def outside(text: str) -> None:
    with psycopg.connect(server_url(), autocommit=True) as raw:
        raw.execute(text.encode())


@pytest.fixture
def url(empty: str) -> Iterator[str]:
    """A database of its own with the schema of today."""
    with made(str(conninfo_to_dict(empty)["dbname"])) as url:
        yield url


def about(url: str) -> dict[str, Any]:
    with psycopg.connect(url, row_factory=psycopg.rows.dict_row) as raw:
        row = raw.execute(f"SELECT * FROM {schema.SCHEMA}.about".encode()).fetchone()
    assert row is not None
    return row


def test_the_steps_lead_to_the_schema_of_today() -> None:
    assert [step.version for step in MIGRATIONS] == list(range(2, NOW + 1))


_ESTIMATES = f"""
    SELECT attrelid::regclass::text, attname, attoptions, attstattarget FROM pg_attribute
    JOIN pg_class ON pg_class.oid = attrelid
    WHERE relnamespace = '{schema.SCHEMA}'::regnamespace AND attoptions IS NOT NULL
    ORDER BY 1, 2
"""


def test_a_database_of_the_first_version_becomes_what_a_new_one_is(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as raw:
        new = raw.execute(_ESTIMATES.encode()).fetchall()
        assert new
        for table, column, _, _ in new:
            change = f"ALTER COLUMN {column} RESET (n_distinct), ALTER COLUMN {column}"
            raw.execute(f"ALTER TABLE {table} {change} SET STATISTICS -1".encode())
        raw.execute(f"DROP FUNCTION {schema.SCHEMA}.count_grown(text[], bigint)".encode())
        for name in ("long_posting", "dated_cell"):
            raw.execute(f"DROP TABLE {schema.SCHEMA}.{name}".encode())
        raw.execute(f"ALTER TABLE {schema.SCHEMA}.thread_place DROP COLUMN ordinal".encode())
        spoken = f"INSERT INTO {schema.SCHEMA}.thread_place (owner, feed, thread, time, surrogate,"
        raw.execute(f"{spoken} record) VALUES (1, 2, 3, 4, 5, 6), (1, 2, 3, 4, 8, 7)".encode())
        raw.execute(
            f"INSERT INTO {schema.SCHEMA}.record (owner, id, feed, key, surrogate, created,"
            " emitted, version, field_set, digest, cells, data)"
            " VALUES (1, 7, 2, 'chat-0012', 8, 0, 0, 0, 0, '', '{}', '')".encode()
        )
        raw.execute(f"UPDATE {schema.SCHEMA}.about SET version = 1".encode())
        migrate(url)
        spoken = f"SELECT feed, thread, time, ordinal, surrogate, record FROM {schema.SCHEMA}"
        places = raw.execute(f"{spoken}.thread_place ORDER BY record".encode()).fetchall()
        assert places == [(2, 3, 4, 0, 5, 6), (2, 3, 4, 12, 8, 7)]
        walls = "relname IN ('thread_place', 'record') AND relforcerowsecurity"
        forced = f"SELECT count(*) FROM pg_class WHERE relkind = 'p' AND {walls}"
        assert raw.execute(forced.encode()).fetchone() == (2,)
        assert raw.execute(_ESTIMATES.encode()).fetchall() == new
        raw.execute(f"SELECT id, data, owner FROM {schema.SCHEMA}.long_posting".encode())
        raw.execute(f"SELECT {schema.SCHEMA}.count_grown(ARRAY['record'], 1)".encode())
    assert about(url)["version"] == NOW


def test_steps_are_taken_in_order_and_once(url: str) -> None:
    migrate(url, [COLUMN, FILLED])
    assert about(url) == {"version": NOW + 2, "note": "x", "more": None}
    migrate(url, [COLUMN, FILLED])
    assert about(url)["version"] == NOW + 2


def test_a_step_that_fails_leaves_the_state_before_it_and_is_taken_up_again(url: str) -> None:
    broken = Migration(NOW + 2, ["UPDATE about SET note = 'half'", "SELECT 1 / 0"])
    with pytest.raises(psycopg.errors.DivisionByZero):
        migrate(url, [COLUMN, broken])
    assert about(url) == {"version": NOW + 1, "note": None}
    migrate(url, [COLUMN, FILLED])
    assert about(url)["note"] == "x"


def test_a_worker_that_is_killed_in_a_step_leaves_the_state_before_it(url: str) -> None:
    killed = Migration(NOW + 1, [*COLUMN.statements, CUT])
    with pytest.raises(psycopg.OperationalError):
        migrate(url, [killed])
    assert about(url) == {"version": NOW}
    migrate(url, [COLUMN])
    assert about(url) == {"version": NOW + 1, "note": None}


def test_of_several_workers_one_takes_each_step(url: str) -> None:
    with ThreadPoolExecutor(3) as workers:
        list(workers.map(lambda _: migrate(url, [COLUMN, FILLED]), range(3)))
    assert about(url) == {"version": NOW + 2, "note": "x", "more": None}


def test_a_schema_is_refused_that_is_newer_or_from_before_the_first_release(url: str) -> None:
    migrate(url, [COLUMN, FILLED])
    with pytest.raises(NewerDatabase, match="install a newer pdpp-server"):
        migrate(url, [COLUMN])
    with pytest.raises(NewerDatabase):
        prepare(url)
    with psycopg.connect(url) as raw:
        raw.execute(f"UPDATE {schema.SCHEMA}.about SET version = 0".encode())
    with pytest.raises(StoreError, match="before the first release"):
        migrate(url, [COLUMN, FILLED])
