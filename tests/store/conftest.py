from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from tests.store.world import ENGINES, Clock, Engine, World

from pdpp.store import cell
from pdpp.store.port import Store
from pdpp.store.ranking import leaders, matches, score, unit_score
from pdpp.store.tables.records import aggregates, long_values, predicate
from pdpp.store.tables.search import block_cache, index, packing, parts, tending, visible

PLANS: dict[str, dict[tuple[ModuleType, str], int]] = {
    "sqlite": {},
    "sqlite-walking": {
        (predicate, "_SELECTIVE"): 2,
        (index, "BLOCK_RECORDS"): 2,
        (index, "MOST_WAITING"): 2,
        (index, "_MOST_SMALL"): 1,
        (index, "SPREAD_FROM"): 1,
        (packing, "DENSE_PART"): 1,
        (tending, "PIECE_ROWS"): 2,
        (parts, "_NARROW"): 1,
        (visible, "_ONE_BY_ONE"): 2,
        (block_cache, "FREE_BYTES"): 0,
        (block_cache, "BYTES_A_RECORD"): 0,
        (score, "CHUNK"): 3,
        (unit_score, "CHUNK"): 3,
        (leaders, "_SAMPLE"): 4,
        (leaders, "_MOST"): 1,
        (matches, "_SAMPLE"): 4,
        (aggregates, "MOST_RANGES"): 1,
        (cell, "LONG_CHARS"): 3,
        (long_values, "LONG_CHARS"): 3,
    },
}


REAL = {key: getattr(*key) for plan in PLANS.values() for key in plan}


@pytest.fixture(scope="session", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Engine:
    """Each engine that fulfils the port."""
    return ENGINES[request.param]


@pytest.fixture(scope="module", params=PLANS)
def planner(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """Each engine with each of its ways to find records, which small stores would not take."""
    with pytest.MonkeyPatch.context() as patch:
        for (module, name), value in PLANS[request.param].items():
            patch.setattr(module, name, value)
        yield ENGINES[request.param.partition("-")[0]]


@pytest.fixture
def clock() -> Clock:
    """The clock the store reads."""
    return Clock()


@pytest.fixture
def store(
    engine: Engine, tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Store]:
    """An empty store, with no plan: that of another test of the module may still be in force."""
    for (module, name), value in REAL.items():
        monkeypatch.setattr(module, name, value)
    opened = engine(tmp_path / "data", clock)
    yield opened
    opened.close()


@pytest.fixture
def world(store: Store, clock: Clock) -> World:
    """A store with one connection ``c1`` of a source that declares ``messages``."""
    return World(store, clock).settle()
