"""Owners below paths of one host name: everything of theirs is below their path, and only there."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from selectolax.lexbor import LexborHTMLParser
from tests.cli.shell import DECLARATION, serving
from tests.pages.house import CHALLENGE, PASSPHRASE, REDIRECT, settle
from tests.postgres_server import server_url
from tests.serving import (
    UNENCRYPTED,
    UNLIMITED,
    Running,
    approve,
    listening,
    owner,
    plant,
    running,
)

from pdpp.configuration.database import DatabaseAddress
from pdpp.doctor.examination import examine
from pdpp.doctor.finding import StepOutcome
from pdpp.doctor.folder import ByFolder
from pdpp.doctor.passphrase import ByPassphrase
from pdpp.doctor.state import ExaminationState, mcp_url
from pdpp.doctor.wire import Wire
from pdpp.model import instant
from pdpp.pages.page_request import Cookies
from pdpp.pages.template import render
from pdpp.serving.data_folder import open_store
from pdpp.serving.database import open_owners
from pdpp.serving.owners import OwnerApplications, owner_below
from pdpp.store.port import Store

PAGES = (
    "/",
    "/search?q=rain",
    "/agents",
    "/accounts",
    "/accounts/cin_diary",
    "/activity",
    "/import",
    "/settings",
    "/r/cin_diary/entries/a",
    "/nothing-here",
)


class Owners:
    """Owners in the database, each below a path of one server."""

    def __init__(self, folder: Path, server: Running) -> None:
        self._folder = folder
        self._prefix = f"t{abs(hash(str(folder))):x}"
        self.url = server.url

    def name(self, name: str) -> str:
        return f"{self._prefix}-{name}"

    def path(self, name: str) -> str:
        return f"/{self.name(name)}"

    def add(self, name: str, **texts: str) -> str:
        """Add an owner with entries by key; return a token that reads everything of theirs."""
        entries = [{"id": key, "title": text, "text": text} for key, text in texts.items()]
        with self.open(name) as store:
            plant(store, DECLARATION, {"cin_diary": "Days"}, {("cin_diary", "entries"): entries})
            settle(store)
            owner(store)
            return approve(store).token

    def open(self, name: str) -> AbstractContextManager[Store]:
        """Open the store of an owner beside the server."""
        database = DatabaseAddress(server_url(), self.name(name))
        return open_store(self._folder, create=True, database=database)

    def browser(self) -> httpx.Client:
        """Return a browser without a screen, which keeps cookies where they belong."""
        return httpx.Client(base_url=self.url, trust_env=False, verify=UNENCRYPTED, timeout=30)

    def log_in(self, browser: httpx.Client, name: str) -> httpx.Response:
        page = browser.get(f"{self.path(name)}/login")
        form = LexborHTMLParser(page.text).css_first("main form")
        assert form is not None
        fields = {
            str(node.attributes["name"]): node.attributes.get("value") or ""
            for node in form.css("input[name]")
        }
        fields["passphrase"] = PASSPHRASE
        return browser.post(f"{self.path(name)}/login", data=fields)


@pytest.fixture
def owners(tmp_path: Path) -> Iterator[Owners]:
    socket = listening()
    host, port = socket.getsockname()
    settings = replace(UNLIMITED, origin=f"http://{host}:{port}", public=True)
    with open_owners(DatabaseAddress(server_url(), "nobody"), tmp_path) as open_owner:
        app = OwnerApplications(open_owner, settings, tmp_path, by_path=True)
        with running(app, socket) as server:
            yield Owners(tmp_path, server)


def addresses(page: str) -> list[str]:
    """Return every address that a browser would ask for."""
    nodes = LexborHTMLParser(page).css("[href], [action], [src]")
    return [
        str(node.attributes[name])
        for node in nodes
        for name in ("href", "action", "src")
        if node.attributes.get(name)
    ]


def test_every_page_leads_to_addresses_below_the_owners_path_that_are_there(
    owners: Owners,
) -> None:
    owners.add("anna", a="Rain in the morning")
    prefix = owners.path("anna")
    with owners.browser() as browser:
        answer = owners.log_in(browser, "anna")
        assert answer.headers["location"].startswith(f"{prefix}/")
        own = set()
        for page in PAGES:
            answer = browser.get(prefix + page)
            assert answer.status_code == (404 if page == "/nothing-here" else 200), page
            own |= {address for address in addresses(answer.text) if address.startswith("/")}
        assert own
        assert [address for address in own if not address.startswith(f"{prefix}/")] == []
        assert any(address.startswith(f"{prefix}/r/cin_diary/entries/a") for address in own)
        for address in sorted(own):
            status = browser.get(address.partition("#")[0]).status_code
            assert status < 400 or address.endswith(("/logout", "/import/uploads")), address


def test_a_session_of_one_owner_opens_nothing_of_another(owners: Owners) -> None:
    for name in ("anna", "bert"):
        owners.add(name, a=f"Rain for {name}")
    page = "/r/cin_diary/entries/a"
    with owners.browser() as browser:
        owners.log_in(browser, "anna")
        assert "Rain for anna" in browser.get(owners.path("anna") + page).text
        (session,) = [cookie for cookie in browser.cookies.jar if "session" in cookie.name]
        assert session.path == owners.path("anna")
        # The browser does not send it there, and if it did it would not help.
        for headers in ({}, {"Cookie": f"{session.name}={session.value}"}):
            answer = browser.get(owners.path("bert") + page, headers=headers)
            assert "passphrase" in answer.text
            assert "Rain for bert" not in answer.text
        owners.log_in(browser, "bert")
        assert "Rain for bert" in browser.get(owners.path("bert") + page).text
        assert "Rain for anna" in browser.get(owners.path("anna") + page).text


def test_each_owner_has_metadata_at_the_places_of_the_standards(owners: Owners) -> None:
    owners.add("anna", a="Rain")
    prefix, issuer = owners.path("anna"), owners.url + owners.path("anna")
    with owners.browser() as client:
        known = "/.well-known/oauth-authorization-server"
        for place in (known + prefix, prefix + known):
            document = client.get(place).json()
            assert document["issuer"] == issuer
            assert document["token_endpoint"] == f"{issuer}/oauth/token"
        resource = f"/.well-known/oauth-protected-resource{prefix}"
        for path in ("", "/mcp"):
            document = client.get(resource + path).json()
            assert document["resource"] == issuer + path
            assert document["authorization_servers"] == [issuer]
        refused = client.post(f"{prefix}/mcp", json={})
        assert refused.status_code == 401
        challenge = refused.headers["WWW-Authenticate"].split('"')[1]
        assert challenge == f"{owners.url}{resource}/mcp"
        assert client.get(challenge).json()["resource"] == f"{issuer}/mcp"


@pytest.mark.parametrize("by_folder", [True, False])
def test_the_doctor_examines_an_owner_below_a_path(owners: Owners, by_folder: bool) -> None:
    owners.add("anna", a="Rain")
    url, wire = mcp_url(owners.url + owners.path("anna")), Wire(seconds=15)
    with owners.open("anna") as store:
        approver = ByFolder(store, instant.now) if by_folder else ByPassphrase(wire, PASSPHRASE)
        found = [*examine(ExaminationState(url, wire, approver))]
        left = [grant for grant in store.vault.grants() if grant.client_id != "test-client"]
    broken = {finding.step for finding in found if finding.outcome is StepOutcome.BROKEN}
    # That is on another machine, which a test cannot reach.
    assert broken <= {"document"}
    assert {finding.step: finding.says for finding in found}["refresh"].startswith("renewed")
    assert all(grant.revoked_at is not None for grant in left)
    assert left


def test_an_agent_asks_for_consent_below_the_owners_path(owners: Owners) -> None:
    owners.add("anna", a="Rain")
    prefix = owners.path("anna")
    with owners.browser() as client:
        metadata = client.get(f"/.well-known/oauth-authorization-server{prefix}").json()
        registered = client.post(
            metadata["registration_endpoint"],
            json={"redirect_uris": [REDIRECT], "client_name": "Agent"},
        ).json()
        asked: dict[str, Any] = {
            "client_id": registered["client_id"],
            "redirect_uri": REDIRECT,
            "response_type": "code",
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
            "resource": owners.url + prefix + "/mcp",
        }
        answer = client.get(metadata["authorization_endpoint"], params=asked)
        assert answer.status_code == 303, answer.text
        assert answer.headers["location"].startswith(f"{prefix}/consent/")
        assert "passphrase" in client.get(answer.headers["location"]).text


def test_tools_answer_below_the_owners_path_and_cite_pages_there(owners: Owners) -> None:
    token = owners.add("anna", a="Rain in the morning")
    other = owners.add("bert", b="Rain in the evening")
    call = {"name": "search", "arguments": {"query": "rain"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    headers = {"Accept": "application/json, text/event-stream"}
    with owners.browser() as client:
        url = f"{owners.path('anna')}/mcp"
        bearer = {"Authorization": f"Bearer {token}"}
        text = client.post(url, json=message, headers=headers | bearer).text
        assert "Rain in the morning" in text
        assert f"{owners.url}{owners.path('anna')}/r/cin_diary" in text
        wrong = {"Authorization": f"Bearer {other}"}
        assert client.post(url, json=message, headers=headers | wrong).status_code == 401
        streams = client.get(f"{owners.path('anna')}/v1/streams", headers=bearer)
        assert streams.status_code == 200
        assert client.get(f"{owners.path('bert')}/v1/streams", headers=bearer).status_code == 401


@pytest.mark.parametrize(
    "path", ["/", "/v1/streams", "/nobody-there/v1/streams", "/.well-known/x/y", "/{up}/v1/streams"]
)
def test_a_path_that_is_nobodys_is_unknown(owners: Owners, path: str) -> None:
    owners.add("anna", a="Rain")
    with owners.browser() as client:
        answer = client.get(path.replace("{up}", owners.name("anna").upper()))
        assert answer.status_code == 404
        assert answer.json()["error"]["code"] == "not_found"
        assert client.get("/healthz").status_code == 200


def test_a_path_names_an_owner_only_as_it_is_written() -> None:
    def below(path: str, raw: bytes | None = None) -> tuple[str, str, bytes] | None:
        owned = owner_below({"path": path, "raw_path": path.encode() if raw is None else raw})
        return None if owned is None else (owned[0], owned[1]["path"], owned[1]["raw_path"])

    assert below("/anna/v1/streams") == ("anna", "/v1/streams", b"/v1/streams")
    assert below("/anna") == ("anna", "/", b"/")
    assert below("/anna/a b", b"/anna/a%20b") == ("anna", "/a b", b"/a%20b")
    known = "/.well-known/oauth-protected-resource"
    assert below(f"{known}/anna/mcp") == ("anna", f"{known}/mcp", f"{known}/mcp".encode())
    for path in ("/", "//anna", "/Anna/x", "/a_b/x", "/-a/x", "/.well-known/anna", f"{known}/"):
        assert below(path) is None
    assert below("/anna/x", b"/%61nna/x") is None
    assert below("/anna/x", b"/anna%2fx") == ("anna", "/x", b"%2fx")


def test_on_https_cookies_of_a_path_go_to_it_alone() -> None:
    cookies = Cookies.of_origin("https://data.example/anna")
    assert (cookies.session, cookies.path) == ("__Secure-pdpp_session", "/anna")
    assert cookies.secure
    whole = Cookies.of_origin("https://data.example")
    assert (whole.session, whole.path) == ("__Host-pdpp_session", "/")


def test_a_text_in_a_page_is_left_alone_and_no_prefix_outlives_its_page() -> None:
    text = 'see href="/search" there'
    context = {"known": False, "host": "", "token": "", "proof": "", "section": ""}
    context |= {"search_text": "", "scripts": (), "message": text}
    page = render("error.html", context, "/anna")
    assert "/anna/icon.svg" in page
    assert "href=&#34;/search&#34;" in page
    assert "/anna" not in render("error.html", context)


def test_the_program_serves_owners_below_paths(tmp_path: Path) -> None:
    name = f"p{abs(hash(str(tmp_path))):x}"
    env = {"PDPP_DATABASE": server_url(), "PDPP_OWNERS_BY": "path"}
    with open_store(tmp_path, create=True, database=DatabaseAddress(server_url(), name)) as store:
        plant(store, DECLARATION, {"cin_diary": "Days"})
        token = approve(store).token
    with serving(tmp_path, tmp_path / "notes", "--owners", env=env) as served:
        assert served.get(f"/{name}/v1/streams", token).status_code == 200
        assert served.get("/v1/streams", token).status_code == 404
        assert served.stop() == 0
    assert f"{served.url}/NAME for each owner NAME" in (tmp_path / "notes" / "out").read_text()
