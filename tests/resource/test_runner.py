"""The runner: where a read is done, by how long the last one of its kind took."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.engine import database_of, open_store
from tests.serving import UNLIMITED

from pdpp.model.errors import Overloaded
from pdpp.service.runner import Runner
from pdpp.store import deadline


class Reads:
    """Reads of one kind that take as long as is said, by a clock that only they move."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        self.begun: list[str] = []
        self.store = open_store(folder)
        self.runner = Runner(self.store, UNLIMITED)
        monkeypatch.setattr(deadline, "time", SimpleNamespace(monotonic=lambda: self.now))

    def take(self, part: float, *, heavy: bool = False) -> list[str]:
        """Read for a part of what is short; return where the read was begun."""
        self.begun.clear()
        asyncio.run(self.runner.read("search", lambda: self._read(part), heavy=heavy))
        return [*self.begun]

    def _read(self, part: float) -> None:
        at_once = threading.current_thread() is threading.main_thread()
        self.begun.append("at once" if at_once else "in a thread")
        self.now += part * UNLIMITED.inline_seconds
        database_of(self.store).check_deadline()


def test_a_kind_of_read_near_the_limit_is_not_begun_in_vain_again_and_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = Reads(tmp_path, monkeypatch)
    assert reads.take(0.9) == ["at once"]
    assert reads.take(1.1) == ["at once", "in a thread"]
    assert reads.take(0.9) == ["in a thread"]
    assert reads.take(1.1) == ["in a thread"]
    assert reads.take(0.4) == ["in a thread"]
    assert reads.take(0.9) == ["at once"]
    reads.runner.close()
    reads.store.close()


def test_a_read_that_may_have_to_load_modules_is_begun_in_a_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = Reads(tmp_path, monkeypatch)
    assert reads.take(9, heavy=True) == ["in a thread"]
    assert reads.take(0.4, heavy=True) == ["in a thread"]
    assert reads.take(0.4, heavy=True) == ["at once"]
    assert reads.take(9, heavy=True) == ["at once", "in a thread"]
    assert reads.take(0.9, heavy=True) == ["in a thread"]
    reads.runner.close()
    reads.store.close()


def test_long_reads_of_one_caller_leave_room_for_those_of_others(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    runner = Runner(store, UNLIMITED)
    end = threading.Event()

    async def ask() -> list[object]:
        def read(caller: str, operation: Callable[[], object]) -> asyncio.Task[object]:
            return asyncio.ensure_future(
                runner.read("search", operation, heavy=True, caller=caller)
            )

        greedy = [read("greedy", end.wait) for _ in range(80)]
        await asyncio.sleep(0)
        try:
            assert await asyncio.wait_for(read("other", lambda: "answered"), 20) == "answered"
        finally:
            end.set()
        return await asyncio.gather(*greedy, return_exceptions=True)

    answers = asyncio.run(ask())
    assert answers.count(True) == 56
    assert {type(answer) for answer in answers} == {bool, Overloaded}
    runner.close()
    store.close()
