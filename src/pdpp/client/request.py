"""Requests: the reads of ``/v1`` as values, written once for both clients and the program."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypedDict

from pdpp.evidence.handle import Handle

Filter = Mapping[str, Any]
"""By field a value, or bounds by operator: ``{"size": {"gte": 10, "lt": 20}}``."""


class Request(NamedTuple):
    """One read: where, and what is asked there."""

    path: tuple[str, ...]
    params: Mapping[str, Any] = {}

    def with_params(self, **more: Any) -> "Request":
        """Return the same read with something more asked."""
        return self._replace(params={**self.params, **more})


class RecordOptions(TypedDict, total=False):
    """What a page of records may be asked with."""

    connection_id: str | None
    filter: Filter | None
    fields: Sequence[str] | None
    view: str | None
    sort: str | None
    order: Literal["asc", "desc"] | None
    limit: int | None
    cursor: str | None
    count: Literal["none", "estimated", "exact"] | None
    expand: Sequence[str] | None
    expand_limit: Mapping[str, int] | None


class ChangeOptions(TypedDict, total=False):
    """What a reading of changes may be asked with."""

    connection_id: str | None
    fields: Sequence[str] | None
    view: str | None
    limit: int | None
    cursor: str | None


class OneOptions(TypedDict, total=False):
    """What one record may be asked with."""

    connection_id: str | None
    fields: Sequence[str] | None
    view: str | None
    expand: Sequence[str] | None
    expand_limit: Mapping[str, int] | None


class WindowOptions(TypedDict, total=False):
    """Which piece of a field: from an offset on, or around the first match of a query."""

    connection_id: str | None
    offset_chars: int | None
    limit_chars: int | None
    query: str | None
    before_chars: int | None
    after_chars: int | None


class SearchOptions(TypedDict, total=False):
    """What a search may be asked with."""

    streams: Sequence[str] | None
    connection_id: str | None
    filter: Filter | None
    mode: Literal["lexical", "semantic", "hybrid"] | None
    limit: int | None
    cursor: str | None


class AggregateOptions(TypedDict, total=False):
    """What an aggregation may be asked with."""

    field: str | None
    group_by: str | None
    group_by_time: str | None
    granularity: str | None
    time_zone: str | None
    filter: Filter | None
    limit: int | None
    connection_id: str | None


def _told(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was given; an empty list or object asks for nothing."""
    return {name: value for name, value in options.items() if value not in (None, (), [], {})}


def schema(stream: str | None, connection_id: str | None, *, full: bool) -> Request:
    """Ask what the token opens."""
    detail = {"detail": "full"} if full else {"view": "compact"}
    return Request(("schema",), _told({"stream": stream, "connection_id": connection_id, **detail}))


def streams(stream: str | None, connection_id: str | None) -> Request:
    """Ask for the streams of each connection."""
    path = ("streams",) if stream is None else ("streams", stream)
    return Request(path, _told({"connection_id": connection_id}))


def records(stream: str, options: RecordOptions) -> Request:
    """Ask for a page of records."""
    return Request(("streams", stream, "records"), _told(options))


def changes(stream: str, since: str, options: ChangeOptions) -> Request:
    """Ask for a page of what changed."""
    params = {"changes_since": since, **_told(options)}
    return Request(("streams", stream, "records"), params)


def record(handle: Handle, options: OneOptions) -> Request:
    """Ask for one record."""
    return Request(_place(handle), _within(handle, _told(options)))


def window(handle: Handle, field: str, options: WindowOptions) -> Request:
    """Ask for a piece of one field."""
    told = _told(options)
    if "query" in told:
        told["q"] = told.pop("query")
    return Request((*_place(handle), "field-window"), _within(handle, {"field": field, **told}))


def search(query: str, options: SearchOptions) -> Request:
    """Ask for a page of records that hold some words."""
    told = _told(options)
    mode = told.pop("mode", "lexical")
    return Request(("search",) if mode == "lexical" else ("search", mode), {"q": query, **told})


def aggregate(stream: str, metric: str, options: AggregateOptions) -> Request:
    """Ask for a number, or one for each group."""
    return Request(("streams", stream, "aggregate"), {"metric": metric, **_told(options)})


def _place(handle: Handle) -> tuple[str, ...]:
    return ("streams", handle.stream, "records", handle.record_id)


def _within(handle: Handle, params: dict[str, Any]) -> dict[str, Any]:
    if handle.connection_id is None:
        return params
    return {**params, "connection_id": handle.connection_id}
