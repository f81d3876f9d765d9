"""What is made ready ahead is written to a database as it would be, and as to a file."""

import random
from functools import partial
from pathlib import Path

import pytest
from tests.engine import surrogate_by_key
from tests.postgres_server import server_url
from tests.soak import SOAK
from tests.store import ways
from tests.store.world import Clock

from pdpp.store.postgres.store import PostgresStore
from pdpp.store.sqlite.store import SqliteStore

LENGTH = 40
SEEDS = range(200, 400 if SOAK else 201)


def opened(folder: Path, owner: str, clock: Clock) -> PostgresStore:
    return PostgresStore(
        server_url(), folder / owner, clock, surrogate_by_key, owner=f"{folder}/{owner}"
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_a_series_of_batches_comes_to_the_same_as_in_a_file(seed: int, tmp_path: Path) -> None:
    batches = ways.series(random.Random(seed), LENGTH)
    expected = ways.plainly(
        lambda clock: SqliteStore(tmp_path / "file", clock, surrogate_by_key), batches
    )
    assert expected.problems == []
    for way in (ways.plainly, ways.ahead):
        assert way(partial(opened, tmp_path, way.__name__), batches) == expected
