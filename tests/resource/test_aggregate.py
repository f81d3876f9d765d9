from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.resource.library import LIBRARY, book
from tests.serving import World, living, planted_store, refused

from pdpp.authz.selection import Selection

PATH = "/v1/streams/books/aggregate"


def aggregate(client: httpx.Client, **params: Any) -> dict[str, Any]:
    answer = client.get(PATH, params=params)
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


def groups(client: httpx.Client, **params: Any) -> list[tuple[Any, int]]:
    return [(group["key"], group["count"]) for group in aggregate(client, **params)["groups"]]


def test_a_count_is_one_number(reader: httpx.Client) -> None:
    assert aggregate(reader) == {
        "object": "aggregation",
        "stream": "books",
        "metric": "count",
        "field": None,
        "group_by": None,
        "group_by_time": None,
        "granularity": None,
        "time_zone": None,
        "value": 8,
        "filtered_record_count": 8,
        "approximate": False,
    }
    assert aggregate(reader, connection_id="work")["value"] == 3


@pytest.mark.parametrize(
    ("metric", "field", "value"),
    [
        ("sum", "pages", 1140),
        ("sum", "price", 35.25),
        ("min", "pages", 120),
        ("max", "pages", 300),
        ("min", "price", 3.25),
        ("max", "published", "2021-02-28"),
        ("min", "added_at", "2026-01-01T10:00:00Z"),
        ("max", "added_at", "2026-01-05T10:00:00Z"),
        ("count_distinct", "author_id", 3),
        ("count_distinct", "pages", 2),
    ],
)
def test_a_metric_is_over_all_granted_connections(
    reader: httpx.Client, metric: str, field: str, value: object
) -> None:
    body = aggregate(reader, metric=metric, field=field)
    assert body["value"] == value
    assert body["filtered_record_count"] == 8


def test_a_metric_over_nothing_is_nothing(reader: httpx.Client) -> None:
    none = {"filter[title]": "No such book"}
    assert aggregate(reader, **none)["value"] == 0
    assert aggregate(reader, metric="sum", field="pages", **none)["value"] == 0
    assert aggregate(reader, metric="min", field="pages", **none)["value"] is None
    assert aggregate(reader, metric="count_distinct", field="pages", **none)["value"] == 0


def test_groups_come_by_size_and_records_without_a_value_are_one_of_them(
    reader: httpx.Client,
) -> None:
    assert groups(reader, group_by="author_id") == [(None, 4), ("a1", 2), ("a2", 1), ("a9", 1)]
    assert groups(reader, group_by="pages") == [(300, 3), (None, 3), (120, 2)]
    assert groups(reader, group_by="in_print") == [(True, 3), (None, 3), (False, 2)]
    assert groups(reader, group_by="published") == [
        (None, 4),
        ("2020-05-01", 3),
        ("2021-02-28", 1),
    ]


def test_the_records_of_the_groups_left_out_are_counted(reader: httpx.Client) -> None:
    body = aggregate(reader, group_by="author_id", limit=2)
    assert len(body["groups"]) == 2
    assert (body["limit"], body["other_count"]) == (2, 2)
    assert body["filtered_record_count"] == 8
    assert aggregate(reader, group_by="author_id")["other_count"] == 0


def test_a_group_carries_the_value_of_the_metric(reader: httpx.Client) -> None:
    body = aggregate(reader, metric="sum", field="pages", group_by="author_id")
    assert body["groups"][:2] == [
        {"key": None, "count": 4, "value": 240},
        {"key": "a1", "count": 2, "value": 600},
    ]
    most = aggregate(reader, metric="max", field="added_at", group_by="pages")
    assert most["groups"][-1] == {"key": 120, "count": 2, "value": "2026-01-05T10:00:00Z"}
    distinct = aggregate(reader, metric="count_distinct", field="author_id", group_by="pages")
    assert [group["value"] for group in distinct["groups"]] == [2, 1, 0]


