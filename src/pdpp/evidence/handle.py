"""Handles: the names by which records, field windows, blobs and streams are asked for again.

A record's own name is ``connection_id/stream:record_id``, or ``stream:record_id`` where the
connection is not known. Resource URIs wrap it, percent-encoded or as base64url JSON.
"""

import base64
import binascii
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, unquote

from pdpp.evidence.text import json_text
from pdpp.model.errors import InvalidRequest

MAX_KEY_CHARS = 512
MAX_PART_CHARS = 255
MAX_HANDLE_CHARS = 1024
MAX_URI_CHARS = 16_384

RECORD_URI = "pdpp://record/"
WINDOW_URI = "pdpp://field-window/"
BLOB_URI = "pdpp://blob/"
STREAM_URI = "pdpp://stream/"

_PLAIN = re.compile(r"[A-Za-z0-9_.~-]+")
_HARMLESS = re.compile(r"(?!\.\.?\Z)[A-Za-z0-9_.-]+")
_HARMLESS_LINES = re.compile(r"(?:(?!\.\.?\n)[A-Za-z0-9_.-]+\n)+")
_EXAMPLE = "work-mail/messages:m-1"
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_BASE64URL = re.compile(r"[A-Za-z0-9_-]+={0,2}\Z", re.ASCII)
_DIGITS = re.compile(r"[0-9]{1,15}\Z", re.ASCII)


class Handle(NamedTuple):
    """The name of one record; without a connection it is the legacy form."""

    connection_id: str | None
    stream: str
    record_id: str

    @property
    def id(self) -> str:
        """Return the handle as text."""
        legacy = f"{self.stream}:{self.record_id}"
        return legacy if self.connection_id is None else f"{self.connection_id}/{legacy}"


class WindowHandle(NamedTuple):
    """The name of a stretch of one field of a record."""

    handle: Handle
    field: str
    offset_chars: int | None = None
    limit_chars: int | None = None
    query: str | None = None


def path_part(text: str) -> str:
    """Return a name as it stands in a path, percent-encoded where it must be."""
    plain = (text.isalnum() and text.isascii()) or _PLAIN.fullmatch(text)
    return text if plain else _quoted(text)


def _quoted(text: str) -> str:
    """Return a text percent-encoded; half a character, which names nothing, is passed on too."""
    return quote(text, safe="", errors="surrogatepass")


def _climbs(text: str) -> bool:
    """Tell whether a text is a way up a path, however often it is percent-encoded."""
    while True:
        if any(step in (".", "..") for step in text.split("/")):
            return True
        # Proxies and frameworks decode a path once more than expected; what climbs after any number
        # of decodings is refused.
        decoded = unquote(text)
        if decoded == text:
            return False
        text = decoded


def _text_problem(value: object, longest: int) -> str | None:
    if not isinstance(value, str):
        return "is not a string"
    if not value:
        return "is empty"
    if len(value) > longest:
        return f"is longer than {longest} characters"
    # Nearly every key passes here, in a fraction of a microsecond; the checks below are for the
    # rest.
    if _HARMLESS.fullmatch(value):
        return None
    if "/" in value:
        return "holds '/'"
    if _CONTROL.search(value):
        return "holds a control character"
    if _SURROGATE.search(value):
        return "holds a lone surrogate"
    if _climbs(value):
        return "is or hides '.' or '..'"
    return None


def is_plain_key(key: object) -> bool:
    """Tell quickly whether a record key is good; False means that ``key_problem`` must look."""
    return type(key) is str and len(key) <= MAX_KEY_CHARS and bool(_HARMLESS.fullmatch(key))


def are_plain_keys(keys: Sequence[object]) -> bool:
    """Tell the same of some keys at once: False where one of them must be looked at."""
    texts = [key for key in keys if type(key) is str and len(key) <= MAX_KEY_CHARS]
    if len(texts) < len(keys):
        return False
    lines = "\n".join((*texts, ""))
    # A key with a line break in it would be taken for two.
    return lines.count("\n") == len(keys) and _HARMLESS_LINES.fullmatch(lines) is not None


