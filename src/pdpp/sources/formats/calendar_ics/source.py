"""Calendars as ICS files: events and tasks, with their zones, repeats and exceptions."""

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from pdpp.sources.formats.calendar_ics.details import details_of, percent_done, several
from pdpp.sources.formats.calendar_ics.google_tasks import read_tasks, task_files, task_owner
from pdpp.sources.formats.calendar_ics.parsing import learn_zone, learn_zones, parse
from pdpp.sources.item import Finding, Item, Skipped, present
from pdpp.sources.keys import RecordKey, SeenKeys, digest_key, safe_key
from pdpp.sources.reading.components import LooseLine, TextComponent, components
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.heads import HEAD_BYTES
from pdpp.sources.reading.html import html_text
from pdpp.sources.reading.textfile import open_narrow, plain_head
from pdpp.sources.reading.times import local_text, zone_named
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import (
    Confidence,
    ExportPart,
    OwnerChoices,
    Recognition,
    Source,
    part_of_each,
    plain_name,
    roots_of_namesakes,
    without_copy,
)

if TYPE_CHECKING:
    from icalendar import Component

_KINDS = {
    "VEVENT": "events",
    "VTODO": "tasks",
    "VJOURNAL": "journal",
    "VFREEBUSY": "",
    "VTIMEZONE": "",
}
_START = re.compile(rb"\s*BEGIN:VCALENDAR\s*$", re.MULTILINE | re.IGNORECASE)
_LINE = r"^%s[;:](?:[^:\r\n]*:)?([^\r\n]{1,200})"
_ID = "X-WR-RELCALID"
"""The id that a program gives a calendar; it stays when the calendar gets another name."""
_LINKS = ("URL", "CONFERENCE", "X-GOOGLE-CONFERENCE", "X-MICROSOFT-SKYPETEAMSMEETINGURL")
"""Where an entry leads, and where a meeting is held that has no other address."""
_ENDED = "the file ends in the middle"
_OTHER = "neither an event, a task nor a journal entry"
_Holders = dict[str, str]
"""The calendars that gave entries their keys, by key."""


