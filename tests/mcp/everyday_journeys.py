"""Everyday journeys: other questions of people, with other tools and smaller answers."""

from collections.abc import Mapping, Sequence
from typing import Any

from bench.agent import Call

_HOME: Mapping[str, Any] = {"stream": "messages", "connection_id": "cin_home"}
_ENVELOPE: Mapping[str, Any] = {"fields": ["subject", "from", "sent_at"]}
_SPENT: Mapping[str, Any] = {"stream": "transactions", "metric": "sum", "field": "amount"}


def everyday_journeys() -> dict[str, Sequence[Call]]:
    """Return fifteen journeys through the demo world, each by the question a person asks."""
    return {**_remembering(), **_looking_up(), **_adding_up(), **_going_wrong()}


def _remembering() -> dict[str, Sequence[Call]]:
    return {
        "when did I last write about the harbour?": [
            ("search", {"query": "harbour", "limit": 3}),
            ("fetch", {"id": "cin_notes/documents:note-029"}),
            ("query_records", {**_HOME, "limit": 3, "fields": ["subject", "sent_at"]}),
        ],
        "what did Siobhan say about the permit?": [
            ("search", {"query": "what did Siobhan say about the permit"}),
            ("read_record_field", {"id": "cin_work/messages:m-w0012-5", "field_path": "body"}),
        ],
        "how do I bake the plum cake?": [
            ("search", {"query": "plum cake recipe", "limit": 2}),
            ("fetch", {"id": "cin_notes/documents:recipe: plum cake of Helga"}),
        ],
        "where is the ticket from the ferry?": [
            ("search", {"query": "ferry ticket", "connection_id": "cin_home"}),
            ("fetch", {"id": "cin_home/messages:m-h0115-1"}),
        ],
    }


def _looking_up() -> dict[str, Sequence[Call]]:
    letter = "cin_home/messages:m-invoice-4471"
    return {
        "which accounts of mine do you see?": [("schema", {})],
        "what can be asked of my mail?": [("schema", _HOME)],
        "what can be asked of my bank?": [
            ("schema", {"stream": "transactions", "connection_id": "cin_bank"}),
            ("query_records", {"stream": "accounts"}),
        ],
        "who sent me invoice 4471?": [
            ("fetch", {"id": letter, "fields": ["subject", "from", "sent_at"]}),
            ("read_record_field", {"id": letter, "field_path": "subject"}),
        ],
        "what is new since this morning?": [
            ("query_records", {**_HOME, "changes_since": "beginning", "limit": 4, **_ENVELOPE}),
        ],
    }


def _adding_up() -> dict[str, Sequence[Call]]:
    return {
        "how much did I spend last spring?": [
            ("aggregate", {**_SPENT, "filter": {"currency": "EUR", "amount": {"lt": 0}}}),
        ],
        "what was my dearest payment?": [
            ("aggregate", {**_SPENT, "metric": "min"}),
            ("query_records", {"stream": "transactions", "sort": "amount", "limit": 1}),
        ],
        "who writes to me most?": [
            ("aggregate", {**_HOME, "metric": "count", "group_by": "from", "limit": 5}),
        ],
    }


def _going_wrong() -> dict[str, Sequence[Call]]:
    return {
        "did anybody mention a zeppelin?": [
            ("search", {"query": "zeppelin"}),
            ("query_records", {**_HOME, "filter": {"subject": "zeppelin"}}),
        ],
        "show me my tweets": [
            ("query_records", {"stream": "tweets"}),
            ("fetch", {"id": "messages:m-invoice-4471"}),
        ],
        "sort my mail by mood": [
            ("query_records", {**_HOME, "sort": "mood"}),
            ("aggregate", {**_HOME, "metric": "sum", "field": "subject"}),
        ],
    }
