"""Running operations: short reads at once, long ones in a thread, none without an end."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, nullcontext
from contextvars import ContextVar
from enum import Enum
from typing import Any, NamedTuple, TypeVar

from pdpp.model.errors import Overloaded
from pdpp.service.per_caller import PerCaller
from pdpp.service.settings import Settings
from pdpp.store.deadline import DeadlinePassed, Timer
from pdpp.store.port import Store
from pdpp.store.replica import ReadAgain

T = TypeVar("T")

_MOST_WAITING = 64
_MOST_WAITING_EACH = 56
"""How many long reads one caller may have under way: the other places are for everybody else."""

_STRANGERS_AT_ONCE = 2
"""Each check of a passphrase takes 64 MiB for a moment."""

_MOST_REMEMBERED = 1_024
_AT_ONCE = nullcontext()


class Later(Enum):
    """What stands for the answer of a read that a thread has to begin."""

    LATER = "later"


LATER = Later.LATER


class _Turn(NamedTuple):
    """How long the code that runs now may take, and whether everybody waits for it."""

    deadline: Timer
    on_loop: bool


class _Share:
    """What one caller takes of the threads: all but one, so that others are answered meanwhile."""

    def __init__(self, threads: int) -> None:
        self.turns = asyncio.Semaphore(max(1, threads - 1))
        self.waiting = 0

    def check(self) -> None:
        """Raise where the caller has too much under way."""
        if self.waiting >= _MOST_WAITING_EACH:
            raise Overloaded(
                "Many of your long requests are under way; wait for their answers.",
                headers={"Retry-After": "2"},
            )


_turn: ContextVar[_Turn | None] = ContextVar("pdpp_turn", default=None)

LARGE_BYTES = 100_000
"""A text longer than this is looked through in a thread."""

_MOST_INLINE_BYTES = 1 << 20
"""How much of large records is read on the loop: parsing it takes a few milliseconds."""


def leave_loop(size: int, most: int = _MOST_INLINE_BYTES) -> None:
    """Have a read begin again in a thread, where it is on the loop and has so much to look at.

    The engine's own clock only runs while it looks for rows; parsing, hashing and searching a long
    text are done after that.
    """
    turn = _turn.get()
    if turn is not None and turn.on_loop and size > most:
        raise DeadlinePassed


def check_time() -> bool:
    """Raise where the time of the read that runs now is up; else say that it is not."""
    turn = _turn.get()
    if turn is not None and turn.deadline.passed():
        raise DeadlinePassed
    return False


def run_here(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end in this thread, which has no event loop.

    What it awaits must be done by the runner, which then works in this very thread: a page asks for
    many short reads, and each would otherwise change threads twice.
    """
    try:
        coroutine.send(None)
    except StopIteration as end:
        answer: T = end.value
        return answer
    coroutine.close()
    raise RuntimeError("A coroutine in a thread waited for an event loop.")


def _on_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _remember(kinds: set[str], kind: str) -> None:
    if len(kinds) >= _MOST_REMEMBERED:
        kinds.clear()
    kinds.add(kind)


