"""Exact times: what a record tells of its moments stays if an export does not tell it."""

import pytest

from pdpp.sources.importing.exact_times import is_inexact, with_exact_times
from pdpp.sources.item import Item


@pytest.mark.parametrize(
    ("new", "known", "stays"),
    [
        ("2026-01-01T10:00:00", "2026-01-01T09:00:00Z", "2026-01-01T09:00:00Z"),
        ("2026-01-01T10:00:00", "2026-01-01T10:00:00+01:00", "2026-01-01T10:00:00+01:00"),
        ("2026-01-01T23:00:00", "2026-01-02T11:00:00Z", "2026-01-02T11:00:00Z"),
        ("2026-01-01T10:00:00", "2026-01-03T10:00:00Z", "2026-01-01T10:00:00"),
        ("2026-01-01T10:00:00", "2026-01-01T09:00:00", "2026-01-01T10:00:00"),
        ("2026-01-01T10:00:00Z", "2026-01-01T09:00:00Z", "2026-01-01T10:00:00Z"),
        ("2026-01-01T10:00:00", None, "2026-01-01T10:00:00"),
    ],
)
def test_a_time_without_a_zone_leaves_one_that_may_be_the_same(
    new: str, known: str | None, stays: str
) -> None:
    item = Item("messages", "one", {"sent_at": new, "floating": True}, floating=("sent_at",))
    data = with_exact_times(item, {"sent_at": known})
    assert data["sent_at"] == stays
    assert ("floating" in data) == (stays == new)
    assert is_inexact(item) == (not new.endswith("Z"))


@pytest.mark.parametrize(
    ("new", "known", "stays"),
    [
        ("2026-01-01T10:15:00", "2026-01-01T10:15:32", "2026-01-01T10:15:32"),
        ("2026-01-01T10:15:00+01:00", "2026-01-01T10:15:32", "2026-01-01T10:15:32+01:00"),
        ("2026-01-01T10:15:00Z", "2026-01-01T10:15:32+01:00", "2026-01-01T10:15:32Z"),
        ("2026-01-01T10:16:00", "2026-01-01T10:15:32", "2026-01-01T10:16:00"),
    ],
)
def test_a_time_without_seconds_leaves_those_of_its_minute(
    new: str, known: str, stays: str
) -> None:
    item = Item("messages", "one", {"sent_at": new}, minutes=("sent_at",))
    assert with_exact_times(item, {"sent_at": known}) == {"sent_at": stays}
