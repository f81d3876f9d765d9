from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.serving import World, grant, living, seeded_store

from pdpp import Client


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The demo world, served, only to be read."""
    with living(seeded_store(tmp_path_factory.mktemp("demo") / "store")) as world:
        yield world


@pytest.fixture(scope="session")
def token(demo: World) -> str:
    """A token that opens the whole demo world."""
    return grant(demo.store)


@pytest.fixture
def client(demo: World, token: str) -> Iterator[Client]:
    """The library under that token."""
    with Client(demo.server.url, token) as made:
        yield made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder whose name holds a space."""
    made = tmp_path / "my files"
    made.mkdir()
    return made
