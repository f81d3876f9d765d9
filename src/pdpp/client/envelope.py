"""Envelopes: the server's answers read into typed results.

Only what names a record or a stream is required. Other servers of the protocol leave out members
that ours adds (versions, digests, titles, offsets, the short name of a connector): those are None.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
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
        return Page(
            items=tuple(parse(item) for item in raw["data"]),
            has_more=raw.get("has_more") is True,
            next_cursor=raw.get("next_cursor"),
            next_changes_since=raw.get("next_changes_since"),
            count=_count(raw),
            warnings=_warnings(raw),
            raw=raw,
        )

    return read


def _count(raw: Json) -> int | None:
    """Return how many there are in all: a number, or an object with one."""
    count = _meta(raw).get("count")
    value = count.get("value") if isinstance(count, Mapping) else count
    return value if isinstance(value, int) else None


def _meta(raw: Json) -> Json:
    meta = raw.get("meta")
    return meta if isinstance(meta, Mapping) else {}


def _warnings(raw: Json) -> tuple[Notice, ...]:
    warnings = _meta(raw).get("warnings") or []
    return tuple(Notice(str(w.get("code")), str(w.get("message")), w) for w in warnings)


def stream_of(raw: Json) -> Stream:
    """Read a row of the list of streams."""
    return Stream(
        name=raw["name"],
        label=raw.get("label") or raw["name"],
        connection_id=raw["connection_id"],
        connector_key=raw.get("connector_key"),
        display_name=raw.get("display_name") or raw["connection_id"],
        record_count=raw.get("record_count"),
        newest_record_at=(raw.get("freshness") or {}).get("newest_record_at"),
        raw=raw,
    )


def record_of(raw: Json) -> Record:
    """Read a record or a tombstone."""
    return Record(
        id=Handle(raw["connection_id"], raw["stream"], raw["id"]).id,
        key=raw["id"],
        stream=raw["stream"],
        connection_id=raw["connection_id"],
        connector_key=raw.get("connector_key"),
        display_name=raw.get("display_name") or raw["connection_id"],
        data=raw.get("data") or {},
        emitted_at=raw.get("emitted_at"),
        version=raw.get("version"),
        expanded=raw.get("expanded") or {},
        deleted_at=raw.get("deleted_at"),
        raw=raw,
    )


def hit_of(raw: Json) -> Hit:
    """Read a search result."""
    connection_id, stream, key = raw["connection_id"], raw["stream"], raw["record_key"]
    return Hit(
        id=raw.get("id") or Handle(connection_id, stream, key).id,
        key=key,
        stream=stream,
        connection_id=connection_id,
        connector_key=raw.get("connector_key"),
        display_name=raw.get("display_name"),
        title=raw.get("title"),
        event_time=raw.get("event_time"),
        emitted_at=raw.get("emitted_at"),
        matched_fields=tuple(raw.get("matched_fields") or ()),
        matched=tuple(raw.get("matched") or ()),
        missing=tuple(raw.get("missing") or ()),
        score=_score(raw),
        excerpts=tuple(_excerpt(part) for part in raw.get("evidence_excerpts") or ()),
        raw=raw,
    )


def _score(raw: Json) -> float | None:
    score = raw.get("score")
    value = score.get("value") if isinstance(score, Mapping) else score
    return float(value) if isinstance(value, int | float) else None


def _excerpt(raw: Json) -> Excerpt:
    return Excerpt(
        field_path=raw["field_path"],
        preview_text=raw["preview_text"],
        start_chars=raw.get("start_chars"),
        end_chars=raw.get("end_chars"),
        total_chars=raw.get("total_chars"),
        matches=_spans(raw),
        truncated=raw.get("truncated") is True,
        digest=raw.get("digest"),
        raw=raw,
    )


def _spans(raw: Json) -> tuple[Span, ...]:
    return tuple((m["start_chars"], m["end_chars"]) for m in raw.get("matches") or ())


def window_reader(connection_id: str | None) -> Callable[[Json], Window]:
    """Return what reads a window of a record that was asked for in one connection."""
    return partial(window_of, connection_id=connection_id)


def window_of(raw: Json, connection_id: str | None = None) -> Window:
    """Read a field window; a server that does not repeat the connection is told it."""
    window = raw["window"]
    text, start = window["text"], window["start_chars"]
    connection_id = raw.get("connection_id") or connection_id
    has_more = window.get("has_more") is True
    return Window(
        id=Handle(connection_id, raw["stream"], raw["record_id"]).id,
        field_path=raw["field"]["path"],
        text=text,
        start_chars=start,
        end_chars=start + len(text),
        total_chars=window["total_chars"],
        complete=window.get("complete") is True,
        has_more=has_more,
        # Counted here: a server that counts in UTF-16 is wrong after an emoji, and skips text.
        next_offset_chars=start + len(text) if has_more and text else None,
        previous_offset_chars=window.get("previous_offset_chars"),
        matches=_matches(window),
        match_count=window.get("match_count"),
        digest=raw.get("digest"),
        version=raw.get("version"),
        raw=raw,
    )


def _matches(window: Json) -> tuple[Span, ...]:
    """Return where the words are: every match, or the one that a server tells alone."""
    first, last = window.get("match_start_chars"), window.get("match_end_chars")
    if window.get("matches") or not isinstance(first, int) or not isinstance(last, int):
        return _spans(window)
    return ((first, last),)


def aggregation_of(raw: Json) -> Aggregation:
    """Read an aggregation."""
    groups = raw.get("groups") or []
    return Aggregation(
        metric=raw["metric"],
        value=raw.get("value"),
        groups=tuple(Group(g.get("key"), g["count"], g.get("value")) for g in groups),
        other_count=raw.get("other_count") or 0,
        filtered_record_count=raw.get("filtered_record_count"),
        approximate=raw.get("approximate") is True,
        warnings=_warnings(raw),
        raw=raw,
    )


def schema_of(raw: Json) -> Schema:
    """Read a schema, compact or full."""
    connectors = raw["connectors"]
    return Schema(
        detail=raw.get("detail"),
        token_kind=str((raw.get("bearer") or {}).get("token_kind", "client")),
        connections={
            connection["connection_id"]: connection.get("display_name")
            or connection["connection_id"]
            for connector in connectors
            for connection in _granted(connector)
        },
        streams=tuple(
            SchemaStream(
                row["name"],
                connector.get("connector_key"),
                _record_counts(connector, row),
                row.get("field_capabilities") or row.get("fields") or {},
                row,
            )
            for connector in connectors
            for row in connector["streams"]
        ),
        raw=raw,
    )


def _granted(part: Json) -> Sequence[Json]:
    return part.get("granted_connections") or ()


def _record_counts(connector: Json, row: Json) -> Mapping[str, int | None]:
    """Return by connection how many records a stream has; None where the server does not say."""
    if row.get("record_counts"):
        counts: Mapping[str, int | None] = row["record_counts"]
        return counts
    if row.get("connection_id"):
        return {row["connection_id"]: row.get("record_count")}
    granted = _granted(row) or _granted(connector)
    return {connection["connection_id"]: None for connection in granted}
