from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp.configuration.kind import (
    FOLDER,
    HOST,
    NETWORKS,
    ORIGIN,
    RATE,
    SIZE,
    SPAN,
    SWITCH,
    SettingKind,
    choice,
    whole,
)
from pdpp.model.instant import DAY, SECOND

PORT = whole(0, 65_535)
LEVEL = choice("low", "high")


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (RATE, "50/s", 50.0),
        (RATE, "0", 0.0),
        (RATE, "2.5", 2.5),
        (RATE, "1000000/s", 1e6),
        (PORT, "0", 0),
        (PORT, "65535", 65_535),
        (LEVEL, "high", "high"),
        (SWITCH, "true", True),
        (SWITCH, "No", False),
        (SIZE, "64 MiB", 64 << 20),
        (SIZE, "8KiB", 8 << 10),
        (SIZE, "1000", 1_000),
        (SPAN, "90s", 90 * SECOND),
        (SPAN, "5ms", SECOND // 200),
        (SPAN, "2w", 14 * DAY),
        (ORIGIN, "https://data.example/", "https://data.example"),
        (ORIGIN, "http://[::1]:80", "http://[::1]"),
        (ORIGIN, "https://Data.Example:443/", "https://data.example"),
        (ORIGIN, "https://data.example:80", "https://data.example:80"),
        (NETWORKS, "127.0.0.1, 10.0.0.0/8", ("127.0.0.1/32", "10.0.0.0/8")),
        (NETWORKS, "::1", ("::1/128",)),
        (FOLDER, "/some/where", Path("/some/where")),
        (HOST, "localhost", "localhost"),
    ],
)
def test_text_is_read_as_its_kind_says(kind: SettingKind, text: str, value: object) -> None:
    assert kind.read_text(text) == value


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        *((RATE, text) for text in ("", "-1", "nan", "inf", "1/m", "1e9")),
        *((PORT, text) for text in ("", "70000", "-1", "1.5", "0x10", "٣", "1" * 5_000)),
        *((LEVEL, text) for text in ("", "middle", "HIGH")),
        *((SWITCH, text) for text in ("", "perhaps", "2")),
        *((SIZE, text) for text in ("", "0", "64 MB", "-1", "1.5 GiB", "MiB")),
        *((SPAN, text) for text in ("", "0s", "90", "1y", "-1s", "1.5h")),
        *(
            (ORIGIN, text)
            for text in (
                "",
                "data.example",
                "ftp://a",
                "https://",
                "https://a/b",
                "https://a?b",
                "https://a#b",
                "https://u@a",
                "https://a:port",
                "http://[",
            )
        ),
        *((NETWORKS, text) for text in ("proxy.example", "10.0.0.0/33", "1.2.3")),
        *((HOST, text) for text in ("", "a\nb", "a" * 300)),
        (FOLDER, ""),
    ],
)
def test_text_of_another_kind_is_refused_in_words(kind: SettingKind, text: str) -> None:
    with pytest.raises(ValueError, match=" is not ") as refused:
        kind.read_text(text)
    assert kind.taken in str(refused.value)


@pytest.mark.parametrize(
    ("kind", "given", "value"),
    [
        (RATE, 50, 50.0),
        (RATE, "50/s", 50.0),
        (SPAN, 90, 90 * SECOND),
        (SIZE, 1_024, 1_024),
        (NETWORKS, ["::1"], ("::1/128",)),
        (NETWORKS, [], ()),
        (SWITCH, True, True),
    ],
)
def test_a_value_of_a_file_is_read_in_its_own_type(
    kind: SettingKind, given: object, value: object
) -> None:
    assert kind.read_native(given) == value


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (PORT, "80"),
        (PORT, True),
        (PORT, 1.0),
        (PORT, 65_536),
        (SWITCH, "true"),
        (SWITCH, 1),
        (SPAN, 1.5),
        (RATE, -1),
        (RATE, [50]),
        (NETWORKS, [1]),
        (LEVEL, {"a": 1}),
        (ORIGIN, 5),
    ],
)
def test_a_value_of_another_type_is_refused(kind: SettingKind, given: object) -> None:
    with pytest.raises(ValueError, match=" is not "):
        kind.read_native(given)


def test_an_address_with_a_password_is_refused_without_repeating_it() -> None:
    with pytest.raises(ValueError, match="this is not an address") as refused:
        ORIGIN.read_text("https://me:hunter2@data.example")
    assert "hunter2" not in str(refused.value)


@given(st.integers(1, 10**15))
def test_a_size_is_read_back_as_it_is_written(size: int) -> None:
    assert SIZE.read_text(SIZE.plain(size)) == size if size < 10**12 else True


@given(st.integers(1, 999_999), st.sampled_from(["ms", "s", "m", "h", "d"]))
def test_a_time_is_read_back_as_it_is_written(number: int, unit: str) -> None:
    span = SPAN.read_text(f"{number}{unit}")
    assert isinstance(span, int)
    assert SPAN.read_text(SPAN.plain(span)) == span


@pytest.mark.parametrize(
    ("kind", "value", "plain"),
    [
        (RATE, 200.0, "200/s"),
        (SIZE, 64 << 20, "64 MiB"),
        (SIZE, 1_000, "1000 B"),
        (SPAN, 90 * DAY, "90d"),
        (SPAN, 7 * DAY, "7d"),
        (SWITCH, False, "false"),
        (PORT, 80, "80"),
        (NETWORKS, ("::1/128", "10.0.0.0/8"), "::1/128,10.0.0.0/8"),
        (FOLDER, Path("/a b"), "/a b"),
    ],
)
def test_a_value_is_shown_as_a_flag_takes_it(kind: SettingKind, value: object, plain: str) -> None:
    assert kind.plain(value) == plain  # type: ignore[arg-type]
    assert kind.read_text(plain) == value
