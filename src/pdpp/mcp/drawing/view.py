"""Views: what a tool found, as one value from which both halves of its result are made."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from pdpp.evidence.fence import visible
from pdpp.mcp.drawing.result import Less
from pdpp.mcp.kernel.rpc import JsonObject

if TYPE_CHECKING:
    from pdpp.evidence.binary import Binary
    from pdpp.mcp.reading.aggregation import ServerAggregation
    from pdpp.mcp.reading.choices import ConnectionChoice
    from pdpp.mcp.reading.error_answer import ErrorFacts
    from pdpp.mcp.reading.field_window import FieldWindow
    from pdpp.mcp.reading.record_answer import ServerRecordPage
    from pdpp.mcp.reading.schema_answer import SchemaAnswer
    from pdpp.mcp.reading.search_answer import HitPassage, SearchAnswer
    from pdpp.wire.verbatim import Verbatim


class NextCall(NamedTuple):
    """A call that goes on from here, with words for what it does."""

    what: str
    tool: str
    arguments: Mapping[str, object]

    def as_json(self) -> JsonObject:
        """Return the call as the structured half carries it."""
        return {"tool": self.tool, "arguments": dict(self.arguments)}


class RecordSource(NamedTuple):
    """Where a record comes from."""

    connection_id: str | None
    connector_key: str | None
    display_name: str | None
    stream: str
    record_id: str

    def as_json(self, *, is_plain: bool = False) -> dict[str, str]:
        """Return the source handles that are known; ``is_plain`` says that all show as they are."""
        connection_id, connector_key, display_name, stream, record_id = self
        handles: dict[str, str] = {}
        if connection_id is not None:
            handles["connection_id"] = connection_id
        if connector_key is not None:
            key = connector_key if is_plain else visible(connector_key, lines=False)
            handles["connector_key"] = key
        if display_name is not None:
            name = display_name if is_plain else visible(display_name, lines=False)
            handles["display_name"] = name
        handles["stream"] = stream
        handles["record_id"] = record_id
        return handles


class HitView(NamedTuple):
    """One search hit."""

    id: str
    source: RecordSource
    title: str
    url: str
    event_time: str | None
    matched_fields: Sequence[str]
    passage: "HitPassage | None"
    read: NextCall
    matched: Sequence[str] = ()
    missing: Sequence[str] = ()
    is_plain: bool = False
    """Whether all that it says is known to be ASCII that shows as it is."""


class DrawnHit(NamedTuple):
    """A hit with its part of the text, and its parts of the object."""

    hit: HitView
    text: str
    result: Mapping[str, object]
    rung: Mapping[str, object]


class SearchView(NamedTuple):
    """One page of hits."""

    page: "SearchAnswer"
    hits: Sequence[DrawnHit]
    next: NextCall | None
    notes: Sequence[str] = ()
    unavailable: "Sequence[ConnectionChoice]" = ()


class Truncation(NamedTuple):
    """A field shown in part: how much of it, and the call that reads on."""

    total_chars: int
    served_chars: int
    read: NextCall

    def as_json(self) -> JsonObject:
        """Return the truncation descriptor."""
        return {
            "total_chars": self.total_chars,
            "served_chars": self.served_chars,
            self.read.tool: dict(self.read.arguments),
        }


class FieldView(NamedTuple):
    """A field as it is shown: a value, a piece of text, or the facts about binary content."""

    value: object
    cut: Truncation | None = None
    binary: "Binary | None" = None
    read: NextCall | None = None


class RecordView(NamedTuple):
    """One record of a page."""

    id: str
    source: RecordSource
    title: str | None
    envelope: "Verbatim"
    fields: Mapping[str, FieldView]
    omitted: Sequence[str] = ()
    unnamed: int = 0
    related: "Mapping[str, RelatedView]" = MappingProxyType({})
    deleted: bool = False
    deleted_at: str | None = None


class RelatedView(NamedTuple):
    """The related records of one, those that have room."""

    records: Sequence[RecordView]
    has_more: bool
    left_out: int
    more: NextCall | None


class PageView(NamedTuple):
    """One page of records or changes."""

    stream: str
    page: "ServerRecordPage"
    records: Sequence[RecordView]
    next: NextCall | None
    resume: NextCall | None
    notes: Sequence[str] = ()

    @property
    def less(self) -> Less:
        """Return how to ask for less of the page."""
        return Less.FIELDS if len(self.records) == 1 else Less.ROWS


class WindowView(NamedTuple):
    """A piece of one field, or the facts about it where it is binary."""

    id: str
    source: RecordSource | None
    field_path: str
    digest: str | None
    window: "FieldWindow | None"
    binary: "Binary | None"
    calls: Sequence[NextCall]
    uri: str | None = None


class SchemaView(NamedTuple):
    """What may be read."""

    schema: "SchemaAnswer"
    stream: str | None
    calls: Sequence[NextCall]
    unavailable: "Sequence[ConnectionChoice]" = ()


class AggregateView(NamedTuple):
    """A number, or numbers by group."""

    aggregation: "ServerAggregation"
    calls: Sequence[NextCall] = ()
    notes: Sequence[str] = ()


class ErrorView(NamedTuple):
    """Why a call gave nothing, and what to do next."""

    error: "ErrorFacts"
    calls: Sequence[NextCall]