def test_a_grouped_limit_above_the_most_is_clamped_and_told(reader: httpx.Client) -> None:
    body = aggregate(reader, group_by="pages", limit=5_000)
    assert body["limit"] == 1_000
    assert [item["code"] for item in body["meta"]["warnings"]] == ["limit_clamped"]


def test_an_aggregate_sees_only_what_the_grant_shows(library: World) -> None:
    client = library.granted(
        Selection(connections=("home",), streams=("books",), keys=("b1", "b3", "b4"))
    )
    assert aggregate(client)["value"] == 3
    assert aggregate(client, metric="sum", field="pages")["value"] == 420
    assert groups(client, group_by="author_id") == [("a1", 1), ("a2", 1), (None, 1)]


@pytest.mark.parametrize(
    ("params", "param"),
    [
        ({"metric": "median", "field": "pages"}, "metric"),
        ({"metric": "sum"}, "field"),
        ({"metric": "count", "field": "pages"}, "field"),
        ({"metric": "sum", "field": "title"}, "field"),
        ({"metric": "sum", "field": "published"}, "field"),
        ({"group_by": "title"}, "group_by"),
        ({"group_by_time": "pages", "granularity": "day"}, "group_by_time"),
        ({"group_by": "pages", "group_by_time": "added_at"}, "group_by_time"),
        ({"group_by_time": "added_at"}, "granularity"),
        ({"group_by_time": "added_at", "granularity": "decade"}, "granularity"),
        ({"granularity": "day"}, "granularity"),
        ({"time_zone": "UTC"}, "time_zone"),
        ({"group_by_time": "added_at", "granularity": "day", "time_zone": "Mars"}, "time_zone"),
        ({"group_by_time": "added_at", "granularity": "day", "time_zone": "../x"}, "time_zone"),
        ({"group_by_time": "published", "granularity": "day", "time_zone": "Mars"}, "time_zone"),
    ],
)
def test_what_is_not_offered_is_refused(
    reader: httpx.Client, params: dict[str, str], param: str
) -> None:
    assert refused(reader.get(PATH, params=params), 400, "invalid_request")["param"] == param


def test_a_refusal_names_the_fields_that_are_offered(reader: httpx.Client) -> None:
    answer = reader.get(PATH, params={"metric": "sum", "field": "title"})
    assert "pages, price" in refused(answer, 400, "invalid_request")["message"]
    missing = refused(reader.get(PATH, params={"metric": "sum"}), 400, "invalid_request")
    assert "pages, price" in missing["message"]
    none = reader.get("/v1/streams/authors/aggregate", params={"group_by": "name"})
    assert "no field" in refused(none, 400, "invalid_request")["message"]


def test_a_refusal_names_the_connection_whose_stream_lacks_the_field(reader: httpx.Client) -> None:
    for params in ({"group_by": "colour"}, {"metric": "sum", "field": "title"}):
        asked = {**params, "connection_id": "work"}
        refusal = reader.get(PATH, params=asked).json()["error"]["message"]
        assert refusal.startswith("books of work ")


def test_a_stream_that_declares_no_count_is_not_counted(reader: httpx.Client) -> None:
    answer = reader.get("/v1/streams/shelves/aggregate")
    assert refused(answer, 400, "invalid_request")["param"] == "metric"


def test_a_hidden_field_is_refused_like_one_that_does_not_exist(library: World) -> None:
    client = library.client(streams=("books",), fields=("id", "title"))
    for name in ("group_by", "group_by_time"):
        hidden = refused(client.get(PATH, params={name: "published"}), 403, "field_not_granted")
        absent = refused(client.get(PATH, params={name: "publashed"}), 403, "field_not_granted")
        assert hidden["message"].replace("published", "publashed") == absent["message"]
    sums = {"metric": "sum", "field": "pages"}
    refused(client.get(PATH, params=sums), 403, "field_not_granted")


