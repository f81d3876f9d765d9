"""Estates: small stores for what an agent sees, made anew for every run."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from bench.declaration import moment, source, stream, text
from bench.demo_records import TRANSCRIPT_KEY
from pdpp import demo
from pdpp.authz.selection import Selection, make_grant, resolve
from pdpp.cli.seeding import seed
from pdpp.model import instant
from pdpp.model.validation import parse_declaration
from pdpp.service.settings import Settings
from pdpp.store.intake import write_lines
from pdpp.store.sqlite.store import SqliteStore

TITLED = "regatta"
"""A word that stands in titles only, more often than a page has hits."""
UNIQUE = "quillwort"
"""A word that stands once, in the middle of a very long line."""
TRANSCRIPT_ID = f"cin_notes/documents:{TRANSCRIPT_KEY}"

_MESSAGES = stream(
    "messages",
    "Messages",
    "Letters",
    {
        "id": text("Identifies the message"),
        "subject": text("Subject line", "primary-title", search=True),
        "body": text("What the message says", "body", search=True),
        "sent_at": moment("When it was sent", "event-time"),
    },
    time="sent_at",
)
_DOCUMENTS = stream(
    "documents",
    "Documents",
    "Notes",
    {
        "id": text("Identifies the note"),
        "title": text("What it is about", "primary-title", search=True),
        "body": text("The note", "body", search=True),
    },
)
_INVOICE = "please find invoice 4471 attached; the total of 1,240 is due on the last of the month"
_EDITED_AT_ONCE = 100
_EMITTED = "2026-03-20T06:00:00Z"
_FILLING = "The tiles are green and the kitchen is nearly done, so come and see it soon. "


@dataclass(frozen=True, slots=True)
class Estate:
    """A filled store, and a client's way into it."""

    folder: Path
    token: str


def demo_estate(folder: Path) -> Estate:
    """Fill a store with the demo world."""
    store = SqliteStore(folder)
    tokens = seed(store, Settings())
    store.close()
    return Estate(folder, tokens.client)


def letters_estate(folder: Path) -> Estate:
    """Fill a store with two mailboxes and a notebook that holds one very long line."""
    store = SqliteStore(folder)
    for document in (source("gmail", "Gmail", [_MESSAGES]), source("notes", "Notes", [_DOCUMENTS])):
        store.register(parse_declaration(document))
    for id, key, name in (
        ("cin_work", "gmail", "Work mail"),
        ("cin_home", "gmail", "Home mail"),
        ("cin_notes", "notes", "Notes"),
    ):
        store.connect(id, key, name)
    _put(store, "cin_work", "messages", [_letter("18c2f", "Re: Invoice 4471", _long_body(), 2)])
    _put(store, "cin_home", "messages", _home_letters())
    transcript = {"id": TRANSCRIPT_KEY, "title": "Harbour interview", "body": long_line()}
    _put(store, "cin_notes", "documents", [transcript])
    secret = _grant(store, Selection())
    store.close()
    return Estate(folder, secret)


@dataclass(frozen=True, slots=True)
class EditedEstate:
    """A stream whose records were all edited once, for a client and for one that cannot see it."""

    folder: Path
    records: int
    token: str
    blind: str
    """The token of a grant without the field that was edited."""


def edited_estate(folder: Path, records: int) -> EditedEstate:
    """Fill a store with letters, and then change the body of every one, a few at a time."""
    store = SqliteStore(folder)
    store.register(parse_declaration(source("gmail", "Gmail", [_MESSAGES])))
    store.connect("cin_work", "gmail", "Work mail")
    for edition in ("first", "second"):
        for start in range(0, records, _EDITED_AT_ONCE):
            numbers = range(start, min(start + _EDITED_AT_ONCE, records))
            letters = [
                _letter(f"e{number:06d}", f"Letter {number}", f"The {edition} text.", 1)
                for number in numbers
            ]
            _put(store, "cin_work", "messages", letters)
    everything = _grant(store, Selection())
    blind = _grant(store, Selection(fields=("id", "subject", "sent_at")))
    store.close()
    return EditedEstate(folder, records, everything, blind)


def _grant(store: SqliteStore, selection: Selection) -> str:
    """Make a grant and return its token."""
    grant, secret, token = make_grant(
        resolve(selection, store.catalogue()),
        client_id="bench",
        purpose="measuring",
        now=instant.now(),
    )
    store.vault.keep_grant(grant, [token])
    return secret


def long_line() -> str:
    """Return the longest line of the demo with a word of its own in the middle."""
    bodies = (
        line["data"]["body"]
        for batch in demo.batches()
        if batch.stream == "documents"
        for line in batch.lines
        if line["key"] == TRANSCRIPT_KEY
    )
    body: str = next(bodies)
    middle = body.index(" ", len(body) // 2)
    return f"{body[:middle]} {UNIQUE}{body[middle:]}"


def _home_letters() -> list[dict[str, Any]]:
    question = _letter("77aa", "Invoice 4471 question", "Did it come? I saw nothing so far.", 1)
    titled = [
        _letter(f"9{number:03x}", f"The {TITLED}, part {number}", _FILLING, number + 3)
        for number in range(12)
    ]
    return [question, *titled]


def _long_body() -> str:
    before = (_FILLING * 16)[:1_250].strip()
    return f"{before} {_INVOICE}. {_FILLING * 60}"[:5_210]


def _letter(key: str, subject: str, body: str, day: int) -> dict[str, Any]:
    sent_at = f"2026-03-{day:02d}T09:14:00Z"
    return {"id": key, "subject": subject, "body": body, "sent_at": sent_at}


def _put(
    store: SqliteStore, connection_id: str, stream: str, records: Iterable[Mapping[str, Any]]
) -> None:
    feed = store.catalogue().feeds[connection_id, stream]
    lines = [
        orjson.dumps({"key": record["id"], "data": record, "emitted_at": _EMITTED})
        for record in records
    ]
    answer = write_lines(store, feed, lines, now=instant.now(), line_bytes=1 << 24)
    assert answer["rejections"] == [], answer
