from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.engine import surrogate_by_key
from tests.postgres_server import server_url
from tests.store.world import Clock

from pdpp.store.postgres.store import PostgresStore

Opener = Callable[[str], PostgresStore]


@pytest.fixture
def clock() -> Clock:
    """The clock that all stores of a test read."""
    return Clock()


@pytest.fixture
def opened(tmp_path: Path, clock: Clock) -> Iterator[Opener]:
    """Open the store of an owner, as one more worker does."""
    stores: list[PostgresStore] = []

    def open_one(owner: str) -> PostgresStore:
        name = f"{tmp_path}/{owner}"
        store = PostgresStore(server_url(), tmp_path, clock, surrogate_by_key, owner=name)
        stores.append(store)
        return store

    yield open_one
    for store in stores:
        store.close()
