"""What is particular to tracks as GPX."""

import gzip
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.sources.kit import Home, check_twice, findings, look, read, told
from tests.sources.samples import apple_health, gpx

from pdpp.sources.formats.gpx.source import Gpx
from pdpp.sources.item import Item, Skipped

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


def test_a_track_without_a_name_is_called_by_when_it_began(tmp_path: Path) -> None:
    point = '<trkpt lat="1" lon="2">{}</trkpt>'.format
    track = f"<trk><trkseg>{point('<time>2026-01-05T08:12:00+07:00</time>')}</trkseg></trk>"
    assert only(put(tmp_path, track), "tracks")["name"] == "track of 2026-01-05 08:12"
    bare = f"<trk><trkseg>{point('')}</trkseg></trk>"
    assert only(put(tmp_path, bare), "tracks")["name"] == "track of an unknown day"


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


def kml(*elements: str, name: str = "The coast") -> bytes:
    return (
        '<?xml version="1.0" encoding="UTF-8"?><kml xmlns="http://www.opengis.net/kml/2.2"'
        ' xmlns:gx="http://www.google.com/kml/ext/2.2"><Document>'
        f"<name>{name}</name><Style id='s'><LineStyle/></Style>{''.join(elements)}</Document></kml>"
    ).encode()


BEACH = (
    "<Folder><name>Beaches</name><Placemark><name>Praia</name>"
    "<description><![CDATA[Soft sand<br>open: summer]]></description><ExtendedData>"
    '<Data name="open"><value>summer</value></Data><Data name="stars"><value>4</value></Data>'
    "</ExtendedData><Point><coordinates>-9.2,38.5,0</coordinates></Point></Placemark></Folder>"
)
AREA = (
    "<Placemark><name>Bay</name><Polygon><outerBoundaryIs><LinearRing><coordinates>"
    "0,0,0 0,1,0 1,1,0 0,0,0</coordinates></LinearRing></outerBoundaryIs><innerBoundaryIs>"
    "<LinearRing><coordinates>5,5 6,6 5,5</coordinates></LinearRing></innerBoundaryIs></Polygon>"
    "</Placemark>"
)
RIDE = (
    "<Placemark><name>Ride</name><gx:Track><when>2026-01-05T08:00:00Z</when>"
    "<when>2026-01-05T09:00:00Z</when><gx:coord>-9.1 38.40 10</gx:coord>"
    "<gx:coord>-9.1 38.41 60</gx:coord></gx:Track></Placemark>"
)
STAY = (
    "<Placemark><name>Old market</name><address>Rua 1</address><ExtendedData>"
    '<Data name="Email"><value>nora@lind.example</value></Data>'
    '<Data name="Category"><value>Shop</value></Data></ExtendedData>'
    "<description> from 8 to 9 </description><Point><coordinates>-9.2,38.5,0</coordinates></Point>"
    "<TimeSpan><begin>2019-01-04T08:00:00Z</begin><end>2019-01-04T09:00:00Z</end></TimeSpan>"
    "</Placemark>"
)
WALK = (
    "<Placemark><name>Walking</name><LineString><coordinates>-9.1,38.40,0 -9.1,38.41,0"
    "</coordinates></LineString><TimeSpan><begin>2019-01-04T09:00:00Z</begin>"
    "<end>2019-01-04T09:30:00Z</end></TimeSpan></Placemark>"
)


def put_map(folder: Path, *elements: str, name: str = "map.kml") -> Path:
    path = folder / name
    path.write_bytes(kml(*elements))
    return path


def test_a_map_has_its_places_layers_and_areas(tmp_path: Path) -> None:
    path = put_map(tmp_path, BEACH, AREA)
    beach = only(path, "waypoints")
    assert (beach["name"], beach["folder"]) == ("Praia", "Beaches")
    assert beach["description"].splitlines() == ["Soft sand", "open: summer", "stars: 4"]
    assert (beach["latitude"], beach["longitude"]) == (38.5, -9.2)
    assert "elevation_metres" not in beach
    bay = only(path, "tracks")
    assert (bay["kind"], bay["points"], bay["folder"]) == ("area", 4, "The coast")
    assert told(SOURCE, path) == []


def test_a_track_of_a_map_has_its_times_and_its_file(tmp_path: Path) -> None:
    path = put_map(tmp_path, RIDE, RIDE)
    first, second = (item for item in findings(SOURCE, path) if isinstance(item, Item))
    assert (first.data["started_at"], first.data["seconds"]) == ("2026-01-05T08:00:00Z", 3600.0)
    assert first.data["distance_metres"] == pytest.approx(1_112, rel=0.001)
    assert first.data["climb_metres"] == 50.0
    [file] = first.attachments
    assert (file.media_type, file.open().read()) == (
        "application/vnd.google-earth.kml+xml",
        path.read_bytes(),
    )
    assert second.attachments == ()


