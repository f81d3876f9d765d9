"""Browsers: a grant approved in this machine's browser, which comes back to a port of ours."""

import base64
import hashlib
import secrets
import select
import socket
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

from pdpp.credentials import Credential
from pdpp.enrolment.credential import ask_token, make_credential
from pdpp.enrolment.provider import EnrolmentError, Provider
from pdpp.enrolment.registration import REDIRECT_PATH, SCOPE, complaint

_OK = 200
_PATIENCE_SECONDS = 600.0
_MOST_BYTES = 16_384
_READ_SECONDS = 5.0

_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>pdpp</title>
<style>body{{font:1.1rem/1.5 system-ui;max-width:32rem;margin:20vh auto;padding:0 1rem}}
@media(prefers-color-scheme:dark){{body{{background:#111;color:#eee}}}}</style>
<h1>{title}</h1><p>You can close this window and go back to the terminal.</p></html>
"""


class BrowserRequest(NamedTuple):
    """One authorization request: where the browser goes, and what must come back."""

    address: str
    redirect_uri: str
    state: str
    verifier: str


class RedirectListener:
    """A port of this machine on which one answer is awaited."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]

    @property
    def redirect_uri(self) -> str:
        """Return the address that the browser is sent back to."""
        return f"http://127.0.0.1:{self.port}{REDIRECT_PATH}"

    def wait(self, state: str, seconds: float) -> Mapping[str, str] | None:
        """Return the answer that carries our state, or nothing when none came in time."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if not select.select([self._socket], [], [], left)[0]:
                return None
            connection, _ = self._socket.accept()
            with connection:
                connection.settimeout(_READ_SECONDS)
                answer = _hear(connection, state)
            if answer is not None:
                return answer
        return None

    def close(self) -> None:
        """Stop listening."""
        self._socket.close()


def _hear(connection: socket.socket, state: str) -> Mapping[str, str] | None:
    """Read one request; anything but the awaited answer gets a 404."""
    try:
        line = _first_line(connection)
        method, _, rest = line.partition(" ")
        target = urlsplit(rest.partition(" ")[0])
        answer = dict(parse_qsl(target.query))
        ours = method == "GET" and target.path == REDIRECT_PATH
        if not ours or not secrets.compare_digest(answer.get("state", "").encode(), state.encode()):
            _say(connection, "404 Not Found", "Nothing is here")
            return None
        _say(connection, "200 OK", "Denied" if "error" in answer else "Connected")
    except (OSError, ValueError):
        return None
    return answer


def _first_line(connection: socket.socket) -> str:
    received = b""
    while b"\r\n\r\n" not in received and len(received) < _MOST_BYTES:
        chunk = connection.recv(4_096)
        if not chunk:
            break
        received += chunk
    return received.partition(b"\r\n")[0].decode("latin-1")


def _say(connection: socket.socket, status: str, title: str) -> None:
    body = _PAGE.format(title=title).encode()
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\nCache-Control: no-store\r\n"
        "Referrer-Policy: no-referrer\r\nConnection: close\r\n\r\n"
    )
    connection.sendall(head.encode() + body)


def make_request(provider: Provider, client_id: str, redirect_uri: str) -> BrowserRequest:
    """Return an authorization request with a proof key of its own."""
    if provider.authorization_endpoint is None:
        raise EnrolmentError(f"{provider.issuer} cannot approve requests in a browser")
    verifier, state = secrets.token_urlsafe(48), secrets.token_urlsafe(24)
    digest = hashlib.sha256(verifier.encode()).digest()
    query = {
        "response_type": "code",
        "client_id": client_id,
        "redirect_uri": redirect_uri,
        "scope": SCOPE,
        "state": state,
        "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
        "code_challenge_method": "S256",
    }
    address = f"{provider.authorization_endpoint}?{urlencode(query)}"
    return BrowserRequest(address, redirect_uri, state, verifier)


def enrol_by_browser(
    provider: Provider,
    client_id: str,
    show: Callable[[str], None],
    *,
    seconds: float = _PATIENCE_SECONDS,
    clock: Callable[[], float] = time.time,
) -> Credential:
    """Send the owner to the approval page with ``show`` and take what comes back."""
    listener = RedirectListener()
    try:
        request = make_request(provider, client_id, listener.redirect_uri)
        show(request.address)
        answer = listener.wait(request.state, seconds)
    finally:
        listener.close()
    code = _code(provider, answer)
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": request.redirect_uri,
        "code_verifier": request.verifier,
        "client_id": client_id,
    }
    reply = ask_token(provider, form)
    if reply.status != _OK:
        raise EnrolmentError(
            f"{provider.issuer} gave no token: {complaint(reply.status, reply.document)}"
        )
    return make_credential(provider, client_id, reply.document, clock())


def _code(provider: Provider, answer: Mapping[str, str] | None) -> str:
    """Return the code of an answer that came from this provider and no other."""
    if answer is None:
        raise EnrolmentError(f"nothing was approved in time; run again: {provider.connect_command}")
    if provider.iss_promised and answer.get("iss") != provider.issuer:
        raise EnrolmentError("the answer came from a different server than the one you asked")
    if answer.get("error") == "access_denied":
        raise EnrolmentError("the owner denied the request")
    if "code" not in answer:
        raise EnrolmentError(f"{provider.issuer} refused: {complaint(0, dict(answer))}")
    return answer["code"]
