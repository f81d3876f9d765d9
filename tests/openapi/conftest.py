from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.serving import World, living, seeded_store


@pytest.fixture(scope="session")
def demo_world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Serve the demo data for tests that leave it as it is, or do not mind what becomes of it."""
    with living(seeded_store(tmp_path_factory.mktemp("openapi"))) as world:
        yield world


@pytest.fixture
def fresh_world(tmp_path: Path) -> Iterator[World]:
    """Serve the demo data for one test alone."""
    with living(seeded_store(tmp_path)) as world:
        yield world


@pytest.fixture(scope="session")
def document(demo_world: World) -> dict[str, Any]:
    """Return the document as the server serves it, to anyone."""
    answer = demo_world.server.client().get("/v1/openapi.json")
    assert answer.headers["content-type"] == "application/json"
    served: dict[str, Any] = answer.json()
    return served
