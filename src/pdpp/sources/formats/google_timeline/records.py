"""Records: what the stays, ways and positions of every layout become."""

from collections.abc import Mapping

from pdpp.model import instant
from pdpp.sources.formats.google_timeline.movement import way_of_moving
from pdpp.sources.formats.google_timeline.positions import Position, number_of
from pdpp.sources.formats.google_timeline.stretches import Span, StretchKeys, stay_of, way_of
from pdpp.sources.item import Item, Skipped, present
from pdpp.sources.keys import RecordKey, digest_key
from pdpp.sources.reading.code_words import titled_words

PATH = "path"
"""How a point of a path says that it was measured."""
NO_TIME = "a stretch without a time"
NO_PLACE = "a position without a time or a place"
_SOMEWHERE = "a place"
_AGAIN = "a stay that is told again, with a later end"


def visit(
    keys: StretchKeys,
    span: Span,
    level: object,
    position: Position | None,
    about: Mapping[str, object],
    where: str,
) -> Item | Skipped:
    """Return a stay at a place; ``about`` has what only one of the layouts tells."""
    stay = stay_of(span, level, about.get("place_id"), position)
    if keys.is_told_longer(stay):
        return Skipped(_AGAIN, where)
    data = {
        "id": (key := keys.key(stay)),
        **about,
        "place": str(about.get("place") or titled_words(str(about.get("kind") or _SOMEWHERE))),
        "latitude": position[0] if position else None,
        "longitude": position[1] if position else None,
        "minutes": span.minutes,
        "started_at": span.start,
        "ended_at": span.end,
    }
    return Item("visits", key, present(data))


def trip(
    keys: StretchKeys,
    span: Span,
    kind: object,
    start: Position | None,
    end: Position | None,
    about: Mapping[str, object],
) -> Item:
    """Return a way between places."""
    key = keys.key(way_of(span, kind))
    data = {
        "id": key,
        "kind": way_of_moving(kind),
        **about,
        "minutes": span.minutes,
        "latitude": start[0] if start else None,
        "longitude": start[1] if start else None,
        "end_latitude": end[0] if end else None,
        "end_longitude": end[1] if end else None,
        "started_at": span.start,
        "ended_at": span.end,
    }
    return Item("trips", key, present(data))


def point(
    position: Position, moment: str, *, source: str, device: str = "", **more: object
) -> Item:
    """Return a single position."""
    # A path repeats some positions and tells less of them: neither may replace the other.
    kind = "point of a path" if source == PATH else "point"
    key: RecordKey = digest_key(
        kind, str(instant.parse(moment)), f"{position[0]:.7f},{position[1]:.7f}"
    )
    data = {
        "id": key,
        "latitude": position[0],
        "longitude": position[1],
        "source": source or None,
        "device": device or None,
        "recorded_at": moment,
        **{name: number_of(value) for name, value in more.items()},
    }
    return Item("points", key, present(data))