class Runner:
    """Runs operations on a store without letting one hold up the others."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings
        self._readers = ThreadPoolExecutor(settings.concurrent_reads, "pdpp-read")
        # Two: records are prepared outside the write lock, so one batch can be prepared while
        # another is written; a third would only wait.
        self._writer = ThreadPoolExecutor(2, "pdpp-write")
        self._strangers = ThreadPoolExecutor(_STRANGERS_AT_ONCE, "pdpp-stranger")
        self._waiting = 0
        self._long: set[str] = set()
        self._short: set[str] = set()
        self._shares = PerCaller(lambda: _Share(settings.concurrent_reads))

    async def read(
        self,
        kind: str,
        operation: Callable[[], T],
        *,
        heavy: bool = False,
        lag: float | None = None,
        assumed: object = None,
        caller: str | None = None,
    ) -> T:
        """Run a read under one snapshot: here if it is short, else in a thread.

        Who asks from a thread, as pages do, is answered in that thread. With ``lag`` a replica may
        answer, and a state may be ``assumed``, see ``Store.reading``. Long reads of one ``caller``
        leave room for those of others.
        """
        if not _on_loop():
            return self._long_read(kind, operation, lag, assumed, self._long_timer())
        answer = self.read_now(kind, operation, heavy=heavy, lag=lag, assumed=assumed)
        if not isinstance(answer, Later):
            return answer
        deadline = self._long_timer()
        try:
            return await self._in_share(
                caller, lambda: self._long_read(kind, operation, lag, assumed, deadline)
            )
        except asyncio.CancelledError:
            # A thread cannot be cancelled, but it looks at its time.
            deadline.end()
            raise

    def read_now(
        self,
        kind: str,
        operation: Callable[[], T],
        *,
        heavy: bool = False,
        lag: float | None = None,
        assumed: object = None,
    ) -> T | Later:
        """Run a short read on the event loop, for which nobody waits; else say that it is long.

        A kind of read whose last one was long goes to a thread at once, until one takes half of
        what would be short: near the limit every other one would be begun here in vain. The first
        of a ``heavy`` kind goes to a thread too, because it may have to load modules and tables.
        """
        if kind not in self._short and (heavy or kind in self._long):
            return LATER
        deadline = Timer(self._settings.inline_seconds, _MOST_INLINE_BYTES)
        try:
            return self._read(_Turn(deadline, True), operation, lag, assumed)
        except DeadlinePassed:
            _remember(self._long, kind)
            self._short.discard(kind)
            return LATER

    def _long_timer(self) -> Timer:
        return Timer(self._settings.read_seconds)

    def _read(
        self, turn: _Turn, operation: Callable[[], T], lag: float | None, assumed: object
    ) -> T:
        token = _turn.set(turn)
        try:
            with self._store.reading(turn.deadline, lag, assumed):
                return operation()
        except ReadAgain:
            with self._store.reading(turn.deadline):
                return operation()
        finally:
            _turn.reset(token)

    def _long_read(
        self,
        kind: str,
        operation: Callable[[], T],
        lag: float | None,
        assumed: object,
        deadline: Timer,
    ) -> T:
        short = Timer(self._settings.inline_seconds / 2)
        deadline.begin()  # Waiting for a thread does not count.
        try:
            answer = self._read(_Turn(deadline, False), operation, lag, assumed)
            if not short.passed():
                self._long.discard(kind)
                _remember(self._short, kind)
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

    async def for_stranger(self, operation: Callable[[], T]) -> T:
        """Run what anybody may ask for, a login form or the check of a passphrase, few at a time.

        It has threads of its own, and is not counted among those who wait: whoever asks for many
        must not keep readers out.
        """
        if not _on_loop():
            return self._strangers.submit(operation).result()
        return await asyncio.get_running_loop().run_in_executor(self._strangers, operation)

    async def aside(self, operation: Callable[[], T]) -> T:
        """Run what computes for long in a reading thread, so that the event loop goes on."""
        return await self._in_thread(self._readers, operation)

    async def _in_share(self, caller: str | None, operation: Callable[[], T]) -> T:
        """Run a long read in a thread when it is its caller's turn."""
        if caller is None:
            return await self._in_thread(self._readers, operation)
        share = self._shares.of(caller)
        share.check()
        share.waiting += 1
        try:
            return await self._in_thread(self._readers, operation, share.turns)
        finally:
            share.waiting -= 1

    async def _in_thread(
        self,
        pool: ThreadPoolExecutor,
        operation: Callable[[], T],
        turns: AbstractAsyncContextManager[None] = _AT_ONCE,
    ) -> T:
        if not _on_loop():
            return pool.submit(operation).result()
        # A pool queues without a bound; each waiting request holds its body in memory.
        if self._waiting >= _MOST_WAITING:
            raise Overloaded(
                "The server is busy with long requests; retry soon.", headers={"Retry-After": "2"}
            )
        self._waiting += 1
        try:
            async with turns:
                return await asyncio.get_running_loop().run_in_executor(pool, operation)
        finally:
            self._waiting -= 1

    def close(self) -> None:
        """Let what runs finish and end the threads."""
        self._readers.shutdown()
        self._writer.shutdown()
        self._strangers.shutdown()
