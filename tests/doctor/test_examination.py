"""The doctor names the step that is broken, and how to mend it, whatever stands in between."""

import json
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

import pytest
from tests.doctor.clinic import (
    FREE,
    PASSPHRASE,
    Clinic,
    Headers,
    Meddler,
    broken,
    clinic,
    page,
    secured,
    settle,
    untried,
    without,
)
from tests.engine import open_store
from tests.oauth.publisher import HOST, answer, certificate, document, publishing
from tests.serving import listening, running

from pdpp.app import make_app
from pdpp.authz.authority import Authority
from pdpp.authz.client_document import DocumentFetcher
from pdpp.authz.client_metadata import Description, read_metadata
from pdpp.doctor.authorization import KNOWN_DOCUMENT
from pdpp.doctor.discovery import clock, tls
from pdpp.doctor.examination import STEPS, examine
from pdpp.doctor.finding import StepBroken, StepOutcome, StepUntried
from pdpp.doctor.folder import ByFolder
from pdpp.doctor.state import ExaminationState, mcp_url
from pdpp.doctor.wire import TimedReply, Wire
from pdpp.model import instant
from pdpp.model.grant import status
from pdpp.service.settings import Settings
from pdpp.store.port import Store
from pdpp.wire.http import HttpReply

NAMES = [step.name for step in STEPS]
MCP, ROOT_PATH = "/mcp", "/.well-known/oauth-protected-resource"
RESOURCE = f"{ROOT_PATH}/mcp"
SERVER = "/.well-known/oauth-authorization-server"


def grants_left(store: Store) -> list[str]:
    """Return the grants that are still good."""
    now = instant.now()
    return [grant.id for grant in store.vault.grants() if status(grant, now) == "active"]


# What is well


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clinic]:
    with clinic(tmp_path_factory.mktemp("healthy")) as made:
        yield made


def test_a_healthy_server_passes_every_step_and_keeps_nothing(healthy: Clinic) -> None:
    found = healthy.examine(healthy.by_folder())
    assert list(found) == NAMES
    assert broken(found) == []
    assert untried(found) == ["document"]
    assert grants_left(healthy.store) == []
    assert found["legacy"].says == "6 tools, and one that answered"


def test_the_passphrase_alone_says_yes_through_the_pages(healthy: Clinic) -> None:
    found = healthy.examine(healthy.by_passphrase())
    assert broken(found) == []
    assert untried(found) == ["document", "owner"]
    assert grants_left(healthy.store) == []


def test_without_the_owner_everything_up_to_the_login_is_tried(healthy: Clinic) -> None:
    found = healthy.examine()
    assert broken(found) == []
    assert found["authorize"].says == "the owner meets a login"
    assert "--passphrase-file" in found["approve"].says
    assert untried(found) == ["document", *NAMES[NAMES.index("approve") : -1]]
    assert [told.outcome.sign for told in found.values()][:2] == ["✓", "✓"]


@pytest.mark.parametrize("typed", ["{}", "{}/", "{}/mcp", "{}/mcp/"])
def test_the_address_may_be_typed_with_or_without_mcp(healthy: Clinic, typed: str) -> None:
    assert broken(healthy.examine(url=typed.format(healthy.url))) == []


def test_localhost_is_as_good_a_name_as_its_number(healthy: Clinic) -> None:
    found = healthy.examine(healthy.by_folder(), healthy.url.replace("127.0.0.1", "localhost"))
    assert broken(found) == []


def test_an_examination_grants_one_field_for_a_day_and_reads_no_record(healthy: Clinic) -> None:
    healthy.examine(healthy.by_folder())
    grant = list(healthy.store.vault.grants())[-1]
    (allowance,) = grant.allowances
    assert len(allowance.fields) == 1
    assert grant.expires_at is not None
    assert grant.expires_at - grant.created_at <= instant.DAY


def test_an_examination_that_is_broken_off_takes_back_what_it_made(healthy: Clinic) -> None:
    steps = examine(healthy.state(healthy.by_folder()))
    for found in steps:
        if found.step == "token":
            break
    assert len(grants_left(healthy.store)) == 1
    steps.close()
    assert grants_left(healthy.store) == []


