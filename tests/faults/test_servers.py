"""Two servers on one folder serve it together; one that is killed leaves the other at work."""

import json
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.cli.shell import DECLARATION, Served, pdpp, serving
from tests.engine import open_store
from tests.faults.soundness import check_sound
from tests.serving import planted_store, refused

from pdpp.store.receipts import ReceiptQuery

READ = 12


@pytest.fixture
def data(tmp_path: Path) -> Path:
    planted_store(tmp_path / "data", DECLARATION, {"cin_diary": "My days"}).close()
    return tmp_path / "data"


@pytest.fixture
def pair(data: Path, tmp_path: Path) -> Iterator[tuple[Served, Served]]:
    """Two servers over the same diary, each on a port of its own."""
    with ExitStack() as stack:
        yield (
            stack.enter_context(serving(data, tmp_path / "one")),
            stack.enter_context(serving(data, tmp_path / "two")),
        )


def write(served: Served, token: str, key: str) -> dict[str, Any]:
    line = json.dumps({"key": key, "data": {"id": key, "title": f"Rain {key}"}})
    answer = httpx.post(
        f"{served.url}/v1/ingest/entries?connection_id=cin_diary",
        content=line,
        headers={"Authorization": f"Bearer {token}"},
        trust_env=False,
        timeout=30,
    )
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


def titles(served: Served, token: str) -> set[str]:
    answer = served.get("/v1/streams/entries/records", token)
    assert answer.status_code == 200, answer.text
    return {row["id"] for row in answer.json()["data"]}


def test_two_servers_show_each_others_writes_and_heed_each_others_revocations(
    pair: tuple[Served, Served], data: Path
) -> None:
    owner = pdpp("owner", "token", "--json", data=data).document["owner_token"]
    ask = ("grant", "create", "--client", "a", "--purpose", "b", "--everything", "--json")
    made = pdpp(*ask, data=data).document
    token = made["client_token"]
    expected: set[str] = set()
    for number in range(READ):
        here, there = pair[number % 2], pair[1 - number % 2]
        assert write(here, owner, f"e{number}")["records_new"] == 1
        assert write(there, owner, f"e{number}")["records_unchanged"] == 1
        expected.add(f"e{number}")
        assert titles(there, token) == expected
    assert pdpp("grant", "revoke", made["grant_id"], data=data).code == 0
    for served in pair:
        refused(served.get("/v1/streams", token), 403, "grant_revoked")
    assert [served.stop() for served in pair] == [0, 0]
    store = open_store(data)
    receipts = [kept.receipt for kept in store.receipts.receipts(ReceiptQuery())]
    assert [receipt.operation for receipt in receipts] == ["listRecords"] * READ
    store.close()
    check_sound(data)


def test_a_killed_server_leaves_the_other_at_work_and_starts_again_beside_it(
    pair: tuple[Served, Served], data: Path, tmp_path: Path
) -> None:
    first, second = pair
    owner = pdpp("owner", "token", "--json", data=data).document["owner_token"]
    write(first, owner, "before")
    first.process.send_signal(signal.SIGKILL)
    first.process.wait()
    write(second, owner, "after")
    assert titles(second, owner) == {"before", "after"}
    with serving(data, tmp_path / "again") as again:
        write(again, owner, "later")
        assert titles(second, owner) == titles(again, owner) == {"before", "after", "later"}
        assert again.stop() == 0
    assert second.stop() == 0
    check_sound(data)


@pytest.mark.embedded("about the file of the embedded engine")
def test_a_server_whose_data_was_replaced_answers_nobody_from_the_old_data(
    data: Path, tmp_path: Path
) -> None:
    words = ("--client", "a", "--purpose", "b", "--everything", "--json")
    token = json.loads(pdpp("grant", "create", *words, data=data).out)["client_token"]
    with serving(data, tmp_path / "one") as served:
        assert served.get("/v1/streams", token).status_code == 200
        data.rename(tmp_path / "moved")
        time.sleep(0.1)  # a server looks for its file a hundred times a second
        refused(served.get("/v1/streams", token), 503, "overloaded")
        shutil.copytree(tmp_path / "moved", data)
        refused(served.get("/v1/streams", token), 503, "overloaded")
        assert served.get("/readyz", token).status_code == 503
        form = {"grant_type": "refresh_token", "refresh_token": "x", "client_id": "y"}
        answer = httpx.post(f"{served.url}/oauth/token", data=form, trust_env=False)
        assert answer.status_code == 503
        assert served.stop() == 0
        log = served.err.read_text()
        assert log.count("another file was put in its place") == 1
        assert "Traceback" not in log
    with serving(data, tmp_path / "two") as served:
        assert served.get("/v1/streams", token).status_code == 200
