"""Requests: the reads of ``/v1`` as values, written once for both clients and the program."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypedDict

from pdpp.evidence.handle import Handle

Filter = Mapping[str, Any]
"""By field a value, or bounds by operator: ``{"size": {"gte": 10, "lt": 20}}``."""


class ReadRequest(NamedTuple):
    """One read: where, and what is asked there."""

    path: tuple[str, ...]
    params: Mapping[str, Any] = {}

    def with_params(self, **more: Any) -> "ReadRequest":
        """Return the same read with something more asked."""
        return self._replace(params={**self.params, **more})

    def without_params(self, *names: str) -> "ReadRequest":
        """Return the same read with something less asked."""
        return self._replace(params={k: v for k, v in self.params.items() if k not in names})


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
    match: Literal["best", "all"] | None
    sort: Literal["score", "time"] | None
    time_zone: str | None
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


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was given; an empty list or object asks for nothing."""
    return {name: value for name, value in options.items() if value not in (None, (), [], {})}


def schema(stream: str | None, connection_id: str | None, *, full: bool) -> ReadRequest:
    """Ask what the token opens."""
    detail = {"detail": "full"} if full else {"view": "compact"}
    return ReadRequest(
        ("schema",), _given({"stream": stream, "connection_id": connection_id, **detail})
    )


def streams(stream: str | None, connection_id: str | None) -> ReadRequest:
    """Ask for the streams of each connection."""
    path = ("streams",) if stream is None else ("streams", stream)
    return ReadRequest(path, _given({"connection_id": connection_id}))


def records(stream: str, options: RecordOptions) -> ReadRequest:
    """Ask for a page of records."""
    return ReadRequest(("streams", stream, "records"), _given(options))


def changes(stream: str, since: str, options: ChangeOptions) -> ReadRequest:
    """Ask for a page of what changed."""
    params = {"changes_since": since, **_given(options)}
    return ReadRequest(("streams", stream, "records"), params)


def record(handle: Handle, options: OneOptions) -> ReadRequest:
    """Ask for one record."""
    return ReadRequest(_place(handle), _within(handle, _given(options)))


def window(handle: Handle, field: str, options: WindowOptions) -> ReadRequest:
    """Ask for a piece of one field."""
    params = _given(options)
    if "query" in params:
        params["q"] = params.pop("query")
    return ReadRequest(
        (*_place(handle), "field-window"), _within(handle, {"field": field, **params})
    )


def search(query: str, options: SearchOptions) -> ReadRequest:
    """Ask for a page of records that answer a question."""
    params = _given(options)
    mode = params.pop("mode", "lexical")
    return ReadRequest(
        ("search",) if mode == "lexical" else ("search", mode), {"q": query, **params}
    )


def aggregate(stream: str, metric: str, options: AggregateOptions) -> ReadRequest:
    """Ask for a number, or one for each group."""
    return ReadRequest(("streams", stream, "aggregate"), {"metric": metric, **_given(options)})


def _place(handle: Handle) -> tuple[str, ...]:
    return ("streams", handle.stream, "records", handle.record_id)


def _within(handle: Handle, params: dict[str, Any]) -> dict[str, Any]:
    if handle.connection_id is None:
        return params
    return {**params, "connection_id": handle.connection_id}
