"""EXIF: the few tags of a photo that say when, where and with what it was taken.

Everything is read out of the beginning of a file. A tag that points elsewhere, is too long or is of
another kind than it must be counts as absent: a photo comes from anywhere.
"""

import math
import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from types import MappingProxyType

from pdpp.sources.reading.textfile import encoding_of

HEAD_BYTES = 1 << 18

_SIZES: Mapping[int, int] = MappingProxyType(
    {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8}
)
"""Bytes of one value, by the number of its type."""
_LETTERS: Mapping[int, str] = MappingProxyType({1: "B", 3: "H", 4: "I", 6: "b", 8: "h", 9: "i"})
_EXIF_TABLE, _GPS_TABLE = 0x8769, 0x8825
_MOST_TAGS = 500
_LONGEST_VALUE = 4_096
_TIFF = (b"II*\x00", b"MM\x00*", b"IIRO", b"IIU\x00")
_TIME = re.compile(r"(\d{4})[:/.-](\d\d?)[:/.-](\d\d?)[ T](\d\d?):(\d\d?):(\d\d?)(?!\d)", re.ASCII)
_QUARTER = 15 * 60
_FARTHEST_ZONE = 14 * 3_600
_STALE_SECONDS = 300


@dataclass(slots=True)
class PhotoTags:
    """The values of a photo's tags by their number: of the picture and camera, and of the place."""

    picture: dict[int, object] = field(default_factory=dict)
    place: dict[int, object] = field(default_factory=dict)

    def text(self, *tags: int) -> str | None:
        """Return the first of some tags that is text with something in it."""
        for tag in tags:
            value = self.picture.get(tag)
            if isinstance(value, str) and value.strip():
                return value.strip()
        return None

    def number(self, tag: int) -> float | None:
        """Return a tag that is a number."""
        value = self.picture.get(tag)
        value = value[0] if isinstance(value, list) and value else value
        return float(value) if isinstance(value, int | float) and math.isfinite(value) else None

    @property
    def taken(self) -> datetime | None:
        """Return when the photo was taken, with its zone where a tag or the satellites tell it."""
        # Taken, digitised, changed: each time has a tag of its own for its zone.
        for stamp, offset in ((0x9003, 0x9011), (0x9004, 0x9012), (0x0132, 0x9010)):
            moment = _moment(self.text(stamp))
            if moment is not None:
                zone = _zone(self.text(offset)) or self._zone_by_satellites(moment)
                return moment.replace(tzinfo=zone) if zone is not None else moment
        return None

    def _zone_by_satellites(self, moment: datetime) -> timezone | None:
        """Return the zone in which a local time is the time that the satellites told."""
        day, clock = self.place.get(29), self.place.get(7)
        if not isinstance(day, str) or not isinstance(clock, list) or len(clock) != 3:
            return None
        utc = _moment(f"{day} 00:00:00")
        if utc is None or not all(0 <= part < 61 for part in clock):
            return None
        hours, minutes, seconds = clock
        utc += timedelta(hours=hours, minutes=minutes, seconds=seconds)
        away = (moment - utc).total_seconds()
        # Zones lie quarters of an hour apart; what is further off is a camera whose satellites had
        # not answered for a while.
        zone = round(away / _QUARTER) * _QUARTER
        if abs(away - zone) > _STALE_SECONDS or abs(zone) > _FARTHEST_ZONE:
            return None
        return timezone(timedelta(seconds=zone))

    @property
    def coordinates(self) -> tuple[float, float] | None:
        """Return the latitude and longitude; 0, 0 is what cameras write that do not know."""
        latitude, longitude = self._angle(2, 1, "S"), self._angle(4, 3, "W")
        if latitude is None or longitude is None or (latitude, longitude) == (0, 0):
            return None
        in_range = abs(latitude) <= 90 and abs(longitude) <= 180
        return (latitude, longitude) if in_range else None

    def _angle(self, tag: int, side: int, negative: str) -> float | None:
        parts = self.place.get(tag)
        if not isinstance(parts, list) or len(parts) != 3 or not all(map(math.isfinite, parts)):
            return None
        degrees = float(parts[0] + parts[1] / 60 + parts[2] / 3_600)
        told = str(self.place.get(side) or "").strip().upper()
        return round(-abs(degrees) if told.startswith(negative) else degrees, 7)

    @property
    def altitude(self) -> float | None:
        """Return the height in metres."""
        value = self.place.get(6)
        if not isinstance(value, int | float) or not math.isfinite(value):
            return None
        return round(-value if self.place.get(5) == 1 else float(value), 1)


