"""What is particular to tracks as GPX."""

from pathlib import Path
from typing import Any

import pytest
from tests.sources.kit import look, read, told
from tests.sources.samples import apple_health, gpx

from pdpp.sources.formats.gpx.source import Gpx

SOURCE = Gpx()


def put(folder: Path, *elements: str) -> Path:
    path = folder / "x.gpx"
    path.write_bytes(gpx.gpx(*elements))
    return path


def only(path: Path, stream: str) -> dict[str, Any]:
    [data] = [data for (name, _), data in read(SOURCE, path).items() if name == stream]
    return data


def test_a_track_has_its_distance_climb_and_times(tmp_path: Path) -> None:
    hike = only(put(tmp_path, gpx.HIKE), "tracks")
    # Two segments of a hundredth of a degree; what lies between them was not walked.
    assert hike["distance_metres"] == pytest.approx(2 * 1_112, rel=0.001)
    assert hike["climb_metres"] == 50.0
    assert (hike["started_at"], hike["seconds"]) == ("2026-01-05T08:00:00Z", 4_800.0)
    assert (hike["points"], hike["activity"], hike["program"]) == (4, "hiking", "Watch 7")
    assert (hike["start_latitude"], hike["end_latitude"]) == (38.4, 38.51)


def test_a_route_and_a_place(tmp_path: Path) -> None:
    path = put(tmp_path, gpx.ROUTE, gpx.WELL)
    route = only(path, "tracks")
    assert (route["kind"], route["name"]) == ("route", "To the beach")
    assert route["distance_metres"] == pytest.approx(8_714, rel=0.001)
    well = only(path, "waypoints")
    assert (well["name"], well["description"], well["kind"]) == ("Well", "Drinkable", "Water")
    assert (well["elevation_metres"], well["marked_at"]) == (90.5, "2026-01-05T07:00:00Z")


def test_what_has_no_place_is_told(tmp_path: Path) -> None:
    track = '<trk><trkseg><trkpt lat="99" lon="0"/><trkpt/></trkseg></trk><wpt lat="x" lon="0"/>'
    reasons = [finding.reason for finding in told(SOURCE, put(tmp_path, track))]
    assert reasons == [
        "a track without points",
        "a waypoint without a place",
        "points without a place",
    ]


def test_the_routes_of_a_health_export_stay_with_it(tmp_path: Path) -> None:
    folder = apple_health.SAMPLES[0].folder(tmp_path)
    assert look(SOURCE, folder) is None


def test_a_time_without_a_zone_is_in_utc_as_the_layout_says(tmp_path: Path) -> None:
    points = "".join(
        f'<trkpt lat="38.{minute}" lon="-9"><time>2026-01-05T08:{minute}:00</time></trkpt>'
        for minute in (10, 20)
    )
    track = only(put(tmp_path, f"<trk><trkseg>{points}</trkseg></trk>"), "tracks")
    assert (track["started_at"], track["seconds"]) == ("2026-01-05T08:10:00Z", 600.0)
