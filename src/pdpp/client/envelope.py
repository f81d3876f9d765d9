"""Envelopes: the server's answers read into typed results; what is missing raises, to be told."""

from collections.abc import Callable
from typing import TypeVar

from pdpp.client.result import (
    Aggregation,
    Excerpt,
    Group,
    Hit,
    Json,
    Notice,
    Page,
    Record,
    Schema,
    SchemaStream,
    Span,
    Stream,
    Window,
)
from pdpp.evidence.handle import Handle

T = TypeVar("T")


def page_of(parse: Callable[[Json], T]) -> "Callable[[Json], Page[T]]":
    """Return what reads a list of one kind of thing."""

    def read(raw: Json) -> Page[T]:
        count = raw.get("meta", {}).get("count", {})
        return Page(
            items=tuple(parse(item) for item in raw["data"]),
            has_more=raw["has_more"] is True,
            next_cursor=raw.get("next_cursor"),
            next_changes_since=raw.get("next_changes_since"),
            count=count.get("value"),
            warnings=_warnings(raw),
            raw=raw,
        )

    return read


def _warnings(raw: Json) -> tuple[Notice, ...]:
    warnings = raw.get("meta", {}).get("warnings", [])
    return tuple(Notice(str(w.get("code")), str(w.get("message")), w) for w in warnings)


def stream_of(raw: Json) -> Stream:
    """Read a row of the list of streams."""
    return Stream(
        name=raw["name"],
        label=raw.get("label") or raw["name"],
        connection_id=raw["connection_id"],
        connector_key=raw["connector_key"],
        display_name=raw["display_name"],
        record_count=raw["record_count"],
        newest_record_at=raw.get("freshness", {}).get("newest_record_at"),
        raw=raw,
    )


def record_of(raw: Json) -> Record:
    """Read a record or a tombstone."""
    return Record(
        id=Handle(raw["connection_id"], raw["stream"], raw["id"]).id,
        key=raw["id"],
        stream=raw["stream"],
        connection_id=raw["connection_id"],
        connector_key=raw["connector_key"],
        display_name=raw["display_name"],
        data=raw.get("data", {}),
        emitted_at=raw["emitted_at"],
        version=raw["version"],
        expanded=raw.get("expanded", {}),
        deleted_at=raw.get("deleted_at"),
        raw=raw,
    )


def hit_of(raw: Json) -> Hit:
    """Read a search result."""
    return Hit(
        id=raw["id"],
        key=raw["record_key"],
        stream=raw["stream"],
        connection_id=raw["connection_id"],
        connector_key=raw["connector_key"],
        display_name=raw["display_name"],
        title=raw["title"],
        event_time=raw.get("event_time"),
        emitted_at=raw["emitted_at"],
        matched_fields=tuple(raw.get("matched_fields", [])),
        score=float(raw.get("score", {}).get("value", 0.0)),
        excerpts=tuple(_excerpt(part) for part in raw.get("evidence_excerpts", [])),
        raw=raw,
    )


def _excerpt(raw: Json) -> Excerpt:
    return Excerpt(
        field_path=raw["field_path"],
        preview_text=raw["preview_text"],
        start_chars=raw["start_chars"],
        end_chars=raw["end_chars"],
        total_chars=raw["total_chars"],
        matches=_spans(raw),
        truncated=raw["truncated"] is True,
        digest=raw["digest"],
        raw=raw,
    )


def _spans(raw: Json) -> tuple[Span, ...]:
    return tuple((m["start_chars"], m["end_chars"]) for m in raw.get("matches", []))


def window_of(raw: Json) -> Window:
    """Read a field window."""
    window = raw["window"]
    return Window(
        id=Handle(raw.get("connection_id"), raw["stream"], raw["record_id"]).id,
        field_path=raw["field"]["path"],
        text=window["text"],
        start_chars=window["start_chars"],
        end_chars=window["end_chars"],
        total_chars=window["total_chars"],
        complete=window["complete"] is True,
        has_more=window["has_more"] is True,
        next_offset_chars=window.get("next_offset_chars"),
        previous_offset_chars=window.get("previous_offset_chars"),
        matches=_spans(window),
        match_count=window.get("match_count"),
        digest=raw["digest"],
        version=raw["version"],
        raw=raw,
    )


def aggregation_of(raw: Json) -> Aggregation:
    """Read an aggregation."""
    groups = raw.get("groups") or []
    return Aggregation(
        metric=raw["metric"],
        value=raw.get("value"),
        groups=tuple(Group(g.get("key"), g["count"], g.get("value")) for g in groups),
        other_count=raw.get("other_count") or 0,
        filtered_record_count=raw["filtered_record_count"],
        approximate=raw.get("approximate") is True,
        warnings=_warnings(raw),
        raw=raw,
    )


def schema_of(raw: Json) -> Schema:
    """Read a schema, compact or full."""
    connectors = raw["connectors"]
    return Schema(
        detail=raw["detail"],
        token_kind=str(raw.get("bearer", {}).get("token_kind", "client")),
        connections={
            connection["connection_id"]: connection["display_name"]
            for connector in connectors
            for connection in connector["granted_connections"]
        },
        streams=tuple(
            SchemaStream(
                row["name"],
                connector["connector_key"],
                row.get("record_counts") or {row["connection_id"]: row.get("record_count")},
                row.get("fields", {}),
                row,
            )
            for connector in connectors
            for row in connector["streams"]
        ),
        raw=raw,
    )
