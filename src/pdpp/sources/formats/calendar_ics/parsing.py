"""Parsing: an entry of a calendar without those of its properties that are malformed."""

import quopri
import re
import warnings
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from pdpp.sources.formats.calendar_ics.zone_names import zone_shown_as
from pdpp.sources.reading.components import TextComponent, components
from pdpp.sources.reading.guard import SURPRISES
from pdpp.sources.reading.textfile import open_narrow
from pdpp.sources.reading.tree import FileEntry

if TYPE_CHECKING:
    from icalendar import Component

_FOLD = re.compile(r"\r\n[ \t]")
_NAME = re.compile(r"[A-Za-z0-9-]+")
_QUOTED = re.compile(
    r"^([A-Z0-9-]+)((?:;[^:\r\n]*)?;(?:ENCODING=)?QUOTED-PRINTABLE[^:\r\n]*):((?:.*=\r\n)*.*)$",
    re.IGNORECASE | re.MULTILINE,
)
_BARE_ZONE = re.compile(r";TZID=(\w+://[^\";\r\n]+?)(?=;|:\d{8})", re.IGNORECASE)
"""A zone that Outlook calls by an address, whose colon seems to end the name of the property."""
_SHOWN_ZONE = re.compile(
    r";TZID=(?:\"([^\"\r\n]{1,200})\"|(\((?:UTC|GMT)[^\";\r\n]{1,200}?))(?=;|:\d{8})",
    re.IGNORECASE,
)
"""A zone as it is shown to people; one that has a colon should be in quotes, and is not always."""
_BETWEEN_WORDS = re.compile(r"[ ,]")
_ZONE_NAME = re.compile(r"^(TZID[^:\r\n]*:)[ \t]+", re.IGNORECASE | re.MULTILINE)
"""A zone whose name begins with a space, which is none where an entry names the zone."""
_CHARSET = re.compile(r"CHARSET=\"?([A-Za-z0-9._-]+)", re.IGNORECASE)


def learn_zones(entry: FileEntry) -> None:
    """Take the zones that a calendar defines, and forget those of the calendar before.

    Many calendars define zones of one name, such as "Customized Time Zone", that are not the same,
    and some define a zone only behind the events in it.
    """
    from icalendar.timezone import tzp

    tzp.use_default()
    with open_narrow(entry) as stream:
        for block in components(stream, ("VTIMEZONE",)):
            if isinstance(block, TextComponent):
                with suppress(*SURPRISES):  # Told when its turn comes.
                    learn_zone(block)


def learn_zone(block: TextComponent) -> None:
    """Take a zone that a calendar defines."""
    from icalendar import Calendar

    zone = _ZONE_NAME.sub(r"\1", block.text)
    Calendar.from_ical(f"BEGIN:VCALENDAR\r\n{zone}END:VCALENDAR\r\n")


def parse(text: str) -> "tuple[Component, list[str]]":
    """Return an entry, and the names of the properties that had to be left out.

    What is wrong with one property costs that property, be it of the entry or of an alarm in it,
    and not the entry.
    """
    from icalendar import Calendar

    left_out: list[str] = []
    text = _BARE_ZONE.sub(r';TZID="\1"', _QUOTED.sub(_unquoted, text))
    if 'TZID="' in text or "TZID=(" in text:
        text = _SHOWN_ZONE.sub(_with_known_zone, _FOLD.sub("", text))
    with warnings.catch_warnings():
        # Zones of Evolution and Thunderbird are found by the end of their names.
        warnings.simplefilter("ignore")
        try:
            component = Calendar.from_ical(text)
        except ValueError:
            component = Calendar.from_ical("".join(_readable_lines(text, left_out)))
    for name, _ in component.errors:
        left_out.append(name or "a line that is none")
        component.pop(name or "", None)
    return component, sorted(set(left_out))


def _with_known_zone(zone: re.Match[str]) -> str:
    """Return a zone by its own name, unless the calendar defines the one that is shown."""
    from icalendar.timezone import tzp

    if zone[1] and not _BETWEEN_WORDS.search(zone[1]):
        return zone[0]
    name = (zone[1] or zone[2]).strip()
    known = zone_shown_as(name)
    if known is not None and tzp.timezone(name) is not None:
        known = None
    return f';TZID="{known or name}"'


def _unquoted(line: re.Match[str]) -> str:
    """Return a line of version 1, whose letters are written as codes, as later versions have it."""
    charset = _CHARSET.search(line[2])
    content = quopri.decodestring(line[3].replace("=\r\n", "").rstrip("\r").encode())
    try:
        text = content.decode(charset[1] if charset else "utf-8", "replace")
    except LookupError:
        text = content.decode("utf-8", "replace")
    plain = re.sub(r"([\\,;])", r"\\\1", text)
    return f"{line[1]}:" + re.sub(r"\r?\n", r"\\n", plain) + "\r"


def _readable_lines(text: str, left_out: list[str]) -> Iterator[str]:
    """Yield the lines that can be read each by itself; tell of the others."""
    inside: list[str] = []
    for line in _FOLD.sub("", text).split("\r\n"):
        mark, _, kind = line.strip().upper().partition(":")
        if mark == "BEGIN":
            inside.append(kind)
        elif mark == "END":
            inside = inside[:-1]
        elif line.strip() and inside and not _is_readable(line, inside[-1]):
            name = _NAME.match(line)
            left_out.append(name.group().upper() if name else "a line that is none")
            continue
        yield f"{line}\r\n" if line.strip() else ""


def _is_readable(line: str, kind: str) -> bool:
    from icalendar import Calendar

    try:
        Calendar.from_ical(f"BEGIN:{kind}\r\n{line}\r\nEND:{kind}\r\n")
    except ValueError:
        return False
    return True
