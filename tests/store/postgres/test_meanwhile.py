"""Statements that are done while the program does something else: nothing of theirs is lost."""

from collections.abc import Iterator
from uuid import uuid4

import psycopg
import pytest
from tests.postgres_server import server_url

from pdpp.store.postgres.connection import PostgresConnection

ADD = f"INSERT INTO meanwhile_{uuid4().hex[:12]} VALUES ($1)"
TABLE = ADD.split()[2]
CUT = "SELECT pg_terminate_backend(pg_backend_pid())"


@pytest.fixture
def db() -> Iterator[PostgresConnection]:
    """A connection, and a table of numbers of which each may stand there once."""
    raw = psycopg.connect(server_url(), autocommit=True)
    raw.execute(f"CREATE TABLE {TABLE} (number BIGINT PRIMARY KEY)".encode())
    yield PostgresConnection(raw)
    raw.close()
    with psycopg.connect(server_url(), autocommit=True) as other:
        other.execute(f"DROP TABLE {TABLE}".encode())


def kept() -> list[int]:
    with psycopg.connect(server_url(), autocommit=True) as other:
        rows = other.execute(f"SELECT number FROM {TABLE} ORDER BY 1".encode()).fetchall()
    return [number for (number,) in rows]


def test_what_is_done_meanwhile_is_there_for_the_next_statement_and_kept(
    db: PostgresConnection,
) -> None:
    db.control("BEGIN")
    db.run_meanwhile([(ADD, (1,)), (ADD, (2,))])
    assert db.run(f"SELECT count(*) FROM {TABLE}").get == 2
    db.run_meanwhile([(ADD, (3,))])
    db.run_meanwhile([(ADD, (4,))])
    db.commit()
    assert kept() == [1, 2, 3, 4]


@pytest.mark.parametrize("at", [0, 1])
def test_a_failure_is_raised_by_the_next_statement_or_by_the_commit(
    db: PostgresConnection, at: int
) -> None:
    db.run(ADD, (1,))
    statements = [(ADD, (2,)), (ADD, (3,))]
    statements[at] = (ADD, (1,))
    for go_on in (lambda: db.run("SELECT 1"), db.commit):
        db.control("BEGIN")
        db.run_meanwhile(statements)
        with pytest.raises(psycopg.errors.UniqueViolation):
            go_on()
        db.roll_back()
        assert db.is_idle()
    assert kept() == [1]


def test_a_transaction_that_fails_elsewhere_is_rolled_back_with_what_was_done_meanwhile(
    db: PostgresConnection,
) -> None:
    db.control("BEGIN")
    db.run_meanwhile([(ADD, (1,)), (ADD, (1,))])
    db.roll_back()
    assert db.is_idle()
    db.run(ADD, (5,))
    assert kept() == [5]


def test_a_connection_that_was_cut_meanwhile_is_noticed(db: PostgresConnection) -> None:
    db.control("BEGIN")
    db.run_meanwhile([(ADD, (1,)), (CUT, ())])
    with pytest.raises(psycopg.OperationalError):
        db.run("SELECT 1")
    assert db.raw.closed
    db.roll_back()
    assert kept() == []
