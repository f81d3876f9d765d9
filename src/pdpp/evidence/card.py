"""Cards: how a record is presented, by the declared roles of its fields and by nothing else."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pdpp.evidence.budget import cut
from pdpp.evidence.text import field_text
from pdpp.model.declaration import Role

TITLE_CHARS = 200

_WEB_LINK = re.compile(r"https?://[^\s\x00-\x1f\x7f-\x9f]+\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Card:
    """What a list shows of a record."""

    title: str
    event_time: str | None
    actor: str | None
    body_field: str | None
    link: str | None


def _line(text: str) -> str:
    """Return a text on one line, at most as long as a title."""
    line = " ".join(text.split())
    if len(line) <= TITLE_CHARS:
        return line
    return cut(line, TITLE_CHARS - 1)[0] + "…"


def _shown(data: Mapping[str, object], roles: Mapping[str, str], role: Role) -> list[str]:
    """Return the fields of a role that hold something, in declared order."""
    return [
        field
        for field, declared in roles.items()
        if declared == role and data.get(field) is not None and field_text(data[field]).strip()
    ]


def _first(data: Mapping[str, object], roles: Mapping[str, str], role: Role) -> str | None:
    return next((field_text(data[field]) for field in _shown(data, roles, role)), None)


def make_card(
    data: Mapping[str, object],
    roles: Mapping[str, str],
    *,
    label: str,
    stream: str,
    emitted_at: str,
) -> Card:
    """Return the card of a record; ``roles`` gives the declared role of a field by its name."""
    title = _first(data, roles, Role.TITLE)
    event_time = _first(data, roles, Role.EVENT_TIME)
    actor = _first(data, roles, Role.ACTOR)
    link = _first(data, roles, Role.LINK)
    return Card(
        title=_line(title or f"{label} / {stream} / {event_time or emitted_at}"),
        event_time=event_time,
        actor=None if actor is None else _line(actor),
        body_field=next(iter(_shown(data, roles, Role.BODY)), None),
        link=link if link and _WEB_LINK.match(link) else None,
    )
