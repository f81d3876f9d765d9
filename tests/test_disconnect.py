import asyncio
from collections.abc import MutableMapping
from typing import Any, NoReturn

import pytest

from pdpp.disconnect import ClientGone, unless_gone


async def never() -> MutableMapping[str, Any]:
    raise AssertionError("a watch costs more than the work")


def test_a_caller_in_the_same_process_that_never_leaves_is_not_asked_again_and_again() -> None:
    asked = 0

    async def receive() -> MutableMapping[str, Any]:
        nonlocal asked
        asked += 1
        assert asked < 100, "nobody else gets a turn"
        return {"type": "http.request", "body": b"", "more_body": False}

    async def work() -> str:
        await asyncio.sleep(0.1)
        return "done"

    async def scene() -> str:
        return await unless_gone(work(), receive)

    assert asyncio.run(scene()) == "done"
    assert asked == 2


def test_nobody_looks_for_the_client_of_short_work() -> None:
    async def work() -> str:
        await asyncio.sleep(0)
        return "done"

    async def scene() -> str:
        return await unless_gone(work(), never)

    assert asyncio.run(scene()) == "done"


def test_work_that_waits_for_nothing_is_not_even_timed() -> None:
    async def work() -> str:
        return "done"

    def refuse(*_: Any) -> NoReturn:
        raise AssertionError("an alarm was set")

    async def scene() -> str:
        asyncio.get_running_loop().call_later = refuse  # type: ignore[assignment]
        return await unless_gone(work(), never)

    assert asyncio.run(scene()) == "done"


@pytest.mark.parametrize("waits", [0, 1, 3])
def test_work_ends_as_it_does_alone_however_often_it_waits(waits: int) -> None:
    async def work() -> str:
        for _ in range(waits):
            with pytest.raises(LookupError):
                await failing()
        raise LookupError("the end")

    async def failing() -> None:
        answer = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(answer.set_exception, LookupError("on the way"))
        await answer

    async def scene() -> None:
        await unless_gone(work(), never)

    with pytest.raises(LookupError, match="the end"):
        asyncio.run(scene())


@pytest.mark.parametrize("leaves", [True, False])
def test_work_that_has_begun_is_cancelled_by_a_client_that_leaves_and_by_whoever_runs_it(
    leaves: bool,
) -> None:
    ended: list[str] = []

    async def receive() -> MutableMapping[str, Any]:
        if not leaves:
            await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0)  # what tidies up may wait too
            ended.append("work")

    async def scene() -> None:
        task = asyncio.create_task(unless_gone(work(), receive))
        if not leaves:
            await asyncio.sleep(0.05)
            task.cancel()
        await task

    with pytest.raises(ClientGone if leaves else asyncio.CancelledError):
        asyncio.run(scene())
    assert ended == ["work"]
