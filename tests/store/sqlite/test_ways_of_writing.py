"""Whoever writes a batch, and whatever was made ready ahead, the file holds the same rows."""

import random
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.engine import surrogate_by_key
from tests.soak import SOAK
from tests.store import ways
from tests.store.sqlite.test_scribe import rows
from tests.store.world import Clock

from pdpp.encryption.data_key import DataKey
from pdpp.store.sqlite import scribe as scribe_module
from pdpp.store.sqlite.scribe import Scribe
from pdpp.store.sqlite.store import SqliteStore

pytestmark = pytest.mark.embedded("about the process beside the embedded engine")

LENGTH = 40
SEEDS = range(200 if SOAK else 2)


def opened(folder: Path, key: DataKey | None, clock: Clock) -> SqliteStore:
    return SqliteStore(folder, clock, surrogate_by_key, key=key)


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Let a scribe write every batch, and return what becomes of each."""
    monkeypatch.setattr(scribe_module, "_processors", lambda: 2)
    monkeypatch.setattr(scribe_module, "_LEAST_RECORDS", 1)
    begin, write, told = Scribe.__init__, Scribe.write, list[Any]()

    def begin_and_wait(self: Scribe, *place: Any) -> None:
        begin(self, *place)
        self._starter.join()

    def noted(self: Scribe, *given: Any) -> Any:
        told.append(write(self, *given))
        return told[-1]

    monkeypatch.setattr(Scribe, "__init__", begin_and_wait)
    monkeypatch.setattr(Scribe, "write", noted)
    return told


@pytest.mark.parametrize("seed", SEEDS)
def test_a_series_of_batches_comes_to_the_same_whichever_way_it_is_written(
    seed: int, tmp_path: Path, answers: list[Any]
) -> None:
    key = DataKey(bytes(range(32))) if seed % 2 else None
    batches = ways.series(random.Random(seed), LENGTH)
    expected = ways.plainly(partial(opened, tmp_path / "plainly", key), batches)
    assert expected.problems == []
    assert min(map(len, expected.hits.values())) > 0
    assert not answers
    for way in (ways.ahead, ways.beside):
        folder = tmp_path / way.__name__
        assert way(partial(opened, folder, key), batches) == expected
        assert rows(folder, key) == rows(tmp_path / "plainly", key)
    assert len(answers) > LENGTH // 2
    assert None not in answers
    single = ways.one_by_one(partial(opened, tmp_path / "one by one", key), batches)
    assert single == expected._replace(results=[])