def test_an_interrupt_takes_back_what_was_made(healthy: Clinic) -> None:
    def interrupt(_chart: ExaminationState) -> str:
        raise KeyboardInterrupt

    place = NAMES.index("legacy")
    steps = [*STEPS[:place], STEPS[place]._replace(work=interrupt)]
    with pytest.raises(KeyboardInterrupt):
        list(examine(healthy.state(healthy.by_folder()), steps))
    assert grants_left(healthy.store) == []


def test_nothing_made_is_nothing_to_take_back(healthy: Clinic) -> None:
    steps = examine(healthy.state())
    next(steps)
    steps.close()
    assert grants_left(healthy.store) == []


def test_https_is_examined_with_its_certificate(tmp_path: Path) -> None:
    with secured(tmp_path) as made:
        found = made.examine(made.by_passphrase())
        assert broken(found) == []
        assert found["tls"].says == "the certificate is good for 90 more days"


def test_a_client_with_a_document_of_its_own_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look_up = socket.getaddrinfo

    def found_here(host: str | bytes, *rest: Any, **more: Any) -> Any:
        return look_up("127.0.0.1" if host in (HOST, HOST.encode()) else host, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", found_here)
    with publishing() as published, clinic(tmp_path, fetcher=published.fetcher()) as made:
        known = replace(made, authorities=str(certificate()))
        found = known.examine(client_document=published.client_id)
        assert broken(found) == []
        assert found["document"].says == "a request of that client is taken"
        other = published.client_id.replace("client.json", "other.json")
        assert broken(known.examine(client_document=other)) == ["document"]
        published.reply = lambda client_id: answer(json.dumps({"client_id": client_id}).encode())
        told = known.examine(client_document=published.client_id)["document"]
        assert told.says == "the client's document names no redirect_uris"


def test_a_server_that_cannot_fetch_documents_is_told_what_to_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look_up = socket.getaddrinfo

    def found_here(host: str | bytes, *rest: Any, **more: Any) -> Any:
        return look_up("127.0.0.1" if host in (HOST, HOST.encode()) else host, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", found_here)
    with publishing() as published:
        strict = replace(published.fetcher(), context=ssl.create_default_context)
        with clinic(tmp_path, fetcher=strict) as made:
            known = replace(made, authorities=str(certificate()))
            told = known.examine(client_document=published.client_id)["document"]
    assert f"cannot be fetched from {HOST}: its certificate is not good" in told.says
    assert "client_documents = false" in str(told.fix)


class Agents(DocumentFetcher):
    """Fetches the documents of agents as their makers publish them."""

    async def fetch(self, client_id: str) -> Description:
        """Return what the maker says."""
        return read_metadata(document(client_id))


def test_where_documents_are_offered_one_that_many_agents_have_is_tried(tmp_path: Path) -> None:
    with clinic(tmp_path, fetcher=Agents()) as made:
        findings = made.examine()
    assert broken(findings) == []
    assert findings["document"].says == f"the server fetches {KNOWN_DOCUMENT}"


def test_a_server_that_cannot_fetch_what_it_offers_to_is_told_without_being_asked(
    tmp_path: Path,
) -> None:
    async def nowhere(_host: str, _port: int) -> list[str]:
        raise socket.gaierror

    with clinic(tmp_path, fetcher=DocumentFetcher(resolve=nowhere)) as made:
        findings = made.examine()
    assert broken(findings) == ["document"]
    told = findings["document"]
    assert "cannot be fetched from claude.ai: there is no such name" in told.says
    assert "client_documents = false" in str(told.fix)


def test_documents_are_not_offered_unless_the_owner_says_so(tmp_path: Path) -> None:
    assert Settings().client_documents is False
    with clinic(tmp_path) as made:
        findings = made.examine()
    assert findings["document"].says == "client_documents is false; agents register instead"


# What is broken


def swapped(before: bytes, after: bytes) -> Meddler:
    """Return a proxy that writes something else into the server's documents."""
    return Meddler((RESOURCE, ROOT_PATH, SERVER), body=lambda body: body.replace(before, after))


def member(path: str, name: str, value: Any) -> Meddler:
    """Return a proxy that changes a member of a JSON document."""
    return Meddler((path,), body=lambda body: json.dumps(json.loads(body) | {name: value}).encode())


def dropped(name: str) -> Meddler:
    """Return a proxy that drops a parameter of forms."""

    def drop(body: bytes) -> bytes:
        kept = [(key, value) for key, value in parse_qsl(body.decode()) if key != name]
        return urlencode(kept).encode()

    return Meddler(("/oauth/par", "/oauth/token"), request_body=drop)


def bears(prefix: bytes) -> Any:
    """Return what recognises requests with a kind of token."""
    return lambda scope: any(
        name == b"authorization" and value.startswith(prefix) for name, value in scope["headers"]
    )


HTML = page("Attention Required! | Edge", 403)
SPOILT: dict[str, tuple[Meddler, str, str]] = {
    "a page for every request": (Meddler(instead=HTML), "resource", "“Attention Required! | Edge”"),
    "a page at /mcp": (Meddler((MCP,), instead=HTML), "challenge", "a web page came from edge"),
    "a dead gateway": (
        Meddler(instead=(502, "text/html", b"<p>x")),
        "answer",
        "a proxy answers 502",
    ),
    "another clock": (
        Meddler(headers=lambda h: [*h, (b"date", b"Mon, 01 Jan 2024 00:00:00 GMT")]),
        "clock",
        "behind this machine's",
    ),
    "no metadata at /mcp": (
        Meddler((RESOURCE,), instead=(404, "application/json", b"{}")),
        "resource",
        "the answer was 404",
    ),
    "no metadata at the root": (
        Meddler((ROOT_PATH,), instead=(404, "text/plain", b"no")),
        "root",
        "the answer was 404",
    ),
    "another resource": (swapped(b"/mcp", b"/other"), "resource", "/other"),
    "another resource at the root": (
        member(ROOT_PATH, "resource", "https://elsewhere.example"),
        "root",
        "https://elsewhere.example",
    ),
    "nobody to ask": (member(RESOURCE, "authorization_servers", []), "resource", "authorization_"),
    "another authorization server": (
        member(RESOURCE, "authorization_servers", ["https://other.example"]),
        "resource",
        "the authorization server is https://other.example",
    ),
    "no server metadata": (
        Meddler((SERVER,), instead=(404, "text/plain", b"no")),
        "server",
        "the answer was 404",
    ),
    "a list for metadata": (
        Meddler((SERVER,), instead=(200, "application/json", b"[]")),
        "server",
        "no JSON object",
    ),
    "another issuer": (member(SERVER, "issuer", "https://other.example"), "server", "the issuer"),
    "an endpoint elsewhere": (
        member(SERVER, "token_endpoint", "https://other.example/token"),
        "server",
        "token_endpoint is https://other.example/token",
    ),
    "no S256": (member(SERVER, "code_challenge_methods_supported", ["plain"]), "server", "S256"),
    "no challenge": (Meddler((MCP,), headers=without(b"www-authenticate")), "challenge", "no WWW-"),
    "a challenge without scope": (
        Meddler((MCP,), headers=lambda h: [(n, v.split(b", scope")[0]) for n, v in h]),
        "challenge",
        "no scope",
    ),
    "a challenge for another": (
        Meddler((MCP,), headers=lambda h: [(n, v.replace(b"/mcp", b"/x")) for n, v in h]),
        "challenge",
        "resource_metadata in the challenge",
    ),
    "an open door": (
        Meddler((MCP,), instead=(200, "application/json", b"{}")),
        "challenge",
        "without a token",
    ),
    "a slash added": (
        Meddler((MCP,), instead=(308, "text/plain", b""), location="/mcp/"),
        "redirect",
        "/mcp is redirected to /mcp/",
    ),
    "a slash removed": (
        Meddler(("/mcp/",), instead=(301, "text/plain", b""), location="/mcp"),
        "redirect",
        "/mcp/ is redirected to /mcp",
    ),
    "no registration": (
        Meddler(("/oauth/register",), instead=(429, "application/json", b'{"error":"slow_down"}')),
        "register",
        "429",
    ),
    "a registration that is not one": (
        Meddler(("/oauth/register",), status=200),
        "register",
        "200",
    ),
    "a registration without an id": (
        member("/oauth/register", "client_id", None),
        "register",
        "without a client_id",
    ),
    "no documents": (
        member(SERVER, "client_id_metadata_document_supported", None),
        "document",
        "not offered",
    ),
    "pages behind a wall": (
        Meddler(("/consent/*",), instead=page("Sign in to Corp", 200)),
        "authorize",
        "“Sign in to Corp”",
    ),
    "an owner led astray": (
        Meddler(
            ("/oauth/authorize",),
            headers=lambda h: [
                (n, b"https://internal.example/consent" if n == b"location" else v) for n, v in h
            ],
        ),
        "authorize",
        "https://internal.example/consent",
    ),
    "nobody led on": (
        Meddler(("/oauth/authorize",), instead=page("Oops", 500)),
        "authorize",
        "status 500 Oops",
    ),
    "no pushed requests": (
        Meddler(("/oauth/par",), instead=(500, "application/json", b'{"error":"x"}')),
        "authorize",
        "500",
    ),
    "a page for tokens": (Meddler(("/oauth/token",), instead=HTML), "token", "a web page came"),
    "tokens that are kept": (
        Meddler(("/oauth/token",), headers=without(b"cache-control")),
        "token",
        "kept by caches",
    ),
    "tokens without renewal": (
        member("/oauth/token", "refresh_token", None),
        "token",
        "no access token with a refresh token",
    ),
    "no agent of today": (
        Meddler((MCP,), when=bears(b"Bearer pdpp_package"), instead=(500, "text/plain", b"x")),
        "legacy",
        "500",
    ),
    "new headers dropped": (
        Meddler((MCP,), request_headers=without(b"mcp-method")),
        "modern",
        "server/discover",
    ),
    "a lost resource": (dropped("resource"), "audience", "answered with 200 at /v1"),
    "an owner taken in": (
        Meddler((MCP,), when=bears(b"Bearer pdpp_owner"), instead=(200, "text/plain", b"{}")),
        "owner",
        "answered with 200",
    ),
}


@pytest.mark.parametrize("name", SPOILT)
def test_the_first_broken_step_is_named_behind(name: str, tmp_path: Path) -> None:
    meddler, step, words = SPOILT[name]
    with clinic(tmp_path, meddler) as made:
        found = made.examine(made.by_folder())
        assert broken(found)[:1] == [step], found
        assert words in found[step].says
        assert found[step].fix
        assert grants_left(made.store) == []


def test_a_page_in_between_is_recognised_and_named(tmp_path: Path) -> None:
    with clinic(tmp_path, Meddler(instead=HTML)) as made:
        found = made.examine()["resource"]
    assert "a proxy, a firewall, a bot check or a login wall" in (found.fix or "")


def test_a_server_that_answers_to_another_name_is_told_from_the_typed_one(tmp_path: Path) -> None:
    public = replace(FREE, public=True)
    with clinic(tmp_path, settings=public, named=lambda _: "https://data.example.org") as made:
        found = made.examine()
    assert broken(found)[0] == "resource"
    assert "https://data.example.org/mcp" in found["resource"].says
    assert "--public-url" in (found["resource"].fix or "")


def test_a_server_that_trusts_everybody_believes_a_stranger(tmp_path: Path) -> None:
    with clinic(tmp_path, settings=replace(FREE, trusted_proxies=("127.0.0.1",))) as made:
        found = made.examine()
    assert "forwarded" in broken(found)
    assert "--trusted-proxy" in (found["forwarded"].fix or "")


def test_a_server_without_an_owner_says_how_to_get_one(tmp_path: Path) -> None:
    with clinic(tmp_path, owned=False) as made:
        found = made.examine()
    assert broken(found) == ["authorize"]
    assert "pdpp owner init" in (found["authorize"].fix or "")


def test_a_wrong_passphrase_is_told(healthy: Clinic) -> None:
    found = healthy.examine(healthy.by_passphrase("not the passphrase"))
    assert broken(found) == ["approve"]
    assert found["approve"].says == "that is not the owner's passphrase"


def test_cookies_that_get_lost_are_told(tmp_path: Path) -> None:
    with clinic(tmp_path, Meddler(("/consent/*",), request_headers=without(b"cookie"))) as made:
        found = made.examine(made.by_passphrase())
    assert broken(found) == ["approve"]


def test_a_login_whose_cookie_gets_lost_is_told(tmp_path: Path) -> None:
    def lost(headers: Headers) -> Headers:
        return [(n, v) for n, v in headers if not (n == b"set-cookie" and b"session" in v)]

    with clinic(tmp_path, Meddler(("/consent/*",), headers=lost)) as made:
        found = made.examine(made.by_passphrase())
    assert found["approve"].says == "the login does not last: its cookie did not come back"


def test_too_many_logins_are_told(tmp_path: Path) -> None:
    login = Meddler(("/consent/*",), "POST", instead=page("Slow down", 429))
    with clinic(tmp_path, login) as made:
        assert made.examine(made.by_passphrase())["approve"].says == "too many logins were tried"


def test_a_yes_that_gets_lost_is_told(tmp_path: Path) -> None:
    seen: list[int] = []

    def fourth(_scope: Any) -> bool:  # After the login, the opened stream and the summary.
        seen.append(1)
        return len(seen) == 4

    lost = Meddler(("/consent/*",), "POST", when=fourth, instead=page("Oops", 500))
    with clinic(tmp_path, lost) as made:
        assert made.examine(made.by_passphrase())["approve"].says == (
            "the owner's yes was answered with 500"
        )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda v: v.replace(b"iss=http", b"iss=ftp"), "not from http"),
        (lambda v: v.replace(b"code=", b"cod="), "lacks its code"),
        (lambda v: v.replace(b"state=", b"state=x"), "lacks its code, or the state"),
        (lambda v: v.replace(b"code=", b"error=access_denied&x="), "access_denied"),
        (lambda _: b"https://other.example/callback?code=1", "https://other.example"),
    ],
)
def test_an_answer_that_was_changed_on_its_way_is_told(
    tmp_path: Path, change: Any, words: str
) -> None:
    def turned(headers: Headers) -> Headers:
        return [(n, change(v) if n == b"location" and b"127.0.0.1" in v else v) for n, v in headers]

    with clinic(tmp_path, Meddler(("/consent/*",), "POST", headers=turned)) as made:
        found = made.examine(made.by_passphrase())
        assert broken(found) == ["approve"]
        assert words in found["approve"].says
        assert grants_left(made.store) == []


