"""Running operations: short reads at once, long ones in a thread, none without an end."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from pdpp.model.errors import Overloaded
from pdpp.service.settings import Settings
from pdpp.store.deadline import DeadlinePassed, Timer
from pdpp.store.port import Store

T = TypeVar("T")

_MOST_WAITING = 64
_MOST_REMEMBERED = 1_024


class Runner:
    """Runs operations on a store without letting one hold up the others."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings
        self._readers = ThreadPoolExecutor(settings.concurrent_reads, "pdpp-read")
        self._writer = ThreadPoolExecutor(2, "pdpp-write")
        self._waiting = 0
        self._long: set[str] = set()

    async def read(self, kind: str, operation: Callable[[], T]) -> T:
        """Run a read under one snapshot: here if it is short, else in a thread.

        A kind of read whose last one was long goes to a thread at once, until one takes half of
        what would be short: near the limit every other one would be begun here in vain.
        """
        if kind not in self._long:
            try:
                with self._store.reading(Timer(self._settings.inline_seconds)):
                    return operation()
            except DeadlinePassed:
                self._remember(kind)
        return await self._in_thread(self._readers, lambda: self._long_read(kind, operation))

    def _remember(self, kind: str) -> None:
        if len(self._long) >= _MOST_REMEMBERED:
            self._long.clear()
        self._long.add(kind)

    def _long_read(self, kind: str, operation: Callable[[], T]) -> T:
        short = Timer(self._settings.inline_seconds / 2)
        try:
            with self._store.reading(Timer(self._settings.read_seconds)):
                answer = operation()
            if not short.passed():
                self._long.discard(kind)
            return answer
        except DeadlinePassed:
            raise Overloaded(
                f"The answer took longer than {self._settings.read_seconds:g} s; ask for less, "
                "by connection, filter or a smaller page.",
                headers={"Retry-After": "5"},
            ) from None

    async def write(self, operation: Callable[[], T]) -> T:
        """Run a write in a thread: one is made ready while another is written."""
        return await self._in_thread(self._writer, operation)

    async def _in_thread(self, pool: ThreadPoolExecutor, operation: Callable[[], T]) -> T:
        if self._waiting >= _MOST_WAITING:
            raise Overloaded(
                "The server is busy with long requests; retry soon.", headers={"Retry-After": "2"}
            )
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(pool, operation)
        finally:
            self._waiting -= 1

    def close(self) -> None:
        """Let what runs finish and end the threads."""
        self._readers.shutdown()
        self._writer.shutdown()
