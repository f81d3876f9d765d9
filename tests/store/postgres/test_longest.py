"""The longest names that are taken fit into every index."""

from tests.store.postgres.conftest import Opener
from tests.store.world import Clock, World

from pdpp.evidence.handle import MAX_KEY_CHARS, key_problem
from pdpp.store.receipt_batch import ReceiptBatch
from pdpp.store.receipts import Receipt, ReceiptQuery

WIDE = "\U0001f5ff"
"""A character of four bytes."""
LONGEST_CLIENT = 2_000


def test_the_longest_key_is_written_read_rewritten_and_deleted(
    opened: Opener, clock: Clock
) -> None:
    key = WIDE * MAX_KEY_CHARS
    assert key_problem(key) is None
    world = World(opened("anna"), clock).settle()
    world.put({key: {"subject": "one", "at": "2026-01-01T00:00:00Z"}})
    world.put({key: {"subject": "two", "at": "2026-01-02T00:00:00Z"}})
    assert world.keys() == [key]
    world.put({key: None})
    assert world.keys() == []
    assert world.store.check() == []


def test_a_client_with_a_long_address_has_receipts(opened: Opener, clock: Clock) -> None:
    receipts = opened("anna").receipts
    client_id = "https://client.example/" + "a" * LONGEST_CLIENT
    receipts.begin()
    receipts.write([ReceiptBatch([Receipt(clock(), "records", client_id=client_id)])])
    assert len(list(receipts.receipts(ReceiptQuery(client_id=client_id)))) == 1
    receipts.finish()
