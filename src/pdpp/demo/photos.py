"""Photos: albums of small pictures, each a real PNG file."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from pdpp.demo.declaration import (
    Relation,
    blob,
    flag,
    integer,
    moment,
    number,
    optional,
    source,
    stream,
    text,
)
from pdpp.demo.image import HEIGHT, WIDTH, png
from pdpp.demo.moment import KYOTO, LAST_SYNC, LISBON, at, emitted, local_text
from pdpp.demo.prose import COMMON, Voice
from pdpp.demo.source import Batch, Blob, Source, batched, blob_ref, line
from pdpp.demo.source import blob as blob_of
from pdpp.demo.topics import CHOIR, FAMILY_LIFE, HARBOUR, KYOTO_TRIP, RENOVATION, Topic

Record = dict[str, Any]

CONNECTION = "cin_photos"
CAMERA_NAMES = ("Phone", "Old Minolta, scanned", None)


@dataclass(frozen=True, slots=True)
class Album:
    """Pictures of one occasion: where, from when on, and what the captions say."""

    key: str
    title: str
    topic: Topic
    captions: tuple[str, ...]
    place: str
    spot: tuple[float, float]
    zone: ZoneInfo
    first: date
    days: int
    total: int


ALBUMS = (
    Album(
        "al-kyoto",
        "Kyoto, April 2026",
        KYOTO_TRIP,
        ("{sight} in the {weather}", "{food} near {sight}", "{blossom}, again", "Clara at {sight}"),
        "京都 Kyoto",
        (35.01, 135.77),
        KYOTO,
        date(2026, 4, 2),
        12,
        60,
    ),
    Album(
        "al-flat",
        "The flat, before and after",
        RENOVATION,
        ("The {room}, day {n}", "{part}, number {n}", "What the {trade} found: {trouble}"),
        "Graça, Lisbon",
        (38.71, -9.13),
        LISBON,
        date(2025, 12, 3),
        200,
        45,
    ),
    Album(
        "al-choir",
        "Choir evenings",
        CHOIR,
        ("The {voices} at {place}", "After {piece}", "Amélia conducts {piece}"),
        "Graça, Lisbon",
        (38.72, -9.13),
        LISBON,
        date(2025, 9, 9),
        280,
        20,
    ),
    Album(
        "al-everyday",
        "Everyday",
        FAMILY_LIFE,
        ("{cat} and the {plant}", "{dish} at home", "{event} with Clara", "{weather}, {cafe}"),
        "Lisbon",
        (38.70, -9.14),
        LISBON,
        date(2025, 5, 4),
        530,
        35,
    ),
    Album(
        "al-harbour",
        "Harbour museum",
        HARBOUR,
        ("{stop}", "Testing {stop} with visitors", "Jonas draws {stop}"),
        "Belém, Lisbon",
        (38.69, -9.21),
        LISBON,
        date(2025, 6, 12),
        400,
        20,
    ),
)

PHOTOS = stream(
    "photos",
    "Photos",
    "Your pictures with their captions, and when and where they were taken.",
    {
        "id": text("Number of the picture"),
        "album_id": text("Album that holds it", group=True),
        "caption": text("Caption", "primary-title", search=True),
        "taken_at": moment("When it was taken", "event-time"),
        "place": optional(text("Where it was taken", "secondary", search=True, group=True)),
        "latitude": optional(number("Latitude")),
        "longitude": optional(number("Longitude")),
        "camera": optional(text("Camera", group=True)),
        "favourite": flag("Marked as a favourite"),
        "width": integer("Width in pixels"),
        "height": integer("Height in pixels"),
        "image": blob("The picture itself"),
    },
    time="taken_at",
    views={
        "captions": (
            "Captions and dates, without places or pictures",
            ("id", "caption", "taken_at", "album_id"),
        ),
    },
    relations=(Relation("album", "albums", "album_id", "belongs_to", 1, 1),),
)
ALBUM_STREAM = stream(
    "albums",
    "Albums",
    "Your albums: their titles and how many pictures they hold.",
    {
        "id": text("Number of the album"),
        "title": text("Title", "primary-title", search=True),
        "photo_count": integer("How many pictures", total=True),
        "created_at": moment("When it was made", "event-time"),
    },
    time="created_at",
    mutable=True,
    relations=(Relation("photos", "photos", "album_id", "has_many", 10, 100),),
)


def sources() -> Iterator[Source]:
    """Yield the photos source."""
    yield Source(source("photos", "Photos", (PHOTOS, ALBUM_STREAM)), ((CONNECTION, "Photos"),))


def batches() -> Iterator[Batch]:
    """Yield the albums and their pictures."""
    albums = [line(_album_record(album), LAST_SYNC) for album in ALBUMS]
    yield from batched(CONNECTION, "albums", albums)
    photos = [photo for album in ALBUMS for photo in _photos(album)]
    lines = [line(photo, emitted(datetime.fromisoformat(photo["taken_at"]))) for photo in photos]
    yield from batched(CONNECTION, "photos", lines)


def blobs() -> Iterator[Blob]:
    """Yield every picture."""
    for album in ALBUMS:
        yield from _images(album)


def _album_record(album: Album) -> Record:
    return {
        "id": album.key,
        "title": album.title,
        "photo_count": album.total,
        "created_at": local_text(at(album.first, 22, 0, album.zone)),
    }


def _images(album: Album) -> list[Blob]:
    voice = Voice(f"images {album.key}")
    return [blob_of("image/png", png(voice)) for _ in range(album.total)]


def _photos(album: Album) -> Iterator[Record]:
    voice = Voice(f"photos {album.key}")
    for number_, image in enumerate(_images(album)):
        day = album.first + timedelta(days=number_ * album.days // album.total)
        taken = at(day, voice.between(7, 21), voice.between(0, 59), album.zone)
        yield _photo(voice, album, number_, image, taken)


def _photo(voice: Voice, album: Album, number_: int, image: Blob, taken: datetime) -> Record:
    caption = voice.say(voice.pick(album.captions), {**COMMON, **album.topic.words})
    record: Record = {
        "id": f"ph-{album.key[3:]}-{number_ + 1:03}",
        "album_id": album.key,
        "caption": caption[0].upper() + caption[1:],
        "taken_at": local_text(taken),
        "camera": voice.pick(CAMERA_NAMES),
        "favourite": voice.chance(0.1),
        "width": WIDTH,
        "height": HEIGHT,
        "image": blob_ref(image),
    }
    return {**record, **_whereabouts(voice, album)} if voice.chance(0.8) else record


def _whereabouts(voice: Voice, album: Album) -> Record:
    latitude, longitude = album.spot
    return {
        "place": album.place,
        "latitude": round(latitude + voice.between(-90, 90) / 10_000, 4),
        "longitude": round(longitude + voice.between(-90, 90) / 10_000, 4),
    }
