import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.shell import DECLARATION, Served, pdpp, serving
from tests.engine import copy_store


@pytest.fixture
def declaration(tmp_path: Path) -> Path:
    """A file with the diary's declaration."""
    path = tmp_path / "my diary.json"
    path.write_text(json.dumps(DECLARATION))
    return path


@pytest.fixture(scope="session")
def fresh_diary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder that every diary is a copy of."""
    folder = tmp_path_factory.mktemp("diary")
    data = folder / "data"
    text = json.dumps(DECLARATION).encode()
    assert pdpp("source", "add", "-", data=data, stdin=text).code == 0
    added = pdpp("connection", "add", "diary", "--name", "My days", "--id", "cin_diary", data=data)
    assert added.code == 0, added.err
    return data


@pytest.fixture
def diary(fresh_diary: Path, tmp_path: Path) -> Path:
    """A data folder with an empty diary, cin_diary."""
    return copy_store(fresh_diary, tmp_path / "data folder")


@pytest.fixture(scope="session")
def demo_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with the demo, for tests that leave its records as they are."""
    folder = tmp_path_factory.mktemp("demo")
    with serving(folder / "data", folder / "notes", "--demo") as served:
        yield served
