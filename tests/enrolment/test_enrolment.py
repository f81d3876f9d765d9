"""A program on this machine gets a grant from a running provider, by browser and by device code."""

import re
import subprocess
import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import httpx
import pytest
from tests.cli.shell import command, environment
from tests.enrolment.impostor import imposing
from tests.launching.process import Program
from tests.oauth.browser import decide
from tests.oauth.dance import Dance, dancing, query
from tests.reference_server import ReferenceServer
from tests.serving import UNLIMITED

from pdpp.credentials import Cache, Credential
from pdpp.enrolment.browser import RedirectListener, enrol_by_browser, make_request
from pdpp.enrolment.credential import make_credential
from pdpp.enrolment.device import DeviceCode, ask_code, await_approval
from pdpp.enrolment.provider import EnrolmentError, Provider, discover
from pdpp.enrolment.registration import register
from pdpp.enrolment.revocation import give_up
from pdpp.model import instant


@pytest.fixture
def dance(tmp_path: Path) -> Iterator[Dance]:
    """A provider whose devices may ask every second, by the real clock."""
    settings = replace(UNLIMITED, lifetimes=replace(UNLIMITED.lifetimes, poll=instant.SECOND))
    with dancing(tmp_path / "data", settings, clock=instant.now) as made:  # type: ignore[arg-type]
        yield made


def visit(address: str, **changes: str) -> httpx.Response:
    """Go where the owner's browser is sent, with something changed on the way."""
    parts = urlsplit(address)
    told = {**query(address), **changes}
    return httpx.get(f"http://{parts.netloc}{parts.path}", params=told, trust_env=False)


def in_browser(dance: Dance, address: str, **changes: str) -> None:
    """Approve on another thread, as a browser does."""
    threading.Thread(target=lambda: visit(decide(dance, address), **changes)).start()


# Discovery and registration


def test_a_provider_is_found_by_its_address(dance: Dance) -> None:
    found = discover(dance.url)
    assert found.issuer == dance.url
    assert found.token_endpoint == f"{dance.url}/oauth/token"
    assert found.iss_promised
    assert register(found) != register(found)


@pytest.mark.parametrize(
    ("resource", "server", "why"),
    [
        ({}, {}, "names no authorization server"),
        ({"authorization_servers": [7]}, {}, "names no authorization server"),
        ({"authorization_servers": ["http://data.example"]}, {}, "is not encrypted"),
        (
            {"authorization_servers": ["SELF"]},
            {"issuer": "https://other.example"},
            "another server",
        ),
        ({"authorization_servers": ["SELF"]}, {"issuer": "SELF"}, "issues no tokens"),
        (
            {"authorization_servers": ["SELF"]},
            {"issuer": "SELF", "token_endpoint": "http://x.example/t"},
            "is not encrypted",
        ),
        ({"authorization_servers": ["SELF"]}, None, "answered 404"),
    ],
)
def test_a_provider_that_says_something_else_is_refused_in_words(
    resource: Mapping[str, Any], server: Mapping[str, Any] | None, why: str
) -> None:
    with imposing(resource, server) as url, pytest.raises(EnrolmentError, match=why):
        discover(url)


def test_nobody_at_home_is_said() -> None:
    with pytest.raises(EnrolmentError, match="cannot be reached"):
        discover("http://127.0.0.1:1")


def test_a_strict_provider_is_asked_again_with_what_every_server_knows(dance: Dance) -> None:
    with ReferenceServer() as server:
        endpoint = f"{server.url}/oauth/register"
        strict = replace(discover(dance.url), registration_endpoint=endpoint)
        assert register(strict) == "ref-client-1"
    first, second = server.registrations
    assert first["scope"] == "pdpp:read offline_access"
    assert first.keys() - second.keys() == {"scope", "application_type"}
    assert second.items() <= first.items()


