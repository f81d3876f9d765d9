import asyncio
from pathlib import Path

import pytest
from tests.serving import UNLIMITED, SetClock

from pdpp.resource.housekeeping import Housekeeper
from pdpp.resource.runner import Runner
from pdpp.store.sqlite import ledger
from pdpp.store.sqlite.store import SqliteStore
from pdpp.store.vault import Slip


def test_everything_that_ended_is_swept_away_however_much_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger, "_MOST_SWEPT", 2)
    clock = SetClock()
    store = SqliteStore(tmp_path, clock)
    with store.vault.deciding() as book:
        for number in range(5):
            book.add_slip(Slip(str(number), "review", {}, clock.now, clock.now + number))
    clock.advance(60)
    runner = Runner(store, UNLIMITED)
    asyncio.run(Housekeeper(store, runner, UNLIMITED, clock).sweep())
    assert all(store.vault.slip("review", str(number)) is None for number in range(5))
    runner.close()
    store.close()
