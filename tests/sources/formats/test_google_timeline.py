"""Google's timeline: what a stay is known by, in whatever order an export holds what began."""

from itertools import permutations
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.sources.kit import Home, read, told
from tests.sources.samples.sample import json_bytes

from pdpp.sources.formats.google_timeline.source import GoogleTimeline
from pdpp.sources.formats.google_timeline.stretches import Stretch, StretchKeys

BEGUN = "2023-03-30T20:00:00Z"


def stay(place: str, end: str, start: str = BEGUN) -> dict[str, Any]:
    best = {"placeId": place, "placeLocation": f"geo:38.{len(place)},-9.1"}
    return {"startTime": start, "endTime": f"2023-03-{end}Z", "visit": {"topCandidate": best}}


def way(kind: str, end: str) -> dict[str, Any]:
    activity = {"topCandidate": {"type": kind}}
    return {"startTime": BEGUN, "endTime": f"2023-03-{end}Z", "activity": activity}


TOGETHER = [
    *(stay("bar", "30T21:00:00"), stay("cafe", "31T06:00:00"), stay("quay", "30T21:00:00")),
    *(way("WALKING", "30T20:05:00"), way("IN_BUS", "30T20:30:00")),
]


def stays(records: dict[tuple[str, str], dict[str, Any]]) -> list[str]:
    return sorted(data["place_id"] for (stream, _), data in records.items() if stream == "visits")


def test_what_began_together_is_known_by_the_same_in_every_order(tmp_path: Path) -> None:
    path, found = tmp_path / "Timeline.json", []
    for order in [*permutations(TOGETHER)][::7]:
        path.write_bytes(json_bytes({"semanticSegments": order}))
        found.append(read(GoogleTimeline(), path))
    assert len(found[0]) == len(TOGETHER)
    assert all(records == found[0] for records in found)


def test_stays_that_a_later_export_lists_in_another_order_are_there_once(tmp_path: Path) -> None:
    home, path = Home(tmp_path / "data"), tmp_path / "Timeline.json"
    for segments in (TOGETHER[:2], TOGETHER[1::-1], TOGETHER[:2]):
        path.write_bytes(json_bytes({"semanticSegments": segments}))
        home.bring(path)
    assert stays(home.records()) == ["bar", "cafe"]


def test_months_of_takeout_know_stays_that_began_together_in_every_order(tmp_path: Path) -> None:
    def month(place: str, end: int) -> dict[str, Any]:
        times = {"startTimestamp": BEGUN, "endTimestamp": f"2023-03-30T{end}:00:00Z"}
        inner = {"location": {"placeId": f"{place} inside"}, "duration": times}
        about = {"location": {"placeId": place}, "duration": times, "childVisits": [inner]}
        return {"placeVisit": about}

    path, found = tmp_path / "2023_MARCH.json", []
    for entries in permutations([month("bar", 21), month("cafe", 23)]):
        path.write_bytes(json_bytes({"timelineObjects": entries}))
        found.append(read(GoogleTimeline(), path))
    assert stays(found[0]) == ["bar", "bar inside", "cafe", "cafe inside"]
    assert found[0] == found[1]


def test_stays_without_a_name_of_their_place_are_told_apart_by_where_they_were(
    tmp_path: Path,
) -> None:
    segments = [stay("bar", "30T21:00:00"), stay("quay", "30T22:00:00")]
    for segment in segments:
        del segment["visit"]["topCandidate"]["placeId"]
    (tmp_path / "Timeline.json").write_bytes(json_bytes({"semanticSegments": segments}))
    assert len(read(GoogleTimeline(), tmp_path)) == 2


def test_a_stay_that_stands_twice_is_there_with_its_last_end(tmp_path: Path) -> None:
    twice = [stay("bar", "30T22:00:00"), stay("bar", "30T21:00:00")]
    for segments in (twice, twice[::-1]):
        (tmp_path / "Timeline.json").write_bytes(json_bytes({"semanticSegments": segments}))
        [data] = read(GoogleTimeline(), tmp_path).values()
        assert data["ended_at"] == "2023-03-30T22:00:00Z"
        assert [skip.reason for skip in told(GoogleTimeline(), tmp_path)] == [
            "a stay that is told again, with a later end"
        ]


MOMENTS = st.integers(0, 3)
STRETCHES = st.lists(
    st.builds(Stretch, st.just("visit"), MOMENTS, st.sampled_from("01"), st.text(), MOMENTS),
    max_size=12,
)


@given(STRETCHES, st.randoms())
def test_every_place_of_a_moment_has_a_key_of_its_own(found: list[Stretch], dice: Any) -> None:
    keys = StretchKeys(found)
    places = {one[:4]: keys.key(one) for one in found}
    assert len({*places.values()}) == len(places)
    mixed = StretchKeys(dice.sample(found, len(found)))
    assert [mixed.key(one) for one in found] == [keys.key(one) for one in found]


@given(STRETCHES)
def test_what_began_alone_keeps_its_key_whatever_its_place_and_end(found: list[Stretch]) -> None:
    alone = {one[:3]: one for one in found}
    corrected = {group: one._replace(mark="elsewhere", ended=9) for group, one in alone.items()}
    before, after = StretchKeys(alone.values()), StretchKeys(corrected.values())
    assert [*map(before.key, alone.values())] == [*map(after.key, corrected.values())]
