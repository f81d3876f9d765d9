"""What the tests of the pages share: a server with an owner, clients that ask, and a small reader.

``Reader`` is a browser without a screen: it keeps cookies, reads the forms of a page and sends
them as a browser does.
"""

import base64
import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
from selectolax.lexbor import LexborHTMLParser, LexborNode
from tests.serving import DEADLINE, UNLIMITED, World, living, seeded_store

from pdpp.authz.owner import hash_passphrase, keep_passphrase
from pdpp.model import instant
from pdpp.service.settings import Settings
from pdpp.store.port import Store

PASSPHRASE = "four plain words here"
VERIFIER = "v" * 64
CHALLENGE = (
    base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
)
REDIRECT = "http://127.0.0.1:8199/callback"
MAIL: dict[str, Any] = {
    "type": "https://pdpp.dev/data-access",
    "source": "demo_mail",
    "purpose_code": "https://pdpp.dev/purpose/assistant",
    "purpose_description": "Find the invoices of the renovation.",
    "access_mode": "continuous",
    "retention": {"max_duration": "P30D"},
    "client_claims": {"shares_with_others": False},
    "streams": [
        {
            "name": "messages",
            "fields": ["id", "subject", "body", "sent_at"],
            "time_range": {"since": "2026-01-01T00:00:00Z"},
        },
        {"name": "attachments", "necessity": "optional"},
    ],
}


_PROVED = frozenset(
    [
        "approve",
        "rename",
        "merge",
        "remove",
        "import",
        "backup",
        "passphrase",
        "revoke-token",
        "cancel",
        "save",
    ]
)
"""What a form does that asks for the passphrase."""


@cache
def _hashed() -> bytes:
    return hash_passphrase(PASSPHRASE)


def settle(store: Store) -> None:
    """Give a store an owner whose passphrase is ``PASSPHRASE``."""
    with store.vault.transaction() as transaction:
        keep_passphrase(transaction, _hashed())


@dataclass(frozen=True, slots=True)
class Reader:
    """A browser without a screen."""

    http: httpx.Client

    def get(self, path: str) -> "Sheet":
        """Open a page."""
        return Sheet(self, self.http.get(path))

    def log_in(self, passphrase: str = PASSPHRASE, path: str = "/login") -> "Sheet":
        """Log in at an address."""
        return self.get(path).send(passphrase=passphrase)


@dataclass(frozen=True, slots=True)
class Sheet:
    """A page that was answered."""

    reader: Reader
    answer: httpx.Response

    @property
    def status(self) -> int:
        return self.answer.status_code

    @property
    def location(self) -> str:
        """Return where a redirect leads."""
        assert self.status == 303, (self.status, self.text)
        return self.answer.headers["location"]

    @property
    def tree(self) -> LexborHTMLParser:
        return LexborHTMLParser(self.answer.text)

    @property
    def text(self) -> str:
        """Return the text a person reads, on one line."""
        main = self.tree.css_first("main")
        return " ".join(main.text(separator=" ").split()) if main is not None else ""

    def fields(self, form: str = "main form") -> list[tuple[str, str]]:
        """Return what the form sends as it stands, without any button."""
        found = self.tree.css_first(form)
        assert found is not None, self.text
        pairs = []
        for node in found.css("input[name]"):
            given = node.attributes
            if given.get("type") in ("checkbox", "radio") and "checked" not in given:
                continue
            pairs.append((str(given["name"]), given.get("value") or ""))
        return pairs

    def send(
        self,
        *,
        form: str = "main form",
        tick: tuple[tuple[str, str], ...] = (),
        untick: tuple[tuple[str, str], ...] = (),
        headers: Mapping[str, str] | None = None,
        **values: str,
    ) -> "Sheet":
        """Send the form with other values; ``tick`` and ``untick`` are boxes by name and value."""
        if (
            _changes(values)
            and "confirm" not in values
            and not dict(self.fields(form)).get("proof")
        ):
            values["confirm"] = PASSPHRASE
        pairs = [pair for pair in self.fields(form) if pair[0] not in values and pair not in untick]
        pairs += [*tick, *values.items()]
        found = self.tree.css_first(form)
        assert found is not None
        action = found.attributes.get("action") or str(self.answer.url)
        pairs += [
            (str(node.attributes["name"]), _selected(node))
            for node in found.css("select[name]")
            if node.attributes["name"] not in values
        ]
        sent = {"Content-Type": "application/x-www-form-urlencoded", **(headers or {})}
        answer = self.reader.http.post(action, content=urlencode(pairs).encode(), headers=sent)
        return Sheet(self.reader, answer)

    def follow(self) -> "Sheet":
        """Go where a redirect leads."""
        return self.reader.get(self.location)