def key_problem(key: object) -> str | None:
    """Return why a record key is refused, or None when it is good."""
    return _text_problem(key, MAX_KEY_CHARS)


def part_problem(part: object) -> str | None:
    """Return why a connection id or a stream name is refused, or None when it is good."""
    problem = _text_problem(part, MAX_PART_CHARS)
    if problem or not isinstance(part, str):
        return problem
    if ":" in part:
        return "holds ':'"
    if part != part.strip():
        return "begins or ends with a space"
    return None


def _refuse(what: str, example: str) -> InvalidRequest:
    return InvalidRequest(f"{what}. A correct one looks like {example}", param="id")


def _checked(connection_id: object, stream: object, record_id: object, example: str) -> Handle:
    problems = (
        ("connection id", None if connection_id is None else part_problem(connection_id)),
        ("stream", part_problem(stream)),
        ("record id", key_problem(record_id)),
    )
    for name, problem in problems:
        if problem:
            raise _refuse(f"The {name} of this handle {problem}", example)
    return Handle(
        None if connection_id is None else str(connection_id), str(stream), str(record_id)
    )


def _parse_id(text: str, example: str) -> Handle:
    if len(text) > MAX_HANDLE_CHARS:
        raise _refuse(f"This handle is longer than {MAX_HANDLE_CHARS} characters", example)
    connection_id, slash, rest = text.partition("/")
    if not slash:
        connection_id, rest = "", text
    if "/" in rest:
        raise _refuse("This handle holds more than one '/'", example)
    stream, colon, record_id = rest.partition(":")
    if not colon:
        raise _refuse("This handle has no ':' between stream and record id", example)
    return _checked(connection_id if slash else None, stream, record_id, example)


def _unquoted(text: str, example: str) -> str:
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        raise _refuse("This URI is not percent-encoded UTF-8", example) from None


