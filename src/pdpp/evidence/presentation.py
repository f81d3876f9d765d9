"""Presentation: what a list shows of a record, by the declared roles of its fields alone."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from pdpp.evidence.budget import cut
from pdpp.evidence.text import field_text
from pdpp.model.vocabulary import Role

TITLE_CHARS = 200

NAMING = frozenset({Role.TITLE, Role.EVENT_TIME})
"""The roles of the fields that say what a record is called and when it happened."""

_WEB_LINK = re.compile(r"https?://[^\s\x00-\x1f\x7f-\x9f]+\Z", re.IGNORECASE)


class Presentation(NamedTuple):
    """What a list shows of a record."""

    title: str
    event_time: str | None
    actor: str | None
    link: str | None


def is_web_link(text: str) -> bool:
    """Tell whether a text is an address that a person can open."""
    return _WEB_LINK.match(text) is not None


def _line(text: str) -> str:
    """Return a text on one line, at most as long as a title."""
    line = " ".join(text.split())
    if len(line) <= TITLE_CHARS:
        return line
    return cut(line, TITLE_CHARS - 1)[0] + "…"


def _by_role(data: Mapping[str, object], roles: Mapping[str, str]) -> dict[str, str]:
    """Return, for each role, the text of the first declared field that holds something."""
    by_role: dict[str, str] = {}
    for field, role in roles.items():
        value = data.get(field)
        if value is not None and role not in by_role:
            text = value if type(value) is str else field_text(value)
            if text and not text.isspace():
                by_role[role] = text
    return by_role


def _name(
    by_role: Mapping[str, str], label: str, stream: str, emitted_at: str
) -> tuple[str, str | None]:
    title, event_time = by_role.get(Role.TITLE), by_role.get(Role.EVENT_TIME)
    return _line(title or f"{label} / {stream} / {event_time or emitted_at}"), event_time


def present_name(
    data: Mapping[str, object],
    roles: Mapping[str, str],
    *,
    label: str,
    stream: str,
    emitted_at: str,
) -> tuple[str, str | None]:
    """Return the title and the time that a record is shown with, and nothing else of it."""
    return _name(_by_role(data, roles), label, stream, emitted_at)


def present(
    data: Mapping[str, object],
    roles: Mapping[str, str],
    *,
    label: str,
    stream: str,
    emitted_at: str,
) -> Presentation:
    """Return what a list shows of a record; ``roles`` is the declared role of each field."""
    by_role = _by_role(data, roles)
    title, event_time = _name(by_role, label, stream, emitted_at)
    actor, link = by_role.get(Role.ACTOR), by_role.get(Role.LINK)
    return Presentation(
        title=title,
        event_time=event_time,
        actor=None if actor is None else _line(actor),
        link=link if link and is_web_link(link) else None,
    )
