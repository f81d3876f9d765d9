"""The six tools as clients see them: our words, flat schemas, nothing from any record."""

from typing import NamedTuple

from pdpp.evidence.budget import MAX_AROUND, MAX_LIMIT
from pdpp.evidence.handle import MAX_URI_CHARS
from pdpp.mcp.tools.argument import LONGEST_CURSOR, Argument, ArgumentType, Signature, signature

_CONNECTION = Argument("connection_id", about="source to read, from schema")
_FILTER = Argument("filter", ArgumentType.FILTER, "field: exact value, or field: {gte,gt,lte,lt}")
_CURSOR = Argument("cursor", longest=LONGEST_CURSOR)
_ID = "id as shown by search, or pdpp:// URI"
_EXPAND = Argument("expand", ArgumentType.LIST, "relations")
_EXPAND_LIMIT = Argument("expand_limit", ArgumentType.LIMITS, "relation: most")

SIGNATURES: dict[str, Signature] = {
    tool.tool: tool
    for tool in (
        signature(
            "schema",
            {"stream": "messages"},
            [
                Argument("stream"),
                _CONNECTION,
                Argument("detail", about="full: JSON Schema", choices=("compact", "full")),
            ],
        ),
        signature(
            "query_records",
            {"stream": "messages", "filter": {"sent_at": {"gte": "2026-01-01T00:00:00Z"}}},
            [
                Argument("stream", required=True),
                _CONNECTION,
                _FILTER,
                Argument("fields", ArgumentType.LIST),
                Argument("view"),
                Argument("sort", about="field or -field"),
                Argument("order", choices=("asc", "desc")),
                Argument("limit", ArgumentType.INTEGER, least=1, most=100),
                _CURSOR,
                Argument("count", choices=("none", "estimated", "exact")),
                Argument("changes_since", about="beginning, or a bookmark", longest=LONGEST_CURSOR),
                _EXPAND,
                _EXPAND_LIMIT,
            ],
        ),
        signature(
            "aggregate",
            {
                "stream": "messages",
                "metric": "count",
                "group_by_time": "sent_at",
                "granularity": "month",
            },
            [
                Argument("stream", required=True),
                Argument(
                    "metric",
                    required=True,
                    choices=("count", "sum", "min", "max", "count_distinct"),
                ),
                Argument("field"),
                Argument("group_by"),
                Argument("group_by_time"),
                Argument(
                    "granularity",
                    choices=("minute", "hour", "day", "week", "month", "quarter", "year"),
                ),
                Argument("time_zone", about="IANA name"),
                _FILTER,
                Argument("limit", ArgumentType.INTEGER, least=1, most=1000),
                _CONNECTION,
            ],
        ),
        signature(
            "search",
            {"query": "invoice 4471"},
            [
                Argument("query", about='a question; "phrase" +must -not from: on:', required=True),
                Argument("streams", ArgumentType.LIST),
                _CONNECTION,
                _FILTER,
                Argument("mode", choices=("lexical", "semantic", "hybrid")),
                Argument("limit", ArgumentType.INTEGER, least=1, most=100),
                _CURSOR,
            ],
        ),
        signature(
            "fetch",
            {"id": "cin_work/messages:18c2f"},
            [
                Argument("id", about=_ID, required=True, longest=MAX_URI_CHARS),
                _CONNECTION,
                Argument("fields", ArgumentType.LIST),
                _EXPAND,
                _EXPAND_LIMIT,
            ],
        ),
        signature(
            "read_record_field",
            {"id": "cin_work/messages:18c2f", "field_path": "body", "offset_chars": 0},
            [
                Argument("id", about=_ID, longest=MAX_URI_CHARS, locates=True),
                _CONNECTION,
                Argument("stream", locates=True),
                Argument("record_id", locates=True),
                Argument("field_path", locates=True),
                Argument("offset_chars", ArgumentType.INTEGER),
                _CURSOR,
                Argument("query", about="read around its first match"),
                Argument("limit_chars", ArgumentType.INTEGER, least=1, most=MAX_LIMIT),
                Argument("before_chars", ArgumentType.INTEGER, most=MAX_AROUND),
                Argument("after_chars", ArgumentType.INTEGER, most=MAX_AROUND),
            ],
        ),
    )
}

