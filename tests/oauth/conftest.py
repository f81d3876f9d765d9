from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.oauth.dance import OTHER_CALLBACK, Dance, Party, dancing


@pytest.fixture
def dance(tmp_path: Path) -> Iterator[Dance]:
    """A running authorization server."""
    with dancing(tmp_path / "data") as made:
        yield made


@pytest.fixture
def party(dance: Dance) -> Party:
    """A registered client."""
    return dance.register()


@pytest.fixture
def other(dance: Dance) -> Party:
    """Another registered client."""
    return dance.register(OTHER_CALLBACK)
