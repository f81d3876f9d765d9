from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from tests.engine import open_store
from tests.pages.chromium import browsing
from tests.pages.house import House, Reader, housed


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """The demo world with an owner, for tests that leave its records as they are."""
    with housed(Path(tmp_path_factory.mktemp("house")) / "store") as made:
        yield made


@pytest.fixture(scope="module")
def importing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """An empty server with a data folder."""
    folder = Path(tmp_path_factory.mktemp("importing")) / "store"
    folder.mkdir(mode=0o700)
    with housed(folder, store=open_store(folder)) as made:
        yield made


@pytest.fixture(scope="module")
def owner(house: House) -> Reader:
    """A browser without a screen in which the owner is logged in."""
    return house.owner()


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A real browser; one for each module, because it keeps an event loop running meanwhile."""
    with browsing(tmp_path_factory.mktemp("browser-home")) as started:
        yield started