DESCRIPTIONS: dict[str, str] = {
    "schema": "What of the user's own records you may read: {nouns}. Connections and streams; with "
    "stream its fields, filters, sorts, aggregates. Start here.",
    "query_records": "List the user's {few}: records of one stream by filter and sort, or what "
    "changed since a bookmark.",
    "aggregate": "Count, sum, min, max, distinct over the user's {few}; optionally grouped. Groups "
    "come with other_count: records in groups beyond limit, so above 0 means top-N truncation.",
    "search": "Search the user's own {nouns}{words}. Shows the matched passage, the id to pass to "
    "fetch, and how to read on.",
    "fetch": "One record (or pdpp://blob/… metadata) as a document: id, title, text, url, "
    "metadata.",
    "read_record_field": "Read a bounded piece of one field, by offset or around a query. Name the "
    "record by id, or connection_id + stream + record_id.",
}
"""What each tool is for; ``{nouns}`` is what the grant opens, ``{few}`` the first of it, and
``{words}`` what people ask for it by."""

TITLES: dict[str, str] = {
    "schema": "What there is: {few}",
    "query_records": "List {few}",
    "aggregate": "Count and sum {few}",
    "search": "Search {few}",
    "fetch": "Open a record",
    "read_record_field": "Read a field",
}

HINTS: dict[str, str] = {
    "schema": "my personal data",
    "query_records": "list recent {few}",
    "aggregate": "how many, how much, total",
    "search": "my own personal data",
    "fetch": "open in full",
    "read_record_field": "read on",
}
"""Words for a host that finds tools by these too; the others look at descriptions alone."""

ALWAYS_LOADED = frozenset({"search", "schema"})
"""The tools that a host with a tool search should show from the start: every task begins there."""

_OBJECT = {"type": "object"}
_OBJECTS = {"type": "array", "items": _OBJECT}
_STRING = {"type": "string"}
_RESULT = {
    "type": "object",
    "properties": dict.fromkeys(("id", "title", "url", "evidence"), _STRING),
}

_OUTPUTS: dict[str, dict[str, object]] = {
    "schema": {"data": _OBJECT},
    "query_records": {"data": _OBJECT},
    "aggregate": {"data": _OBJECT},
    "search": {
        "data": _OBJECT,
        "results": {"type": "array", "items": _RESULT},
        "content_ladder": _OBJECT,
    },
    "fetch": {
        "id": _STRING,
        "title": _STRING,
        "text": _STRING,
        "url": _STRING,
        "metadata": _OBJECT,
    },
    "read_record_field": {
        "id": _STRING,
        "field_path": _STRING,
        "digest": _STRING,
        "window": _OBJECT,
        "binary": _OBJECT,
        "source": _OBJECT,
        "hidden_characters": {"type": "boolean"},
    },
}

ANNOTATIONS = {
    "readOnlyHint": True,
    "destructiveHint": False,
    "idempotentHint": True,
}


class DataWords(NamedTuple):
    """How the definitions name what a grant opens: in nouns, in few of them, in words to find."""

    nouns: str = "records"
    few: str = "records"
    words: str = ""


ANY_DATA = DataWords()
"""For a grant of which nothing is known yet."""


def definition(tool: str, data: DataWords = ANY_DATA) -> dict[str, object]:
    """Return what ``tools/list`` says of a tool, without its name."""
    named = data._asdict()
    meta: dict[str, object] = {"anthropic/searchHint": HINTS[tool].format(**named)}
    if tool in ALWAYS_LOADED:
        meta["anthropic/alwaysLoad"] = True
    return {
        "title": TITLES[tool].format(**named),
        "description": DESCRIPTIONS[tool].format(**named),
        "inputSchema": SIGNATURES[tool].schema(),
        "outputSchema": {
            "type": "object",
            "properties": {**_OUTPUTS[tool], "next": _OBJECTS},
        },
        "annotations": ANNOTATIONS,
        "_meta": meta,
    }
