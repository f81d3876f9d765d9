"""The dance: what a client and the owner do with a running authorization server, step by step.

``dancing(folder)`` serves a small store under its own address. The owner's yes is given to the
authority itself; that pages lead to it is what the tests of the pages show.
"""

import base64
import hashlib
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import orjson
from tests.serving import UNLIMITED, Running, SetClock, listening, planted_store, running

from pdpp.app import make_app
from pdpp.authz.authority import Authority
from pdpp.authz.client_document import DocumentFetcher
from pdpp.authz.grant_draft import GrantDraft
from pdpp.authz.selection import Selection, resolve
from pdpp.model.grant import AccessMode
from pdpp.service.settings import Settings
from pdpp.store.port import Store

CALLBACK = "https://client.example/callback"
OTHER_CALLBACK = "https://other.example/callback"
DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
GRANT_TYPES = ["authorization_code", "refresh_token", DEVICE]
DECLARATION: Mapping[str, Any] = {
    "protocol_version": "0.1.0",
    "source": {"kind": "connector", "id": "https://pdpp.dev/sources/notes"},
    "connector_key": "notes",
    "declaration_version": "1",
    "publisher": {"id": "https://pdpp.dev"},
    "display": {"name": "Notes"},
    "streams": [
        {
            "name": "notes",
            "description": "Notes.",
            "semantics": "mutable_state",
            "schema": {
                "type": "object",
                "properties": {
                    "id": {"type": "string"},
                    "title": {"type": "string", "x_pdpp_role": "primary-title"},
                    "body": {"type": "string", "x_pdpp_role": "body"},
                },
            },
            "primary_key": ["id"],
            "query": {"search": {"lexical_fields": ["title", "body"]}},
        }
    ],
}
ROWS = [{"id": str(n), "title": f"note {n}", "body": "a quiet word"} for n in range(30)]


def challenge_of(verifier: str) -> str:
    """Return the S256 challenge of a verifier."""
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


@dataclass(frozen=True, slots=True)
class Party:
    """A client that registered, with the secret it proves each request by."""

    client_id: str
    verifier: str
    redirect_uri: str = CALLBACK


