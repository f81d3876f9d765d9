"""Sidecars: what Google Photos knows of a picture, in a JSON file that Takeout writes beside it.

It is called as the picture with an addition, and cut: ``a.jpg.json`` until 2024, later
``a.jpg.supplemental-metadata.json``. Of ``a(1).jpg`` it is ``a.jpg(1).json``.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pdpp.model.errors import DamagedFile
from pdpp.sources.reading.jsontext import NotJson, read_json
from pdpp.sources.reading.tree import FileEntry

_ADDITION = ".supplemental-metadata"
_CUTS = (46, 47, 45)
"""At how many characters Takeout cuts the name of a sidecar, without its ending."""
_LARGEST = 1 << 20
_COUNTER = re.compile(r"(\(\d{1,4}\))(?=\.[^.]*\Z|\Z)")
_EDITED = re.compile(
    r"-(?:edited|effects|bearbeitet|modifié|editado|editada|modificato|bewerkt|edytowane|redigerad"
    r"|redigeret|redigert|muokattu|upraveno|editat|編集済み)(?=\.[^.]*\Z)",
    re.IGNORECASE,
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Sidecar:
    """What stands beside a picture."""

    taken: datetime | None = None
    description: str = ""
    people: str = ""
    coordinates: tuple[float, float] | None = None


NO_SIDECAR = Sidecar()


def sidecar_patterns(endings: Iterable[str]) -> Iterator[str]:
    """Yield patterns of the names that sidecars of files with some endings have."""
    for ending in endings:
        for written in (ending, ending.upper()):
            yield from (f"*{written}.json", f"*{written}(*).json", f"*{written}.s*.json")
    yield from ("*..json", "?" * _CUTS[0] + ".json")


class Sidecars:
    """The sidecars among some files, found by the pictures that they belong to."""

    def __init__(self, entries: Iterable[FileEntry]) -> None:
        self._by_place: dict[tuple[str, str], FileEntry] = {}
        for entry in entries:
            if entry.suffix == ".json":
                folder = entry.name.rpartition("/")[0]
                stem = entry.base.removesuffix(".json")
                self._by_place[folder, stem] = entry
                # The picture may have come in another part of the Takeout.
                self._by_place.setdefault((f"*/{folder.rpartition('/')[2]}", stem), entry)

    def of(self, picture: FileEntry) -> Sidecar:
        """Return what stands beside a picture; an edited copy has that of the original."""
        if not self._by_place:
            return NO_SIDECAR
        folder = picture.name.rpartition("/")[0]
        for base in dict.fromkeys((picture.base, _EDITED.sub("", picture.base))):
            for place in (folder, f"*/{folder.rpartition('/')[2]}"):
                for stem in _stems(base):
                    if (entry := self._by_place.get((place, stem))) is not None:
                        return _read(entry)
        return NO_SIDECAR


def _stems(base: str) -> Iterator[str]:
    """Yield the names that the sidecar of a picture may have."""
    counter = _COUNTER.search(base)
    yield from _cut(base)
    if counter is not None:
        yield from (stem + counter[1] for stem in _cut(_COUNTER.sub("", base, count=1)))


def _cut(base: str) -> Iterator[str]:
    whole = base + _ADDITION
    yield from (whole[:length] for length in range(len(whole), len(base) - 1, -1))
    yield from (base[:length] for length in _CUTS if length < len(base))


def _read(entry: FileEntry) -> Sidecar:
    try:
        value = read_json(entry.head(_LARGEST))
    except (NotJson, DamagedFile):
        return NO_SIDECAR
    if not isinstance(value, dict) or not isinstance(value.get("photoTakenTime"), dict):
        return NO_SIDECAR
    people = value.get("people")
    names = [person.get("name") for person in people or () if isinstance(person, dict)]
    return Sidecar(
        _moment(value["photoTakenTime"].get("timestamp")),
        str(value.get("description") or "").strip(),
        ", ".join(name for name in names if isinstance(name, str) and name),
        _place(value.get("geoData")),
    )


def _moment(seconds: Any) -> datetime | None:
    """Return a count of seconds since 1970; scans of old photos have counts below 0."""
    try:
        return _EPOCH + timedelta(seconds=int(seconds))
    except (TypeError, ValueError, OverflowError):
        return None


def _place(value: Any) -> tuple[float, float] | None:
    """Return a place; 0, 0 is what stands there where none is known."""
    given: Mapping[str, Any] = value if isinstance(value, dict) else {}
    latitude, longitude = given.get("latitude"), given.get("longitude")
    if not isinstance(latitude, int | float) or not isinstance(longitude, int | float):
        return None
    if not math.isfinite(latitude) or not math.isfinite(longitude):
        return None
    if (latitude, longitude) == (0, 0) or abs(latitude) > 90 or abs(longitude) > 180:
        return None
    return round(float(latitude), 7), round(float(longitude), 7)
