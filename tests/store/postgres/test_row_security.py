"""The second wall: a statement that forgets its owner sees and changes nothing of another's."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psycopg
import pytest
from tests.engine import surrogate_by_key
from tests.postgres_server import server_url
from tests.store.postgres.conftest import Opener
from tests.store.world import Clock, World

from pdpp.store.postgres import schema
from pdpp.store.postgres.opening import open_session
from pdpp.store.postgres.store import PostgresStore
from pdpp.store.vault import Token

WALLED = [
    "owner",
    "owner_work",
    "counter",
    "allowance",
    "guess",
    "blob_content",
    *schema.tables(),
]


@pytest.fixture
def anna(opened: Opener, clock: Clock) -> PostgresStore:
    """An owner with something in most tables."""
    return fill(opened("anna"), clock)


@pytest.fixture(scope="module")
def dora(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresStore]:
    """The same for tests that only read, who sees what she has."""
    folder, clock = tmp_path_factory.mktemp("dora"), Clock()
    store = PostgresStore(server_url(), folder, clock, surrogate_by_key, owner=str(folder))
    with closing(fill(store, clock)), closing(session_of(store)) as session:
        assert all(count(session, table) for table in ("record", "cell", "token", "feed"))
        yield store


def fill(store: PostgresStore, clock: Clock) -> PostgresStore:
    """Write something into most tables."""
    world = World(store, clock).settle()
    world.put({"a": {"subject": "apple", "at": "2026-01-01T00:00:00Z"}})
    world.put({"a": {"subject": "pear", "at": "2026-01-02T00:00:00Z"}})
    store.vault.keep_token(Token("hash", "owner", "label", 1))
    store.receipts.anchor()
    return store


def session_of(store: PostgresStore) -> "psycopg.Connection[Any]":
    """Open a session that names an owner."""
    session = open_session(server_url())
    session.execute("SELECT set_config('pdpp.owner', %s, false)", (str(store._database.owner),))
    return session


@pytest.fixture(scope="module")
def nobody() -> Iterator["psycopg.Connection[Any]"]:
    """A session that names no owner."""
    with closing(open_session(server_url())) as session:
        yield session


def count(session: "psycopg.Connection[Any]", table: str) -> int:
    row = session.execute(f'SELECT count(*) FROM "{table}"').fetchone()
    assert row is not None
    return int(row[0])


@pytest.mark.usefixtures("dora")
@pytest.mark.parametrize("table", WALLED)
def test_a_session_without_an_owner_sees_nothing(
    nobody: "psycopg.Connection[Any]", table: str
) -> None:
    assert count(nobody, table) == 0


def test_a_statement_without_a_predicate_sees_the_rows_of_its_owner_only(
    anna: PostgresStore, opened: Opener
) -> None:
    other = opened("bert")
    with closing(session_of(other)) as session:
        for table in ("record", "cell", "edit", "token", "feed", "declaration", "word_block"):
            assert count(session, table) == 0, table
        session.execute("UPDATE token SET revoked_at = 1")
        session.execute("DELETE FROM record")
    assert anna.vault.token("hash") == Token("hash", "owner", "label", 1)
    assert World(anna).keys() == ["a"]


def test_nobody_writes_a_row_of_another_owner(anna: PostgresStore, opened: Opener) -> None:
    other = opened("bert")
    insert = "INSERT INTO setting (owner, name, value) VALUES (%s, 'x', '')"
    with (
        closing(session_of(other)) as session,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        session.execute(insert, (anna._database.owner,))


def test_a_partition_cannot_be_read_by_its_own_name(nobody: "psycopg.Connection[Any]") -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        count(nobody, "record_p0")


def test_no_session_may_pass_the_wall_by(nobody: "psycopg.Connection[Any]") -> None:
    row = nobody.execute(
        "SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = current_user"
    ).fetchone()
    assert row == (False, False)


def test_every_table_has_its_wall(nobody: "psycopg.Connection[Any]") -> None:
    rows = nobody.execute(
        "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE n.nspname = %s AND c.relkind IN ('r', 'p') AND NOT c.relispartition"
        " AND NOT (c.relrowsecurity AND c.relforcerowsecurity)",
        (schema.SCHEMA,),
    ).fetchall()
    assert sorted(name for (name,) in rows) == ["about", "owner_name", "worker"]
