"""A database that goes on from an earlier moment: what was remembered of it counts no more."""

import psycopg
import pytest
from tests.postgres_server import server_url
from tests.store.postgres.conftest import Opener

from pdpp.store.postgres.database import PostgresDatabase
from pdpp.store.postgres.store import PostgresStore


def cut(store: PostgresStore) -> PostgresDatabase:
    """Cut what a worker reads on; return its database."""
    database: PostgresDatabase = store._database
    for db in database.connections.readers._idle:
        db.close()
    return database


def set_back(store: PostgresStore) -> PostgresDatabase:
    """Let the next session of a worker tell of another past; return its database."""
    database = cut(store)
    database.connections.timeline._told = ("00000000", 0, 0)
    return database


def test_sessions_of_one_past_let_everything_be_remembered(opened: Opener) -> None:
    store = opened("anna")
    known = store.catalogue()
    cut(store)
    assert store.catalogue() is known
    set_back(store)
    with pytest.raises(psycopg.OperationalError, match="from another moment"):
        store.catalogue()
    assert store.catalogue() != known


def test_an_owner_who_is_lost_is_not_served_by_the_number_of_another(opened: Opener) -> None:
    anna, bert = opened("anna"), opened("bert")
    number = anna._database.owner
    database = set_back(anna)
    with psycopg.connect(server_url(), autocommit=True) as session:
        change = "UPDATE pdpp.owner_name SET id = %s WHERE id = %s"
        session.execute(change, (-number, number))
        with pytest.raises(psycopg.OperationalError):
            anna.catalogue()
        with pytest.raises(psycopg.OperationalError, match="is not in the database"):
            anna.state()
        session.execute(change, (number, -number))
    assert bert.state() is not None
    with pytest.raises(psycopg.OperationalError, match="is not in the database"):
        assert database.owner