def test_a_refresh_that_fails_or_renews_nothing_is_told(tmp_path: Path) -> None:
    asked: list[bytes] = []
    first: list[str] = []

    def look(body: bytes) -> bytes:
        asked.append(body)
        return body

    def keep_first(body: bytes) -> bytes:
        document = json.loads(body)
        first.append(document["refresh_token"])
        return json.dumps(document | {"refresh_token": first[0]}).encode()

    same = Meddler(("/oauth/token",), request_body=look, body=keep_first)
    with clinic(tmp_path, same) as made:
        found = made.examine(made.by_folder())
    assert broken(found)[:1] == ["refresh"]
    assert found["refresh"].says == "the refresh token stayed the same"
    assert len(asked) == 2


def test_a_cache_that_answers_for_a_revoked_token_is_told(tmp_path: Path) -> None:
    revoked: list[bool] = []

    def after(scope: Any) -> bool:
        if scope["path"] == "/oauth/revoke":
            revoked.append(True)
        return bool(revoked) and scope["path"] == MCP

    cache = Meddler(("/oauth/revoke", MCP), when=after, instead=(200, "application/json", b"{}"))
    with clinic(tmp_path, cache) as made:
        found = made.examine(made.by_folder())
        assert broken(found) == ["cleanup"]
        assert grants_left(made.store) == []