def test_a_provider_that_registers_nobody_is_said(dance: Dance) -> None:
    found = discover(dance.url)
    with pytest.raises(EnrolmentError, match="registers no programs"):
        register(replace(found, registration_endpoint=None))
    wrong = replace(found, registration_endpoint=f"{dance.url}/oauth/token")
    with pytest.raises(EnrolmentError, match="did not register this program"):
        register(wrong)
    gone = replace(found, registration_endpoint="http://127.0.0.1:1/register")
    with pytest.raises(EnrolmentError, match="cannot be reached"):
        register(gone)


# In a browser


def test_an_approval_in_the_browser_gives_a_credential(dance: Dance) -> None:
    provider = discover(dance.url)
    client_id = register(provider)
    held = enrol_by_browser(provider, client_id, lambda address: in_browser(dance, address))
    assert dance.read(held.token) == 200
    assert held.refresh_token is not None
    assert held.expires_at is not None
    assert (held.client_id, held.token_endpoint) == (client_id, provider.token_endpoint)


def test_an_answer_from_another_server_is_refused(dance: Dance) -> None:
    provider = discover(dance.url)

    def show(address: str) -> None:
        in_browser(dance, address, iss="https://evil.example")

    with pytest.raises(EnrolmentError, match="a different server"):
        enrol_by_browser(provider, register(provider), show)


def test_a_denial_and_any_other_refusal_are_said(dance: Dance) -> None:
    provider = discover(dance.url)
    client_id = register(provider)

    def refuse(error: str) -> Any:
        def show(address: str) -> None:
            told = query(address)
            back = f"{told['redirect_uri']}?state={told['state']}&iss={dance.url}&error={error}"
            threading.Thread(target=lambda: httpx.get(back, trust_env=False)).start()

        return show

    with pytest.raises(EnrolmentError, match="the owner denied"):
        enrol_by_browser(provider, client_id, refuse("access_denied"))
    with pytest.raises(EnrolmentError, match="refused: server_error"):
        enrol_by_browser(provider, client_id, refuse("server_error"))


def test_a_code_that_is_not_good_is_said(dance: Dance) -> None:
    provider = discover(dance.url)
    client_id = register(provider)
    with pytest.raises(EnrolmentError, match="gave no token: invalid_grant"):
        enrol_by_browser(provider, client_id, lambda a: in_browser(dance, a, code="guess"))


def test_an_owner_who_does_not_come_is_not_awaited_for_ever(dance: Dance) -> None:
    provider = discover(dance.url)
    client_id = register(provider)
    with pytest.raises(EnrolmentError, match="nothing was approved in time"):
        enrol_by_browser(provider, client_id, lambda _: None, seconds=0.05)
    bare = replace(provider, authorization_endpoint=None)
    with pytest.raises(EnrolmentError, match="cannot approve requests in a browser"):
        make_request(bare, client_id, "http://127.0.0.1:1/callback")


def test_the_port_takes_one_answer_with_the_right_state_and_nothing_else() -> None:
    listener = RedirectListener()
    answers: list[int] = []

    def knock() -> None:
        for path in ("/", "/callback?state=guess&code=x", "/callback?state=right&code=yes"):
            url = f"http://127.0.0.1:{listener.port}{path}"
            answers.append(httpx.get(url, trust_env=False).status_code)

    thread = threading.Thread(target=knock)
    thread.start()
    assert listener.wait("right", 10) == {"state": "right", "code": "yes"}
    thread.join()
    listener.close()
    assert answers == [404, 404, 200]


def test_a_caller_who_says_nothing_does_not_end_the_wait() -> None:
    import socket

    listener = RedirectListener()

    def knock() -> None:
        socket.create_connection(("127.0.0.1", listener.port)).close()
        httpx.get(f"{listener.redirect_uri}?state=s&code=c", trust_env=False)

    thread = threading.Thread(target=knock)
    thread.start()
    assert listener.wait("s", 10) == {"state": "s", "code": "c"}
    thread.join()
    listener.close()


