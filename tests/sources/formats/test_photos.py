"""What photos say of themselves, in every container, and whatever a file claims."""

import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.sources.kit import Home, findings, look, read, told
from tests.sources.samples import photos
from tests.sources.samples.sample import json_bytes

from pdpp.sources.formats.photos.exif import read_exif
from pdpp.sources.formats.photos.source import Photos
from pdpp.sources.item import Item
from pdpp.sources.reading.tree import open_tree
from pdpp.sources.source import OwnerChoices, Recognition

SOURCE = Photos()


def put(folder: Path, **files: bytes) -> Path:
    for name, content in files.items():
        path = folder / "album" / name.replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def only(folder: Path, content: bytes, **settings: str) -> dict[str, Any]:
    [data] = read(SOURCE, put(folder, a_dot_jpg=content), **settings).values()
    return data


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("container", [photos.jpeg, photos.heic, photos.png, bytes])
def test_the_tags_are_read_out_of_every_container(container: Any, order: str) -> None:
    tags = read_exif(container(photos.tiff(order=order)))
    assert tags.taken is not None
    assert tags.taken.isoformat() == "2026-01-05T10:30:00+01:00"
    assert tags.coordinates == (38.71, -9.1333333)


def test_a_photo_says_when_where_and_with_what(tmp_path: Path) -> None:
    data = only(tmp_path, photos.jpeg(photos.tiff()))
    expected = {
        "name": "a.jpg",
        "album": "album",
        "description": "Storm petrels circling the harbour lamp",
        "taken_at": "2026-01-05T10:30:00+01:00",
        "latitude": 38.71,
        "longitude": -9.1333333,
        "altitude_metres": 12.5,
        "camera": "Apple iPhone 15",
        "lens": "iPhone 15 back camera",
        "iso": 64,
        "f_number": 1.8,
        "exposure_seconds": 0.004,
        "focal_length_mm": 26.0,
        "width": 4032,
        "height": 3024,
        "media_type": "image/jpeg",
    }
    assert {name: data[name] for name in expected} == expected
    assert "file" not in data


def test_the_satellites_tell_the_zone_where_no_tag_does(tmp_path: Path) -> None:
    camera = {tag: value for tag, value in photos.CAMERA.items() if tag != 0x9011}
    data = only(tmp_path, photos.jpeg(photos.tiff(camera=camera)))
    assert data["taken_at"] == "2026-01-05T10:30:00+01:00"
    stale = {**photos.PLACE, 7: (photos.RATIO, [(9, 1), (52, 1), (0, 1)])}
    data = only(tmp_path, photos.jpeg(photos.tiff(camera=camera, place=stale)))
    assert (data["taken_at"], data["floating"]) == ("2026-01-05T10:30:00", True)
    data = only(tmp_path, photos.jpeg(photos.tiff(camera=camera, place={})), time_zone="Asia/Tokyo")
    assert data["taken_at"] == "2026-01-05T10:30:00+09:00"


def test_a_renamed_photo_is_the_same_and_a_copy_comes_once(tmp_path: Path) -> None:
    content = photos.jpeg(photos.tiff())
    first = set(read(SOURCE, put(tmp_path / "one", a_dot_jpg=content)))
    assert set(read(SOURCE, put(tmp_path / "two", b_dot_jpg=content))) == first
    both = put(tmp_path / "both", a_dot_jpg=content, b_dot_jpg=content)
    assert len(read(SOURCE, both)) == 1
    assert [finding.reason for finding in told(SOURCE, both)] == ["a picture that stands twice"]


def test_a_folder_with_other_things_is_taken_only_when_the_owner_says_so(tmp_path: Path) -> None:
    path = put(tmp_path, a_dot_jpg=photos.jpeg(photos.tiff()), notes_dot_md=b"# Note")
    assert look(SOURCE, path) is None
    seen = SOURCE.recognise(open_tree(path), OwnerChoices(chosen=True))
    assert isinstance(seen, Recognition)
    assert Home(tmp_path / "home").bring(path, "--as", "photos")["counts"]["new"] == 1


