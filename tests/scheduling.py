"""Which test worker runs what: a file's tests stay together, so that its servers start once.

The scheduler that comes with the runner keeps tests together by a mark that it adds to their names;
the installed runner no longer takes such names, so tests of one file were spread over all workers,
and each of them filled the same stores and started the same servers.
"""

from collections.abc import Mapping
from types import MappingProxyType

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
    "tests/promises/test_mutants.py",
    "tests/promises/test_reference_model.py",
    "tests/sources/formats/test_every_format.py",
    "tests/house/test_bench.py",
    "tests/house/test_soak.py",
    "tests/sources/importing/test_scale.py",
    "tests/pages/test_browser.py",
)
"""Long files begin first, so that no worker is left alone with one at the end."""


def file_of(nodeid: str) -> str:
    """Return the file of a test."""
    return nodeid.partition("::")[0]


def order_of(nodeid: str) -> int:
    """Return a number that sorts the long files before all others."""
    file = file_of(nodeid)
    return FIRST.index(file) if file in FIRST else len(FIRST)


class FileScheduling(LoadScopeScheduling):  # type: ignore[misc] # the base has no types
    """Give a worker whole files, or several files that belong together."""

    def _split_scope(self, nodeid: str) -> str:
        file = file_of(nodeid)
        return TOGETHER.get(file, file)
