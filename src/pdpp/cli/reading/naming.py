"""Naming: the forms in which a person may name a record, a field or a stream."""

from collections.abc import Callable
from typing import NamedTuple, ParamSpec, TypeVar

import click

from pdpp.evidence.handle import (
    STREAM_URI,
    WINDOW_URI,
    Handle,
    complete_handle,
    parse_stream_uri,
    parse_window_uri,
)
from pdpp.model.errors import InvalidRequest

P = ParamSpec("P")
T = TypeVar("T")


class Parts(NamedTuple):
    """A record named piece by piece."""

    connection: str | None
    stream: str | None
    record: str | None


class FieldPiece(NamedTuple):
    """A field of a record, and which piece of it where the name says so."""

    handle: Handle
    field: str
    offset: int | None = None
    limit: int | None = None
    query: str | None = None


def stream_of(text: str) -> str:
    """Return the stream that a name or a stream URI means."""
    return _strictly(parse_stream_uri, text) if text.startswith(STREAM_URI) else text


def record_of(id: str | None, parts: Parts) -> Handle:
    """Return the record that an id or the parts of one name."""
    if id is not None:
        if parts.stream is not None or parts.record is not None:
            raise usage("Give ID, or --stream and --record with --connection, not both")
        return _strictly(complete_handle, id, parts.connection)
    if parts.stream is None or parts.record is None:
        raise usage("Which record? Give its ID, or --stream and --record with --connection")
    handle = _strictly(complete_handle, f"{parts.stream}:{parts.record}", parts.connection)
    if (handle.stream, handle.record_id) != (parts.stream, parts.record):
        raise usage("A stream holds neither ':' nor '/', and a record no '/'")
    return handle


def piece_of(id: str | None, field: str | None, parts: Parts) -> FieldPiece:
    """Return the field that a person names; a field-window URI brings it along."""
    if id is not None and field is None and parts.record is not None:
        id, field = None, id
    if id is not None and id.startswith(WINDOW_URI):
        window = _strictly(parse_window_uri, id)
        if field not in (None, window.field):
            raise usage(f"FIELD is {field!r} and the URI names {window.field!r}")
        handle = _strictly(complete_handle, window.handle, parts.connection)
        return FieldPiece(
            handle, window.field, window.offset_chars, window.limit_chars, window.query
        )
    if field is None:
        raise usage("Which field? Give it after the ID; pdpp read schema STREAM lists them")
    return FieldPiece(record_of(id, parts), field)


def _strictly(parse: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    try:
        return parse(*given, **named)
    except InvalidRequest as problem:
        raise usage(problem.message) from None


def usage(what: str) -> click.UsageError:
    """Return a refusal of how a command was used."""
    return click.UsageError(what, click.get_current_context())
