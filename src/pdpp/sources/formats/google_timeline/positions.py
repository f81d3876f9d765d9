"""Positions: how Google writes where something was, how exact that is and when."""

import re
from collections.abc import Mapping
from typing import Any

from pdpp.sources.reading.times import epoch_text, moment_text

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE]-?\d{1,2})?")
_RIGHT_ANGLE = 900_000_000

Position = tuple[float, float]


def position_of(value: object) -> Position | None:
    """Return a position from "12.3°, -4.5°", "geo:12.3,-4.5" or an object that holds one."""
    if isinstance(value, dict):
        value = value.get("latLng")
    degrees = _NUMBER.findall(value) if isinstance(value, str) else []
    return (float(degrees[0]), float(degrees[1])) if len(degrees) == 2 else None


def number_of(value: Any) -> float | None:
    """Return a number, which iPhones write as text."""
    return None if value is None or isinstance(value, bool) else float(value)


def degrees_of(
    value: object, latitude: str = "latitudeE7", longitude: str = "longitudeE7"
) -> Position | None:
    """Return a position that is written in ten millionths of a degree."""
    if not isinstance(value, dict) or latitude not in value or longitude not in value:
        return None
    return _degree(value[latitude], _RIGHT_ANGLE), _degree(value[longitude], 2 * _RIGHT_ANGLE)


def _degree(value: Any, largest: int) -> float:
    """Return a degree; Google wrote some negative ones as if 32 bits had no sign."""
    count = int(value)
    return (count - (1 << 32) if count > largest else count) / 1e7


def stamp_of(value: Mapping[str, Any], name: str) -> str | None:
    """Return a time that is RFC 3339 text today and was milliseconds before 2022."""
    if name in value:
        return moment_text(value[name])
    count = value.get(f"{name}Ms")
    return None if count is None else epoch_text(int(count) / 1000)
