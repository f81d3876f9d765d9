"""The longest names that are taken fit into every index."""

import random
from string import ascii_letters, digits

import orjson
import pytest
from tests.store.postgres.conftest import Opener
from tests.store.world import Clock, World

from pdpp.evidence.handle import MAX_KEY_CHARS, key_problem
from pdpp.store.query import ChangePosition, ChangeQuery
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


NAMES = random.Random(1)


def some_name(length: int) -> str:
    """Return a name that cannot be packed."""
    return "".join(NAMES.choices(ascii_letters + digits, k=length))


@pytest.mark.parametrize(
    "names",
    [
        [some_name(3_000)],
        [some_name(100_000)],
        [some_name(12) for _ in range(400)],
        ["\U0010ffff" * 490],
    ],
    ids=["long", "very long", "many", "escaped"],
)
def test_members_of_any_name_are_written_read_changed_and_deleted(
    opened: Opener, clock: Clock, names: list[str]
) -> None:
    world = World(opened("anna"), clock).settle()
    whole, part = world.reach(), world.reach(fields=["id", "subject"])
    for value in (1, 2, "long " * 2_000, "longer " * 2_000, None):
        clock.pass_by()
        data = {"subject": "one", **dict.fromkeys(names, value)}
        world.put({"a": data, "b": {"subject": "two"}})
        for reach, shown in ((whole, data), (part, {"subject": "one"})):
            record = world.store.record(reach, "a")
            assert record is not None
            assert orjson.loads(record.data) == shown
    for reach in (whole, part):
        horizon = world.store.latest_version(reach)
        query = ChangeQuery(reach, 10, ChangePosition(0, None), horizon, tombstones=True)
        assert [change.id for change in world.store.changes(query).changes] == (
            ["b", "a"] if reach is whole else ["a", "b"]
        )
    world.put({"a": None})
    assert world.keys() == ["b"]
    assert world.store.check() == []
