"""The wire: single requests as a stranger sends them, and words for what came instead of one."""

import html
import json
import re
import socket
import ssl
import time
from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from pdpp.doctor.finding import StepBroken
from pdpp.evidence.fence import visible
from pdpp.wire.connection import port_of
from pdpp.wire.failure import cause
from pdpp.wire.http import HttpClient, HttpLimits, HttpReply, Unreachable

MOST_BYTES = 4 << 20
_LONGEST_SHOWN = 120
_TITLE = re.compile(rb"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
_IN_BETWEEN = (
    "Something between you and the server answers in its place: a proxy, a firewall, a bot check "
    "or a login wall. Let /mcp, /oauth/ and /.well-known/ through to the server unchanged."
)


class NoAnswer(Exception):
    """Nothing came back; the message says why in a few words."""


class TimedReply(NamedTuple):
    """What came back, and when it was sent for and how long it took."""

    reply: HttpReply
    sent_at: float = 0.0
    took: float = 0.0

    @property
    def status(self) -> int:
        """Return the status of the answer."""
        return self.reply.status

    @property
    def headers(self) -> Mapping[str, str]:
        """Return the headers, their names in lower case."""
        return self.reply.headers

    @property
    def body(self) -> bytes:
        """Return the bytes of the answer."""
        return self.reply.body

    @property
    def cookies(self) -> tuple[str, ...]:
        """Return the cookies that the answer sets."""
        return self.reply.cookies

    @property
    def document(self) -> Mapping[str, Any]:
        """Return the JSON object in the body; an empty one where there is none."""
        return self.reply.document

    @property
    def is_html(self) -> bool:
        """Tell whether this is a page for people."""
        kind = self.headers.get("content-type", "").lower()
        return "html" in kind or self.body.lstrip()[:1] == b"<"

    @property
    def title(self) -> str:
        """Return the title of a page, or nothing."""
        title = _TITLE.search(self.body)
        return (
            "" if title is None else short_line(html.unescape(title[1].decode("utf-8", "replace")))
        )


def short_line(text: str) -> str:
    """Return what somebody else wrote as one short line."""
    line = " ".join(visible(text).split())
    return line if len(line) <= _LONGEST_SHOWN else line[: _LONGEST_SHOWN - 1] + "…"


def json_of(reply: TimedReply, what: str, status: int = 200) -> Mapping[str, Any]:
    """Return the JSON of an answer that must have a status, or say what came instead."""
    if reply.is_html:
        title = f" with the title “{reply.title}”" if reply.title else ""
        by = f" from {short_line(reply.headers['server'])}" if "server" in reply.headers else ""
        raise StepBroken(
            f"{what}: a web page came{by}{title}, not JSON (status {reply.status})", _IN_BETWEEN
        )
    if reply.status != status:
        raise StepBroken(
            f"{what}: the answer was {reply.status}, not {status}{said(reply)}",
            _fix_of_status(reply.status, what),
        )
    if not reply.document:
        raise StepBroken(f"{what}: the answer is no JSON object", _IN_BETWEEN)
    return reply.document


def said(reply: TimedReply) -> str:
    """Return what a refusal says, in brackets; nothing where it says nothing."""
    document = reply.document
    error = document.get("error")
    message = error.get("message") if isinstance(error, dict) else None
    message = message or document.get("error_description") or error
    return f" ({short_line(str(message))})" if message else ""


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
        self._http = HttpClient(HttpLimits(seconds, MOST_BYTES), trust=lambda: self.context)

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
            raise NoAnswer(short_line(cause(problem))) from None

    def get(self, url: str, **headers: str) -> TimedReply:
        """Ask for something."""
        return self.ask("GET", url, headers)

    def post_form(self, url: str, form: Mapping[str, str], **headers: str) -> TimedReply:
        """Send a form."""
        sent = {"Content-Type": "application/x-www-form-urlencoded", **headers}
        return self.ask("POST", url, sent, urlencode(form).encode())

    def post_json(
        self, url: str, document: Any, headers: Mapping[str, str] | None = None
    ) -> TimedReply:
        """Send a document."""
        sent = {"Content-Type": "application/json", **(headers or {})}
        return self.ask("POST", url, sent, json.dumps(document).encode())

    def ask(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> TimedReply:
        """Send one request on a connection of its own and return its answer."""
        sent = {"Accept": "application/json, text/event-stream", **headers}
        began = time.monotonic()
        try:
            reply = self._http.request(method, url, sent, body)
        except Unreachable as problem:
            raise NoAnswer(short_line(problem.cause)) from None
        took = time.monotonic() - began
        return TimedReply(reply, time.time() - took / 2, took)
