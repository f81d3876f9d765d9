"""A small source with every kind of field and relation, and a few records whose order is known."""

from functools import cache
from pathlib import Path
from typing import Any

from tests.engine import copy_store, open_store, ordered_surrogate
from tests.serving import keep, planted_store, put, template_folder

from pdpp.model import instant
from pdpp.store.port import Store

RANGES = ["gte", "gt", "lte", "lt"]
COVER = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4
LEAFLET = "Olá, a leaflet of text.\nSecond line with a lantern.\n"

_TEXT = {"type": "string"}
_MAYBE = {"type": ["string", "null"]}
_BLOB = {
    "type": ["object", "null"],
    "x_pdpp_type": "blob",
    "properties": {
        "blob_id": {"type": "string"},
        "mime_type": {"type": "string"},
        "size_bytes": {"type": "integer"},
        "sha256": {"type": "string"},
    },
}


def _stream(name: str, properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": ["id"]}
    document = {
        "name": name,
        "display": {"label": f"The {name}"},
        "semantics": "mutable_state",
        "schema": schema,
        "primary_key": ["id"],
        "query": {},
    }
    return document | more


def _relation(name: str, stream: str, foreign_key: str, cardinality: str) -> dict[str, str]:
    return {
        "name": name,
        "stream": stream,
        "foreign_key": foreign_key,
        "cardinality": cardinality,
    }


BOOKS = _stream(
    "books",
    {
        "id": _TEXT,
        "title": {**_MAYBE, "x_pdpp_role": "primary-title"},
        "text": {**_MAYBE, "x_pdpp_role": "body", "description": "The words of the book"},
        "remark": _MAYBE,
        "author_id": _MAYBE,
        "pages": {"type": ["integer", "null"]},
        "price": {"type": ["number", "null"]},
        "in_print": {"type": ["boolean", "null"]},
        "published": {"type": ["string", "null"], "format": "date"},
        "added_at": {"type": "string", "format": "date-time", "x_pdpp_role": "event-time"},
        "extra": {"type": ["object", "null"]},
        "cover": _BLOB,
        "scan": {"type": ["string", "null"], "x_pdpp_type": "binary"},
        "shelf_no": {"type": ["integer", "null"]},
    },
    cursor_field="added_at",
    consent_time_field="added_at",
    views=[
        {"id": "card", "label": "Cards", "fields": ["id", "title", "added_at"]},
        {"id": "words", "fields": ["text", "remark"]},
    ],
    relationships=[
        _relation("author", "authors", "author_id", "belongs_to"),
        _relation("shelf", "shelves", "shelf_no", "belongs_to"),
        _relation("reviews", "reviews", "book_id", "has_many"),
        _relation("summary", "summaries", "book_id", "has_one"),
        _relation("unlisted", "reviews", "book_id", "has_many"),
    ],
    query={
        "range_filters": {
            "pages": RANGES,
            "price": ["gte", "lt"],
            "published": RANGES,
            "added_at": RANGES,
        },
        "search": {"lexical_fields": ["title", "text", "remark"]},
        "aggregations": {
            "count": True,
            "sum": ["pages", "price"],
            "min": ["pages", "price", "published", "added_at"],
            "max": ["pages", "price", "published", "added_at"],
            "count_distinct": ["author_id", "pages"],
            "group_by": ["author_id", "in_print", "pages", "published"],
            "group_by_time": ["published", "added_at"],
        },
        "expand": [
            {"name": "author"},
            {"name": "shelf"},
            {"name": "reviews", "default_limit": 2, "max_limit": 3},
            {"name": "summary"},
        ],
    },
)
AUTHORS = _stream(
    "authors",
    {"id": _TEXT, "name": {**_TEXT, "x_pdpp_role": "primary-title"}, "born": _MAYBE},
    relationships=[_relation("books", "books", "author_id", "has_many")],
    query={
        "search": {"lexical_fields": ["name"]},
        "expand": [{"name": "books", "default_limit": 2, "max_limit": 5}],
    },
)
REVIEWS = _stream(
    "reviews",
    {
        "id": _TEXT,
        "book_id": _TEXT,
        "title": _TEXT,
        "stars": {"type": "integer"},
        "written_at": {"type": "string", "format": "date-time"},
    },
    consent_time_field="written_at",
    query={"search": {"lexical_fields": ["title"]}, "range_filters": {"stars": ["gt"]}},
)
SUMMARIES = _stream("summaries", {"id": _TEXT, "book_id": _TEXT, "words": _TEXT})
SHELVES = _stream(
    "shelves",
    {"id": _TEXT, "room": _TEXT},
    relationships=[_relation("books", "books", "shelf_no", "has_many")],
    query={
        "search": {"lexical_fields": ["room"]},
        "aggregations": {"count": False},
        "expand": [{"name": "books"}],
    },
)

LIBRARY: dict[str, Any] = {
    "protocol_version": "0.1.0",
    "source": {"kind": "connector", "id": "https://library.example/source"},
    "connector_key": "library",
    "declaration_version": "1",
    "publisher": {"id": "https://library.example"},
    "display": {"name": "Library"},
    "streams": [BOOKS, AUTHORS, REVIEWS, SUMMARIES, SHELVES],
}


def book(key: str, day: int, **more: Any) -> dict[str, Any]:
    """Return a book added on a day of January 2026."""
    return {"id": key, "added_at": f"2026-01-{day:02}T10:00:00Z", **more}


HOME_BOOKS = (
    book(
        "b1",
        1,
        title="Harbour lights",
        text="The lantern hung over the quay. Nobody moved. " * 12,
        remark="A gift from Inês",
        author_id="a1",
        pages=300,
        price=12.5,
        in_print=True,
        published="2020-05-01",
        extra={"tags": ["sea", "night"], "weight": 1.5},
        shelf_no=7,
    ),
    book("b2", 2, title="Café crème", author_id="a1", pages=300, price=None, in_print=False),
    book("b3", 3, title="Untold", author_id="a2", pages=None, price=7, published="2021-02-28"),
    book("b4", 4, title="Tides", author_id=None, pages=120, price=3.25, in_print=True, shelf_no=7),
    book("b5", 4, title=None, text="Only a lantern here.", pages=None, published="2020-05-01"),
)
WORK_BOOKS = (
    book("b1", 1, title="Ledger", author_id="a9", pages=300, price=12.5, in_print=True),
    book("w2", 5, title="Lantern work", text="Plain words.", pages=120, published="2020-05-01"),
    book("w3", 4, title="Manual", remark="lantern oil", pages=None, in_print=False),
)


def library_store(folder: Path, clock: instant.Clock = instant.now) -> Store:
    """Open a new store with the library in two connections, ``home`` and ``work``.

    A process fills it once, and copies it after that where it is filled by the usual clock.
    """
    if clock is not instant.now:
        return _filled_library(folder, clock)
    copy_store(_library_template(), folder)
    return open_store(folder, clock, ordered_surrogate)


@cache
def _library_template() -> Path:
    folder = template_folder("library")
    _filled_library(folder, instant.now).close()
    return folder


def _filled_library(folder: Path, clock: instant.Clock) -> Store:
    connections = {"home": "Home shelf", "work": "Work shelf"}
    store = planted_store(folder, LIBRARY, connections, None, clock)
    cover = keep(store, COVER, "image/png")
    leaflet = keep(store, LEAFLET.encode(), "text/plain; charset=utf-8")
    first, second, *rest = HOME_BOOKS
    put(store, "home", "books", {**first, "cover": cover}, {**second, "cover": leaflet}, *rest)
    put(store, "work", "books", *WORK_BOOKS)
    put(store, "home", "authors", {"id": "a1", "name": "Ana Reis"}, {"id": "a2", "name": "Bo"})
    for number in range(1, 6):
        put(store, "home", "reviews", _review(number))
    put(store, "home", "summaries", {"id": "s1", "book_id": "b1", "words": "Lights, a harbour."})
    put(
        store,
        "home",
        "shelves",
        {"id": "7", "room": "lantern room"},
        {"id": "top", "room": "attic"},
    )
    return store


def _review(number: int) -> dict[str, Any]:
    return {
        "id": f"r{number}",
        "book_id": "b1",
        "title": f"Stormy opinion {number}",
        "stars": number,
        "written_at": f"2026-02-{number:02}T00:00:00Z",
    }
