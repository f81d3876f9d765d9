"""Zone names: zones as Windows shows them to people, which Outlook writes in published calendars.

Such a calendar defines the zone of its owner, and not those of the people who invited them.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from types import MappingProxyType
from zoneinfo import ZoneInfo

_SHOWN = re.compile(
    r"(?:\((?:UTC|GMT)(?:([+-])(\d\d):(\d\d))?\) )?([^\"\r\n]+)", re.ASCII | re.IGNORECASE
)
_LONGEST_NAME = 200
_AREAS = ("Europe", "America", "Asia", "Africa", "Australia", "Pacific", "Atlantic")
_REGIONS = MappingProxyType(
    {
        "eastern time (us & canada)": "America/New_York",
        "central time (us & canada)": "America/Chicago",
        "mountain time (us & canada)": "America/Denver",
        "pacific time (us & canada)": "America/Los_Angeles",
        "atlantic time (canada)": "America/Halifax",
        "newfoundland": "America/St_Johns",
        "saskatchewan": "America/Regina",
        "central america": "America/Guatemala",
        "arizona": "America/Phoenix",
        "alaska": "America/Anchorage",
        "hawaii": "Pacific/Honolulu",
        "west central africa": "Africa/Lagos",
        "coordinated universal time": "UTC",
    }
)
_MONTHS = (1, 7)
_FEWEST = 2
"""Of so many places one may be meant otherwise; a single word may be anything."""


def zone_shown_as(name: str) -> str | None:
    """Return the zone that a name means, by the places in it; None where they do not agree."""
    return _zone_shown_as(name) if len(name) <= _LONGEST_NAME else None


# To look for a zone that is none takes many files, and a calendar names the same few zones.
@lru_cache(maxsize=256)
def _zone_shown_as(name: str) -> str | None:
    match = _SHOWN.fullmatch(name.strip())
    if match is None:
        return None
    sign, hours, minutes, places = match.groups()
    told = name.startswith("(")
    ahead = timedelta(hours=int(hours or 0), minutes=int(minutes or 0)) * (-1 if sign == "-" else 1)
    found = [zone for zone in _zones(places) if not told or min(_offsets(zone)) == ahead]
    if len(found) < (1 if told else _FEWEST) or len(set(map(_offsets, found))) != 1:
        return None
    return found[0]


def _zones(places: str) -> Iterator[str]:
    region = _REGIONS.get(places.strip().casefold())
    if region:
        yield region
    for place in re.split(r"[,:]", places):
        city = place.strip().replace(" ", "_")
        if re.fullmatch(r"[A-Z][\w.-]+", city, re.ASCII):
            yield from (name for area in _AREAS if _is_zone(name := f"{area}/{city}"))


def _is_zone(name: str) -> bool:
    try:
        ZoneInfo(name)
    except (KeyError, OSError, ValueError):
        return False
    return True


def _offsets(zone: str) -> tuple[timedelta, ...]:
    """Return how far a zone is ahead of UTC in winter and in summer."""
    days = (datetime(2026, month, 1, tzinfo=UTC) for month in _MONTHS)
    return tuple(day.astimezone(ZoneInfo(zone)).utcoffset() or timedelta() for day in days)
