"""Where lines are counted: not in the files that repeat one property over and over.

Counting lines nearly doubles the processor time of a test. Files that attack, kill or compare
hundreds of times run the same lines again; the other tests are the ones that reach them all.
"""

import os
from collections.abc import Generator

import pytest
from coverage import Coverage
from tests.scheduling import file_of

NOT_COUNTED = (
    "tests/attacks/",
    "tests/faults/",
    "tests/promises/",
    "tests/house/test_bench",
    "tests/house/test_soak",
    "tests/house/test_wheel",
    "tests/mcp/test_bounds",
    "tests/mcp/test_closure",
    "tests/mcp/test_foreign",
    "tests/mcp/test_journeys",
    "tests/mcp/test_judges",
    "tests/mcp/test_official_clients",
    "tests/oauth/test_kill",
    "tests/oauth/test_race",
    "tests/openapi/test_queries",
    "tests/openapi/test_schemathesis",
    "tests/resource/test_loop",
    "tests/sources/importing/test_scale",
)

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
"""Files that start programs whose lines run nowhere else; one that counts takes twice as long."""

_CHILDREN = "COVERAGE_PROCESS_CONFIG"
"""Programs that tests start count their lines while this is in the environment."""


class CoverageSwitch:
    """Counts lines or not, from one file to the next."""

    def __init__(self) -> None:
        self._stopped: list[Coverage] = []
        self._children = os.environ.get(_CHILDREN)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Switch before the fixtures of a file are made: they start the servers it asks."""
        file = file_of(item.nodeid)
        if file.startswith(NOT_COUNTED):
            self._stop()
        else:
            self._start()
        if self._children is not None and file.startswith(CHILDREN_COUNTED):
            os.environ[_CHILDREN] = self._children
        else:
            os.environ.pop(_CHILDREN, None)
        return (yield)

    def _stop(self) -> None:
        # A worker has two counters, one of the runner's plugin and one that every child process
        # starts: stopping the upper one starts the lower one again.
        while (counter := Coverage.current()) is not None:
            counter.stop()
            self._stopped.append(counter)

    def _start(self) -> None:
        while self._stopped:
            self._stopped.pop().start()

    def pytest_sessionfinish(self) -> None:
        """Leave the counters as the runner's plugin expects them."""
        self._start()
