"""What the reference server holds: two mailboxes of one connector, and a bank account."""

from dataclasses import dataclass, field
from typing import Any

MAIL, BANK = "https://connectors.example/mail", "https://connectors.example/bank"
EMOJI = "🦩"
"""A character beyond the basic plane: two units in JavaScript, one in Python."""

PICTURE = b"\x89PNG\r\n\x1a\n\x00"
"""The nine bytes of every picture."""

LONG_BODY = f"The heron {EMOJI} stood by the ferry. " * 400


@dataclass(frozen=True, slots=True)
class Behaviour:
    """What differs between deployments of the reference server."""

    flags: str = "declared"
    """``declared`` as under a client token, ``typed`` as under an owner's."""

    compact: str = "served"
    """``served``, ``refused`` (400) or ``ignored`` (the full schema is sent all the same)."""

    describes: bool = True
    """Whether one stream has an address of its own; else there is only the list of everything."""

    legend: bool = False
    roles: bool = True
    excerpts: bool = True
    """Whether hits come with the passage that proves them."""

    snippets_only: bool = False
    """Whether the passage is a snippet alone, which has neither offsets nor a way to read on."""

    event_times: bool = False
    """Whether hits say when a record was written, beside when it was taken in."""

    repeats_streams: bool = False
    """Whether a full schema lists all of its streams, and at the top too."""

    connections: tuple[str, ...] = ("cin_work", "cin_home", "cin_bank")


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a stream: its JSON Schema and what may be asked of it."""

    schema: dict[str, Any]
    exact: bool = False
    range: bool = False
    lexical: bool = False
    aggregations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StreamOf:
    """One stream of a connector."""

    name: str
    fields: dict[str, Field]
    expand: tuple[str, ...] = ()


@dataclass(slots=True)
class World:
    """Connections by id, their connector, and the records of each stream in order."""

    streams: dict[str, tuple[StreamOf, ...]]
    connections: dict[str, tuple[str, str]]
    records: dict[tuple[str, str], list[dict[str, Any]]] = field(default_factory=dict)
    deleted: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    blobs: dict[str, bytes] = field(default_factory=dict)


def _text(role: str = "", **more: Any) -> dict[str, Any]:
    return {"type": "string", **({"x_pdpp_role": role} if role else {}), **more}


_MESSAGES = StreamOf(
    "messages",
    {
        "id": Field(_text(), exact=True),
        "subject": Field(_text("primary-title"), exact=True, lexical=True),
        "body": Field(_text("body"), lexical=True),
        "from": Field(_text("actor"), exact=True, aggregations=("group_by", "count_distinct")),
        "sent_at": Field(
            _text("event-time", format="date-time", x_pdpp_type="timestamp"),
            range=True,
            aggregations=("min", "max", "group_by_time"),
        ),
        "size_bytes": Field(
            {"type": "integer"}, exact=True, range=True, aggregations=("sum", "min", "max")
        ),
        "link": Field(_text("link")),
        "picture": Field({"type": "object", "x_pdpp_type": "blob"}),
    },
    ("attachments",),
)
_PAYMENTS = StreamOf(
    "payments",
    {
        "id": Field(_text(), exact=True),
        "payee": Field(_text("primary-title"), exact=True, lexical=True),
        "amount": Field(
            {"type": "number", "x_pdpp_role": "amount", "x_pdpp_type": "currency"},
            range=True,
            aggregations=("sum",),
        ),
        "paid_on": Field(_text("event-time", format="date"), range=True),
    },
)


def _message(key: str, number: int, subject: str, body: str) -> dict[str, Any]:
    return {
        "id": key,
        "subject": subject,
        "body": body,
        "from": f"person{number % 3}@example.org",
        "sent_at": f"2026-03-{number + 1:02}T09:00:00Z",
        "size_bytes": 100 * number,
        "link": f"https://mail.example/{key}",
        "picture": {"blob_id": f"blob{number}", "mime_type": "image/png", "size_bytes": 9},
    }


def two_mailboxes() -> World:
    """Return a world in which both mailboxes hold a record with the key ``m1``."""
    work = [_message("m0", 0, "A long walk", LONG_BODY)] + [
        _message(f"m{n}", n, f"Invoice {n}", f"Please find invoice {n} for the heron attached.")
        for n in range(1, 12)
    ]
    home = [_message("m1", 1, "Dinner at the ferry", "Bring the heron picture.")]
    payments = [
        {"id": f"p{n}", "payee": f"Shop {n}", "amount": -10.5 * n, "paid_on": f"2026-02-0{n}"}
        for n in range(1, 5)
    ]
    return World(
        {MAIL: (_MESSAGES,), BANK: (_PAYMENTS,)},
        {
            "cin_work": (MAIL, "Work mail"),
            "cin_home": (MAIL, "Home mail"),
            "cin_bank": (BANK, "Everyday account"),
        },
        {
            ("cin_work", "messages"): work,
            ("cin_home", "messages"): home,
            ("cin_bank", "payments"): payments,
        },
        {("cin_work", "messages"): ["gone"]},
        {f"blob{number}": PICTURE for number in range(12)},
    )
