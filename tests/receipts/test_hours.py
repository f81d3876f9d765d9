"""Reads added up by hour beside the chain of receipts."""

from pathlib import Path

from tests.engine import open_store

from pdpp.model import instant
from pdpp.store.receipt_batch import ReceiptBatch
from pdpp.store.receipts import Receipt, ReceiptQuery

HOUR = 3_600 * instant.SECOND
START = instant.parse("2026-11-02T10:00:00Z") or 0


def read(at: int, client: str | None = "a", stream: str = "s", records: int = 1) -> Receipt:
    keys = tuple(f"k{number}" for number in range(records))
    return Receipt(at, "search", client, "g", None, "c", stream, None, (), keys, 10 * records)


def test_reads_of_clients_are_added_up_by_hour_and_those_of_the_owner_are_not(
    tmp_path: Path,
) -> None:
    store = open_store(tmp_path)
    try:
        log = store.receipts
        log.write([ReceiptBatch([read(START), read(START + 5, records=3), read(START, None)])])
        log.write([ReceiptBatch([read(START + HOUR - 1), read(START + HOUR, "b", "t", 2)])])
        log.write([ReceiptBatch([read(START + 7, stream="t", records=4)])])
        hours = {row[:2]: row[2:] for row in log.hourly(START)}
        assert hours == {("a", START): (4, 9), ("b", START + HOUR): (1, 2)}
        assert [row.client_id for row in log.hourly(START + 1)] == ["b"]
        firsts = {(row.client_id, row.stream): row.hour for row in log.first_reads()}
        assert firsts == {
            ("a", "s"): START,
            ("a", "t"): START,
            ("b", "t"): START + HOUR,
        }
    finally:
        store.close()


def test_a_question_is_found_by_any_of_its_receipts(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    try:
        log = store.receipts
        same = [read(START, stream="s"), read(START, stream="t")]
        log.write([ReceiptBatch([read(START - 1), *same, read(START, "b")])])
        chained = list(log.receipts(ReceiptQuery()))
        for one in chained:
            question = log.question(one.number)
            assert one in question
            streams = {row.receipt.stream for row in question}
            asked = one.receipt.at == START and one.receipt.client_id == "a"
            assert streams == ({"s", "t"} if asked else {"s"})
        assert log.question(99) == []
    finally:
        store.close()


def test_receipts_are_looked_at_up_to_a_moment(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    try:
        log = store.receipts
        log.write([ReceiptBatch([read(START + hour * HOUR) for hour in range(5)])])
        query = ReceiptQuery(START + HOUR, "a", until=START + 3 * HOUR)
        assert [row.receipt.at for row in log.receipts(query)] == [START + 2 * HOUR, START + HOUR]
    finally:
        store.close()
