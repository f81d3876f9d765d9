import asyncio
from collections.abc import MutableMapping
from typing import Any

from pdpp.disconnect import unless_gone


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
    async def receive() -> MutableMapping[str, Any]:
        raise AssertionError("a watch costs more than the work")

    async def work() -> str:
        await asyncio.sleep(0)
        return "done"

    async def scene() -> str:
        return await unless_gone(work(), receive)

    assert asyncio.run(scene()) == "done"