# By device code


def approve_device(dance: Dance, code: DeviceCode) -> None:
    dance.approve(dance.authority.device_review(code.user_code, dance.url).id)


def test_an_approval_by_code_gives_a_credential(dance: Dance) -> None:
    provider = discover(dance.url)
    client_id = register(provider)
    code = ask_code(provider, client_id)
    left: list[float] = []

    def waiting(seconds: float) -> None:
        left.append(seconds)
        if len(left) == 2:
            approve_device(dance, code)

    held = await_approval(provider, client_id, code, waiting)
    assert dance.read(held.token) == 200
    assert len(left) == 2


def test_a_program_that_asks_too_soon_slows_down(dance: Dance) -> None:
    provider = discover(dance.url)
    client_id = register(provider)
    code = ask_code(provider, client_id)._replace(interval=0.05)
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            dance.authority.deny(dance.authority.device_review(code.user_code, dance.url).id)

    with pytest.raises(EnrolmentError, match="the owner denied the request"):
        await_approval(provider, client_id, code, lambda _: None, pause=pause)
    assert pauses[0] == 0.05
    assert pauses[-1] > 5


def test_a_code_that_ends_is_said(dance: Dance) -> None:
    provider = discover(dance.url)
    client_id = register(provider)
    code = ask_code(provider, client_id)
    with pytest.raises(EnrolmentError, match="the code expired before it was approved"):
        await_approval(provider, client_id, code._replace(seconds=0), lambda _: None)
    unknown = code._replace(device_code="guess")
    with pytest.raises(EnrolmentError, match=r"gave no token|the code expired"):
        await_approval(provider, client_id, unknown, lambda _: None, pause=lambda _: None)


@pytest.mark.parametrize("odd", [float("nan"), 10**400, None, "soon"])
@pytest.mark.parametrize("name", ["expires_in", "interval"])
def test_a_code_with_a_time_that_is_none_is_no_code(name: str, odd: object) -> None:
    told = {"device_code": "d", "user_code": "u", "verification_uri": "v", "expires_in": 60}
    with imposing({}, None, told | {name: odd}) as url:
        provider = Provider(url, url, url, device_authorization_endpoint=f"{url}/device")
        with pytest.raises(EnrolmentError, match="gave no code: it answered 200"):
            ask_code(provider, "x")


@pytest.mark.parametrize(
    ("lifetime", "end"), [(60, 160.0), (float("nan"), None), (10**400, None), ("soon", None)]
)
def test_a_token_lasts_as_long_as_is_told_where_that_is_a_time(
    lifetime: object, end: float | None
) -> None:
    provider = Provider("https://p.example", "https://p.example", "https://p.example/token")
    answer = {"access_token": "t", "expires_in": lifetime}
    assert make_credential(provider, "c", answer, 100.0).expires_at == end


def test_a_provider_without_codes_is_said(dance: Dance) -> None:
    provider = discover(dance.url)
    with pytest.raises(EnrolmentError, match="no codes"):
        ask_code(replace(provider, device_authorization_endpoint=None), "x")
    with pytest.raises(EnrolmentError, match="gave no code: "):
        ask_code(provider, "nobody")
    gone = replace(provider, device_authorization_endpoint="http://127.0.0.1:1/x")
    with pytest.raises(EnrolmentError, match="cannot be reached"):
        ask_code(gone, "x")
    code = DeviceCode("d", "u", "a", None, 60, 0)
    lost = replace(provider, token_endpoint="http://127.0.0.1:1/t")
    with pytest.raises(EnrolmentError, match="cannot be reached"):
        await_approval(lost, "x", code, lambda _: None)


# The program


def pdpp_connect(dance: Dance, root: Path, *options: str) -> subprocess.Popen[str]:
    started = Program(
        command("connect", dance.url, "--cache-root", root, *options),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment({"BROWSER": "true"}),
    )
    return cast(subprocess.Popen[str], started)  # its streams are text