def test_another_data_folder_is_told(healthy: Clinic, tmp_path: Path) -> None:
    other = open_store(tmp_path)
    found = healthy.examine(ByFolder(other, instant.now))
    other.close()
    assert broken(found) == ["approve"]
    assert "--data" in (found["approve"].fix or "")


@pytest.mark.parametrize("passphrase", [True, False])
def test_a_server_with_nothing_to_grant_is_not_broken(tmp_path: Path, passphrase: bool) -> None:
    store = open_store(tmp_path)
    settle(store)
    listener = listening()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    with running(make_app(store, replace(FREE, origin=url)), listener):
        made = Clinic(url, store)
        found = made.examine(made.by_passphrase() if passphrase else made.by_folder())
    store.close()
    assert broken(found) == []
    assert found["approve"].says == "there is nothing to grant yet: add a connection first"


def test_an_agent_without_tools_is_told(tmp_path: Path) -> None:
    def emptied(body: bytes) -> bytes:
        document = json.loads(body)
        if "tools" in document.get("result", {}):
            document["result"]["tools"] = []
        return json.dumps(document).encode()

    with clinic(tmp_path, Meddler((MCP,), body=emptied)) as made:
        found = made.examine(made.by_folder())
    assert broken(found) == ["legacy", "modern"]
    assert found["legacy"].says == "no tools are listed"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d | {"result": {}}, "the handshake says nothing about the server"),
        (lambda _: {"error": {"message": "no\nway"}}, "initialize was refused: no way"),
        (lambda _: {"error": "no"}, "initialize was refused: no"),
    ],
)
def test_a_handshake_that_goes_wrong_is_told(tmp_path: Path, change: Any, words: str) -> None:
    def turned(body: bytes) -> bytes:
        document = json.loads(body)
        shaking = "serverInfo" in document.get("result", {})
        return json.dumps(change(document) if shaking else document).encode()

    with clinic(tmp_path, Meddler((MCP,), body=turned)) as made:
        assert made.examine(made.by_folder())["legacy"].says == words


