import asyncio
import io
import os
import time
from pathlib import Path

import pytest
from tests.engine import open_store
from tests.serving import UNLIMITED, SetClock

from pdpp.jobs.housekeeping import Housekeeper
from pdpp.model import instant
from pdpp.service.runner import Runner
from pdpp.store.sqlite.vault import transaction
from pdpp.store.vault import ShortLivedSecret


def test_everything_that_ended_is_swept_away_however_much_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transaction, "_MOST_SWEPT", 2)
    clock = SetClock()
    store = open_store(tmp_path, clock)
    with store.vault.transaction() as book:
        for number in range(5):
            book.add_secret(
                ShortLivedSecret(str(number), "review", {}, clock.now, clock.now + number)
            )
    clock.advance(60)
    runner = Runner(store, UNLIMITED)
    asyncio.run(Housekeeper(store, runner, UNLIMITED, clock).sweep())
    assert all(store.vault.secret("review", str(number)) is None for number in range(5))
    runner.close()
    store.close()


def test_what_a_killed_upload_left_is_removed_once_nobody_can_be_at_it(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    kept = store.keep_blob(io.BytesIO(b"whole"), "text/plain", 100)
    fresh, old = (kept.path.parents[1] / f".new-{name}" for name in ("fresh", "old"))
    for path in (fresh, old):
        path.write_bytes(b"half of")
    os.utime(old, (time.time() - 90_000,) * 2)
    os.utime(kept.path, (time.time() - 90_000,) * 2)
    runner = Runner(store, UNLIMITED)
    asyncio.run(Housekeeper(store, runner, UNLIMITED, instant.now).sweep())
    assert (kept.path.exists(), fresh.exists(), old.exists()) == (True, True, False)
    runner.close()
    store.close()
