"""Times as exports write them."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp.model import instant
from pdpp.model.errors import ImportRefused
from pdpp.sources.reading.times import epoch_text, local_text, moment_text, zone_named


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (1_769_940_000.25, "2026-02-01T10:00:00.250000Z"),
        ("1769940000", "2026-02-01T10:00:00Z"),
    ],
)
def test_seconds_since_1970_are_told_in_utc(seconds: Any, text: str) -> None:
    assert epoch_text(seconds) == text


@pytest.mark.parametrize("seconds", [None, "soon", True, -1, float("nan"), 1e300, [], "1e400"])
def test_what_is_no_count_of_seconds_is_no_time(seconds: Any) -> None:
    assert epoch_text(seconds) is None


@given(st.floats(0, 253_402_300_799))
def test_every_count_of_seconds_is_a_time(seconds: float) -> None:
    text = epoch_text(seconds)
    assert text is not None
    assert instant.parse(text) == round(seconds * instant.SECOND)


@pytest.mark.parametrize("text", ["2026-02-01T10:00:00Z", "2026-02-01T10:00:00.123+01:00"])
def test_a_time_with_its_zone_stays_as_it_is(text: str) -> None:
    assert moment_text(text) == text


@pytest.mark.parametrize(
    "text", ["2026-02-01T10:00:00", "2026-02-01", "2026-02-31T10:00:00Z", "yesterday, at noonZ", 5]
)
def test_a_time_without_a_zone_is_not_taken_for_one(text: Any) -> None:
    assert moment_text(text) is None


def test_a_local_time_floats_until_its_zone_is_known() -> None:
    noon = datetime(2026, 7, 1, 12, 0)  # noqa: DTZ001 - a local time
    assert local_text(noon, None) == ("2026-07-01T12:00:00", True)
    assert local_text(noon, zone_named("Europe/Lisbon")) == ("2026-07-01T12:00:00+01:00", False)
    assert local_text(noon.replace(tzinfo=UTC), None) == ("2026-07-01T12:00:00Z", False)


def test_an_offset_with_seconds_is_told_in_utc() -> None:
    odd = timezone(timedelta(seconds=90))
    assert local_text(datetime(2026, 7, 1, tzinfo=odd), None) == ("2026-06-30T23:58:30Z", False)


def test_a_zone_that_is_none_is_refused_with_an_example() -> None:
    assert zone_named(None) is None
    assert zone_named("") is None
    for name in ("Middle-earth/Shire", "../../etc/passwd", "Europe/Lis\x00bon"):
        with pytest.raises(ImportRefused, match="Europe/Lisbon"):
            zone_named(name)
