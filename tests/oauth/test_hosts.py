"""The dances of the hosts that people use, as far as they are known from outside."""

import json
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.oauth.browser import decide
from tests.oauth.dance import Dance, challenge_of, dancing, oauth_error, query
from tests.oauth.publisher import answer, document, publishing


@dataclass(frozen=True, slots=True)
class Host:
    """What is known of a host: how it registers, comes back, and behaves."""

    name: str
    redirect_uris: tuple[str, ...]
    used: str
    """The redirect URI of the request, whose port may differ on the loopback interface."""
    metadata: dict[str, Any] = field(default_factory=dict)
    scopes_from: str = "challenge"
    typed: str = "127.0.0.1"


CLAUDE_CODE = Host(
    "Claude Code",
    ("http://localhost:3118/callback",),
    "http://localhost:54212/callback",
    {"grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"]},
    typed="localhost",
)
CLAUDE_AI = Host(
    "Claude",
    ("https://claude.ai/api/mcp/auth_callback", "https://claude.com/api/mcp/auth_callback"),
    "https://claude.ai/api/mcp/auth_callback",
    {"token_endpoint_auth_method": "client_secret_post", "scope": "claudeai"},
    "server",
)
CHATGPT = Host(
    "ChatGPT",
    ("https://chatgpt.com/connector_platform_oauth_redirect",),
    "https://chatgpt.com/connector_platform_oauth_redirect",
    {"token_endpoint_auth_method": "none"},
    "server",
)
CODEX = Host("Codex", ("http://127.0.0.1:1455/callback",), "http://127.0.0.1:39001/callback")
VS_CODE = Host(
    "Visual Studio Code",
    ("https://vscode.dev/redirect", "http://127.0.0.1/", "http://127.0.0.1:33418/"),
    "http://127.0.0.1:33418/",
    {
        "grant_types": [
            "authorization_code",
            "refresh_token",
            "urn:ietf:params:oauth:grant-type:device_code",
        ]
    },
)
CURSOR = Host(
    "Cursor",
    ("cursor://anysphere.cursor-retrieval/oauth/user-agent-mcp/callback",),
    "cursor://anysphere.cursor-retrieval/oauth/user-agent-mcp/callback",
)
HOSTS = [CLAUDE_CODE, CLAUDE_AI, CHATGPT, CODEX, VS_CODE, CURSOR]


class Visit:
    """A host that learns everything it needs from the address a person typed."""

    def __init__(self, dance: Dance, host: Host) -> None:
        self.dance = dance
        self.host = host
        self.typed = dance.url.replace("127.0.0.1", host.typed) + "/mcp"
        name = self.typed.removeprefix("http://").removesuffix("/mcp")
        self.http = dance.server.client(Host=name)
        self.verifier = secrets.token_urlsafe(48)
        self.client_id = ""

    def path(self, url: str) -> str:
        """Return an address that the server told, as it is reached from here."""
        base = self.typed.removesuffix("/mcp")
        assert url.startswith(base), url
        return url.removeprefix(base)

    def discover(self) -> None:
        """Go from the challenge to the metadata, and check what hosts check."""
        refused = self.http.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"})
        assert refused.status_code == 401
        challenge = refused.headers["www-authenticate"]
        self.challenged = challenge.partition('scope="')[2].partition('"')[0]
        metadata = challenge.partition('resource_metadata="')[2].partition('"')[0]
        self.resource = self.http.get(self.path(metadata)).json()
        assert self.resource["resource"] == self.typed
        issuer = self.resource["authorization_servers"][0]
        found = f"{self.path(issuer)}/.well-known/oauth-authorization-server"
        self.server = self.http.get(found).json()
        assert self.server["issuer"] == issuer

    def register(self) -> httpx.Response:
        """Register as this host does."""
        told = {
            "client_name": self.host.name,
            "redirect_uris": list(self.host.redirect_uris),
            **self.host.metadata,
        }
        made = self.http.post(self.path(self.server["registration_endpoint"]), json=told)
        assert made.status_code == 201, made.text
        self.client_id = made.json()["client_id"]
        return made

    @property
    def scope(self) -> str:
        """Return the scope that this host asks for, from where it looks for it."""
        if self.host.scopes_from == "challenge":
            return self.challenged
        return " ".join(self.server["scopes_supported"])

    def authorize(self) -> dict[str, str]:
        """Send the owner to decide; return what comes back to the host."""
        asked = httpx.QueryParams(
            {
                "response_type": "code",
                "client_id": self.client_id,
                "redirect_uri": self.host.used,
                "state": "the state",
                "scope": self.scope,
                "resource": self.typed,
                "code_challenge": challenge_of(self.verifier),
                "code_challenge_method": "S256",
            }
        )
        address = f"{self.path(self.server['authorization_endpoint'])}?{asked}"
        location = decide(self.dance, self.dance.url + address, host=self.http.headers["host"])
        assert location.startswith(self.host.used + "?")
        told = query(location)
        assert told["iss"] == self.server["issuer"]
        assert told["state"] == "the state"
        return told

    def token(self, **form: str) -> httpx.Response:
        """Ask for tokens."""
        told = {"client_id": self.client_id, "resource": self.typed, **form}
        return self.http.post(self.path(self.server["token_endpoint"]), data=told)

    def exchange(self, code: str) -> dict[str, Any]:
        """Exchange a code."""
        answered = self.token(
            grant_type="authorization_code",
            code=code,
            redirect_uri=self.host.used,
            code_verifier=self.verifier,
        )
        assert answered.status_code == 200, answered.text
        tokens: dict[str, Any] = answered.json()
        return tokens

    def connect(self) -> dict[str, Any]:
        """Do all of it."""
        self.discover()
        self.register()
        return self.exchange(self.authorize()["code"])

    def ping(self, token: str) -> int:
        """Return what the endpoint answers to a bearer."""
        headers = {
            "Authorization": f"Bearer {token}",
            "Accept": "application/json, text/event-stream",
        }
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        return self.http.post("/mcp", json=call, headers=headers).status_code


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
def test_a_host_connects_reads_and_refreshes(dance: Dance, host: Host) -> None:
    visit = Visit(dance, host)
    tokens = visit.connect()
    assert visit.ping(tokens["access_token"]) == 200
    dance.clock.advance(3_700)
    assert visit.ping(tokens["access_token"]) == 401
    renewed = visit.token(grant_type="refresh_token", refresh_token=tokens["refresh_token"])
    assert visit.ping(renewed.json()["access_token"]) == 200


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
def test_a_host_that_registers_twice_uses_either(dance: Dance, host: Host) -> None:
    visit = Visit(dance, host)
    visit.discover()
    visit.register()
    visit.register()
    tokens = visit.exchange(visit.authorize()["code"])
    assert visit.ping(tokens["access_token"]) == 200


