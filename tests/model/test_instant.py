from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp.model import instant
from pdpp.model.instant_json import encoded_moment, moment_texts, write_answer

AWARE = st.datetimes(
    datetime(2, 1, 1),  # noqa: DTZ001
    datetime(9998, 1, 1),  # noqa: DTZ001
    timezones=st.integers(-14 * 60, 14 * 60).map(lambda m: timezone(timedelta(minutes=m))),
)


def test_the_epoch_is_zero() -> None:
    assert instant.parse("1970-01-01T00:00:00Z") == 0
    assert instant.of_datetime(instant.EPOCH) == 0
    assert instant.to_text(0) == "1970-01-01T00:00:00Z"


def test_now_is_the_wall_clock() -> None:
    before = instant.of_datetime(datetime.now(UTC))
    assert before - instant.SECOND <= instant.now() <= before + 60 * instant.SECOND


def test_a_date_alone_is_its_first_moment_in_utc() -> None:
    assert instant.parse("2024-02-29") == instant.parse("2024-02-29T00:00:00Z")
    assert instant.parse("1969-12-31") == -instant.DAY


def test_a_time_without_a_zone_is_utc() -> None:
    assert instant.parse("2024-05-01T10:20:30") == instant.parse("2024-05-01T10:20:30Z")


def test_an_offset_is_applied() -> None:
    assert instant.parse("2024-05-01T10:20:30+02:00") == instant.parse("2024-05-01T08:20:30Z")


@pytest.mark.parametrize("text", ["2024-05-01 10:20:30z", "2024-05-01t10:20:30Z"])
def test_lower_case_and_a_space_are_read(text: str) -> None:
    assert instant.parse(text) == instant.parse("2024-05-01T10:20:30Z")


@pytest.mark.parametrize(
    ("fraction", "micros"),
    [(".5", 500_000), (".123456", 123_456), (".123456789", 123_456), (".000001", 1)],
)
def test_a_fraction_is_kept_to_the_microsecond(fraction: str, micros: int) -> None:
    whole = instant.parse("2024-05-01T10:20:30Z")
    assert whole is not None
    assert instant.parse(f"2024-05-01T10:20:30{fraction}Z") == whole + micros


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2024-02-30",
        "2023-02-29T00:00:00Z",
        "2024-13-01T00:00:00Z",
        "2024-05-01T25:00:00Z",
        "2024-05-01T10:20Z",
        "2024-05-01T10:20:60Z",
        "2024-0١-01T10:20:30Z",
        "2024-+5-01T10:20:30Z",
        "2024- 5-01T10:20:30Z",
        "2024-W5-01T10:20:30Z",
        "2024-05-01T10:20:3.Z",
        "2024-05-01T10:20:-3Z",
        "2024-05-01T10:20:30Z\n",
        "2024-05-01\n",
        "20240501",
        "٢٠٢٤-05-01",
        "2024-05-01T10:20:30+99:00",
        "2024-05-01T10:20:30.1234567890Z",
        "2024-05-01T10:20:30.123456789+02:00 ",
        "2024-05-01" * 1_000,
    ],
)
def test_what_names_no_moment_is_none(text: str) -> None:
    assert instant.parse(text) is None


@given(st.text())
def test_any_text_is_an_instant_or_none(text: str) -> None:
    found = instant.parse(text)
    assert found is None or isinstance(found, int)


@given(AWARE)
def test_an_instant_is_what_its_text_says(moment: datetime) -> None:
    found = instant.of_datetime(moment)
    assert instant.parse(moment.isoformat()) == found


@given(AWARE)
def test_text_and_back_is_the_same_instant(moment: datetime) -> None:
    found = instant.of_datetime(moment)
    assert instant.parse(instant.to_text(found)) == found
    assert instant.of_datetime(instant.to_datetime(found)) == found


@given(AWARE)
def test_the_text_is_that_of_the_moment_in_utc(moment: datetime) -> None:
    text = moment.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"
    assert instant.to_text(instant.of_datetime(moment)) == text
    written = write_answer(encoded_moment(instant.of_datetime(moment)))
    assert written == f'"{text}"'.encode()


@given(AWARE, AWARE)
def test_instants_are_ordered_as_moments(one: datetime, other: datetime) -> None:
    assert (instant.of_datetime(one) < instant.of_datetime(other)) == (one < other)


def test_a_fraction_is_written_only_where_there_is_one() -> None:
    assert instant.to_text(instant.SECOND) == "1970-01-01T00:00:01Z"
    assert instant.to_text(1) == "1970-01-01T00:00:00.000001Z"


def test_the_day_of_an_instant_is_in_utc() -> None:
    assert instant.to_date_text(-1) == "1969-12-31"
    assert instant.to_date_text(instant.DAY) == "1970-01-02"


@given(
    st.lists(
        st.datetimes(timezones=st.just(UTC)).map(
            lambda moment: f"{moment.replace(microsecond=0, tzinfo=None).isoformat()}Z"
        )
        | st.sampled_from(
            ("2026-13-01T00:00:00Z", "2026-01-31 08:00:00Z", "2026-01-31T08:00:00z", "")
        )
        | st.sampled_from(
            ("2026-01-31T08:00:00.123Z", "2026-01-31T08:00:00.12aZ", "2026-01-31T08:00:00.1+1Z")
        )
        | st.datetimes(timezones=st.just(UTC)).map(
            lambda moment: f"{moment.replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"
        )
        | st.text("0123456789-T:Z", min_size=20, max_size=20),
        max_size=4,
    )
)
def test_many_texts_name_the_instants_that_each_of_them_names(texts: list[str]) -> None:
    assert list(instant.parse_each(texts)) == [instant.parse(text) for text in texts]


@pytest.mark.parametrize("fraction", [".123Z", ".123456Z", "Z"])
def test_many_times_of_one_form_are_read_together_to_the_last_digit(fraction: str) -> None:
    texts = [f"{year}-02-28T23:59:59{fraction}" for year in (1969, 1970, 2026)]
    assert list(instant.parse_each(texts)) == [
        instant.of_datetime(datetime.fromisoformat(text)) for text in texts
    ]


@given(st.lists(st.datetimes(timezones=st.just(UTC)), max_size=5))
def test_many_instants_are_written_as_each_by_itself(moments: list[datetime]) -> None:
    instants = [instant.of_datetime(moment) for moment in moments]
    assert moment_texts(instants) == [instant.to_text(one) for one in instants]


@pytest.mark.parametrize(
    ("text", "other", "one"),
    [
        ("2026-01-31T08:00:00", "2026-01-31T22:00:00Z", True),
        ("2026-01-31T08:00:00+01:00", "2026-01-31T08:00:00", True),
        ("2026-01-31T08:00:00", "2026-01-31T22:00:01Z", False),
        ("2026-01-31T08:00:00", "2026-01-31T08:00:00", False),
        ("2026-01-31T08:00:00Z", "2026-01-31T08:00:00Z", False),
        ("soon", "2026-01-31T08:00:00Z", False),
    ],
)
def test_a_local_time_may_be_any_moment_within_the_farthest_zone(
    text: str, other: str, one: bool
) -> None:
    assert instant.may_be_one(text, other) == instant.may_be_one(other, text) == one