def _selected(node: LexborNode) -> str:
    """Return what is chosen in a list of options: the first where nothing is."""
    options = node.css("option[selected]") or node.css("option")
    return (options[0].attributes.get("value") or "") if options else ""


def _changes(values: Mapping[str, str]) -> bool:
    """Tell whether a form asks for the passphrase: a person types it there."""
    action = values.get("action", "")
    return action in _PROVED or action.startswith("forget:") or "revoke" in values


@dataclass(frozen=True, slots=True)
class House:
    """A server with an owner, and what happens around it."""

    world: World
    folder: Path = field(default_factory=Path)

    def wait_for(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds, which it soon must."""
        deadline = time.monotonic() + DEADLINE
        while not holds():
            assert time.monotonic() < deadline, "it never came true"
            threading.Event().wait(0.05)

    @property
    def store(self) -> Store:
        return self.world.store

    @property
    def url(self) -> str:
        return self.world.server.url

    def stranger(self, **headers: str) -> Reader:
        """Return a reader who is nobody yet."""
        return Reader(self.world.server.client(**headers))

    def owner(self) -> Reader:
        """Return a reader who has logged in."""
        reader = self.stranger()
        assert reader.log_in().location == "/login"
        return reader

    def register(self, name: str = "Helper", redirect: str = REDIRECT, **more: Any) -> str:
        """Return the id of a new client."""
        metadata = {"client_name": name, "redirect_uris": [redirect], **more}
        answer = self.world.server.client().post("/oauth/register", json=metadata)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["client_id"])

    def ask(
        self,
        *details: Mapping[str, Any],
        name: str = "Helper",
        redirect: str = REDIRECT,
        client_id: str | None = None,
    ) -> str:
        """Return the path of the consent page for a new request; no details means the picker."""
        address = self.address(*details, name=name, redirect=redirect, client_id=client_id)
        answer = self.world.server.client().get(address)
        assert answer.status_code == 303, answer.text
        return str(answer.headers["location"])

    def address(
        self,
        *details: Mapping[str, Any],
        name: str = "Helper",
        redirect: str = REDIRECT,
        client_id: str | None = None,
    ) -> str:
        """Return where a client sends the owner's browser."""
        query = {
            "response_type": "code",
            "client_id": client_id or self.register(name, redirect),
            "redirect_uri": redirect,
            "state": "the-state",
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
            "scope": "pdpp:read",
        }
        if details:
            query["authorization_details"] = json.dumps(details)
        return f"/oauth/authorize?{urlencode(query)}"

    def redeem(self, location: str, client_id: str, redirect: str = REDIRECT) -> str:
        """Return the access token that a client gets for the code it was sent."""
        answer = self.world.server.client().post(
            "/oauth/token",
            data={
                "grant_type": "authorization_code",
                "code": answered(location)["code"],
                "client_id": client_id,
                "redirect_uri": redirect,
                "code_verifier": VERIFIER,
            },
        )
        assert answer.status_code == 200, answer.text
        return str(answer.json()["access_token"])


def answered(location: str) -> dict[str, str]:
    """Return the parameters with which a browser goes back to a client."""
    return {name: values[0] for name, values in parse_qs(urlsplit(location).query).items()}


@contextmanager
def housed(
    folder: Path,
    *,
    store: Store | None = None,
    settings: Settings = UNLIMITED,
    clock: instant.Clock = instant.now,
    settled: bool = True,
) -> Iterator[House]:
    """Serve the demo world, or another store, with an owner, until the block ends."""
    made = store or seeded_store(folder, clock)
    if settled:
        settle(made)
    with living(made, settings, clock, data=folder) as world:
        yield House(world, folder)


@dataclass(slots=True)
class Callback:
    """A client that waits on loopback for the browser to come back."""

    redirect: str
    seen: list[str] = field(default_factory=list)


@contextmanager
def waiting_client(onward: Callable[[], str] | None = None) -> Iterator[Callback]:
    """Listen as a client does; ``onward`` is where it sends the browser next."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if not self.path.startswith("/favicon"):  # what some browsers ask every server for
                callback.seen.append(self.path)
            self.send_response(200 if onward is None else 302)
            if onward is not None:
                self.send_header("Location", onward())
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<title>Back</title><h1>Back at the client</h1>")

        def log_message(self, format: str, *args: Any) -> None:
            """Stay quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    callback = Callback(f"http://127.0.0.1:{server.server_port}/callback")
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield callback
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
