"""Where lines are counted: in every test process, and in some of the programs that tests start."""

import os
from collections.abc import Generator
from pathlib import Path

import pytest
from tests.counting.importing import FOLDER, HOOK, count_imports
from tests.scheduling import file_of

CHILDREN_COUNTED = (
    "tests/cli/test_cli_doctor",
    "tests/cli/test_cli_mcp",
    "tests/cli/test_cli_owner.",
    "tests/cli/test_cli_seeding",
    "tests/cli/test_cli_serve",
    "tests/cli/test_demo",
    "tests/cli/test_importing",
    "tests/cli/test_process",
    "tests/cli/test_workers",
    "tests/mcp/test_connect",
    "tests/mcp/test_lines",
    "tests/mcp/test_mcp_stdio",
)
"""Files that start programs whose lines run nowhere else."""


class LineCounter:
    """Lets the programs of some files count their lines."""

    def __init__(self, folder: Path) -> None:
        self._path = os.environ.get("PYTHONPATH")
        self._write = count_imports(folder)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Switch before the fixtures of a file are made: they start the servers it asks."""
        paths = [self._path] if self._path else []
        if file_of(item.nodeid).startswith(CHILDREN_COUNTED):
            paths.insert(0, str(HOOK))
        if paths:
            os.environ["PYTHONPATH"] = os.pathsep.join(paths)
        else:
            os.environ.pop("PYTHONPATH", None)
        return (yield)

    def pytest_sessionfinish(self) -> None:
        """Write down what this process ran."""
        self._write()


def line_counter() -> LineCounter | None:
    """Return what counts lines, where the environment names a folder for them."""
    folder = os.environ.get(FOLDER)
    if not folder:
        return None
    os.environ[FOLDER] = str(Path(folder).absolute())
    return LineCounter(Path(os.environ[FOLDER]))