def test_a_day_of_a_timeline_has_its_stays_and_trips(tmp_path: Path) -> None:
    path = put_map(tmp_path, STAY, WALK)
    stay, walk = only(path, "waypoints"), only(path, "tracks")
    assert (stay["marked_at"], stay["left_at"]) == ("2019-01-04T08:00:00Z", "2019-01-04T09:00:00Z")
    assert (stay["kind"], stay["description"].splitlines()[:2]) == (
        "Shop",
        ["from 8 to 9", "Rua 1"],
    )
    assert "nora@lind.example" not in str(stay)
    assert (walk["started_at"], walk["seconds"]) == ("2019-01-04T09:00:00Z", 1800.0)
    assert "climb_metres" not in walk


def test_a_place_with_an_address_alone_is_kept_and_what_is_no_place_is_told(tmp_path: Path) -> None:
    path = put_map(
        tmp_path,
        "<Placemark><name>Aunt</name><address>Rua 9, Porto</address></Placemark>",
        "<Placemark><styleUrl>#s</styleUrl></Placemark>",
        "<Placemark><name>X</name><Point><coordinates>999,9</coordinates></Point></Placemark>",
        "<NetworkLink><name>y</name><Link><href>https://maps.example</href></Link></NetworkLink>",
        "<NetworkLink><Link><href>files/Other list.kml</href></Link></NetworkLink>",
        "<GroundOverlay><name>z</name></GroundOverlay>",
    )
    names = {data["name"]: data.get("description") for data in read(SOURCE, path).values()}
    assert names == {"Aunt": "Rua 9, Porto", "X": None}
    assert [finding.reason for finding in told(SOURCE, path)] == [
        "a placemark without a place or a name",
        "points without a place",
        "a link to a map on the web; save the map itself, without “keep up to date”",
        "a link to a map beside this one, which is read by itself",
        "a picture on the map",
    ]


def test_a_packed_map_and_a_packed_track_are_the_same_as_unpacked(tmp_path: Path) -> None:
    home, folder = Home(tmp_path / "home"), tmp_path / "all"
    folder.mkdir()
    with zipfile.ZipFile(folder / "map.kmz", "w") as archive:
        archive.writestr("doc.kml", kml(BEACH, RIDE))
        archive.writestr("images/icon-1.png", b"\x89PNG")
    (folder / "hike.gpx.gz").write_bytes(gzip.compress(gpx.gpx(gpx.HIKE)))
    report = home.bring(folder)
    assert (report["counts"]["new"], report["files"]["unknown"]) == (3, [])
    again = home.bring(put_map(tmp_path, BEACH, RIDE))
    assert (again["connection"], again["counts"]["new"]) == (report["connection"], 0)
    track = home.bring(put(tmp_path, gpx.HIKE))
    assert (track["counts"]["unchanged"], track["counts"]["new"]) == (1, 0)
    alone = Home(tmp_path / "alone")
    assert alone.bring(folder / "map.kmz")["counts"]["new"] == 2
    assert alone.bring(folder / "hike.gpx.gz")["counts"]["new"] == 1


def test_the_same_map_twice_changes_nothing(tmp_path: Path) -> None:
    check_twice(put_map(tmp_path, BEACH, AREA, RIDE, STAY, WALK), tmp_path)


def test_a_packed_track_that_is_cut_or_far_too_large_is_told(tmp_path: Path) -> None:
    packed = gzip.compress(gpx.gpx(*[gpx.HIKE, gpx.ROUTE] * 2_000))
    path = tmp_path / "x.gpx.gz"
    path.write_bytes(packed[:-20])
    assert [finding.reason for finding in told(SOURCE, path)] == ["damaged"]
    path.write_bytes(gzip.compress(gpx.gpx()[:-6] + b" " * (80 << 20)))
    assert [finding.reason for finding in told(SOURCE, path)] == ["damaged"]


def test_a_thing_with_points_and_details_without_end_is_cut_and_told(tmp_path: Path) -> None:
    points = "<Point><coordinates>-9.2,38.5 1,1</coordinates></Point>" * 10_010
    details = "".join(f'<Data name="{n}"><value>{n}</value></Data>' for n in range(10_010))
    path = put_map(tmp_path, f"<Placemark><name>X</name>{points}{details}</Placemark>")
    [finding] = told(SOURCE, path)
    assert finding.reason == "points and details of one place beyond the bound"
    assert finding.example.endswith(": 20")


def feature(name: str, at: list[float], **about: Any) -> dict[str, Any]:
    place = {"location": {"name": name, "address": "Quay 3"}} if name else {}
    return {
        "type": "Feature",
        "geometry": {"type": "Point", "coordinates": at},
        "properties": {"date": "2026-01-31T10:15:00Z", **place, **about},
    }


def saved(path: Path, *features: dict[str, Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"type": "FeatureCollection", "features": features}))
    return path


