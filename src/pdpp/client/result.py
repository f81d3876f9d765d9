"""Results: what the server answers as typed values; ``raw`` is the answer itself.

``raw`` is for programs that know a server better than these types do. Nothing here looks into it.
A member that another implementation of the protocol does not send is None: nothing is invented.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Generic, NamedTuple, TypeVar

from pdpp.wire.advice import SearchAdvice

Json = Mapping[str, Any]
Span = tuple[int, int]
T = TypeVar("T")


class Notice(NamedTuple):
    """Something the server did differently from what was asked."""

    code: str
    message: str
    raw: Json


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One page of a list; ``next_cursor`` leads on where ``has_more`` says there is more."""

    items: tuple[T, ...]
    has_more: bool
    next_cursor: str | None
    next_changes_since: str | None
    count: int | None
    warnings: tuple[Notice, ...]
    advice: SearchAdvice
    """How the words of a search were read, and what to try where nothing answers."""
    raw: Json


class Stream(NamedTuple):
    """One stream of one connection."""

    name: str
    label: str
    connection_id: str
    connector_key: str | None
    display_name: str
    record_count: int | None
    newest_record_at: str | None
    raw: Json


class Record(NamedTuple):
    """One record, or what is left of one that was deleted; ``id`` names it everywhere."""

    id: str
    key: str
    stream: str
    connection_id: str
    connector_key: str | None
    display_name: str
    data: Json
    emitted_at: str | None
    version: str | None
    expanded: Json
    deleted_at: str | None
    raw: Json
    deleted: bool = False
    """Whether only a tombstone is left."""

    related: "Mapping[str, ExpandedRecords]" = MappingProxyType({})
    """What ``expanded`` holds, as records."""

    link: str | None = None
    """An address on the web that the server tells of it."""


class ExpandedRecords(NamedTuple):
    """The records of one relation that was expanded; one that leads to one record is no list."""

    records: tuple[Record, ...]
    has_more: bool
    is_list: bool = True


class PassageRead(NamedTuple):
    """From where on, and how much, a server says a passage is read with; None where it does not."""

    offset_chars: int | None = None
    limit_chars: int | None = None


class Excerpt(NamedTuple):
    """A passage that proves a match: ``field[start_chars:end_chars]``, marked in the preview.

    ``field_path`` names the field, ``preview_text`` is the passage with ``<mark>`` around each
    match, ``matches`` are the same matches as offsets, and ``digest`` identifies the whole text.
    """

    field_path: str
    preview_text: str
    start_chars: int | None
    end_chars: int | None
    total_chars: int | None
    matches: tuple[Span, ...]
    truncated: bool
    digest: str | None
    raw: Json
    read: PassageRead = PassageRead()


class Hit(NamedTuple):
    """One search result.

    ``id`` names the record in every other call, ``key`` is its name within the stream.
    ``connector_key`` is the kind of source, ``display_name`` what the owner calls the account.
    ``title`` and ``event_time`` come from the fields that the source declares for them.
    ``matched_fields`` are the fields that hold the words, ``score`` ranks the hit as ``raw`` says,
    and ``excerpts`` are the passages that prove the match; a match without a passage has none.
    ``Client.citation_url(hit)`` is an address where a person sees the record.
    """

    id: str
    key: str
    stream: str
    connection_id: str
    connector_key: str | None
    display_name: str | None
    title: str | None
    event_time: str | None
    emitted_at: str | None
    matched_fields: tuple[str, ...]
    matched: tuple[str, ...]
    missing: tuple[str, ...]
    score: float | None
    excerpts: tuple[Excerpt, ...]
    raw: Json
    link: str | None = None


class Window(NamedTuple):
    """A piece of one field; windows with one digest are from one text."""

    id: str
    field_path: str
    text: str
    start_chars: int
    end_chars: int
    total_chars: int
    complete: bool
    has_more: bool
    next_offset_chars: int | None
    previous_offset_chars: int | None
    matches: tuple[Span, ...]
    match_count: int | None
    digest: str | None
    version: str | None
    raw: Json
    limit_chars: int | None = None
    link: str | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """One group of an aggregation; ``value`` is None where the metric is the count."""

    key: Any
    count: int
    value: Any


class Aggregation(NamedTuple):
    """A number, or numbers by group; ``other_count`` counts the records of groups not listed."""

    metric: str
    value: Any
    groups: tuple[Group, ...]
    other_count: int
    filtered_record_count: int | None
    approximate: bool
    warnings: tuple[Notice, ...]
    raw: Json
    stream: str | None = None
    field: str | None = None
    group_by: str | None = None
    group_by_time: str | None = None
    granularity: str | None = None
    time_zone: str | None = None
    grouped: bool = False


class SchemaStream(NamedTuple):
    """A stream that the token opens; its fields are there only where a stream was named.

    ``fields`` is what the server says of each, ``flags`` the same in the short form.
    """

    name: str
    connector_key: str | None
    record_counts: Mapping[str, int | None]
    fields: Json
    raw: Json
    views: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    flags: Mapping[str, str] = MappingProxyType({})


class BearerFacts(NamedTuple):
    """What a server says of the token itself."""

    grant_id: str | None = None
    package_id: str | None = None
    client_id: str | None = None


class Schema(NamedTuple):
    """What the token opens, and what may be asked of it."""

    detail: str | None
    token_kind: str | None
    connections: Mapping[str, str]
    streams: tuple[SchemaStream, ...]
    raw: Json
    bearer: BearerFacts = BearerFacts()
    legend: str | None = None
    declarations: tuple[Json, ...] = ()