class CalendarIcs(Source):
    """Calendars as every calendar program hands them out."""

    connector_key = "calendar_ics"
    parts_depend = True
    lies_among_others = True
    files_stand_alone = True
    files_may_differ = True
    label = "Calendar (ICS)"
    settings = MappingProxyType(
        {"time_zone": "Zone of times that name none, such as Europe/Lisbon."}
    )

    def roots(self, tree: Tree) -> Iterable[str]:
        """Return every calendar by itself where each has an id: that is its account.

        Those of one name in several folders may be of several people. Google's lists of tasks say
        themselves whose they are.
        """
        calendars = [entry for entry in _candidates(tree) if _START.match(plain_head(entry))]
        named = len(calendars) > 1 and all(_property(entry, _ID) for entry in calendars)
        names = [entry.name for entry in calendars]
        roots = names if named else roots_of_namesakes(names)
        tasks = [entry.name for entry in task_files(tree)]
        apart = bool(tasks) and len(tasks) + len(calendars) > 1
        return [*tasks, *roots] if apart else roots

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | None:
        """Look for calendars by how they begin."""
        calendars = [entry for entry in _candidates(tree) if _START.match(plain_head(entry))]
        if not calendars:
            return _of_tasks(task_files(tree))
        zone_named(choices.given.get("time_zone"))
        folder = "" if tree.kind == "file" else tree.called
        names = [_calendar_name(entry, folder) for entry in calendars]
        maker = _property(calendars[0], "PRODID") or "an unknown program"
        many = f"{len(calendars)} calendars, " if len(calendars) > 1 else ""
        return Recognition(
            Confidence.CERTAIN,
            f"{many}made by {maker}",
            account=names[0] if len(names) == 1 else tree.called,
            identity=(identity := _identity(calendars)),
            owner_known=bool(identity),
            detail={
                "entries": [entry.name for entry in calendars],
                "folder": folder,
                "time_zone": choices.given.get("time_zone"),
            },
        )

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return one part for each calendar."""
        detail = recognition.detail
        if "tasks" in detail:
            yield from part_of_each(tree.these(detail["tasks"]), read_tasks)
            return
        several: _Holders | None = {} if len(detail["entries"]) > 1 else None
        for entry in tree.these(detail["entries"]):
            name = _calendar_name(entry, detail["folder"])
            yield ExportPart(entry, partial(_read, entry, name, detail["time_zone"], several))


def _of_tasks(files: Sequence[FileEntry]) -> Recognition | None:
    """Return what is seen in the lists of Google Tasks."""
    if not files:
        return None
    owner = task_owner(files)
    return Recognition(
        Confidence.CERTAIN,
        "lists of Google Tasks",
        account="Google Tasks",
        identity=owner,
        owner_known=bool(owner),
        detail={"tasks": [entry.name for entry in files]},
    )


def _identity(calendars: Sequence[FileEntry]) -> str:
    """Return the ids of calendars; many people call one "Home", so names tell nothing."""
    ids = sorted(_property(entry, _ID) or "" for entry in calendars)
    if not all(ids):
        return ""
    return ids[0] if len(ids) == 1 else digest_key(*ids)


def _candidates(tree: Tree) -> list[FileEntry]:
    return (
        list(tree.entries)
        if tree.kind == "file"
        else tree.named("*.ics", "*.ICS", "*.vcs", "*.VCS")
    )


def _property(entry: FileEntry, name: str) -> str | None:
    head = plain_head(entry, HEAD_BYTES).decode("utf-8", "replace")
    match = re.search(_LINE % name, head, re.MULTILINE | re.IGNORECASE)
    return match.group(1).strip() if match else None


def _calendar_name(entry: FileEntry, top: str) -> str:
    """Return the name of a calendar: its own, or that of its file, or of the folder around it.

    Servers keep every entry in a file of its own, which is called by the id of the entry.
    """
    named = _property(entry, "X-WR-CALNAME") or _property(entry, "NAME")
    stem = entry.base.rpartition(".")[0]
    if not named and stem and stem == _property(entry, "UID"):
        named = entry.name.rpartition("/")[0].rpartition("/")[2] or top
    return named or without_copy(stem) or entry.base


class _Reader:
    """What is known of a calendar while its entries are read."""

    def __init__(
        self, entry: FileEntry, name: str, zone: str | None, several: _Holders | None
    ) -> None:
        self.entry = entry
        self.calendar = name
        self.zone = zone_named(zone)
        self._seen = SeenKeys()
        self._several = several

    def key(self, stream: str, said: str, *parts: str) -> RecordKey | None:
        """Return the key of an entry; None where it stands twice in its calendar.

        Some programs give several entries one id: the second that says something else has a key
        of its own. An event may stand in several calendars of an export: the first gives it the
        key that it has where a calendar comes alone, and in the others it is an entry of that
        calendar. Two exports of one calendar, such as of two months, hold the same entries.
        """
        if not self._seen.first(digest_key(stream, said, *parts)):
            return None
        if not self._seen.first(f"{stream} {safe_key(*parts)}"):
            parts = (*parts, said)
        plain = safe_key(*parts)
        name, own = f"{stream} {plain}", plain_name(self.calendar)
        if self._several is None or self._several.setdefault(name, own) == own:
            return plain
        return safe_key(digest_key(self.calendar)[:8], *parts)


def _read(
    entry: FileEntry, calendar: str, zone: str | None, several: _Holders | None
) -> Iterator[Finding]:
    reader, ended, other = _Reader(entry, calendar, zone, several), False, ""
    learn_zones(entry)
    with open_narrow(reader.entry) as stream:
        for part in components(stream, _KINDS):
            if isinstance(part, LooseLine):
                mark, _, kind = part.line.strip().upper().partition(":")
                ended = ended or (mark == "END" and kind == "VCALENDAR")
                if mark == "BEGIN" and kind != "VCALENDAR" and not other:
                    other = kind
                    yield Skipped(_OTHER, f"{reader.entry.name} {kind}"[:120])
                elif mark == "END" and kind == other:
                    other = ""
            elif isinstance(part, Skipped):
                ended = ended or part.cut
                yield part._replace(example=f"{reader.entry.name} {part.example}")
            else:
                where = f"{reader.entry.name} {part.kind} {part.number}"
                yield from account(_component(reader, part, where), where, part.kind)
    if not ended:
        yield Skipped(_ENDED, reader.entry.name, cut=True)


def _component(reader: _Reader, block: TextComponent, where: str) -> Iterator[Finding]:
    if block.kind == "VTIMEZONE":
        learn_zone(block)
        yield Skipped("a time zone, which the times of entries are read with", where)
        return
    stream = _KINDS[block.kind]
    if not stream:
        yield Skipped(_OTHER, where)
        return
    component, malformed = parse(block.text)
    for name in malformed:
        yield Skipped("a property that is malformed", f"{where} {name}"[:120])
    data = _entry(reader, stream, component)
    said = [f"{name}={value}" for name, value in data.items() if name != "updated_at"]
    key = reader.key(stream, digest_key(*said), *_names(component, block))
    if key is None:
        yield Skipped("an entry that stands twice", where)
        return
    yield Item(stream, key, {"id": key, **data})


def _names(component: "Component", block: TextComponent) -> tuple[str, ...]:
    """Return the calendar's own name for an entry; one occurrence of many has its own."""
    uid = str(component.get("UID", ""))
    if not uid:
        return (digest_key(block.text),)
    occurrence = component.get("RECURRENCE-ID")
    return (uid,) if occurrence is None else (uid, occurrence.to_ical().decode())


