from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.sources.desk import Desk, new_desk
from tests.sources.scene import Scene


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    """A data folder and an export to import into it."""
    made = Scene(tmp_path)
    yield made
    made.store.close()


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """A store with one connection, and a folder to import."""
    made = new_desk(tmp_path)
    yield made
    made.store.close()