def _json_object(text: str, example: str) -> Mapping[str, Any]:
    bare = text.rstrip("=")
    try:
        data = json.loads(base64.urlsafe_b64decode(bare + "=" * (-len(bare) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise _refuse("The base64url part of this URI is not a JSON object", example)
    return data


def _after(text: str, prefix: str, example: str) -> str:
    if len(text) > MAX_URI_CHARS:
        raise _refuse(f"This URI is longer than {MAX_URI_CHARS} characters", example)
    if not text.startswith(prefix):
        raise _refuse(f"This is not a {prefix} URI", example)
    return text[len(prefix) :]


def _handle_of(data: Mapping[str, Any], example: str) -> Handle:
    parts = (data.get("connection_id"), data.get("stream"), data.get("record_id"))
    return _checked(*parts, example)


def parse_handle(text: str) -> Handle:
    """Return the record that a handle or a record URI names."""
    if not text.startswith("pdpp://"):
        return _parse_id(text, _EXAMPLE)
    example = record_uri(Handle("work-mail", "messages", "m-1"))
    wrapped = _after(text, RECORD_URI, example)
    # The two forms cannot be confused: a handle has a colon, which is percent-encoded here, and
    # base64url has no percent sign.
    if _BASE64URL.match(wrapped):
        return _handle_of(_json_object(wrapped, example), example)
    return _parse_id(_unquoted(wrapped, example), example)


def complete_handle(id: str | Handle, connection_id: str | None = None) -> Handle:
    """Return the record that an id names, with the connection given beside it."""
    handle = parse_handle(id) if isinstance(id, str) else id
    if connection_id is None or connection_id == handle.connection_id:
        return handle
    if handle.connection_id is not None:
        raise InvalidRequest(
            f"The id names connection {handle.connection_id!r} and connection_id "
            f"{connection_id!r}; give one, or the same.",
            param="connection_id",
        )
    problem = part_problem(connection_id)
    if problem is not None:
        raise InvalidRequest(f"The connection id {problem}.", param="connection_id")
    return Handle(connection_id, handle.stream, handle.record_id)


def record_uri(handle: Handle) -> str:
    """Return the resource URI of a record."""
    return RECORD_URI + _quoted(handle.id)


def _count(value: object, name: str, least: int, example: str) -> int | None:
    if isinstance(value, str) and _DIGITS.match(value):
        value = int(value)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise _refuse(f"{name} is not a whole number of at least {least}", example)
    return value


def _window_of(handle: Handle, data: Mapping[str, Any], example: str) -> WindowHandle:
    field = data.get("field", data.get("field_path"))
    if not isinstance(field, str) or not field or _CONTROL.search(field):
        raise _refuse("This field window names no field", example)
    query = data.get("q", data.get("query"))
    if query is not None and not isinstance(query, str):
        raise _refuse("q is not a string", example)
    return WindowHandle(
        handle,
        field,
        _count(data.get("offset_chars"), "offset_chars", 0, example),
        _count(data.get("limit_chars"), "limit_chars", 1, example),
        query,
    )


def _query_values(text: str, example: str) -> dict[str, str]:
    try:
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict")
    except ValueError:
        raise _refuse("The query of this URI cannot be read", example) from None
    values = dict(pairs)
    if len(values) < len(pairs):
        raise _refuse("The query of this URI names something twice", example)
    unknown = sorted(values.keys() - {"field", "field_path", "offset_chars", "limit_chars", "q"})
    if unknown:
        raise _refuse(f"The query of this URI holds an unknown {unknown[0]!r}", example)
    return values


def parse_window_uri(text: str) -> WindowHandle:
    """Return the field window that a field-window URI names."""
    example = WINDOW_URI + quote(_EXAMPLE, safe="") + "?field=body&offset_chars=0"
    wrapped = _after(text, WINDOW_URI, example)
    if _BASE64URL.match(wrapped):
        data = _json_object(wrapped, example)
        return _window_of(_handle_of(data, example), data, example)
    encoded, _, query = wrapped.partition("?")
    handle = _parse_id(_unquoted(encoded, example), example)
    return _window_of(handle, _query_values(query, example), example)


def window_uri(window: WindowHandle) -> str:
    """Return the resource URI of a field window, in one segment."""
    data = {
        "connection_id": window.handle.connection_id,
        "stream": window.handle.stream,
        "record_id": window.handle.record_id,
        "field": window.field,
        "offset_chars": window.offset_chars,
        "limit_chars": window.limit_chars,
        "q": window.query,
    }
    given = {name: value for name, value in data.items() if value is not None}
    # One segment of base64url and no query, so that every template of a URI takes it whole.
    written = json_text(given).encode("utf-8", "surrogatepass")
    return WINDOW_URI + base64.urlsafe_b64encode(written).decode().rstrip("=")


def _parse_name(text: str, prefix: str, example: str) -> str:
    return _unquoted(_after(text, prefix, example), example)


def parse_blob_uri(text: str) -> str:
    """Return the blob id that a blob URI names."""
    blob_id = _parse_name(text, BLOB_URI, blob_uri("b-1"))
    if problem := key_problem(blob_id):
        raise _refuse(f"The blob id of this URI {problem}", blob_uri("b-1"))
    return blob_id


def blob_uri(blob_id: str) -> str:
    """Return the resource URI of a blob."""
    return BLOB_URI + _quoted(blob_id)


def parse_stream_uri(text: str) -> str:
    """Return the stream name that a stream URI names."""
    name = _parse_name(text, STREAM_URI, stream_uri("messages"))
    if problem := part_problem(name):
        raise _refuse(f"The stream of this URI {problem}", stream_uri("messages"))
    return name


def stream_uri(name: str) -> str:
    """Return the resource URI of a stream."""
    return STREAM_URI + _quoted(name)