def test_a_tool_that_fails_is_told(tmp_path: Path) -> None:
    def failed(body: bytes) -> bytes:
        return body.replace(b'"isError":false', b'"isError":true')

    with clinic(tmp_path, Meddler((MCP,), body=failed)) as made:
        assert made.examine(made.by_folder())["legacy"].says == "the schema tool failed"


def test_a_passphrase_goes_nowhere_over_a_connection_that_is_not_private(
    healthy: Clinic,
) -> None:
    asked: list[str] = []

    class Listening:
        def approve(self, consent_url: str) -> str:
            asked.append(consent_url)
            return ""

    def exposed(_chart: ExaminationState) -> str:
        raise StepBroken("plain http over a network", "use https")

    steps = [step._replace(work=exposed) if step.name == "tls" else step for step in STEPS]
    state = healthy.state()
    state.approver = Listening()  # type: ignore[assignment]
    found = {told.step: told for told in examine(state, steps[:-1])}
    assert found["approve"].says == "needs the step tls"
    assert asked == []


def test_a_page_that_offers_nothing_to_choose_is_told(tmp_path: Path) -> None:
    bare = Meddler(("/consent/*",), body=lambda body: body.replace(b"name=stream", b""))
    with clinic(tmp_path, bare) as made:
        says = made.examine(made.by_passphrase())["approve"].says
    assert says == "the consent page offers nothing to choose"