@dataclass(frozen=True, slots=True)
class Dance:
    """A running server with its clock, and the steps of the dance."""

    store: Store
    server: Running
    clock: SetClock
    authority: Authority
    http: httpx.Client

    @property
    def url(self) -> str:
        """Return the server's address."""
        return self.server.url

    # The client's steps

    def register(self, redirect_uri: str = CALLBACK, **metadata: Any) -> Party:
        """Register a client."""
        told = {"client_name": "Test app", "redirect_uris": [redirect_uri], **metadata}
        answer = self.http.post("/oauth/register", json={"grant_types": GRANT_TYPES, **told})
        assert answer.status_code == 201, answer.text
        client_id = str(answer.json()["client_id"])
        return Party(client_id, secrets.token_urlsafe(48), redirect_uri)

    def request(self, party: Party, **changes: Any) -> dict[str, str]:
        """Return the parameters of a good authorization request, with changes; None leaves out."""
        told: dict[str, Any] = {
            "client_id": party.client_id,
            "redirect_uri": party.redirect_uri,
            "response_type": "code",
            "scope": "pdpp:read",
            "state": "a state",
            "code_challenge": challenge_of(party.verifier),
            "code_challenge_method": "S256",
            **changes,
        }
        return {name: str(value) for name, value in told.items() if value is not None}

    def ask(self, party: Party, **changes: Any) -> httpx.Response:
        """Send an authorization request with the owner's browser."""
        return self.http.get("/oauth/authorize", params=self.request(party, **changes))

    def review_of(self, party: Party, **changes: Any) -> str:
        """Return the id of the review that a good request leads to."""
        answer = self.ask(party, **changes)
        assert answer.status_code == 303, answer.text
        path = answer.headers["location"]
        assert path.startswith("/consent/rev_")
        return str(path.removeprefix("/consent/"))

    def token(self, **form: Any) -> httpx.Response:
        """Send a token request."""
        return self.http.post("/oauth/token", data=form)

    def exchange(self, party: Party, code: str, /, **changes: Any) -> httpx.Response:
        """Send a code for tokens."""
        form: dict[str, Any] = {
            "grant_type": "authorization_code",
            "code": code,
            "client_id": party.client_id,
            "redirect_uri": party.redirect_uri,
            "code_verifier": party.verifier,
            **changes,
        }
        return self.token(**{name: value for name, value in form.items() if value is not None})

    def refresh(self, party: Party, refresh_token: str, **changes: Any) -> httpx.Response:
        """Send a refresh token for new tokens."""
        return self.token(
            grant_type="refresh_token",
            refresh_token=refresh_token,
            client_id=party.client_id,
            **changes,
        )

    def code(self, party: Party, **changes: Any) -> str:
        """Return a code for a request that the owner approves as a package."""
        return query(self.approve(self.review_of(party, **changes)))["code"]

    def connect(self, party: Party, **changes: Any) -> dict[str, Any]:
        """Return the tokens of a client after a whole dance."""
        answer = self.exchange(party, self.code(party, **changes))
        assert answer.status_code == 200, answer.text
        tokens: dict[str, Any] = answer.json()
        return tokens

    def read(self, token: str, path: str = "/v1/streams") -> int:
        """Return the status that a bearer gets."""
        return self.http.get(path, headers={"Authorization": f"Bearer {token}"}).status_code

    # The owner's steps

    def draft(self, review_id: str, *, package: bool = True, **changes: Any) -> GrantDraft:
        """Return a draft over everything for a review."""
        review = self.authority.review(review_id)
        allowances = resolve(Selection(), self.store.catalogue())
        made = GrantDraft(
            client_id=review.client_id,
            purpose_code=None,
            purpose="a test",
            access_mode=AccessMode.CONTINUOUS,
            allowances=allowances,
            expires_at=None,
            package=package,
        )
        return replace(made, **changes)

    def approve(self, review_id: str, **changes: Any) -> str:
        """Say yes; return where the browser goes."""
        outcome = self.authority.approve(review_id, self.draft(review_id, **changes), "what I saw")
        return outcome.location or ""


def query(location: str) -> dict[str, str]:
    """Return the query of an address, in which nothing may be repeated."""
    found = parse_qs(urlsplit(location).query, strict_parsing=True)
    assert all(len(values) == 1 for values in found.values())
    return {name: values[0] for name, values in found.items()}


def oauth_error(answer: httpx.Response, code: str, status: int = 400) -> str:
    """Return the description of an error after checking its form."""
    assert answer.status_code == status, answer.text
    body = answer.json()
    assert body.keys() == {"error", "error_description"}
    assert body["error"] == code, body
    assert answer.headers["cache-control"] == "no-store"
    return str(body["error_description"])


@contextmanager
def dancing(
    folder: Path,
    settings: Settings = UNLIMITED,
    fetcher: DocumentFetcher | None = None,
    clock: SetClock | None = None,
) -> Iterator[Dance]:
    """Serve a store with two connections of notes under its own address."""
    clock = clock or SetClock()
    store = planted_store(
        folder,
        DECLARATION,
        {"c1": "Work notes", "c2": "Private notes"},
        {("c1", "notes"): ROWS, ("c2", "notes"): ROWS[:2]},
        clock,
    )
    listener = listening()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    chosen = replace(settings, origin=url)
    try:
        app = make_app(store, chosen, clock, fetcher=fetcher)
        with running(app, listener) as server:
            authority = Authority(store, clock, chosen.lifetimes)
            yield Dance(store, server, clock, authority, server.client())
    finally:
        store.close()


def details(*streams: Mapping[str, Any], source: str = "notes", **members: Any) -> str:
    """Return authorization details for the notes."""
    wanted = list(streams) or [{"name": "notes"}]
    return orjson.dumps(
        [
            {
                "type": "https://pdpp.dev/data-access",
                "source": source,
                "purpose_description": "Sort my notes",
                "access_mode": "continuous",
                "streams": wanted,
                **members,
            }
        ]
    ).decode()
