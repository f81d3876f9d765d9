"""A small source in which every kind of field can be shown or hidden, for attacks on grants."""

import copy
from typing import Any

from pdpp.model.declaration import RANGE_OPERATORS

TIMED = ("sent_at", "seen_at")
TEXTS = ("subject", "body", "note")
MESSAGE_FIELDS = (
    "id",
    "subject",
    "body",
    "note",
    "sender",
    "sent_at",
    "seen_at",
    "amount",
    "size",
    "starred",
    "label",
    "thread_id",
    "extra",
    "attachment",
)


def _text(**more: Any) -> dict[str, Any]:
    return {"type": ["string", "null"], **more}


def _messages() -> dict[str, Any]:
    moment = _text(format="date-time")
    return {
        "name": "messages",
        "semantics": "mutable_state",
        "schema": {
            "type": "object",
            "properties": {
                "id": {"type": "string"},
                "subject": _text(x_pdpp_role="primary-title"),
                "body": _text(x_pdpp_role="body"),
                "note": _text(),
                "sender": _text(x_pdpp_role="actor"),
                "sent_at": {**moment, "x_pdpp_role": "event-time"},
                "seen_at": moment,
                "amount": {"type": ["number", "null"]},
                "size": {"type": ["integer", "null"]},
                "starred": {"type": ["boolean", "null"]},
                "label": _text(),
                "thread_id": _text(),
                "extra": {},
                "attachment": {"x_pdpp_type": "blob"},
            },
            "required": ["id"],
        },
        "primary_key": ["id"],
        "cursor_field": "sent_at",
        "consent_time_field": "sent_at",
        "views": [
            {"id": "short", "label": "Short", "fields": ["id", "subject", "note", "sent_at"]},
            {"id": "secret", "label": "Secret", "fields": ["body", "seen_at"]},
        ],
        "relationships": [
            {
                "name": "thread",
                "stream": "threads",
                "foreign_key": "thread_id",
                "cardinality": "belongs_to",
            }
        ],
        "query": {
            "range_filters": {
                name: list(RANGE_OPERATORS) for name in (*TIMED, "amount", "size", "label")
            },
            "search": {"lexical_fields": list(TEXTS)},
            "aggregations": {
                "count": True,
                "sum": ["amount", "size"],
                "min": ["amount", "size", *TIMED],
                "max": ["amount", "size", *TIMED],
                "count_distinct": ["amount", "size", "label", "starred", "thread_id", *TIMED],
                "group_by": ["amount", "size", "label", "starred", "thread_id", *TIMED],
                "group_by_time": list(TIMED),
            },
            "expand": [{"name": "thread", "default_limit": 1, "max_limit": 1}],
        },
    }


def _threads() -> dict[str, Any]:
    return {
        "name": "threads",
        "semantics": "mutable_state",
        "schema": {
            "type": "object",
            "properties": {
                "id": {"type": "string"},
                "subject": _text(x_pdpp_role="primary-title"),
                "note": _text(),
                "sent_at": _text(format="date-time", x_pdpp_role="event-time"),
            },
            "required": ["id"],
        },
        "primary_key": ["id"],
        "cursor_field": "sent_at",
        "consent_time_field": "sent_at",
        "relationships": [
            {
                "name": "messages",
                "stream": "messages",
                "foreign_key": "thread_id",
                "cardinality": "has_many",
            }
        ],
        "query": {
            "search": {"lexical_fields": ["subject", "note"]},
            "expand": [{"name": "messages", "default_limit": 2, "max_limit": 3}],
        },
    }


def _drafts() -> dict[str, Any]:
    drafts = _threads()
    del drafts["relationships"], drafts["query"]["expand"]
    return {**drafts, "name": "drafts"}


def declaration() -> dict[str, Any]:
    """Return the declaration, as a value of the caller's own."""
    return {
        "protocol_version": "0.1.0",
        "source": {"kind": "connector", "id": "https://letters.example/connector"},
        "connector_key": "letters",
        "declaration_version": "1",
        "publisher": {"id": "https://letters.example"},
        "display": {"name": "Letters"},
        "streams": [_messages(), _threads(), _drafts()],
    }


def later_declaration() -> dict[str, Any]:
    """Return a later revision with more fields, all that can be done with them, and a stream."""
    later = copy.deepcopy(declaration())
    later["declaration_version"] = "2"
    messages = later["streams"][0]
    properties = messages["schema"]["properties"]
    added = {"aside": _text(), "rank": {"type": ["integer", "null"]}}
    messages["schema"]["properties"] = {**added, **properties}
    messages["query"]["search"]["lexical_fields"].insert(0, "aside")
    messages["query"]["range_filters"]["rank"] = list(RANGE_OPERATORS)
    messages["query"]["aggregations"]["sum"].insert(0, "rank")
    messages["views"].append({"id": "ranked", "label": "Ranked", "fields": ["id", "rank"]})
    later["streams"].append({**_drafts(), "name": "outbox"})
    return later
