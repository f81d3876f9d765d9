from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp.model import instant
from pdpp.model.errors import InvalidRequest
from pdpp.resource.calendar import GRANULARITIES, bucketer, zone

ZONES = (
    "UTC",
    "Europe/Lisbon",
    "Europe/Berlin",
    "America/New_York",
    "America/Sao_Paulo",
    "America/Havana",
    "America/St_Johns",
    "America/Toronto",
    "Asia/Kolkata",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "Pacific/Chatham",
    "Africa/Casablanca",
)


def at(text: str) -> int:
    moment = instant.parse(text)
    assert moment is not None
    return moment


MODERN = st.integers(at("1975-01-01"), at("2040-01-01")).map(lambda moment: moment // 10**6 * 10**6)
CHANGE_MOMENTS = (
    at("2026-03-29T01:00:00Z"),
    at("2026-10-25T01:00:00Z"),
    at("2026-03-08T07:00:00Z"),
    at("2026-11-01T06:00:00Z"),
    at("2018-02-18T02:00:00Z"),
    at("2018-11-04T03:00:00Z"),
    at("2026-04-04T15:00:00Z"),
    at("2026-10-03T15:30:00Z"),
    at("2011-12-30T10:00:00Z"),
    at("2006-10-29T02:31:00Z"),
    at("2009-11-01T02:31:00Z"),
    at("1919-03-31T04:30:00Z"),
)
NEAR_A_CHANGE = st.builds(
    lambda change, minutes: change + minutes * 60 * instant.SECOND,
    st.sampled_from(CHANGE_MOMENTS),
    st.integers(-180, 180),
)


@given(MODERN | NEAR_A_CHANGE, st.sampled_from(ZONES), st.sampled_from(GRANULARITIES))
def test_a_bucket_reaches_from_the_moment_to_its_end_and_no_further(
    moment: int, place: str, granularity: str
) -> None:
    bucket = bucketer(granularity, zone(place))
    name, end = bucket(moment)
    assert end > moment
    for inside in (moment, (moment + end) // 2, end - 1):
        assert bucket(inside)[0] == name
    assert bucket(end)[0] != name


@pytest.mark.parametrize("place", ZONES)
@pytest.mark.parametrize("granularity", ["hour", "day"])
def test_buckets_around_every_change_of_the_clock_follow_each_other(
    granularity: str, place: str
) -> None:
    bucket = bucketer(granularity, zone(place))
    for change in CHANGE_MOMENTS:
        for minutes in range(-120, 121, 15):
            moment = change + minutes * 60 * instant.SECOND
            name, end = bucket(moment)
            assert moment < end
            assert bucket(end - 1)[0] == name
            assert bucket(end)[0] != name


@pytest.mark.parametrize(
    ("granularity", "place", "text", "name", "end"),
    [
        (
            "hour",
            "Europe/Lisbon",
            "2026-10-25T00:30:00Z",
            "2026-10-25T01:00+01:00",
            "2026-10-25T01:00:00Z",
        ),
        (
            "hour",
            "Europe/Lisbon",
            "2026-10-25T01:30:00Z",
            "2026-10-25T01:00Z",
            "2026-10-25T02:00:00Z",
        ),
        (
            "hour",
            "Europe/Lisbon",
            "2026-03-29T00:30:00Z",
            "2026-03-29T00:00Z",
            "2026-03-29T01:00:00Z",
        ),
        (
            "minute",
            "Asia/Kolkata",
            "2026-01-01T00:00:30Z",
            "2026-01-01T05:30+05:30",
            "2026-01-01T00:01:00Z",
        ),
        ("day", "Europe/Lisbon", "2026-10-24T23:30:00Z", "2026-10-25", "2026-10-26T00:00:00Z"),
        ("day", "Europe/Lisbon", "2026-03-29T00:00:00Z", "2026-03-29", "2026-03-29T23:00:00Z"),
        ("day", "America/Sao_Paulo", "2018-11-04T02:59:00Z", "2018-11-03", "2018-11-04T03:00:00Z"),
        ("day", "America/St_Johns", "2006-10-29T02:00:00Z", "2006-10-28", "2006-10-29T02:30:00Z"),
        ("day", "America/St_Johns", "2006-10-29T02:30:30Z", "2006-10-29", "2006-10-29T02:31:00Z"),
        ("day", "America/St_Johns", "2006-10-29T03:00:00Z", "2006-10-28", "2006-10-29T03:30:00Z"),
        ("month", "America/St_Johns", "2009-11-01T03:00:00Z", "2009-10", "2009-11-01T03:30:00Z"),
        ("day", "America/Toronto", "1919-03-31T04:00:00Z", "1919-03-30", "1919-03-31T04:30:00Z"),
        ("week", "UTC", "2026-11-15T12:00:00Z", "2026-11-09", "2026-11-16T00:00:00Z"),
        ("month", "UTC", "2026-12-15T12:00:00Z", "2026-12", "2027-01-01T00:00:00Z"),
        ("quarter", "UTC", "2026-11-15T12:00:00Z", "2026-Q4", "2027-01-01T00:00:00Z"),
        ("quarter", "UTC", "2026-02-28T12:00:00Z", "2026-Q1", "2026-04-01T00:00:00Z"),
        ("year", "Europe/Berlin", "2026-12-31T23:30:00Z", "2027", "2027-12-31T23:00:00Z"),
    ],
)
def test_a_bucket_has_the_name_and_the_end_of_its_calendar(
    granularity: str, place: str, text: str, name: str, end: str
) -> None:
    assert bucketer(granularity, zone(place))(at(text)) == (name, at(end))


@pytest.mark.parametrize("granularity", GRANULARITIES)
@pytest.mark.parametrize("place", ZONES)
@pytest.mark.parametrize("text", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])
def test_the_ends_of_the_calendar_have_a_bucket_too(
    granularity: str, place: str, text: str
) -> None:
    name, end = bucketer(granularity, zone(place))(at(text))
    assert name[0] in "09"
    assert end > at(text)


@pytest.mark.parametrize(
    ("granularity", "name"),
    [("month", "9999-12"), ("quarter", "9999-Q4"), ("year", "9999"), ("day", "9999-12-31")],
)
def test_the_last_bucket_is_named_like_the_others(granularity: str, name: str) -> None:
    assert bucketer(granularity, UTC)(at("9999-12-31"))[0] == name


@pytest.mark.parametrize(
    ("granularity", "name"), [("month", "0999-06"), ("quarter", "0999-Q2"), ("year", "0999")]
)
def test_an_early_year_has_four_digits(granularity: str, name: str) -> None:
    assert bucketer(granularity, UTC)(at("0999-06-01"))[0] == name


@pytest.mark.parametrize("moment", ["1911-12-31T23:50:00Z", "1937-06-30T22:35:00Z"])
@pytest.mark.parametrize("place", ["Europe/Lisbon", "Europe/Amsterdam"])
def test_an_hour_with_a_change_of_odd_seconds_has_an_end(moment: str, place: str) -> None:
    assert bucketer("hour", zone(place))(at(moment))[1] > at(moment)


_NO_ZONES = ["Mars", "", "../etc/passwd", "/etc/localtime", "Europe", "a\x00"]
_OF_THE_MACHINE = ["localtime", "posixrules", "right/UTC", "posix/Europe/Lisbon"]


@pytest.mark.parametrize("name", [*_NO_ZONES, *_OF_THE_MACHINE])
def test_a_zone_that_does_not_exist_is_refused(name: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        zone(name)
    assert caught.value.param == "time_zone"
