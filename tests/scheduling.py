"""Which test worker runs what: a file's tests stay together, so that its servers start once.

The scheduler that comes with the runner keeps tests together by a mark that it adds to their names;
the installed runner no longer takes such names, so tests of one file were spread over all workers,
and each of them filled the same stores and started the same servers.
"""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from fnmatch import fnmatch
from importlib import import_module
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any
from warnings import catch_warnings, simplefilter

import pytest
from hypothesis.internal.constants_ast import constants_from_module
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

TOGETHER: Mapping[str, str] = MappingProxyType(
    {
        # They measure: two at once would measure each other.
        "tests/house/test_bench.py": "bench",
        "tests/house/test_soak.py": "bench",
        "tests/sources/importing/test_scale.py": "bench",
        # They share one browser.
        "tests/attacks/test_injection_pages.py": "browser",
        "tests/house/test_tutorial.py": "browser",
        "tests/pages/test_browser.py": "browser",
    }
)

FIRST = (
    "tests/promises/test_reference_model.py",
    "tests/promises/test_mutants.py",
    "tests/store/postgres/test_differential.py",
    "tests/sources/formats/test_every_format.py",
    "tests/house/test_bench.py",
    "tests/house/test_soak.py",
    "tests/sources/importing/test_scale.py",
    "tests/hosts/test_accepted.py",
    "tests/hosts/test_conversations.py",
    "tests/store/postgres/test_work.py",
    "tests/house/test_wheel.py",
    "tests/pages/test_browser.py",
    "tests/pages/test_every_page.py",
    "tests/pages/test_layout.py",
    "tests/pages/test_many.py",
    "tests/promises/test_non_interference.py",
)
"""Long files begin first, so that no worker is left alone with one at the end."""


_LONG_SECONDS = 0.5
"""What takes as long is told, for the list of the slowest."""


def file_of(nodeid: str) -> str:
    """Return the file of a test."""
    return nodeid.partition("::")[0]


def order_of(nodeid: str) -> int:
    """Return a number that sorts the long files before all others."""
    file = file_of(nodeid)
    return FIRST.index(file) if file in FIRST else len(FIRST)


def import_share(config: pytest.Config, number: int, count: int) -> None:
    """Import every so many files of tests, beginning with the one of a number."""
    if config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return
    for file in share_of(config.rootpath / "tests", number, count):
        # What cannot be imported, or only with a warning, is told when it is collected.
        with catch_warnings(), suppress(Exception, pytest.skip.Exception):
            simplefilter("error")
            import_module(".".join(file.relative_to(config.rootpath).with_suffix("").parts))
    for module in modules_of(number, count):
        constants_from_module(module)


def modules_of(number: int, count: int) -> list[ModuleType]:
    """Return the modules of the program in which one of several workers looks for constants first.

    Examples are made up of them too. In a fresh checkout every worker would look through all
    modules, for seven seconds; what one of them has found is kept for the others.
    """
    names = sorted(name for name in sys.modules if name.partition(".")[0] == "pdpp")
    return [sys.modules[name] for name in names[number::count]]


def share_of(folder: Path, number: int, count: int) -> list[Path]:
    """Return the files of tests below a folder that one of several workers imports first."""
    return sorted(_files_below(folder))[number::count]


def _files_below(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "node_modules"]
        yield from (Path(place, name) for name in names if fnmatch(name, "test_*.py"))


def send_what_tells(config: pytest.Config) -> None:
    """Let a worker tell how a test was prepared and cleared away only where that says anything.

    Every test has two such reports beside its own, and nearly all of them say that nothing
    happened: to pack, send and read them is a fifth of what a run adds to each test.
    """
    plugins: set[Any] = config.pluginmanager.get_plugins()
    for plugin in plugins:
        # The runner sends a worker the text of its module, so that the class is no other's.
        if type(plugin).__name__ == "WorkerInteractor":
            plugin.sendevent = _without_silent(plugin.sendevent)


def _without_silent(send: Callable[..., None]) -> Callable[..., None]:
    def sendevent(name: str, **told: Any) -> None:
        if name != "testreport" or not _is_silent(told["data"]):
            send(name, **told)

    return sendevent


def _is_silent(report: Mapping[str, Any]) -> bool:
    """Tell whether a report is of a part beside a test that went well and took no time."""
    went_well = report["when"] != "call" and report["outcome"] == "passed"
    return went_well and float(report["duration"]) < _LONG_SECONDS


class FileScheduling(LoadScopeScheduling):  # type: ignore[misc] # the base has no types
    """Give a worker whole files, or several files that belong together."""

    def _split_scope(self, nodeid: str) -> str:
        file = file_of(nodeid)
        return TOGETHER.get(file, file)