def test_places_saved_in_google_maps_are_places(tmp_path: Path) -> None:
    maps = tmp_path / "Takeout" / "Maps (your places)"
    link = "http://maps.google.com/?cid=7"
    saved(
        maps / "Saved Places.json",
        feature("Chandler", [-9.1, 38.7], google_maps_url=link, Comment="has brass"),
        feature("", [0, 0], google_maps_url="http://maps.google.com/?q=Old+Pier"),
        feature("", [0, 0]),
    )
    told_of = {"five_star_rating_published": 4, "review_text_published": "Good rope"}
    asked = [{"question": "Noise", "selected_option": "Quiet"}]
    saved(
        maps / "Reviews.json",
        feature("Chandler", [-9.1, 38.7], google_maps_url=link, questions=asked, **told_of),
    )
    label = {"address": "Quay 1", "name": "Home"}
    saved(
        tmp_path / "Takeout" / "Maps" / "My labeled places" / "Labeled places.json",
        {"geometry": {"coordinates": [-9.2, 38.8]}, "properties": label},
    )
    table = tmp_path / "Takeout" / "Saved" / "Want to go.csv"
    table.parent.mkdir()
    page = "https://www.google.com/maps/place/Pier+Cafe/data=!4m2"
    table.write_text(f"Titel,Notiz,URL,Tags,Kommentar\n,,,,\nPier Cafe,soup,{page},,warm\n")
    found = {
        (data["folder"], data["name"]): (data["kind"], data.get("latitude"), data["description"])
        for data in read(SOURCE, tmp_path).values()
    }
    old = "http://maps.google.com/?q=Old+Pier"
    review = f"4 of 5 stars\nGood rope\nQuay 3\nNoise: Quiet\n{link}"
    assert found == {
        ("Saved Places", "Chandler"): ("saved place", 38.7, f"has brass\nQuay 3\n{link}"),
        ("Saved Places", old): ("saved place", None, old),
        ("Reviews", "Chandler"): ("review", 38.7, review),
        ("Labeled places", "Home"): ("labelled place", 38.8, "Quay 1"),
        ("Want to go", "Pier Cafe"): ("saved place", None, f"soup\nwarm\n{page}"),
    }
    assert [each.reason for each in told(SOURCE, tmp_path)] == ["a place without a name"]
    check_twice(tmp_path / "Takeout", tmp_path / "twice")


def test_lists_of_google_that_are_described_or_hold_short_addresses_are_read(
    tmp_path: Path,
) -> None:
    place = "https://www.google.com/maps/place/Lamp"
    lists = {
        "Lamps": f"Lamps, all of them\n\nTitle,Note,URL,Tags,Comment\n,,,,\nLamp,dim,{place},,\n",
        "Leuchten": "Titel,Notiz,URL,Kommentar\nMole,,https://maps.app.goo.gl/a,\n",
        "To read": "Title,Note,URL,Comment\nTides,,https://tides.example/,\n",
        "Other": "When,What,URL,Who\n1,Tides,https://tides.example/,Nora\n",
    }
    for name, text in lists.items():
        (tmp_path / f"{name}.csv").write_text(text)
    found = [
        (data["folder"], data["name"], data["kind"]) for data in read(SOURCE, tmp_path).values()
    ]
    assert sorted(found) == [
        ("Lamps", "Lamp", "saved place"),
        ("Leuchten", "Mole", "saved place"),
        ("To read", "Tides", "saved link"),
    ]
    [skipped] = told(SOURCE, tmp_path)
    assert skipped == Skipped("what is written of a list as a whole", "Lamps.csv")


def test_other_tables_and_maps_are_no_places(tmp_path: Path) -> None:
    table = tmp_path / "links.csv"
    table.write_text("Title,Note,URL,Tags\nA,b,https://x.example/,c\n")
    assert look(SOURCE, table) is None
    shape = saved(tmp_path / "shape.geojson", {"type": "Feature", "properties": {"area": 3}})
    assert look(SOURCE, shape) is None


def test_a_file_without_tracks_or_places_is_told(tmp_path: Path) -> None:
    path = put(tmp_path, "<metadata><name>Harbour</name></metadata>")
    assert [finding.reason for finding in told(SOURCE, path)] == ["a file without tracks or places"]


def test_a_day_on_a_map_that_is_no_moment_is_kept_in_words(tmp_path: Path) -> None:
    place = (
        "<Placemark><name>Mole</name><TimeSpan><begin>2026-05</begin><end>2026-06-01T10:00:00Z</end>"
        "</TimeSpan><Point><coordinates>-9.1,38.7</coordinates></Point></Placemark>"
    )
    [mole] = read(SOURCE, put_map(tmp_path, place)).values()
    assert (mole["description"], mole["left_at"]) == ("begin: 2026-05", "2026-06-01T10:00:00Z")
