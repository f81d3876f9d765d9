import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from tests.engine import let_receipts, make_unreadable, stop_receipts
from tests.serving import DEADLINE, UNLIMITED, World, living, refused, seeded_store

from pdpp.receipts.recorder import ReceiptPolicy

QUICK = replace(UNLIMITED, receipts=ReceiptPolicy(seconds=0.02))


def ready(world: World) -> httpx.Response:
    return world.server.client().get("/readyz")


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline
        threading.Event().wait(0.01)


def test_a_server_that_reads_its_store_is_ready_for_anyone(tmp_path: Path) -> None:
    with living(seeded_store(tmp_path / "data")) as world:
        answer = ready(world)
        assert (answer.status_code, answer.json()) == (200, {"status": "ready"})
        assert world.server.client().head("/readyz").status_code == 200
        refused(world.server.client().post("/readyz"), 405, "method_not_allowed")


def test_a_server_that_cannot_read_its_store_is_alive_and_not_ready(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with living(seeded_store(tmp_path / "data")) as world:
        make_unreadable(world.store, tmp_path / "data")
        answer = ready(world)
        assert answer.status_code == 503
        assert answer.json() == {"status": "not ready", "failing": ["store"]}
        assert world.server.client().get("/healthz").status_code == 200
    assert "the store cannot be read" in caplog.text


def test_a_server_that_cannot_write_receipts_is_not_ready_until_it_can(tmp_path: Path) -> None:
    with living(seeded_store(tmp_path / "data"), QUICK) as world:
        client = world.client()

        def fails() -> bool:
            client.get("/v1/streams/messages/records", params={"limit": 100})
            return ready(world).status_code == 503

        stop_receipts(world.store)
        wait_for(fails)
        assert ready(world).json() == {"status": "not ready", "failing": ["receipts"]}
        let_receipts(world.store)
        wait_for(lambda: ready(world).status_code == 200)