def test_a_host_that_never_refreshes_asks_the_owner_again(dance: Dance) -> None:
    visit = Visit(dance, CODEX)
    tokens = visit.connect()
    dance.clock.advance(3_600)
    assert visit.ping(tokens["access_token"]) == 401
    again = visit.exchange(visit.authorize()["code"])
    assert visit.ping(again["access_token"]) == 200


def test_a_host_whose_refresh_answer_was_lost_tries_again(dance: Dance) -> None:
    visit = Visit(dance, CLAUDE_AI)
    tokens = visit.connect()
    form = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
    visit.token(**form)
    again = visit.token(**form).json()
    assert visit.ping(again["access_token"]) == 200


def test_a_host_whose_registration_is_gone_is_told_so_that_it_registers_anew(
    dance: Dance,
) -> None:
    visit = Visit(dance, CLAUDE_AI)
    visit.discover()
    visit.register()
    dance.clock.advance(15 * 86_400)
    dance.authority.sweep()
    form = {"grant_type": "refresh_token", "refresh_token": "pdpp_refresh_old"}
    oauth_error(visit.token(**form), "invalid_client")
    assert visit.ping(visit.connect()["access_token"]) == 200


def test_no_address_of_the_endpoint_redirects(dance: Dance) -> None:
    for path in ("/mcp", "/mcp/"):
        for method in ("GET", "POST", "DELETE"):
            assert dance.http.request(method, path).status_code in (401, 404, 405)


def test_claude_code_connects_as_its_published_document(tmp_path: Path) -> None:
    """Its redirect URIs have no port; the request names the one it happens to listen on."""

    def published(client_id: str) -> bytes:
        told = document(
            client_id,
            client_name="Claude Code",
            client_uri="https://claude.ai",
            redirect_uris=["http://localhost/callback", "http://127.0.0.1/callback"],
            grant_types=["authorization_code", "refresh_token"],
            response_types=["code"],
        )
        return answer(json.dumps(told).encode())

    with (
        publishing(published) as publisher,
        dancing(tmp_path, fetcher=publisher.fetcher()) as dance,
    ):
        visit = Visit(dance, CLAUDE_CODE)
        visit.discover()
        assert visit.server["client_id_metadata_document_supported"] is True
        visit.client_id = publisher.client_id
        tokens = visit.exchange(visit.authorize()["code"])
        assert visit.ping(tokens["access_token"]) == 200
