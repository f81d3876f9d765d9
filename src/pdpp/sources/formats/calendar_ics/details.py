"""Details of entries: where an entry lies on the map, what it needs, and how urgent it is."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from icalendar import Component

_MOST_URGENT, _LEAST_URGENT = 1, 9
_WHOLE = 100


def several(component: "Component", name: str) -> list[object]:
    """Return the values of a property, which may stand in an entry more than once."""
    value = component.get(name)
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def details_of(component: "Component") -> dict[str, object]:
    """Return what an event and a task may both say."""
    latitude, longitude = _place(component)
    needed = (part.strip() for text in several(component, "RESOURCES") for part in _parts(text))
    return {
        "latitude": latitude,
        "longitude": longitude,
        "resources": [part for part in needed if part],
        "priority": _count(component, "PRIORITY", _MOST_URGENT, _LEAST_URGENT),
    }


def percent_done(component: "Component") -> int | None:
    """Return how much of a task is done."""
    return _count(component, "PERCENT-COMPLETE", 0, _WHOLE)


def _place(component: "Component") -> tuple[float | None, float | None]:
    """Return a latitude and a longitude; zero and zero is what programs write that know none."""
    for geo in several(component, "GEO"):
        latitude, longitude = getattr(geo, "latitude", None), getattr(geo, "longitude", None)
        if isinstance(latitude, float) and isinstance(longitude, float) and (latitude or longitude):
            within = abs(latitude) <= 90 and abs(longitude) <= 180
            return (latitude, longitude) if within else (None, None)
    return None, None


def _parts(text: object) -> list[str]:
    return str(text).split(",")


def _count(component: "Component", name: str, least: int, most: int) -> int | None:
    for value in several(component, name):
        if isinstance(value, int) and least <= value <= most:
            return int(value)
    return None
