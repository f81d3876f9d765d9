"""The post: two accounts that share keys, fields with and without roles, and a diary beside them.

``cards`` has fields called title and body that carry no role; nothing may be made of their names.
"""

from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

from tests.serving import keep, plant, planted_store, put

from pdpp.store.port import Store

RANGES = ["gte", "gt", "lte", "lt"]
FIRST, SECOND, DIARY = "cin_first", "cin_second", "cin_diary"
SCAN_BYTES = b"\x89PNG\r\n\x1a\n" + sha256(b"scan").digest() * 80
SCAN = b64encode(SCAN_BYTES).decode()
LEAFLET = "".join(f"Line {number} of the leaflet about herons.\n" for number in range(400))
SMALL = "The heron stood in the reeds until the ferry had passed, and then it flew."

_TEXT: dict[str, Any] = {"type": "string"}
_BLOB: dict[str, Any] = {"type": "object", "x_pdpp_type": "blob"}


def _stream(name: str, fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "display": {"label": f"All {name}"},
        "semantics": "mutable_state",
        "schema": {"type": "object", "properties": fields, "required": ["id"]},
        "primary_key": ["id"],
        **more,
    }


LETTERS = _stream(
    "letters",
    {
        "id": _TEXT,
        "headline": {**_TEXT, "x_pdpp_role": "primary-title"},
        "body": {**_TEXT, "x_pdpp_role": "body"},
        "sent_at": {**_TEXT, "format": "date-time", "x_pdpp_role": "event-time"},
        "kind": _TEXT,
        "pages": {"type": "integer"},
        "folder_id": _TEXT,
        "scan": {**_TEXT, "x_pdpp_type": "binary"},
        "leaflet": _BLOB,
        "address": {**_TEXT, "x_pdpp_role": "link"},
    },
    cursor_field="sent_at",
    consent_time_field="sent_at",
    relationships=[
        {
            "name": "folder",
            "stream": "folders",
            "foreign_key": "folder_id",
            "cardinality": "belongs_to",
        }
    ],
    views=[{"id": "envelope", "label": "Envelopes", "fields": ["id", "headline", "sent_at"]}],
    query={
        "range_filters": {"sent_at": RANGES, "pages": RANGES},
        "search": {"lexical_fields": ["headline", "body"]},
        "aggregations": {
            "count": True,
            "sum": ["pages"],
            "group_by": ["kind"],
            "group_by_time": ["sent_at"],
        },
        "expand": [{"name": "folder"}],
    },
)
FOLDERS = _stream(
    "folders",
    {"id": _TEXT, "name": {**_TEXT, "x_pdpp_role": "primary-title"}},
    relationships=[
        {
            "name": "letters",
            "stream": "letters",
            "foreign_key": "folder_id",
            "cardinality": "has_many",
        }
    ],
    query={"expand": [{"name": "letters", "default_limit": 2, "max_limit": 10}]},
)
CARDS = _stream(
    "cards",
    {
        "id": _TEXT,
        "title": _TEXT,
        "body": _TEXT,
        "url": _TEXT,
        "written_at": {**_TEXT, "format": "date-time", "x_pdpp_role": "event-time"},
    },
    cursor_field="written_at",
    query={"search": {"lexical_fields": ["title"]}},
)
PAGES = _stream(
    "pages",
    {"id": _TEXT, "body": {**_TEXT, "x_pdpp_role": "body"}},
    query={"search": {"lexical_fields": ["body"]}},
)


def declaration(key: str, *streams: dict[str, Any]) -> dict[str, Any]:
    """Return a source of some streams."""
    return {
        "protocol_version": "0.1.0",
        "source": {"kind": "connector", "id": f"https://{key}.example/source"},
        "connector_key": key,
        "declaration_version": "1",
        "publisher": {"id": "https://publisher.example"},
        "display": {"name": key.title()},
        "streams": list(streams),
    }


def letter(key: str, body: str, day: int = 1, **more: Any) -> dict[str, Any]:
    """Return a letter sent on a day of March."""
    return {
        "id": key,
        "headline": f"Letter {key}",
        "body": body,
        "sent_at": f"2026-03-{day:02}T08:00:00Z",
        "kind": "plain",
        "pages": day,
        "folder_id": "box",
        **more,
    }


def post_store(folder: Path) -> Store:
    """Open a new store that holds the post and the diary."""
    store = planted_store(
        folder,
        declaration("post", LETTERS, FOLDERS, CARDS),
        {FIRST: "First post", SECOND: "Second post"},
    )
    leaflet = keep(store, LEAFLET.encode(), "text/plain")
    for connection_id, word in ((FIRST, "amber"), (SECOND, "cobalt")):
        put(store, connection_id, "folders", {"id": "box", "name": f"The {word} box"})
        put(
            store,
            connection_id,
            "letters",
            letter("same", f"{SMALL} The colour of the boat was {word}.", 1),
            letter("scanned", "A letter with a scan.", 2, scan=SCAN, kind="scan"),
            letter("leaflet", "A letter with a leaflet.", 3, leaflet=leaflet),
            letter("linked", "Nothing but a greeting.", 4, address=f"https://{word}.example/4"),
        )
    put(
        store,
        FIRST,
        "cards",
        {
            "id": "card-1",
            "title": "Greetings from the observatory",
            "body": "A body of no declared role.",
            "url": "https://not-a-declared-link.example/",
            "written_at": "2026-01-02T03:04:05Z",
        },
    )
    plant(store, declaration("diary", PAGES), {DIARY: "Diary"})
    put(store, DIARY, "pages", {"id": "p-1", "body": "Saw a heron again, by the old ferry."})
    return store
