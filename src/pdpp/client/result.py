"""Results: what the server answers as typed values; ``raw`` is the answer itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

Json = Mapping[str, Any]
Span = tuple[int, int]
T = TypeVar("T")


class Notice(NamedTuple):
    """Something the server did otherwise than it was asked."""

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
    raw: Json


class Stream(NamedTuple):
    """One stream of one connection."""

    name: str
    label: str
    connection_id: str
    connector_key: str
    display_name: str
    record_count: int
    newest_record_at: str | None
    raw: Json


class Record(NamedTuple):
    """One record, or what is left of one that was deleted; ``id`` names it everywhere."""

    id: str
    key: str
    stream: str
    connection_id: str
    connector_key: str
    display_name: str
    data: Json
    emitted_at: str
    version: str
    expanded: Json
    deleted_at: str | None
    raw: Json

    @property
    def deleted(self) -> bool:
        """Tell whether only a tombstone is left."""
        return self.deleted_at is not None


class Excerpt(NamedTuple):
    """A passage that proves a match: ``field[start_chars:end_chars]``, marked in the preview."""

    field_path: str
    preview_text: str
    start_chars: int
    end_chars: int
    total_chars: int
    matches: tuple[Span, ...]
    truncated: bool
    digest: str
    raw: Json


class Hit(NamedTuple):
    """One search result; ``excerpts`` is empty where no passage proves the match."""

    id: str
    key: str
    stream: str
    connection_id: str
    connector_key: str
    display_name: str
    title: str
    event_time: str | None
    emitted_at: str
    matched_fields: tuple[str, ...]
    score: float
    excerpts: tuple[Excerpt, ...]
    raw: Json


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
    digest: str
    version: str
    raw: Json


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
    filtered_record_count: int
    approximate: bool
    warnings: tuple[Notice, ...]
    raw: Json


class SchemaStream(NamedTuple):
    """A stream that the token opens; ``fields`` are its flags, only where a stream was named."""

    name: str
    connector_key: str
    record_counts: Mapping[str, int | None]
    fields: Json
    raw: Json


class Schema(NamedTuple):
    """What the token opens, and what may be asked of it."""

    detail: str
    token_kind: str
    connections: Mapping[str, str]
    streams: tuple[SchemaStream, ...]
    raw: Json
