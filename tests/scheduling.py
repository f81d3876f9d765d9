"""Which test worker runs what: a file's tests stay together, so that its servers start once.

The scheduler that comes with the runner keeps tests together by a mark that it adds to their names;
the installed runner no longer takes such names, so tests of one file were spread over all workers,
and each of them filled the same stores and started the same servers.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from fnmatch import fnmatch
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from warnings import catch_warnings, simplefilter

import pytest
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
    "tests/pages/test_browser.py",
    "tests/pages/test_every_page.py",
    "tests/pages/test_layout.py",
    "tests/pages/test_many.py",
    "tests/promises/test_non_interference.py",
)
"""Long files begin first, so that no worker is left alone with one at the end."""


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


def share_of(folder: Path, number: int, count: int) -> list[Path]:
    """Return the files of tests below a folder that one of several workers imports first."""
    return sorted(_files_below(folder))[number::count]


def _files_below(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "node_modules"]
        yield from (Path(place, name) for name in names if fnmatch(name, "test_*.py"))


class FileScheduling(LoadScopeScheduling):  # type: ignore[misc] # the base has no types
    """Give a worker whole files, or several files that belong together."""

    def _split_scope(self, nodeid: str) -> str:
        file = file_of(nodeid)
        return TOGETHER.get(file, file)
