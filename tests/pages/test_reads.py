"""What an agent read stands on its page, in words and without any of the content."""

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.pages.house import House, Reader, Sheet, housed
from tests.serving import DEADLINE, UNLIMITED, approve

from pdpp.authz.requester import agent_id
from pdpp.authz.selection import Selection
from pdpp.receipts.recorder import ReceiptPolicy
from pdpp.store.receipt_batch import ReceiptBatch
from pdpp.store.receipts import LogEvent, Receipt, ReceiptQuery

PAGE = f"/agents/{agent_id('test-client')}"


@pytest.fixture
def quick(tmp_path: Path) -> Iterator[House]:
    """The demo world, whose receipts are written almost at once."""
    settings = replace(UNLIMITED, receipts=ReceiptPolicy(seconds=0.02))
    with housed(tmp_path, settings=settings) as made:
        yield made


def shown(owner: Reader, words: str) -> Sheet:
    """Return the agent's page once it shows some words."""
    deadline = time.monotonic() + DEADLINE
    while True:
        sheet = owner.get(PAGE)
        if words in sheet.text:
            return sheet
        assert time.monotonic() < deadline, sheet.text
        threading.Event().wait(0.02)


def test_an_agent_that_read_nothing_has_read_nothing(quick: House) -> None:
    approve(quick.store)
    owner = quick.owner()
    assert "What it read this week Nothing." in owner.get(PAGE).text
    assert "last read" not in owner.get("/agents").text


def test_what_an_agent_read_this_week_is_a_sentence(quick: House) -> None:
    token = approve(quick.store, Selection(connections=("cin_work",), streams=("messages",))).token
    client = quick.world.server.client(token)
    rows = client.get("/v1/streams/messages/records", params={"limit": 3}).json()["data"]
    client.get("/v1/search", params={"q": "zyzzyva"})
    name = rows[0]["display_name"]
    sheet = shown(quick.owner(), "The last 2 reads")  # Each may be written by itself.
    assert "3 records, " in sheet.text
    assert f"characters from {name}" in sheet.text
    details = sheet.tree.css_first(".reads details")
    assert details is not None
    told = " ".join(details.text(separator=" ").split())
    assert told.startswith("The last 2 reads")
    assert f"listed records · {name} / messages · 3 records, " in told
    assert "UTC searched " in told
    assert "zyzzyva" not in sheet.text
    assert all(row["data"]["subject"] not in sheet.text for row in rows)


def test_the_list_of_agents_tells_who_read_last(quick: House) -> None:
    client = quick.world.server.client(approve(quick.store).token)
    client.get("/v1/streams")
    owner = quick.owner()
    shown(owner, "looked at what there is")
    assert "last read on" in owner.get("/agents").text


def test_a_gap_in_the_log_is_told_on_the_page(quick: House) -> None:
    approve(quick.store)
    now = int(time.time() * 1e6)
    quick.store.receipts.write(
        [ReceiptBatch([Receipt(now, LogEvent.GAP, detail="nobody was there to write")])]
    )
    text = quick.owner().get(PAGE).text
    assert "The log of this week has gaps" in text
    assert "nobody was there to write" in text


def test_a_record_that_the_owner_opens_on_its_page_leaves_a_receipt_of_the_owner(
    quick: House,
) -> None:
    quick.owner().get("/r/cin_home/messages/m-invoice-4471")
    deadline = time.monotonic() + DEADLINE
    while True:
        chained = quick.store.receipts.receipts(ReceiptQuery(), 20)
        reads = [one.receipt for one in chained if one.receipt.operation == "getRecord"]
        if reads:
            break
        assert time.monotonic() < deadline
        threading.Event().wait(0.02)
    assert {(one.client_id, one.grant_id, one.connection_id) for one in reads} == {
        (None, None, "cin_home")
    }
    assert {one.stream for one in reads} == {"messages", "threads", "attachments"}
    (receipt,) = (one for one in reads if one.stream == "messages")
    assert receipt.records == ("m-invoice-4471",)
    assert receipt.characters > 0