# Where nobody answers


def examined(url: str, **more: Any) -> dict[str, Any]:
    state = ExaminationState(mcp_url(url), Wire(seconds=5), **more)
    return {found.step: found for found in examine(state)}


@contextmanager
def talking(words: bytes) -> Iterator[str]:
    """Serve the same bytes to everybody, whatever they say."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                with connection:
                    connection.sendall(words)
                    connection.settimeout(1)
                    try:
                        connection.recv(65_536)
                    except OSError:
                        continue

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield f"127.0.0.1:{listener.getsockname()[1]}"
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join(10)


def test_a_port_where_nobody_listens_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    found = examined(f"http://127.0.0.1:{port}")
    assert broken(found) == ["reach"]
    assert found["reach"].says == f"http://127.0.0.1:{port}: nothing listens there"
    assert untried(found) == NAMES[1:]


def test_a_name_that_does_not_exist_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(*_: Any, **__: Any) -> Any:
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    monkeypatch.setattr(socket, "getaddrinfo", nothing)
    assert examined("https://data.example.org")["reach"].says.endswith("there is no such name")


def test_something_that_does_not_speak_http_is_told() -> None:
    with talking(b"SSH-2.0-OpenSSH_9.9\r\n") as place:
        found = examined(f"http://{place}")
    assert broken(found) == ["answer"]
    assert found["answer"].says.endswith("what came back is not HTTP")


def test_plain_http_at_an_https_address_is_told() -> None:
    with talking(b"HTTP/1.1 400 Bad Request\r\n\r\n") as place:
        found = examined(f"https://{place}")
    assert broken(found)[0] == "tls"
    assert found["tls"].says == "it takes connections but does not speak TLS"


def test_a_certificate_that_nobody_vouches_for_is_told(tmp_path: Path) -> None:
    with secured(tmp_path) as made:
        found = examined(made.url)
    assert broken(found) == ["tls", "answer"]
    assert found["tls"].says.startswith("the certificate is not good: self")
    assert "its certificate is not good" in found["answer"].says


def test_a_certificate_that_ends_soon_is_told(tmp_path: Path) -> None:
    with secured(tmp_path, days=3) as made:
        found = made.examine()
    assert broken(found) == ["tls"]
    assert found["tls"].says == "the certificate ends in 3 days"


def test_plain_http_over_a_network_is_told() -> None:
    with pytest.raises(StepBroken, match="anyone on the way reads the tokens"):
        tls(ExaminationState("http://data.example.org/mcp", Wire()))


def test_a_server_that_vanishes_in_the_middle_is_told(tmp_path: Path) -> None:
    vanished = Meddler(("/oauth/register",), instead=(0, "", b""))
    with clinic(tmp_path, vanished) as made:
        state = made.state()
        state.server = {"registration_endpoint": "http://127.0.0.1:1/oauth/register"}
        (step,) = (step for step in STEPS if step.name == "register")
        (found,) = examine(state, [step._replace(needs=())])
    assert found.outcome is StepOutcome.BROKEN
    assert "its log" in (found.fix or "")


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (TimeoutError(), "it did not answer in time"),
        (ConnectionResetError(), "the connection broke off"),
        (ssl.SSLError(), "it does not speak TLS as it should"),
    ],
)
def test_what_went_wrong_on_the_way_is_said_in_plain_words(
    monkeypatch: pytest.MonkeyPatch, problem: OSError, words: str
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise problem

    monkeypatch.setattr(socket, "create_connection", fail)
    assert examined("http://127.0.0.1:1")["reach"].says.endswith(words)


# Dates


@pytest.mark.parametrize("headers", [{}, {"date": "some day"}])
def test_an_answer_without_a_good_date_tells_nothing_of_the_clock(headers: dict[str, str]) -> None:
    state = ExaminationState(
        "http://127.0.0.1/mcp", Wire(), first=TimedReply(HttpReply(200, headers, b""))
    )
    with pytest.raises(StepUntried):
        clock(state)


@pytest.mark.parametrize(
    ("seconds", "words"), [(90, "1 minute ahead of"), (-7_200, "2 hours behind")]
)
def test_a_clock_that_is_off_is_told(seconds: int, words: str) -> None:
    headers = {"date": "Thu, 01 Oct 2026 00:00:00 GMT"}
    at = (instant.parse("2026-10-01") or 0) / instant.SECOND - seconds
    state = ExaminationState(
        "http://127.0.0.1/mcp", Wire(), first=TimedReply(HttpReply(200, headers, b""), sent_at=at)
    )
    with pytest.raises(StepBroken, match=f"{words} this"):
        clock(state)


# Addresses


@pytest.mark.parametrize(
    "text", ["data.example.org", "ftp://x.example", "https://", "https://x.example/?q=1"]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not an address"):
        mcp_url(text)


def test_an_address_may_have_a_path_and_need_not_end_as_agents_are_given_it() -> None:
    assert mcp_url("https://x.example") == "https://x.example/mcp"
    assert mcp_url("https://x.example/mcp") == "https://x.example/mcp"
    assert mcp_url(" https://x.example/anna/ ") == "https://x.example/anna/mcp"
    assert mcp_url("https://x.example/anna/mcp") == "https://x.example/anna/mcp"


def test_a_passphrase_is_never_in_what_is_told(healthy: Clinic) -> None:
    for passphrase in (PASSPHRASE, "a wrong one entirely"):
        found = healthy.examine(healthy.by_passphrase(passphrase))
        assert passphrase not in str(found)


def test_who_approved_can_be_looked_up_later(healthy: Clinic) -> None:
    healthy.examine(healthy.by_folder())
    consents = list(Authority(healthy.store, instant.now)._vault.consents())
    assert "pdpp doctor" in consents[0].text
