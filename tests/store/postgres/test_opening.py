"""Opening a database for the first time, as users with more and with fewer rights."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from tests.postgres_server import server_url
from tests.store.postgres.conftest import Opener
from tests.store.world import Clock

from pdpp.model.errors import StoreError
from pdpp.store.postgres.opening import prepare
from pdpp.store.postgres.schema import ROLE
from pdpp.store.postgres.store import PostgresStore


@contextmanager
def new_database(*rights: str) -> Iterator[str]:
    """Make an empty database of a new user, to whom an administrator gave some rights."""
    name = f"opening_{uuid4().hex[:12]}"
    with psycopg.connect(server_url(), autocommit=True) as administrator:
        for text in (f"CREATE ROLE {name} LOGIN", f"CREATE DATABASE {name} OWNER {name}", *rights):
            administrator.execute(text.replace("USER", name).encode())
        try:
            yield make_conninfo(server_url(), dbname=name, user=name)
        finally:
            for text in (f"DROP DATABASE {name} WITH (FORCE)", f"DROP ROLE {name}"):
                administrator.execute(text.encode())


@pytest.fixture(autouse=True)
def role(opened: Opener) -> None:
    """The role of the sessions is there: another database of this server has it."""
    opened("anna")


def test_a_user_whom_an_administrator_gave_the_role_opens_a_new_database(
    tmp_path: Path, clock: Clock
) -> None:
    with new_database(f"GRANT {ROLE} TO USER") as url:
        store = PostgresStore(url, tmp_path, clock, owner="nora")
        assert store.catalogue().connections == {}
        store.close()


def test_a_user_without_the_right_is_told_what_an_administrator_has_to_run() -> None:
    with new_database() as url, pytest.raises(StoreError) as refused:
        prepare(url)
    assert refused.value.message.endswith(
        f"GRANT {ROLE} TO {psycopg.conninfo.conninfo_to_dict(url)['user']};"
    )
    assert "CREATE ROLE" not in refused.value.message