def test_pictures_without_a_camera_are_not_taken_by_themselves(tmp_path: Path) -> None:
    assert look(SOURCE, put(tmp_path, a_dot_png=b"\x89PNG\r\n\x1a\n")) is None


def test_a_picture_that_no_camera_made_may_lie_among_photos(tmp_path: Path) -> None:
    folder = put(tmp_path, a_dot_jpg=photos.jpeg(photos.tiff()), wave_dot_gif=b"GIF89a")
    assert isinstance(look(SOURCE, folder), Recognition)
    assert {data["name"] for data in read(SOURCE, folder).values()} == {"a.jpg", "wave.gif"}


def test_the_pictures_are_kept_when_the_owner_says_so(tmp_path: Path) -> None:
    content = photos.jpeg(photos.tiff())
    path = put(tmp_path, a_dot_jpg=content)
    [item] = [found for found in findings(SOURCE, path, files="keep") if isinstance(found, Item)]
    with item.attachments[0].open() as file:
        assert file.read() == content


def test_tables_that_point_at_themselves_or_nowhere_end() -> None:
    block = bytearray(photos.tiff())
    struct.pack_into("<I", block, 4, 0)
    read_exif(bytes(block))
    endless = b"II*\x00" + struct.pack("<IH", 8, 65_535) + b"\x69\x87\x04\x00\x01\x00\x00\x00" * 99
    assert read_exif(endless).taken is None


@given(st.integers(0, 400), st.binary(min_size=1, max_size=12))
def test_any_bytes_in_the_tags_are_survived(at: int, noise: bytes) -> None:
    block = photos.tiff()
    tags = read_exif(photos.jpeg(block[:at] + noise + block[at + len(noise) :]))
    assert tags.coordinates is None or abs(tags.coordinates[0]) <= 90
    assert tags.taken is None or tags.taken.year > 0
    assert tags.altitude is None or abs(tags.altitude) < 1e10


def test_tags_behind_the_picture_are_found(tmp_path: Path) -> None:
    photo = b"\x00\x00\x00\x18ftypheic" + bytes(400_000) + b"\x00\x00\x00\x06Exif\x00\x00"
    path = put(tmp_path, a_dot_heic=photo + photos.tiff() + bytes(3_000))
    [data] = read(SOURCE, path).values()
    assert (data["taken_at"], data["latitude"]) == ("2026-01-05T10:30:00+01:00", 38.71)


def test_tags_of_a_heic_that_have_no_mark_are_found() -> None:
    head = b"\x00\x00\x00\x18ftypavif" + b"\x07" * 99 + bytes(4)
    assert read_exif(head + photos.tiff()).coordinates == (38.71, -9.1333333)


def test_a_raw_picture_of_canon_has_a_block_for_each_table(tmp_path: Path) -> None:
    blocks = {
        b"CMT1": photos.table(photos.PICTURE),
        b"CMT2": photos.table(photos.CAMERA),
        b"CMT4": photos.table(photos.PLACE),
    }
    boxes = b"".join(bytes(4) + mark + block for mark, block in blocks.items())
    path = put(tmp_path, a_dot_CR3=b"\x00\x00\x00\x18ftypcrx " + boxes)
    [data] = read(SOURCE, path).values()
    assert (data["taken_at"], data["camera"]) == ("2026-01-05T10:30:00+01:00", "Apple iPhone 15")
    assert data["latitude"] == 38.71


def beside(seconds: int, **more: Any) -> bytes:
    """Return what Google Photos writes beside a picture."""
    about = {"title": "a.jpg", "description": "", "photoTakenTime": {"timestamp": str(seconds)}}
    return json_bytes({**about, "geoData": {"latitude": 0.0, "longitude": 0.0}, **more})


