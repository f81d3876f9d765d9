"""Notes: notebooks of short papers, and two documents that are very long."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Any

from pdpp.demo.awkward import DIARY_KEY, TRANSCRIPT_KEY, disfigure, oddities
from pdpp.demo.declaration import (
    Relation,
    flag,
    integer,
    moment,
    optional,
    source,
    stream,
    text,
    texts,
)
from pdpp.demo.moment import LAST_SYNC, at, emitted, spread, utc_text
from pdpp.demo.prose import Voice
from pdpp.demo.source import Batch, Line, Source, batched, line
from pdpp.demo.topics import (
    CHOIR,
    FAMILY_LIFE,
    HARBOUR,
    KYOTO_TRIP,
    LANTERN,
    QUILLFISH,
    RENOVATION,
    Topic,
)

Record = dict[str, Any]

CONNECTION = "cin_notes"
TOTAL = 130
LONG = 205_000

NOTEBOOKS: tuple[tuple[str, str, Topic], ...] = (
    ("nb-flat", "The flat in Graça", RENOVATION),
    ("nb-kyoto", "Kyoto 2026", KYOTO_TRIP),
    ("nb-choir", "Choir", CHOIR),
    ("nb-home", "Home and kitchen", FAMILY_LIFE),
    ("nb-harbour", "Harbour guide", HARBOUR),
    ("nb-work", "Work, other", QUILLFISH),
    ("nb-lantern", "Lantern festival", LANTERN),
)

DOCUMENTS = stream(
    "documents",
    "Notes",
    "The notes you wrote, with their full text and tags; the latest version of each.",
    {
        "id": text("Name of the note"),
        "notebook_id": text("Notebook that holds it", group=True),
        "title": text("Title", "primary-title", search=True),
        "body": text("Text of the note", "body", search=True),
        "tags": optional(texts("Tags")),
        "words": integer("How many words", total=True),
        "pinned": flag("Kept at the top"),
        "created_at": moment("When it was begun"),
        "updated_at": moment("When it was last changed", "event-time"),
    },
    time="updated_at",
    mutable=True,
    views={"titles": ("Titles and dates", ("id", "title", "notebook_id", "updated_at"))},
    relations=(Relation("notebook", "notebooks", "notebook_id", "belongs_to", 1, 1),),
)
NOTEBOOK_STREAM = stream(
    "notebooks",
    "Notebooks",
    "The names of your notebooks.",
    {
        "id": text("Number of the notebook"),
        "name": text("Name", "primary-title", search=True),
        "created_at": moment("When it was begun"),
    },
    mutable=True,
    relations=(Relation("documents", "documents", "notebook_id", "has_many", 10, 100),),
)


def sources() -> Iterator[Source]:
    """Yield the notes source."""
    yield Source(source("notes", "Notes", (DOCUMENTS, NOTEBOOK_STREAM)), ((CONNECTION, "Notes"),))


def batches() -> Iterator[Batch]:
    """Yield notebooks and notes, then the later versions of some notes."""
    notebooks = [
        {"id": key, "name": name, "created_at": utc_text(at(date(2025, 4, 20), 9))}
        for key, name, _ in NOTEBOOKS
    ]
    yield from batched(CONNECTION, "notebooks", [line(item, LAST_SYNC) for item in notebooks])
    documents = _documents()
    yield from batched(CONNECTION, "documents", [_line(item) for item in documents])
    yield from batched(CONNECTION, "documents", [_line(_later(item)) for item in documents[:40:8]])


def _documents() -> list[Record]:
    voice = Voice("notes")
    written = [_note(voice, number) for number in range(TOTAL)]
    for number, oddity in enumerate(oddities(CONNECTION, "documents")):
        plain = _record(oddity.key, "nb-home", "", "", date(2026, 8, 1) + timedelta(days=number))
        written.append(_counted(disfigure(plain, oddity)))
    return [*written, _diary(voice), _transcript(voice)]


def _note(voice: Voice, number: int) -> Record:
    notebook, _, topic = voice.pick(NOTEBOOKS)
    title = topic.subject(voice)
    sections = [_section(voice, topic) for _ in range(voice.between(1, 6))]
    day = spread(number, TOTAL)
    record = _record(f"note-{number + 1:03}", notebook, title, "\n\n".join(sections), day)
    if voice.chance(0.5):
        record["tags"] = voice.some((topic.name, "todo", "idea", "list", "later"), 1, 3)
    record["pinned"] = voice.chance(0.05)
    return record


def _section(voice: Voice, topic: Topic) -> str:
    if voice.chance(0.3):
        points = (f"- [{voice.pick((' ', 'x'))}] {topic.subject(voice)}" for _ in range(4))
        return "\n".join(points)
    return f"## {topic.subject(voice)}\n\n{topic.paragraph(voice, 3, 6)}"


def _diary(voice: Voice) -> Record:
    """Write the diary of the renovation: many days, many lines."""
    day, pages, size = date(2025, 12, 1), ["# Diary of a kitchen, and of the rest"], 0
    while size < LONG:
        page = f"## Day {len(pages)}, {day.isoformat()}\n{RENOVATION.paragraph(voice, 6, 14)}"
        pages.append(page)
        size += len(page)
        day += timedelta(days=1)
    title = "Renovation diary, complete"
    return _record(DIARY_KEY, "nb-flat", title, "\n\n".join(pages), date(2026, 7, 20))


def _transcript(voice: Voice) -> Record:
    """Write an interview as one endless line."""
    parts, size = ["[00:00] Interview with the harbour pilots, unedited."], 0
    while size < LONG:
        speaker = voice.pick(("Nora", "Pilot one", "Pilot two", "Helena"))
        part = f"[{speaker}] {voice.pick((HARBOUR, HARBOUR, LANTERN)).paragraph(voice, 4, 9)}"
        parts.append(part)
        size += len(part)
    title = "Harbour pilots, interview transcript"
    return _record(TRANSCRIPT_KEY, "nb-harbour", title, " ".join(parts), date(2026, 8, 20))


def _record(key: str, notebook: str, title: str, body: str, day: date) -> Record:
    return _counted(
        {
            "id": key,
            "notebook_id": notebook,
            "title": title,
            "body": body,
            "pinned": False,
            "created_at": utc_text(at(day, 8)),
            "updated_at": utc_text(at(day, 21)),
        }
    )


def _counted(record: Record) -> Record:
    return {**record, "words": len(record["body"].split())}


def _later(record: Record) -> Record:
    changed = datetime.fromisoformat(record["updated_at"]) + timedelta(days=3)
    body = f"{record['body']}\n\nAdded later: this is settled now."
    return _counted({**record, "body": body, "updated_at": utc_text(changed)})


def _line(record: Record) -> Line:
    return line(record, emitted(datetime.fromisoformat(record["updated_at"])))
