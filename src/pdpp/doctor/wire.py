"""The wire: single requests as a stranger sends them, and words for what came instead of one."""

import html
import json
import re
import socket
import ssl
import time
from collections.abc import Mapping
from functools import cached_property
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, NamedTuple
from urllib.parse import SplitResult, urlencode, urlsplit

from pdpp.doctor.finding import StepBroken
from pdpp.evidence.fence import visible

MOST_BYTES = 4 << 20
_LONGEST_SHOWN = 120
_TITLE = re.compile(rb"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
_IN_BETWEEN = (
    "Something between you and the server answers in its place: a proxy, a firewall, a bot check "
    "or a login wall. Let /mcp, /oauth/ and /.well-known/ through to the server unchanged."
)


class NoAnswer(Exception):
    """Nothing came back; the message says why in a few words."""


class Reply(NamedTuple):
    """What came back, with header names in lower case, and when."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    cookies: tuple[str, ...] = ()
    sent_at: float = 0.0
    took: float = 0.0

    @property
    def is_html(self) -> bool:
        """Tell whether this is a page for people."""
        kind = self.headers.get("content-type", "").lower()
        return "html" in kind or self.body.lstrip()[:1] == b"<"

    @property
    def title(self) -> str:
        """Return the title of a page, or nothing."""
        found = _TITLE.search(self.body)
        return "" if found is None else shown(html.unescape(found[1].decode("utf-8", "replace")))

    @property
    def document(self) -> dict[str, Any]:
        """Return the JSON object in the body; an empty one where there is none."""
        try:
            found = json.loads(self.body)
        except ValueError:
            return {}
        return found if isinstance(found, dict) else {}


def shown(text: str) -> str:
    """Return what somebody else wrote as one short line."""
    line = " ".join(visible(text).split())
    return line if len(line) <= _LONGEST_SHOWN else line[: _LONGEST_SHOWN - 1] + "…"


def json_of(reply: Reply, what: str, status: int = 200) -> dict[str, Any]:
    """Return the JSON of an answer that must have a status, or say what came instead."""
    if reply.is_html:
        title = f" with the title “{reply.title}”" if reply.title else ""
        by = f" from {shown(reply.headers['server'])}" if "server" in reply.headers else ""
        raise StepBroken(
            f"{what}: a web page came{by}{title}, not JSON (status {reply.status})", _IN_BETWEEN
        )
    if reply.status != status:
        raise StepBroken(
            f"{what}: the answer was {reply.status}, not {status}{_said(reply)}",
            _fix_of_status(reply.status, what),
        )
    if not reply.document:
        raise StepBroken(f"{what}: the answer is no JSON object", _IN_BETWEEN)
    return reply.document


def _said(reply: Reply) -> str:
    document = reply.document
    error = document.get("error")
    found = error.get("message") if isinstance(error, dict) else None
    found = found or document.get("error_description") or error
    return f" ({shown(str(found))})" if found else ""


def _fix_of_status(status: int, what: str) -> str:
    if 300 <= status < 400:
        return "Do not redirect here: agents do not follow it, or lose their token on the way."
    if status == 404:
        return f"Nothing is at this path. If a proxy is in front, let it pass {what} on."
    if status == 429:
        return "Too many requests came from here; wait a minute and ask again."
    if status >= 500:
        return "The server, or the proxy before it, failed; its log says why."
    return "The log of the server says why it refused."


class Wire:
    """Sends requests one by one and follows nothing."""

    def __init__(self, *, seconds: float = 15.0, authorities: str | None = None) -> None:
        self._seconds = seconds
        self._authorities = authorities

    @cached_property
    def context(self) -> ssl.SSLContext:
        """Return what certificates are checked with."""
        context = ssl.create_default_context()
        if self._authorities is not None:
            context.load_verify_locations(self._authorities)
        return context

    def connect(self, url: str) -> socket.socket:
        """Open a plain connection to where an address leads."""
        parts = urlsplit(url)
        place = (parts.hostname or "", port_of(parts))
        try:
            return socket.create_connection(place, self._seconds)
        except OSError as problem:
            raise NoAnswer(_why(problem)) from None

    def get(self, url: str, **headers: str) -> Reply:
        """Ask for something."""
        return self.ask("GET", url, headers)

    def post_form(self, url: str, form: Mapping[str, str], **headers: str) -> Reply:
        """Send a form."""
        sent = {"Content-Type": "application/x-www-form-urlencoded", **headers}
        return self.ask("POST", url, sent, urlencode(form).encode())

    def post_json(self, url: str, document: Any, headers: Mapping[str, str] | None = None) -> Reply:
        """Send a document."""
        sent = {"Content-Type": "application/json", **(headers or {})}
        return self.ask("POST", url, sent, json.dumps(document).encode())

    def ask(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> Reply:
        """Send one request on a connection of its own and return its answer."""
        parts = urlsplit(url)
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        connection = self._connection(parts)
        sent = {"Accept": "application/json, text/event-stream", **headers}
        began = time.monotonic()
        try:
            connection.request(method, target or "/", body, sent)
            answer = connection.getresponse()
            found = answer.read(MOST_BYTES)
        except (OSError, HTTPException) as problem:
            raise NoAnswer(_why(problem)) from None
        finally:
            connection.close()
        names = {name.lower(): value for name, value in answer.getheaders()}
        cookies = tuple(answer.headers.get_all("Set-Cookie", ()))
        took = time.monotonic() - began
        return Reply(answer.status, names, found, cookies, time.time() - took / 2, took)

    def _connection(self, parts: SplitResult) -> HTTPConnection:
        host, port = parts.hostname or "", port_of(parts)
        if parts.scheme == "https":
            return HTTPSConnection(host, port, timeout=self._seconds, context=self.context)
        return HTTPConnection(host, port, timeout=self._seconds)


def port_of(parts: SplitResult) -> int:
    """Return the port an address leads to."""
    return parts.port or (443 if parts.scheme == "https" else 80)


def _why(problem: Exception) -> str:
    match problem:
        case ssl.SSLCertVerificationError():
            return f"its certificate is not good: {shown(problem.verify_message)}"
        case ssl.SSLError():
            return "it does not speak TLS as it should"
        case socket.gaierror():
            return "there is no such name"
        case ConnectionRefusedError():
            return "nobody listens there"
        case TimeoutError():
            return "it did not answer in time"
        case HTTPException():
            return "what came back is not HTTP"
        case _:
            return "the connection broke off"