def _entry(reader: _Reader, stream: str, component: "Component") -> dict[str, object]:
    """Return what is kept of an entry."""
    begin = _when(component, "DTSTART") or _when(component, "DUE")
    data: dict[str, object] = {
        "calendar": reader.calendar,
        "title": _text(component, "SUMMARY") or "(no title)",
        "notes": _notes(component),
        "status": _text(component, "STATUS"),
        "link": next(filter(None, (_text(component, name) for name in _LINKS)), None),
        "categories": _categories(component),
        "repeats": _rules(component),
        "updated_at": _moment(reader, _when(component, "LAST-MODIFIED")),
        **_special(reader, stream, component, begin),
    }
    if begin is not None:
        data |= _span(reader, begin)
    return present(data, "", [])


def _special(
    reader: _Reader, stream: str, component: "Component", begin: date | None
) -> dict[str, object]:
    if stream == "events":
        return _event(reader, component, begin)
    return _task(reader, component) if stream == "tasks" else {}


def _span(reader: _Reader, begin: date) -> dict[str, object]:
    text, floating = _written(reader, begin)
    return {"starts_at": text, "floating": floating, "all_day": not isinstance(begin, datetime)}


def _event(reader: _Reader, component: "Component", begin: date | None) -> dict[str, object]:
    people = [_person(value) for value in several(component, "ATTENDEE")]
    return {
        "ends_at": _moment(reader, _end(component, begin)),
        "location": _text(component, "LOCATION"),
        **details_of(component),
        "organizer": _person(component.get("ORGANIZER")),
        "attendees": people,
        "people": ", ".join(filter(None, people)),
        "repeating": bool(_rules(component)),
        "except_at": [
            text for value in _exceptions(component) if (text := _moment(reader, value)) is not None
        ],
        "occurrence_of": _text(component, "UID") if component.get("RECURRENCE-ID") else None,
        "occurrence_at": _moment(reader, _when(component, "RECURRENCE-ID")),
        "time_zone": _zone_name(component),
    }


def _task(reader: _Reader, component: "Component") -> dict[str, object]:
    completed = _moment(reader, _when(component, "COMPLETED"))
    # Many programs state only what is done: what they leave open could not be asked for.
    state = "NEEDS-ACTION" if completed is None else "COMPLETED"
    return {
        "status": _text(component, "STATUS") or state,
        "due_at": _moment(reader, _when(component, "DUE")),
        "completed_at": completed,
        "percent_done": percent_done(component),
        **details_of(component),
    }


def _when(component: "Component", name: str) -> date | None:
    value = component.get(name)
    moment = getattr(value, "dt", None)
    return moment if isinstance(moment, date) else None


def _end(component: "Component", begin: date | None) -> date | None:
    end = _when(component, "DTEND")
    length = getattr(component.get("DURATION"), "dt", None)
    if end is None and begin is not None and isinstance(length, timedelta):
        return begin + length
    return end


def _exceptions(component: "Component") -> Iterator[date]:
    for dates in several(component, "EXDATE"):
        for moment in getattr(dates, "dts", ()):
            yield moment.dt


def _written(reader: _Reader, moment: date) -> tuple[str, bool]:
    """Return a time as text; a day without an hour is its midnight, wherever one is."""
    if isinstance(moment, datetime):
        return local_text(moment, reader.zone)
    return f"{moment.isoformat()}T00:00:00", True


def _moment(reader: _Reader, moment: date | None) -> str | None:
    return None if moment is None else _written(reader, moment)[0]


def _zone_name(component: "Component") -> str | None:
    start = component.get("DTSTART")
    name = start.params.get("TZID") if start is not None else None
    return str(name) if name else None


def _text(component: "Component", name: str) -> str | None:
    value = component.get(name)
    if isinstance(value, list):
        value = value[0]
    return None if value is None else str(value)


def _notes(component: "Component") -> str:
    """Return what is written about an entry; some programs have it as a page alone."""
    texts = [str(text) for name in ("DESCRIPTION", "COMMENT") for text in several(component, name)]
    page = "" if any(texts) else _text(component, "X-ALT-DESC")
    return "\n".join([*texts, html_text(page)] if page else texts)


def _rules(component: "Component") -> str:
    """Return how an entry repeats: its rules, and the days that stand beside them."""
    rules = [_ical(value) for value in several(component, "RRULE")]
    return "\n".join([*rules, *(f"RDATE:{_ical(day)}" for day in several(component, "RDATE"))])


def _ical(value: Any) -> str:
    text: str = value.to_ical().decode("utf-8", "replace")
    return text


def _categories(component: "Component") -> list[str]:
    return [
        str(category)
        for value in several(component, "CATEGORIES")
        for category in getattr(value, "cats", [value])
    ]


def _person(value: object) -> str | None:
    """Return a person's name and address as one line."""
    if value is None:
        return None
    address = re.sub(r"^mailto:", "", str(value), flags=re.IGNORECASE)
    name = str(getattr(value, "params", {}).get("CN", "")).strip()
    return f"{name} <{address}>" if name and name != address else address