def test_a_hidden_field_named_as_a_unit_is_refused_like_one_that_does_not_exist(
    tmp_path: Path,
) -> None:
    books = LIBRARY["streams"][0]
    properties = {**books["schema"]["properties"], "month": {"type": "string"}}
    told: list[str] = []
    for schema in (books["schema"], {**books["schema"], "properties": properties}):
        declared = {**LIBRARY, "streams": [{**books, "schema": schema}, *LIBRARY["streams"][1:]]}
        folder = tmp_path / str(len(told))
        with living(planted_store(folder, declared, {"one": "1"})) as world:
            client = world.client(streams=("books",), fields=("id", "title", "added_at"))
            asked = client.get(PATH, params={"group_by_time": "month"})
            told.append(refused(asked, 400, "invalid_request")["message"])
    assert told[0] == told[1]
    assert told[0].endswith("granularity=month. books of one offers group_by_time for: added_at.")


MOMENTS = {
    "spring": ["2026-03-29T00:30:00Z", "2026-03-29T01:30:00Z", "2026-03-29T22:30:00Z"],
    "summer": ["2026-03-29T23:30:00Z"],
    "autumn": ["2026-10-25T00:15:00Z", "2026-10-25T01:15:00Z", "2026-10-25T23:59:59Z"],
    "winter": ["2026-12-31T23:30:00Z", "2027-01-01T00:00:00Z"],
}


