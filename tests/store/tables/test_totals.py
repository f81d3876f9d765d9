"""The tally counts each record once, in memory and beyond it."""

import pytest

from pdpp.store.receipts import Receipt
from pdpp.store.tables.receipts.totals import DistinctRecords, totals


@pytest.mark.parametrize("most_held", [1, 7, 1_000])
def test_each_record_counts_once_however_many_fit_into_memory(most_held: int) -> None:
    with DistinctRecords(most_held) as seen:
        for turn in range(20):
            seen.add(("agent", "mail", "inbox"), tuple(f"k{turn + n}" for n in range(5)))
            seen.add(("agent", "mail", "sent"), ("k1",))
            seen.add((None, "mail", None), ("k1", f"k{turn % 3}"))
            seen.add(("agent", "notes", "notes"), ())
        seen.add(("agent", "mail", "inbox"), ("k2", "last"))
        assert {key: count for key, count in seen.counts().items() if count} == {
            ("agent", "mail"): 26,
            (None, "mail"): 3,
        }


def test_totals_are_by_client_and_connection_with_most_characters_first() -> None:
    found = totals(
        [
            Receipt(5, "search", "a", connection_id="x", stream="s", records=("1",), characters=2),
            Receipt(3, "search", "a", connection_id="x", stream="s", records=("1", "2"), bytes=7),
            Receipt(4, "search", None, connection_id="x", stream="s", characters=9),
            Receipt(6, "getSchema", "a"),
        ]
    )
    assert [tuple(total) for total in found] == [(None, "x", 0, 9, 0, 4), ("a", "x", 2, 2, 7, 5)]
