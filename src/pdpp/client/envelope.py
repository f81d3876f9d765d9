"""Envelopes: the server's answers read into typed results.

Only what names a record or a stream is required. Other servers of the protocol leave out members
that ours adds (versions, digests, titles, offsets, the short name of a connector): those are None,
and so is a member of another kind than its name promises.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeVar

from pdpp.client.result import (
    Aggregation,
    BearerFacts,
    Excerpt,
    ExpandedRecords,
    Group,
    Hit,
    Json,
    Notice,
    Page,
    PassageRead,
    Record,
    Schema,
    SchemaStream,
    Span,
    Stream,
    Window,
)
from pdpp.evidence.compact import expands_of, fields_of, stream_flags
from pdpp.evidence.handle import Handle
from pdpp.evidence.presentation import is_web_link
from pdpp.wire.advice import advice_in
from pdpp.wire.members import (
    flag_in,
    id_in,
    name_in,
    object_in,
    objects_in,
    text_in,
    texts_in,
    whole_in,
)
from pdpp.wire.passage import MatchPassage, passages_in

T = TypeVar("T")


def page_of(parse: Callable[[Json], T]) -> "Callable[[Json], Page[T]]":
    """Return what reads a list of one kind of thing."""

    def read(raw: Json) -> Page[T]:
        return Page(
            items=tuple(parse(item) for item in raw["data"]),
            has_more=raw.get("has_more") is True,
            next_cursor=text_in(raw, "next_cursor"),
            next_changes_since=text_in(raw, "next_changes_since"),
            count=_count(raw),
            warnings=_warnings(raw),
            advice=advice_in(object_in(raw, "meta")),
            raw=raw,
        )

    return read


def _count(raw: Json) -> int | None:
    """Return how many there are in all: a number, or an object with one."""
    meta = object_in(raw, "meta")
    count = object_in(meta, "count")
    return whole_in(count, "value") if count else whole_in(meta, "count")


def _warnings(raw: Json) -> tuple[Notice, ...]:
    return tuple(
        Notice(code, text_in(warning, "message") or code, warning)
        for warning in objects_in(object_in(raw, "meta"), "warnings")
        if (code := text_in(warning, "code") or "warning")
    )


def stream_of(raw: Json) -> Stream:
    """Read a row of the list of streams."""
    name, connection_id = name_in(raw, "name"), name_in(raw, "connection_id")
    return Stream(
        name=name,
        label=text_in(raw, "label") or name,
        connection_id=connection_id,
        connector_key=text_in(raw, "connector_key"),
        display_name=text_in(raw, "display_name") or connection_id,
        record_count=whole_in(raw, "record_count"),
        newest_record_at=text_in(object_in(raw, "freshness"), "newest_record_at"),
        raw=raw,
    )


def record_of(raw: Json) -> Record:
    """Read a record or a tombstone."""
    connection_id, stream, key = (name_in(raw, n) for n in ("connection_id", "stream", "id"))
    deleted_at = text_in(raw, "deleted_at")
    return Record(
        id=Handle(connection_id, stream, key).id,
        key=key,
        stream=stream,
        connection_id=connection_id,
        connector_key=text_in(raw, "connector_key"),
        display_name=text_in(raw, "display_name") or connection_id,
        data=object_in(raw, "data"),
        emitted_at=text_in(raw, "emitted_at"),
        version=text_in(raw, "version"),
        expanded=object_in(raw, "expanded"),
        deleted_at=deleted_at,
        raw=raw,
        deleted=deleted_at is not None or flag_in(raw, "deleted") is True,
        related={name: _related(value) for name, value in object_in(raw, "expanded").items()},
        link=_link(raw),
    )


def _link(raw: Json) -> str | None:
    """Return the address that a server tells, if a person can open it."""
    link = text_in(raw, "url")
    return link if link is not None and is_web_link(link) else None


def lists_rows(raw: Json) -> bool:
    """Tell whether an answer is a list."""
    return "data" in raw


def _related(value: object) -> ExpandedRecords:
    """Read the records of a relation: a list, one of them, or none."""
    if not isinstance(value, Mapping):
        return ExpandedRecords((), has_more=False)
    listed = isinstance(value.get("data"), list)
    rows = objects_in(value, "data") if listed else [value]
    records = tuple(record_of(row) for row in rows)
    return ExpandedRecords(records, listed and value.get("has_more") is True, listed)


def hit_of(raw: Json) -> Hit:
    """Read a search result."""
    connection_id, stream = name_in(raw, "connection_id"), name_in(raw, "stream")
    key = id_in(raw, "record_key") or name_in(raw, "record_key")
    return Hit(
        id=text_in(raw, "id") or Handle(connection_id, stream, key).id,
        key=key,
        stream=stream,
        connection_id=connection_id,
        connector_key=text_in(raw, "connector_key"),
        display_name=text_in(raw, "display_name"),
        title=text_in(raw, "title"),
        event_time=text_in(raw, "event_time"),
        emitted_at=text_in(raw, "emitted_at"),
        matched_fields=tuple(texts_in(raw, "matched_fields")),
        matched=tuple(texts_in(raw, "matched")),
        missing=tuple(texts_in(raw, "missing")),
        score=_score(raw),
        excerpts=tuple(map(_excerpt, passages_in(raw))),
        raw=raw,
        link=_link(raw),
    )


def _score(raw: Json) -> float | None:
    score = raw.get("score")
    value = score.get("value") if isinstance(score, Mapping) else score
    return float(value) if isinstance(value, int | float) else None


def _excerpt(passage: MatchPassage) -> Excerpt:
    raw = passage.facts
    read = object_in(raw, "read")
    return Excerpt(
        field_path=passage.field_path,
        preview_text=passage.text,
        start_chars=whole_in(raw, "start_chars"),
        end_chars=whole_in(raw, "end_chars"),
        total_chars=whole_in(raw, "total_chars"),
        matches=_spans(raw),
        truncated=raw.get("truncated") is True,
        digest=text_in(raw, "digest"),
        raw=raw,
        read=PassageRead(whole_in(read, "offset_chars"), whole_in(read, "limit_chars")),
    )


def _spans(raw: Json) -> tuple[Span, ...]:
    pairs = (
        (whole_in(m, "start_chars"), whole_in(m, "end_chars")) for m in objects_in(raw, "matches")
    )
    return tuple((start, end) for start, end in pairs if start is not None and end is not None)


def window_reader(connection_id: str | None) -> Callable[[Json], Window]:
    """Return what reads a window of a record that was asked for in one connection."""
    return partial(window_of, connection_id=connection_id)


def window_of(raw: Json, connection_id: str | None = None) -> Window:
    """Read a field window; a server that does not repeat the connection is told it."""
    window = raw["window"]
    text, start = window["text"], whole_in(window, "start_chars")
    if not isinstance(text, str) or start is None:
        raise ValueError("a window has a text and a start")
    connection_id = text_in(raw, "connection_id") or connection_id
    has_more = window.get("has_more") is True
    total = whole_in(window, "total_chars")
    return Window(
        id=Handle(connection_id, name_in(raw, "stream"), name_in(raw, "record_id")).id,
        field_path=name_in(raw["field"], "path"),
        text=text,
        start_chars=start,
        end_chars=start + len(text),
        total_chars=start + len(text) if total is None else total,
        complete=window.get("complete") is True,
        has_more=has_more,
        # Counted here: a server that counts in UTF-16 is wrong after an emoji, and skips text.
        next_offset_chars=start + len(text) if has_more and text else None,
        previous_offset_chars=whole_in(window, "previous_offset_chars"),
        matches=_matches(window),
        match_count=whole_in(window, "match_count"),
        digest=text_in(raw, "digest"),
        version=text_in(raw, "version"),
        raw=raw,
        limit_chars=whole_in(window, "limit_chars"),
        link=_link(raw),
    )


def _matches(window: Json) -> tuple[Span, ...]:
    """Return where the words are: every match, or the one that a server tells alone."""
    first, last = whole_in(window, "match_start_chars"), whole_in(window, "match_end_chars")
    if window.get("matches") or first is None or last is None:
        return _spans(window)
    return ((first, last),)


def aggregation_of(raw: Json) -> Aggregation:
    """Read an aggregation."""
    return Aggregation(
        metric=name_in(raw, "metric"),
        value=raw.get("value"),
        groups=tuple(_group(group) for group in objects_in(raw, "groups")),
        other_count=whole_in(raw, "other_count") or 0,
        filtered_record_count=whole_in(raw, "filtered_record_count"),
        approximate=raw.get("approximate") is True,
        warnings=_warnings(raw),
        raw=raw,
        stream=text_in(raw, "stream"),
        field=text_in(raw, "field"),
        group_by=text_in(raw, "group_by"),
        group_by_time=text_in(raw, "group_by_time"),
        granularity=text_in(raw, "granularity"),
        time_zone=text_in(raw, "time_zone"),
        grouped=isinstance(raw.get("groups"), list),
    )


def _group(raw: Json) -> Group:
    count = whole_in(raw, "count")
    if count is None:
        raise ValueError("a group has a count")
    return Group(raw.get("key"), count, raw.get("value"))


def schema_of(raw: Json) -> Schema:
    """Read a schema, compact or full."""
    if not isinstance(raw.get("connectors"), list):
        raise TypeError("a schema lists connectors")
    connectors, bearer = objects_in(raw, "connectors"), object_in(raw, "bearer")
    return Schema(
        detail=text_in(raw, "detail"),
        token_kind=text_in(bearer, "token_kind"),
        connections={
            id: name or id for connector in connectors for id, name in _granted(connector).items()
        },
        streams=tuple(
            _schema_stream(connector, row)
            for connector in connectors
            for row in objects_in(connector, "streams")
        ),
        raw=raw,
        bearer=BearerFacts(
            *(text_in(bearer, name) for name in ("grant_id", "grant_package_id", "client_id"))
        ),
        legend=_legend(raw),
        declarations=tuple(
            document for one in connectors if (document := object_in(one, "declaration"))
        ),
    )


def _legend(raw: Json) -> str | None:
    """Return what the flags mean: as text, also where a server lists them one by one."""
    listed = object_in(raw, "field_capability_legend")
    explained = ", ".join(f"{flag} = {meaning}" for flag, meaning in listed.items())
    return explained or text_in(raw, "field_capability_legend")


def _schema_stream(connector: Json, row: Json) -> SchemaStream:
    return SchemaStream(
        name=name_in(row, "name"),
        connector_key=text_in(connector, "connector_key"),
        record_counts=_record_counts(connector, row),
        fields=fields_of(row),
        raw=row,
        views=(*texts_in(row, "views"), *_named(objects_in(row, "views"), "id")),
        relations=_named(expands_of(row), "name"),
        flags=stream_flags(fields_of(row)),
    )


def _named(items: list[Json], name: str) -> tuple[str, ...]:
    return tuple(text for item in items if (text := text_in(item, name)) is not None)


def _granted(part: Json) -> dict[str, str | None]:
    """Return the connections of a connector or a stream by id, with their names."""
    return {
        id: text_in(connection, "display_name")
        for connection in objects_in(part, "granted_connections")
        if (id := text_in(connection, "connection_id")) is not None
    }


def _record_counts(connector: Json, row: Json) -> Mapping[str, int | None]:
    """Return by connection how many records a stream has; None where the server does not say."""
    if counts := object_in(row, "record_counts"):
        return {id: whole_in(counts, id) for id in counts}
    if own := text_in(row, "connection_id"):
        return {own: whole_in(row, "record_count")}
    return dict.fromkeys(_granted(row) or _granted(connector))