@pytest.fixture(scope="module")
def moments(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client of a store with books added around the changes of the clock in two connections."""
    rows: list[dict[str, Any]] = [
        {"id": f"{season}-{number}", "added_at": text, "title": season}
        for season, texts in MOMENTS.items()
        for number, text in enumerate(texts)
    ]
    rows[0] |= {"published": "2026-03-29", "price": 0.1}
    rows[1] |= {"published": "2026-03-30", "price": 0.2}
    records = {("one", "books"): rows[::2], ("two", "books"): rows[1::2]}
    folder = tmp_path_factory.mktemp("moments")
    with living(planted_store(folder, LIBRARY, {"one": "1", "two": "2"}, records)) as world:
        yield world.client()


def buckets(client: httpx.Client, granularity: str, **params: Any) -> list[tuple[Any, int]]:
    return groups(client, group_by_time="added_at", granularity=granularity, **params)


def test_days_follow_the_local_calendar_across_both_changes_of_the_clock(
    moments: httpx.Client,
) -> None:
    assert buckets(moments, "day", time_zone="Europe/Lisbon") == [
        ("2026-03-29", 3),
        ("2026-03-30", 1),
        ("2026-10-25", 3),
        ("2026-12-31", 1),
        ("2027-01-01", 1),
    ]
    assert buckets(moments, "day") == [
        ("2026-03-29", 4),
        ("2026-10-25", 3),
        ("2026-12-31", 1),
        ("2027-01-01", 1),
    ]


def test_hours_that_the_clock_repeats_are_told_apart_and_stay_in_order(
    moments: httpx.Client,
) -> None:
    autumn = {"filter[title]": "autumn"}
    assert buckets(moments, "hour", time_zone="Europe/Lisbon", **autumn) == [
        ("2026-10-25T01:00+01:00", 1),
        ("2026-10-25T01:00Z", 1),
        ("2026-10-25T23:00Z", 1),
    ]
    assert buckets(moments, "hour", time_zone="Europe/Berlin", **autumn) == [
        ("2026-10-25T02:00+02:00", 1),
        ("2026-10-25T02:00+01:00", 1),
        ("2026-10-26T00:00+01:00", 1),
    ]


def test_hours_that_the_clock_skips_do_not_exist(moments: httpx.Client) -> None:
    spring = {"filter[title]": "spring"}
    assert buckets(moments, "hour", time_zone="Europe/Lisbon", **spring) == [
        ("2026-03-29T00:00Z", 1),
        ("2026-03-29T02:00+01:00", 1),
        ("2026-03-29T23:00+01:00", 1),
    ]


@pytest.mark.parametrize(
    ("granularity", "expected"),
    [
        ("minute", [("2026-12-31T23:30Z", 1), ("2027-01-01T00:00Z", 1)]),
        ("week", [("2026-12-28", 2)]),
        ("month", [("2026-12", 1), ("2027-01", 1)]),
        ("quarter", [("2026-Q4", 1), ("2027-Q1", 1)]),
        ("year", [("2026", 1), ("2027", 1)]),
    ],
)
def test_every_granularity_has_its_own_names(
    moments: httpx.Client, granularity: str, expected: list[tuple[str, int]]
) -> None:
    assert buckets(moments, granularity, **{"filter[title]": "winter"}) == expected


def test_the_zone_that_was_used_is_told(moments: httpx.Client) -> None:
    params = {"group_by_time": "added_at", "granularity": "day"}
    assert aggregate(moments, **params)["time_zone"] == "UTC"
    lisbon = aggregate(moments, **params, time_zone="Europe/Lisbon")
    assert (lisbon["granularity"], lisbon["time_zone"]) == ("day", "Europe/Lisbon")


def test_a_date_is_the_same_day_in_every_zone(moments: httpx.Client) -> None:
    params = {"group_by_time": "published", "granularity": "day"}
    body = aggregate(moments, **params, time_zone="America/Los_Angeles")
    assert [(group["key"], group["count"]) for group in body["groups"]] == [
        ("2026-03-29", 1),
        ("2026-03-30", 1),
        (None, 7),
    ]
    assert body["time_zone"] == "UTC"


def test_buckets_carry_the_value_of_the_metric_and_the_rest_is_counted(
    moments: httpx.Client,
) -> None:
    params = {"group_by_time": "added_at", "granularity": "year", "metric": "sum"}
    body = aggregate(moments, **params, field="price", limit=1)
    assert body["groups"] == [{"key": "2026", "count": 8, "value": 0.3}]
    assert body["other_count"] == 1


def test_a_day_to_which_the_clock_goes_back_after_midnight_is_counted_once(tmp_path: Path) -> None:
    """At 00:01 the clocks of Newfoundland went back to 23:01 of the day before."""
    times = ("T01:00:00Z", "T03:00:00Z", "T03:15:00Z", "T04:00:00Z")
    rows = [
        book(str(number), 1) | {"added_at": f"2006-10-29{time}"}
        for number, time in enumerate(times)
    ]
    store = planted_store(tmp_path, LIBRARY, {"only": "Only"}, {("only", "books"): rows})
    with living(store) as world:
        days = buckets(world.client(), "day", time_zone="America/St_Johns")
    assert days == [("2006-10-28", 3), ("2006-10-29", 1)]


@pytest.mark.parametrize(
    "granularity", ["minute", "hour", "day", "week", "month", "quarter", "year"]
)
@pytest.mark.parametrize("place", ["UTC", "Asia/Tokyo", "America/New_York", "Pacific/Kiritimati"])
def test_the_first_and_the_last_moments_there_are_have_their_bucket(
    ends: httpx.Client, granularity: str, place: str
) -> None:
    params = {"group_by_time": "added_at", "granularity": granularity, "time_zone": place}
    body = aggregate(ends, **params)
    assert sum(group["count"] for group in body["groups"]) == 3
    dates = {"group_by_time": "published", "granularity": granularity}
    assert sum(group["count"] for group in aggregate(ends, **dates)["groups"]) == 3


@pytest.fixture(scope="module")
def ends(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client of a store with books at the ends of the calendar."""
    rows = [
        book("first", 1) | {"added_at": "0001-01-01T00:00:00Z", "published": "0001-01-01"},
        book("early", 1) | {"added_at": "0999-06-01T00:00:00Z", "published": "0999-06-01"},
        book("last", 1) | {"added_at": "9999-12-31T23:59:59Z", "published": "9999-12-31"},
    ]
    folder = tmp_path_factory.mktemp("ends")
    with living(
        planted_store(folder, LIBRARY, {"only": "Only"}, {("only", "books"): rows})
    ) as world:
        yield world.client()
