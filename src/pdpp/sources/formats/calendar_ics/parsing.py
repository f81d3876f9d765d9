"""Parsing: an entry of a calendar without those of its properties that are malformed."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from icalendar import Component

_FOLD = re.compile(r"\r\n[ \t]")
_NAME = re.compile(r"[A-Za-z0-9-]+")


def parse(text: str) -> "tuple[Component, list[str]]":
    """Return an entry, and the names of the properties that had to be left out.

    What is wrong with one property costs that property, be it of the entry or of an alarm in it,
    and not the entry.
    """
    from icalendar import Calendar

    left_out: list[str] = []
    try:
        component = Calendar.from_ical(text)
    except ValueError:
        component = Calendar.from_ical("".join(_readable_lines(text, left_out)))
    for name, _ in component.errors:
        left_out.append(name or "a line that is none")
        component.pop(name or "", None)
    return component, sorted(set(left_out))


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
