"""A small filled store, which the tests of the benchmark and of the soak measure."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from bench import process
from bench.stock import Stock, open_stock
from tests.launching.process import Program

RECORDS = 3_000


@pytest.fixture(autouse=True, scope="session")
def forked_servers() -> Iterator[None]:
    """Fork the servers of the benchmark: half of what a small one computes is to import itself."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(process, "Popen", Program)
        yield


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where stores are kept."""
    return tmp_path_factory.mktemp("bench")


@pytest.fixture(scope="session")
def stock(shelf: Path) -> Stock:
    """A store that is filled."""
    return open_stock(shelf, RECORDS, fresh=False, say=lambda _: None)
