from collections.abc import Iterator

import pytest
from tests.attacks.corpus import hostile_store
from tests.mcp.client import Estate, estate
from tests.serving import grant


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Estate]:
    """A served store in which every text of the corpus stands in every place."""
    folder = tmp_path_factory.mktemp("hostile")
    with estate(hostile_store(folder / "store"), folder) as made:
        yield made


@pytest.fixture(scope="session")
def token(hostile: Estate) -> str:
    """A token that opens all of it."""
    return grant(hostile.store)
