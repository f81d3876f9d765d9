"""A small filled store, which the tests of the benchmark and of the soak measure."""

from pathlib import Path

import pytest
from bench.stock import Stock, open_stock

RECORDS = 3_000


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where stores are kept."""
    return tmp_path_factory.mktemp("bench")


@pytest.fixture(scope="session")
def stock(shelf: Path) -> Stock:
    """A store that is filled."""
    return open_stock(shelf, RECORDS, fresh=False, say=lambda _: None)
