"""Killing a process that writes receipts keeps those it wrote, and the next tells of the gap."""

import random
from itertools import count
from pathlib import Path

import pytest
from tests.engine import open_store
from tests.faults.killing import ROUNDS, Tell, doom, killed
from tests.faults.soundness import check_sound, integrity

from pdpp.store.port import Store
from pdpp.store.receipt_batch import ReceiptBatch
from pdpp.store.receipts import ChainedReceipt, LogEvent, Receipt, ReceiptQuery
from pdpp.store.sqlite.receipt_file import RECEIPTS_NAME

LIFE = min(25, ROUNDS)
"""How often one log is killed before the next begins."""
WRITES = 90
MOST_ROWS, MOST_BYTES = 400, 1 << 30
LARGEST = 4
"""How many receipts are written at once; whoever is killed before old ones are dropped has as many
more than there may be."""


def record_on(tell: Tell, folder: Path, first: int) -> None:
    """Write receipts, a few at a time, drop old ones where there are many, and begin again."""
    store = open_store(folder)
    numbers = count(first)
    for turn in count():
        store.receipts.begin()
        tell(("began", turn))
        for _ in range(4):
            batch = [_read(next(numbers)) for _ in range(turn % LARGEST + 1)]
            store.receipts.write([ReceiptBatch(batch)])
            tell(("wrote", int(batch[-1].records[0])))
            store.receipts.trim(MOST_ROWS, MOST_BYTES)
        tell(("ending", turn))
        store.receipts.finish()


def _read(number: int) -> Receipt:
    return Receipt(1_000 + number, "listRecords", client_id="agent", records=(str(number),))


def kept(store: Store) -> list[ChainedReceipt]:
    return list(store.receipts.receipts(ReceiptQuery()))[::-1]


@pytest.mark.parametrize("life", range(ROUNDS // LIFE))
def test_a_killed_log_keeps_what_was_written_and_tells_the_gap(ram_path: Path, life: int) -> None:
    chance = random.Random(life)
    last, gaps = -1, 0
    for _ in range(LIFE):
        told = killed(doom(chance, WRITES, steps=12, seconds=0.04), record_on, ram_path, last + 1)
        written = [number for step, number in told if step == "wrote"]
        store = open_store(ram_path)
        assert store.receipts.verify().problems == ()
        numbers = [int(each.receipt.records[0]) for each in kept(store) if each.receipt.records]
        assert numbers == list(range(numbers[0], numbers[-1] + 1)) if numbers else not written
        assert not written or numbers[-1] >= written[-1]
        assert len(numbers) <= MOST_ROWS + LARGEST
        if told and told[-1][0] in ("began", "wrote"):
            store.receipts.begin()
            assert kept(store)[-1].receipt.operation == LogEvent.GAP
            store.receipts.finish()
            gaps += 1
        store.close()
        last = max([last, *numbers])
        check_sound(ram_path)
        assert integrity(ram_path / RECEIPTS_NAME) == "ok"
    assert gaps > LIFE // 4
