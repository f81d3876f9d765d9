"""Activities and courses as TCX."""

import gzip
from pathlib import Path
from typing import Any

import pytest
from tests.sources.kit import Home, check_twice, read, told

from pdpp.sources.formats.gpx.source import Gpx

SOURCE = Gpx()


def point(second: int, latitude: float | None, height: float = 10.0) -> str:
    place = (
        f"<Position><LatitudeDegrees>{latitude}</LatitudeDegrees>"
        "<LongitudeDegrees>-9.1</LongitudeDegrees></Position>"
    )
    return (
        f"<Trackpoint><Time>2024-01-02T07:00:{second:02}.000Z</Time>{place if latitude else ''}"
        f"<AltitudeMeters>{height}</AltitudeMeters>"
        "<HeartRateBpm><Value>140</Value></HeartRateBpm></Trackpoint>"
    )


def lap(*tracks: str) -> str:
    inside = "".join(f"<Track>{track}</Track>" for track in tracks)
    return f'<Lap StartTime="2024-01-02T07:00:00Z"><Calories>1</Calories>{inside}</Lap>'


def activity(*laps: str, sport: str = "Running") -> str:
    return (
        f'<Activity Sport="{sport}"><Id>2024-01-02T07:00:00.000Z</Id>{"".join(laps)}'
        "<Notes>Along the river</Notes><Creator><Name>Forerunner 245</Name></Creator></Activity>"
    )


def document(*activities: str, courses: str = "") -> str:
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<TrainingCenterDatabase '
        'xmlns="http://www.garmin.com/xmlschemas/TrainingCenterDatabase/v2">'
        f"<Activities>{''.join(activities)}</Activities>{courses}"
        "<Author><Name>Garmin Connect API</Name></Author></TrainingCenterDatabase>"
    )


RUN = activity(
    lap(point(0, 38.70) + point(10, 38.701) + point(12, None)), lap(point(20, 38.702, 15.0))
)


def tracks(path: Path) -> list[dict[str, Any]]:
    return [data for (stream, _), data in read(SOURCE, path).items() if stream == "tracks"]


@pytest.mark.parametrize("before", ["", "          "])
def test_an_activity_is_a_track_with_its_sport_and_watch(tmp_path: Path, before: str) -> None:
    """Some programs write spaces before the document."""
    path = tmp_path / "run.tcx"
    path.write_text(before + document(RUN))
    [track] = tracks(path)
    assert (track["kind"], track["activity"], track["program"]) == (
        "track",
        "running",
        "Forerunner 245",
    )
    assert (track["started_at"], track["seconds"]) == ("2024-01-02T07:00:00.000Z", 20.0)
    assert (track["points"], track["climb_metres"]) == (3, 5.0)
    assert track["distance_metres"] == pytest.approx(222.4, abs=0.5)
    assert track["description"] == "Along the river"
    assert [(thing.reason, thing.example) for thing in told(SOURCE, path)] == [
        ("points without a place", "run.tcx: 1")
    ]


def test_points_without_a_place_tell_how_long_and_how_far_an_activity_was(tmp_path: Path) -> None:
    measured = "<DistanceMeters>{}</DistanceMeters></Trackpoint>"
    points = [(0, None, 0), (10, 38.70, 40), (20, 38.701, 151), (30, None, 200.5)]
    steps = [
        point(second, latitude).replace("</Trackpoint>", measured.format(metres))
        for second, latitude, metres in points
    ]
    (tmp_path / "a.tcx").write_text(document(activity(lap("".join(steps)))))
    [track] = tracks(tmp_path / "a.tcx")
    assert (track["started_at"], track["seconds"]) == ("2024-01-02T07:00:00.000Z", 30.0)
    assert (track["points"], track["distance_metres"]) == (2, 200.5)
    assert [thing.example for thing in told(SOURCE, tmp_path / "a.tcx")] == ["a.tcx: 2"]


def test_what_was_gone_during_a_pause_is_not_counted(tmp_path: Path) -> None:
    path = tmp_path / "run.tcx"
    path.write_text(document(activity(lap(point(0, 38.0), point(30, 39.0) + point(40, 39.001)))))
    [track] = tracks(path)
    assert track["distance_metres"] == pytest.approx(111.2, abs=0.5)


def test_courses_are_routes_and_an_activity_indoors_is_told(tmp_path: Path) -> None:
    path = tmp_path / "two.tcx"
    course = f"<Course><Name>Cape</Name><Track>{point(0, 38.7)}{point(1, 38.8)}</Track></Course>"
    indoors = activity(lap(point(0, None)), sport="Biking")
    path.write_text(document(indoors, courses=f"<Courses>{course}</Courses>"))
    [track] = tracks(path)
    assert (track["kind"], track["name"]) == ("route", "Cape")
    reasons = [thing.reason for thing in told(SOURCE, path)]
    assert reasons == ["an activity without a place, such as one indoors", "points without a place"]


def test_a_packed_activity_comes_in_once_with_its_file(tmp_path: Path) -> None:
    folder = tmp_path / "activities"
    folder.mkdir()
    (folder / "1.tcx.gz").write_bytes(gzip.compress(document(RUN).encode()))
    check_twice(folder, tmp_path)
    home = Home(tmp_path / "home")
    report = home.bring(folder)
    assert (report["counts"]["new"], report["files"]["kept"]) == (1, 1)
    [held] = [data["file"] for data in home.records().values()]
    assert held["mime_type"] == "application/vnd.garmin.tcx+xml"
    (folder / "1.tcx.gz").unlink()
    (folder / "1.tcx").write_text(document(RUN))
    assert home.bring(folder)["counts"]["new"] == 0
