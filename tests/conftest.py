import os
import re
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

Made = pytest.Item | pytest.Collector | list[pytest.Item | pytest.Collector] | None

SCENARIO_ID = re.compile(r"S(?!000)(0\d\d|100)\Z", re.ASCII)

settings.register_profile(
    "ci",
    deadline=None,
    derandomize=True,
    max_examples=100,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "soak",
    deadline=None,
    derandomize=False,
    max_examples=5000,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makeitem() -> Generator[None, Made, Made]:
    """Refuse a scenario marker that names none of the scenarios S001 to S100."""
    made = yield
    for item in made if isinstance(made, list) else [made]:
        if isinstance(item, pytest.Item) and not _names_scenarios(item):
            raise pytest.Collector.CollectError(
                f"{item.name}: a scenario marker takes one id from S001 to S100"
            )
    return made


def _names_scenarios(item: pytest.Item) -> bool:
    return all(
        not mark.kwargs and len(mark.args) == 1 and SCENARIO_ID.match(str(mark.args[0]))
        for mark in item.iter_markers("scenario")
    )