def read_exif(head: bytes) -> PhotoTags:
    """Return the tags in the beginning of a file; none where there are none."""
    at = _tiff_start(head)
    tags = PhotoTags()
    if at is None:
        return _split_tags(head)
    block = head[at:]
    order = "<" if block[:2] == b"II" else ">"
    first = _unpack(order, "I", block, 4)
    if first is not None:
        tags.picture = _table(block, order, first)
        for tag, target in ((_EXIF_TABLE, tags.picture), (_GPS_TABLE, tags.place)):
            offset = tags.picture.get(tag)
            if isinstance(offset, int):
                target.update(_table(block, order, offset))
    return tags


def _split_tags(head: bytes) -> PhotoTags:
    """Return the tags of Canon's newer raw pictures, which have a block for each table."""
    tags = PhotoTags()
    if head[4:12] != b"ftypcrx ":
        return tags
    for mark, target in ((b"CMT1", tags.picture), (b"CMT2", tags.picture), (b"CMT4", tags.place)):
        at = head.find(mark) + len(mark)
        block = head[at:] if at >= len(mark) and head[at : at + 4] in _TIFF else b""
        order = "<" if block[:2] == b"II" else ">"
        first = _unpack(order, "I", block, 4)
        target.update(_table(block, order, first) if first is not None else {})
    return tags


def _tiff_start(head: bytes) -> int | None:
    """Return where the tags begin: at the start of a raw picture, or after a mark inside others."""
    if head[:4] in _TIFF:
        return 0
    # JPEG and HEIC, PNG, WebP: the last one has the length of its chunk between mark and tags. In
    # HEIC the list of items has the mark too, and some write the tags behind four zeros alone.
    for mark, skip in ((b"Exif\x00\x00", 6), (b"eXIf", 4), (b"EXIF", 8), (bytes(4), 4)):
        if mark == bytes(4) and head[4:8] != b"ftyp":
            continue
        for at in _places(head, mark, skip):
            return at
    return None


def _places(head: bytes, mark: bytes, skip: int) -> Iterator[int]:
    """Yield where tags begin behind a mark."""
    starts = (start for tiff in _TIFF[:2] for start in _found(head, tiff))
    return (at for at in sorted(starts) if head.startswith(mark, at - skip) and at >= skip)


def _found(head: bytes, piece: bytes) -> Iterator[int]:
    at = head.find(piece)
    while at >= 0:
        yield at
        at = head.find(piece, at + 1)


def _unpack(order: str, letter: str, block: bytes, at: int) -> int | None:
    try:
        value: int = struct.unpack_from(order + letter, block, at)[0]
    except struct.error:
        return None
    return value


def _table(block: bytes, order: str, at: int) -> dict[int, object]:
    """Return the values of one table of tags."""
    count = _unpack(order, "H", block, at) or 0
    values: dict[int, object] = {}
    for number in range(min(count, _MOST_TAGS)):
        place = at + 2 + 12 * number
        try:
            tag, kind, length = struct.unpack_from(f"{order}HHI", block, place)
        except struct.error:
            break
        value = _value(block, order, place + 8, kind, length)
        if value is not None:
            values.setdefault(tag, value)
    return values


def _value(block: bytes, order: str, place: int, kind: int, length: int) -> object:
    size = _SIZES.get(kind, 0) * length
    if not 0 < size <= _LONGEST_VALUE:
        return None
    # Up to four bytes stand in the tag itself, more of them where it points to.
    start = place if size <= 4 else _unpack(order, "I", block, place)
    raw = block[start : start + size] if start is not None else b""
    if len(raw) < size:
        return None
    if kind in (2, 7):
        text = raw.split(b"\x00", 1)[0] if kind == 2 else raw
        try:
            return text.decode()
        except UnicodeDecodeError:
            # Programs write captions in the letters of their country, though that is not allowed.
            return text.decode(encoding_of(text), "replace")
    if kind in (5, 10):
        letters = f"{order}{2 * length}{'I' if kind == 5 else 'i'}"
        pairs = struct.unpack(letters, raw)
        values = [a / b if b else math.nan for a, b in zip(pairs[::2], pairs[1::2], strict=True)]
    elif kind in _LETTERS:
        values = list(struct.unpack(f"{order}{length}{_LETTERS[kind]}", raw))
    else:
        return None
    return values[0] if length == 1 else values


def _moment(text: str | None) -> datetime | None:
    """Return a time such as ``2026:01:31 08:00:00``, also as telephones and programs write it."""
    match = _TIME.match(text or "")
    if match is None:
        return None
    year, month, day, hour, minute, second = map(int, match.groups())
    try:
        # Some telephones call the hour after midnight the 24th of the day that begins.
        return datetime(year, month, day, hour % 24, minute, second)  # noqa: DTZ001 - local
    except ValueError:
        return None


def _zone(text: str | None) -> timezone | None:
    try:
        zone = datetime.strptime((text or "").strip(), "%z").tzinfo
    except ValueError:
        return None
    return zone if isinstance(zone, timezone) else None
