"""Calendar: rehearsals, meetings, builders and a trip, with the offsets of two places."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Any

from pdpp.demo.declaration import Relation, flag, moment, objects, optional, source, stream, text
from pdpp.demo.moment import FIRST_DAY, KYOTO, LAST_SYNC, SPAN_DAYS, at, local_text
from pdpp.demo.people import BUILDERS, COLLEAGUES, NORA_AT_WORK, SINGERS, TRAVELLERS, Person
from pdpp.demo.prose import Voice
from pdpp.demo.source import Batch, Source, batched, line
from pdpp.demo.topics import CHOIR, KYOTO_TRIP, RENOVATION, TRIP, Topic, work_topics

Record = dict[str, Any]

CONNECTION = "cin_calendar"

CALENDARS = (
    ("cal-work", "Studio", "#2f6f8f"),
    ("cal-choir", "Choir", "#8f5f2f"),
    ("cal-flat", "The flat", "#5f8f2f"),
    ("cal-travel", "Travel", "#8f2f5f"),
)
ROOMS = ("Big table", "Studio two", "Phone", "Harbour museum, side entrance", None)

EVENTS = stream(
    "events",
    "Appointments",
    "Your appointments: when and where, what they are about, and who is invited.",
    {
        "id": text("Number of the appointment"),
        "calendar_id": text("Calendar that holds it", group=True),
        "title": text("What it is called", "primary-title", search=True),
        "description": optional(text("Notes about it", "body", search=True)),
        "location": optional(text("Where", "secondary", search=True, group=True)),
        "organizer": text("Who invited", "actor", group=True),
        "attendees": objects("Who is invited, and their answers"),
        "starts_at": moment("Beginning", "event-time"),
        "ends_at": moment("End"),
        "all_day": flag("Takes the whole day"),
    },
    time="starts_at",
    mutable=True,
    views={"busy": ("Only when you are busy", ("id", "starts_at", "ends_at", "all_day"))},
    relations=(Relation("calendar", "calendars", "calendar_id", "belongs_to", 1, 1),),
)
CALENDAR_STREAM = stream(
    "calendars",
    "Calendars",
    "The names and colours of your calendars.",
    {
        "id": text("Number of the calendar"),
        "name": text("Name", "primary-title", search=True),
        "colour": text("Colour"),
    },
    mutable=True,
    relations=(Relation("events", "events", "calendar_id", "has_many", 10, 100),),
)


def sources() -> Iterator[Source]:
    """Yield the calendar source."""
    streams = (EVENTS, CALENDAR_STREAM)
    yield Source(source("calendar", "Calendar", streams), ((CONNECTION, "Calendar"),))


def batches() -> Iterator[Batch]:
    """Yield the calendars and their appointments."""
    calendars = [{"id": key, "name": name, "colour": hue} for key, name, hue in CALENDARS]
    yield from batched(CONNECTION, "calendars", [line(item, LAST_SYNC) for item in calendars])
    events = [
        line({"id": f"ev-{number:04}", **event}, LAST_SYNC)
        for number, event in enumerate(_events(), 1)
    ]
    yield from batched(CONNECTION, "events", events)


def _events() -> Iterator[Record]:
    voice = Voice("calendar")
    for offset in range(SPAN_DAYS):
        day = FIRST_DAY + timedelta(days=offset)
        if TRIP[0] <= day <= TRIP[1]:
            yield _sightseeing(voice, day)
        else:
            yield from _at_home(voice, day)
    yield _concert(date(2025, 12, 14), "Christmas concert")
    yield _concert(date(2026, 6, 21), "Midsummer concert")


def _at_home(voice: Voice, day: date) -> Iterator[Record]:
    if day.weekday() == 1:
        yield _rehearsal(voice, day)
    if day.weekday() < 5 and voice.chance(0.5):
        yield _meeting(voice, day)
    if day.weekday() == 3 and date(2026, 1, 5) <= day <= date(2026, 7, 10):
        yield _site_visit(voice, day)


def _rehearsal(voice: Voice, day: date) -> Record:
    start = at(day, 19, 30)
    note = CHOIR.paragraph(voice, 1, 3) if voice.chance(0.6) else None
    return _event(
        "cal-choir",
        "Choir rehearsal",
        note,
        "Church hall, Graça",
        SINGERS,
        start,
        start.replace(hour=21),
    )


def _meeting(voice: Voice, day: date) -> Record:
    topic: Topic = voice.pick(work_topics(day))
    start = at(day, voice.between(9, 16), voice.pick((0, 30)))
    people = tuple(voice.some(COLLEAGUES, 1, 4))
    end = start + timedelta(minutes=voice.pick((30, 45, 60)))
    note = topic.paragraph(voice)
    return _event("cal-work", topic.subject(voice), note, voice.pick(ROOMS), people, start, end)


def _site_visit(voice: Voice, day: date) -> Record:
    start = at(day, 8, 15)
    title = f"Builders: {RENOVATION.subject(voice)}"
    note = RENOVATION.paragraph(voice)
    return _event(
        "cal-flat", title, note, "The flat", BUILDERS[:2], start, start + timedelta(minutes=40)
    )


def _sightseeing(voice: Voice, day: date) -> Record:
    start = at(day, voice.between(6, 10), 0, KYOTO)
    title, note = KYOTO_TRIP.subject(voice), KYOTO_TRIP.paragraph(voice)
    place = voice.pick(("京都市 左京区", "Fushimi", "Arashiyama", "河原町"))
    end = start + timedelta(hours=voice.between(3, 8))
    return _event("cal-travel", title, note, place, TRAVELLERS[:2], start, end)


def _concert(day: date, title: str) -> Record:
    start = at(day, 18)
    note = "Black clothes, a coloured scarf. Doors open at half past five."
    people = SINGERS
    end = start + timedelta(hours=2)
    return _event("cal-choir", title, note, "The chapel on the hill", people, start, end)


def _event(
    calendar: str,
    title: str,
    description: str | None,
    location: str | None,
    people: tuple[Person, ...],
    start: datetime,
    end: datetime,
) -> Record:
    answers = ("accepted", "tentative", "accepted", "declined")
    invited = (NORA_AT_WORK, *people)
    return {
        "calendar_id": calendar,
        "title": title,
        "description": description,
        "location": location,
        "organizer": people[0].name,
        "attendees": [
            {"name": person.name, "address": person.address, "answer": answers[place % 4]}
            for place, person in enumerate(invited)
        ],
        "starts_at": local_text(start),
        "ends_at": local_text(end),
        "all_day": False,
    }
