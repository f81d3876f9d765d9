from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.sources.harness import Harness, new_desk
from tests.sources.word_lists import WordLists


@pytest.fixture
def word_lists(tmp_path: Path) -> Iterator[WordLists]:
    """A data folder and an export to import into it."""
    made = WordLists(tmp_path)
    yield made
    made.store.close()


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[Harness]:
    """A store with one connection, and a folder to import."""
    made = new_desk(tmp_path)
    yield made
    made.store.close()
