"""Batches: what is added comes back as it was, whoever read and however much of it is alike."""

import orjson
import pytest

from pdpp.store.receipt_batch import ReceiptBatch, chosen, readers_of, receipts_of
from pdpp.store.receipts import LogEvent, Receipt, ReceiptQuery

SOME = [
    Receipt(
        5, "search", "a", "g1", None, "mail", "inbox", ("id", "title"), ("year",), ("k1", "k2"), 70
    ),
    Receipt(5, "search", "a", "g2", "p", "mail", "sent", None, (), ("ключ",), 3),
    Receipt(4, "readBlob", None, None, None, "mail", "inbox", (), (), ("k1",), 0, 99, "ab" * 32),
    Receipt(9, "getSchema", "b"),
    Receipt(7, LogEvent.GAP, detail="something is missing"),
]


def test_receipts_come_back_as_they_were_added() -> None:
    batch = ReceiptBatch(SOME[:2])
    for receipt in SOME[2:]:
        batch.add([receipt])
    assert batch.count == len(SOME)
    assert receipts_of(batch.written().content) == SOME


def test_what_finds_a_batch_is_what_is_on_it() -> None:
    written = ReceiptBatch(SOME).written()
    assert (written.latest, written.events) == (9, True)
    assert sorted(written.readers) == sorted(readers_of(SOME)) == [("a", 5), ("b", 9)]
    assert ReceiptBatch(SOME[:1]).written().events is False


def test_what_is_alike_is_written_once_and_the_size_is_what_it_takes() -> None:
    batch = ReceiptBatch()
    first = batch.add(SOME[:1])
    second = batch.add(SOME[:1])
    assert second < first
    assert batch.size == first + second
    content = batch.written().content
    assert content.count(b"inbox") == 1
    assert len(content) <= batch.size
    assert orjson.loads(content)["receipts"] == [[5, 0, ["k1", "k2"], 70]] * 2


@pytest.mark.parametrize(
    ("query", "found"),
    [
        (ReceiptQuery(), [4, 3, 2, 1, 0]),
        (ReceiptQuery(since=7), [4, 3]),
        (ReceiptQuery(client_id="a"), [1, 0]),
        (ReceiptQuery(grant_id="g2"), [1]),
        (ReceiptQuery(6, "b"), [3]),
        (ReceiptQuery(client_id="c"), []),
    ],
)
def test_what_is_asked_for_is_chosen_newest_first(query: ReceiptQuery, found: list[int]) -> None:
    kept = list(chosen(ReceiptBatch(SOME).written().content, query))
    assert kept == [(len(SOME) - 1 - place, SOME[place]) for place in found]


def test_what_happened_to_the_log_is_chosen_by_itself() -> None:
    kept = list(chosen(ReceiptBatch(SOME).written().content, ReceiptQuery(), events=True))
    assert kept == [(0, SOME[4])]
