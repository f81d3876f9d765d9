"""Disconnects: clients that leave before their answer, whose work then ends."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator, MutableMapping
from types import coroutine
from typing import Any, TypeVar, cast

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
"""What hands over the messages of one ASGI request."""

T = TypeVar("T")

_SHORT_SECONDS = 0.02
"""Nobody looks for a client before: a watch costs more than short work that nobody waits for."""


class ClientGone(Exception):
    """The client left before its answer."""


async def unless_gone(work: Coroutine[Any, Any, T], receive: Receive) -> T:
    """Finish the work, or cancel it when the client leaves first.

    Nobody looks for the client until the work has taken a while; most never does, and what is done
    without waiting for anything is not even timed.
    """
    try:
        awaited = work.send(None)
    except StopIteration as done:
        answer: T = done.value
        return answer
    loop, worker = asyncio.get_running_loop(), cast("asyncio.Task[Any]", asyncio.current_task())
    watches: list[asyncio.Task[None]] = []

    async def watch() -> None:
        await until_gone(receive)
        worker.cancel()

    begin = loop.call_later(_SHORT_SECONDS, lambda: watches.append(loop.create_task(watch())))
    try:
        return await _rest(work, awaited)
    except asyncio.CancelledError:
        # Tell our own cancellation from one from outside: where somebody else cancels too, theirs
        # wins.
        if not any(task.done() for task in watches) or worker.uncancel():
            raise
        raise ClientGone from None
    finally:
        begin.cancel()
        for task in watches:
            task.cancel()


@coroutine
def _rest(work: Coroutine[Any, Any, T], awaited: Any) -> Generator[Any, Any, T]:
    """Finish a coroutine that has begun and waits for something."""
    try:
        while True:
            try:
                got = yield awaited
            except BaseException as problem:  # noqa: BLE001 - the work is to see all that comes
                awaited = work.throw(problem)
            else:
                awaited = work.send(got)
    except StopIteration as done:
        answer: T = done.value
        return answer


async def until_gone(receive: Receive) -> None:
    """Wait until a client has gone: the second message at the latest, once its body was read.

    A caller in this process never goes, and may have a message at any time: nobody else would get
    a turn if it were asked again and again.
    """
    for _ in range(2):
        if (await receive())["type"] == "http.disconnect":
            return
    await asyncio.Event().wait()
