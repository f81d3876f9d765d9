from collections.abc import Iterator

import pytest
from tests.cli.reading.desk import Desk, at_desk
from tests.serving import World, living, seeded_store


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The demo world, served, only to be read."""
    with living(seeded_store(tmp_path_factory.mktemp("demo") / "store")) as world:
        yield world


@pytest.fixture(scope="session")
def desk(demo: World, tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A person who may read the whole demo world."""
    return at_desk(demo, tmp_path_factory.mktemp("my cache"))
