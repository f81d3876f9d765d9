from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.resource.library import library_store
from tests.serving import World, living, seeded_store


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The demo world, only to be read."""
    with living(seeded_store(tmp_path_factory.mktemp("demo"))) as world:
        yield world


@pytest.fixture(scope="session")
def everything(demo: World) -> httpx.Client:
    """A client that the whole demo world is granted to."""
    return demo.client()


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The library, only to be read."""
    with living(library_store(tmp_path_factory.mktemp("library"))) as world:
        yield world


@pytest.fixture(scope="session")
def reader(library: World) -> httpx.Client:
    """A client that the whole library is granted to."""
    return library.client()


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[World]:
    """A library of the test's own, to be written to."""
    with living(library_store(tmp_path)) as world:
        yield world