def ended(process: subprocess.Popen[str]) -> int:
    process.communicate(timeout=30)
    return process.returncode


def typed_code(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    for line in process.stderr:
        found = re.search(r"^\s+([A-Z]{4}-[A-Z]{4})\s*$", line)
        if found:
            return found.group(1)
    raise AssertionError("no code was shown")


@pytest.mark.scenario("S047")
def test_the_program_connects_by_code_says_what_was_granted_and_renews_it(
    dance: Dance, tmp_path: Path
) -> None:
    root = tmp_path / "root"
    process = pdpp_connect(dance, root, "--no-browser")
    dance.approve(dance.authority.device_review(typed_code(process), dance.url).id)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert "Work notes: notes" in out
    assert "Private notes: notes" in out
    assert f"pdpp mcp install claude-code --provider-url {dance.url}" in out
    cache = Cache(root / "clients")
    first = cache.load(dance.url)
    assert first.token not in out + err
    assert cache.path(dance.url).stat().st_mode & 0o777 == 0o600
    assert ended(pdpp_connect(dance, root)) == 0
    second = cache.load(dance.url)
    assert second.token != first.token
    assert dance.read(second.token) == 200
    gone = pdpp_connect(dance, root, "--forget")
    assert gone.communicate(timeout=30)[0] == "Forgotten.\n"
    assert dance.read(second.token) == 401


def test_the_program_connects_by_browser(dance: Dance, tmp_path: Path) -> None:
    root = tmp_path / "root"
    process = pdpp_connect(dance, root, "--browser")
    assert process.stderr is not None
    address = next(line.strip() for line in process.stderr if "/oauth/authorize?" in line)
    visit(decide(dance, address))
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert "Work notes: notes" in out


def test_a_denied_program_keeps_nothing_and_says_so(dance: Dance, tmp_path: Path) -> None:
    root = tmp_path / "root"
    process = pdpp_connect(dance, root, "--no-browser")
    dance.authority.deny(dance.authority.device_review(typed_code(process), dance.url).id)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 78
    assert "error: not_connected: the owner denied the request" in err
    assert not root.exists()


def test_a_revoked_credential_leads_to_a_new_approval(dance: Dance, tmp_path: Path) -> None:
    root = tmp_path / "root"
    process = pdpp_connect(dance, root, "--no-browser")
    dance.approve(dance.authority.device_review(typed_code(process), dance.url).id)
    assert ended(process) == 0
    client_id = Cache(root / "clients").load(dance.url).client_id
    assert client_id is not None
    dance.authority.revoke_client(client_id)
    process = pdpp_connect(dance, root, "--no-browser")
    dance.approve(dance.authority.device_review(typed_code(process), dance.url).id)
    assert ended(process) == 0
    assert dance.read(Cache(root / "clients").load(dance.url).token) == 200


def test_what_cannot_be_given_up_is_only_forgotten(dance: Dance, tmp_path: Path) -> None:
    cache = Cache(tmp_path / "clients")
    assert not give_up(cache, dance.url)
    cache.store(Credential(dance.url, "token", "client"))
    assert not give_up(cache, dance.url)
    cache.store(Credential("http://127.0.0.1:1", "t", "client", refresh_token="r", client_id="c"))
    assert not give_up(cache, "http://127.0.0.1:1")


def test_a_provider_that_cannot_revoke_is_no_obstacle(
    dance: Dance, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = Cache(tmp_path / "clients")
    cache.store(Credential(dance.url, "t", "client", refresh_token="r", client_id="c"))

    found = discover(dance.url)
    for endpoint in (None, "http://127.0.0.1:1/revoke"):
        lame: Provider = replace(found, revocation_endpoint=endpoint)
        monkeypatch.setattr("pdpp.enrolment.revocation.discover", lambda _, lame=lame: lame)
        assert not give_up(cache, dance.url)
