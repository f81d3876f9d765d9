"""Posting: one form or document sent to one address, once, with the time and size bounded."""

import json
from collections.abc import Mapping
from contextlib import closing
from typing import Any
from urllib.parse import urlencode, urlsplit

from pdpp.wire.channel import Reply, Unreachable, read_reply

_TIMEOUT = 30.0
_MOST_BYTES = 1 << 20


def post_form(address: str, form: Mapping[str, str]) -> Reply:
    """Send a form and return the answer."""
    return _send("POST", address, urlencode(form), "application/x-www-form-urlencoded")


def post_json(address: str, document: Mapping[str, Any]) -> Reply:
    """Send a JSON document and return the answer."""
    return _send("POST", address, json.dumps(document), "application/json")


def get(address: str) -> Reply:
    """Ask for a document and return the answer."""
    return _send("GET", address, None, None)


def told(reply: Reply) -> Mapping[str, Any]:
    """Return the JSON object of an answer; an answer that holds none tells nothing."""
    try:
        found = json.loads(reply.body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _send(method: str, address: str, body: str | None, content_type: str | None) -> Reply:
    """Speak to one address; nothing is sent twice, since a second time may mean something else."""
    from http.client import HTTPConnection, HTTPException, HTTPSConnection

    headers = {"Accept": "application/json"}
    if content_type is not None:
        headers["Content-Type"] = content_type
    origin = "/".join(address.split("/", 3)[:3])
    try:
        parts = urlsplit(address)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        with closing(kind(parts.hostname or "", parts.port, timeout=_TIMEOUT)) as connection:
            connection.request(method, target, body, headers)
            return read_reply(connection, origin, _TIMEOUT, _MOST_BYTES)
    except (OSError, HTTPException, ValueError) as problem:
        raise Unreachable(f"{origin} cannot be reached ({type(problem).__name__})") from None
