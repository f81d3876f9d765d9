"""Posting: one form or document sent to one address, once, with the time and size bounded."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

from pdpp.wire.channel import Reply, Unreachable

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

    parts = urlsplit(address)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=_TIMEOUT)
    headers = {"Accept": "application/json"}
    if content_type is not None:
        headers["Content-Type"] = content_type
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        connection.request(method, target, body, headers)
        response = connection.getresponse()
        received = response.read(_MOST_BYTES)
        named = {name.lower(): value for name, value in response.getheaders()}
    except (OSError, HTTPException) as problem:
        origin = f"{parts.scheme}://{parts.netloc}"
        raise Unreachable(f"{origin} cannot be reached ({type(problem).__name__})") from None
    finally:
        connection.close()
    return Reply(response.status, named, received)
