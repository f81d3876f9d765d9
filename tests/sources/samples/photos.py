"""Photos as cameras and telephones write them: tags in JPEG, HEIC, PNG and raw pictures."""

import struct
from collections.abc import Mapping
from typing import Any

from tests.sources.samples.sample import FormatSample

Tags = Mapping[int, tuple[int, Any]]
TEXT, SHORT, LONG, RATIO, BYTE = 2, 3, 4, 5, 1

PICTURE: Tags = {
    0x010E: (TEXT, "Storm petrels circling the harbour lamp"),
    0x010F: (TEXT, "Apple"),
    0x0110: (TEXT, "iPhone 15"),
}
CAMERA: Tags = {
    0x829A: (RATIO, [(1, 250)]),
    0x829D: (RATIO, [(18, 10)]),
    0x8827: (SHORT, [64]),
    0x9003: (TEXT, "2026:01:05 10:30:00"),
    0x9011: (TEXT, "+01:00"),
    0x920A: (RATIO, [(26, 1)]),
    0xA002: (LONG, [4032]),
    0xA003: (LONG, [3024]),
    0xA434: (TEXT, "iPhone 15 back camera"),
}
PLACE: Tags = {
    1: (TEXT, "N"),
    2: (RATIO, [(38, 1), (42, 1), (3600, 100)]),
    3: (TEXT, "W"),
    4: (RATIO, [(9, 1), (8, 1), (0, 1)]),
    5: (BYTE, [0]),
    6: (RATIO, [(125, 10)]),
    7: (RATIO, [(9, 1), (30, 1), (5, 1)]),
    29: (TEXT, "2026:01:05"),
}


def _packed(kind: int, value: Any, order: str) -> tuple[int, bytes]:
    if kind == TEXT:
        raw = value.encode() + b"\x00"
        return len(raw), raw
    if kind == RATIO:
        return len(value), b"".join(struct.pack(f"{order}II", *pair) for pair in value)
    letter = {BYTE: "B", SHORT: "H", LONG: "I"}[kind]
    return len(value), struct.pack(f"{order}{len(value)}{letter}", *value)


def _table(tags: Tags, start: int, order: str) -> bytes:
    """Return a table of tags that begins at an offset, with the long values after it."""
    entries, after = b"", b""
    end = start + 2 + 12 * len(tags) + 4
    for tag, (kind, value) in sorted(tags.items()):
        count, raw = _packed(kind, value, order)
        if len(raw) > 4:
            place = struct.pack(f"{order}I", end + len(after))
            after += raw
        else:
            place = raw.ljust(4, b"\x00")
        entries += struct.pack(f"{order}HHI", tag, kind, count) + place
    return struct.pack(f"{order}H", len(tags)) + entries + bytes(4) + after


def tiff(
    picture: Tags = PICTURE, camera: Tags = CAMERA, place: Tags = PLACE, order: str = "<"
) -> bytes:
    """Return the block of tags with its three tables."""
    head = (b"II*\x00" if order == "<" else b"MM\x00*") + struct.pack(f"{order}I", 8)
    pointed = {**picture, 0x8769: (LONG, [0]), 0x8825: (LONG, [0])}
    camera_at = 8 + len(_table(pointed, 8, order))
    place_at = camera_at + len(_table(camera, camera_at, order))
    pointed |= {0x8769: (LONG, [camera_at]), 0x8825: (LONG, [place_at])}
    return (
        head
        + _table(pointed, 8, order)
        + _table(camera, camera_at, order)
        + _table(place, place_at, order)
    )


def table(tags: Tags) -> bytes:
    """Return a block of tags with one table."""
    return b"II*\x00" + struct.pack("<I", 8) + _table(tags, 8, "<")


def jpeg(block: bytes, pixels: bytes = b"\x12" * 200) -> bytes:
    """Return a JPEG with a block of tags."""
    body = b"Exif\x00\x00" + block
    tags = b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body
    return b"\xff\xd8" + tags + b"\xff\xda" + pixels + b"\xff\xd9"


def heic(block: bytes) -> bytes:
    """Return a file of the kind that iPhones write, as far as it matters here."""
    head = b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic"
    # The list of items names the tags before they come.
    item = b"\x00\x00\x00\x15infe\x02\x00\x00\x00\x00\x33\x00\x00Exif\x00"
    return head + 2 * item + b"\x00" * 300 + b"\x00\x00\x00\x06Exif\x00\x00" + block + b"\x99" * 500


def png(block: bytes) -> bytes:
    """Return a PNG with a block of tags."""
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", len(block)) + b"eXIf" + block + b"\x01" * 50


FILES = {
    "Berlenga/IMG_0001.JPG": jpeg(tiff()),
    "Berlenga/IMG_0002.HEIC": heic(tiff(order=">")),
    "Berlenga/IMG_0002.MOV": b"\x00\x00\x00\x14ftypqt  ",
    "Berlenga/raw.dng": tiff(picture={0x010F: (TEXT, "Ricoh"), 0x0110: (TEXT, "Ricoh GR")}),
    "Berlenga/plain.png": b"\x89PNG\r\n\x1a\n" + b"\x00" * 40,
}
SAMPLES = (
    FormatSample(
        "photos",
        "a folder of a telephone",
        FILES,
        units={"picture": ["files .jpg", "files .heic", "files .png", "files .dng"]},
        uncut="what is read stands at the beginning of a picture",
        words='"Storm petrels circling"',
        sentence="Storm petrels circling the harbour lamp",
        earlier={"Berlenga/IMG_0001.JPG": FILES["Berlenga/IMG_0001.JPG"]},
    ),
)