def google(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        path = folder / "Takeout" / "Google Photos" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder / "Takeout"


SCANNED = 1_600_000_000
PLAIN = b"\xff\xd8\xff\xe0 no tags "


@pytest.mark.parametrize(
    ("picture", "sidecar"),
    [
        ("a.jpg", "a.jpg.json"),
        ("a.jpg", "a.jpg.supplemental-metadata.json"),
        ("a.jpg", "a.jpg.supplem.json"),
        ("a.jpg", "a.jpg..json"),
        ("a(2).jpg", "a.jpg(2).json"),
        ("a(2).jpg", "a.jpg.supplemental-metadata(2).json"),
        ("a(2).jpg", "a(2).jpg.supplemental-metadata.json"),
        ("a-bearbeitet.jpg", "a.jpg.supplemental-metadata.json"),
        (f"{'long' * 11}-1.jpg", f"{'long' * 11}-1.json"),
    ],
)
def test_what_takeout_writes_beside_a_picture_comes_in_with_it(
    tmp_path: Path, picture: str, sidecar: str
) -> None:
    about = beside(
        SCANNED,
        description="The ferry at noon",
        people=[{"name": "Rosa"}, {"name": "Ivo"}],
        geoData={"latitude": 38.7, "longitude": -9.1},
    )
    path = google(tmp_path, {f"Harbour/{picture}": PLAIN, f"Harbour/{sidecar}": about})
    home = Home(tmp_path / "data")
    report = home.bring(path)
    [data] = home.records().values()
    assert data["taken_at"] == "2020-09-13T12:26:40Z"
    assert (data["description"], data["people"]) == ("The ferry at noon", "Rosa, Ivo")
    assert (data["latitude"], data["longitude"], data["album"]) == (38.7, -9.1, "Harbour")
    assert not report["files"]["unknown"]


def test_the_cameras_time_stays_unless_the_owner_set_another_day(tmp_path: Path) -> None:
    photo = photos.jpeg(photos.tiff())
    same, moved = google(tmp_path / "a", {"x/a.jpg": photo}), google(tmp_path / "b", {})
    google(tmp_path / "a", {"x/a.jpg.json": beside(1_767_605_400 + 3_600)})
    google(tmp_path / "b", {"x/a.jpg": photo, "x/a.jpg.json": beside(-86_400)})
    homes = [Home(tmp_path / name) for name in ("same", "moved")]
    for home, path in zip(homes, (same, moved), strict=True):
        home.bring(path)
    times = [data["taken_at"] for home in homes for data in home.records().values()]
    assert times == ["2026-01-05T10:30:00+01:00", "1969-12-31T00:00:00Z"]


def test_of_a_year_and_an_album_the_album_counts(tmp_path: Path) -> None:
    photo = photos.jpeg(photos.tiff())
    files = {"Photos from 2026/a.jpg": photo, "Zeppelins/a.jpg": photo}
    notes = {"Zeppelins/metadata.json": json_bytes({"title": "Zeppelins", "access": "protected"})}
    home = Home(tmp_path / "data")
    home.bring(google(tmp_path, files | notes))
    [data] = home.records().values()
    assert data["album"] == "Zeppelins"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2019:01:01 24:04:20", "2019-01-01T00:04:20"),
        ("2019-01-01 10:04:20", "2019-01-01T10:04:20"),
        ("2019:1:1 8:4:5.25", "2019-01-01T08:04:05"),
        ("0000:00:00 00:00:00", None),
        ("    :  :     :  :  ", None),
    ],
)
def test_times_are_read_as_telephones_and_programs_write_them(
    written: str, meant: str | None
) -> None:
    tags = read_exif(photos.table({0x0132: (photos.TEXT, written)}))
    assert (tags.taken.isoformat() if tags.taken else None) == meant


@pytest.mark.parametrize("side", ["W", "w", "West", "W "])
def test_a_place_lies_on_its_side_however_that_is_written(side: str) -> None:
    place = {**photos.PLACE, 3: (photos.TEXT, side)}
    assert read_exif(photos.tiff(place=place)).coordinates == (38.71, -9.1333333)


def test_a_caption_is_read_in_the_letters_it_was_written_in(tmp_path: Path) -> None:
    caption = photos.tiff(picture={0x010E: (photos.TEXT, "Fischer ueber Bord")})
    data = only(tmp_path, photos.jpeg(caption.replace(b"ueber", "üübe".encode("cp1252") + b"r")))
    assert data["description"] == "Fischer üüber Bord"
