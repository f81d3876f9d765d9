import base64
import hashlib
import logging
from pathlib import Path

import httpx
import pytest
from selectolax.lexbor import LexborHTMLParser
from tests.pages.house import MAIL, PASSPHRASE, House, Reader, housed
from tests.serving import SetClock

from pdpp.service.settings import Settings

PAGES = ["/login", "/agents", "/device", "/device/denied", "/r/cin_home/messages/m-invoice-4471"]
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


# What every answer says


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("known", [True, False])
def test_every_page_is_kept_from_caches_frames_and_foreign_code(
    house: House, owner: Reader, path: str, known: bool
) -> None:
    answer = (owner if known else house.stranger()).get(path).answer
    headers = answer.headers
    assert headers["cache-control"] == "no-store"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert "access-control-allow-origin" not in headers
    if answer.status_code == 303:
        return
    assert headers["content-type"] == "text/html; charset=utf-8"
    policy = dict(
        part.strip().partition(" ")[::2] for part in headers["content-security-policy"].split(";")
    )
    assert policy["default-src"] == "'none'"
    assert policy["style-src"] == policy["img-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert policy["form-action"] == "'self'"
    scripts = LexborHTMLParser(answer.text).css("script")
    digests = [hashlib.sha256(node.text().encode()).digest() for node in scripts]
    allowed = [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests]
    assert bool(scripts) is known
    assert policy["script-src"] == (" ".join(allowed) or "'none'")
    assert policy["connect-src"] == ("'self'" if known and path == "/import" else "'none'")


def test_pages_load_only_what_is_here(owner: Reader) -> None:
    for path in PAGES[1:]:
        tree = owner.get(path).tree
        sources = [
            node.attributes.get("src") or node.attributes.get("href") or ""
            for node in tree.css("link, script[src], img")
        ]
        assert sources
        assert all(source.startswith("/") and not source.startswith("//") for source in sources)
        assert not [node for node in tree.css("*") if "style" in node.attributes]


def test_what_pages_load_is_kept_for_as_long_as_it_is_the_same(owner: Reader) -> None:
    tree = owner.get("/agents").tree
    style = tree.css_first("link[rel=stylesheet]")
    assert style is not None
    answer = owner.http.get(str(style.attributes["href"]))
    assert answer.headers["content-type"] == "text/css"
    assert "immutable" in answer.headers["cache-control"]


def test_an_unknown_asset_is_not_there(owner: Reader) -> None:
    assert owner.http.get("/assets/../template.py").status_code == 404
    assert owner.http.get("/assets/other.css").status_code == 404


# Forms


def test_a_form_without_the_token_of_its_session_does_nothing(house: House) -> None:
    reader = house.owner()
    path = house.ask(MAIL)
    page = reader.get(path)
    other = house.owner().get("/agents").fields("nav form")[0][1]
    for token in ("", "x", other):
        refused = page.send(token=token, action="deny")
        assert refused.status == 403
        assert "too old" in refused.text
    assert reader.get(path).status == 200


def test_a_login_form_is_bound_to_the_browser_it_was_shown_in(house: House) -> None:
    shown = house.stranger().get("/login")
    thief = house.stranger()
    fields = {**dict(shown.fields()), "passphrase": PASSPHRASE}
    assert thief.http.post("/login", data=fields).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://evil.example"},
        {"Origin": "http://127.0.0.1:1"},
    ],
)
def test_a_form_from_another_site_does_nothing(house: House, headers: dict[str, str]) -> None:
    reader = house.owner()
    refused = reader.get("/agents").send(form="nav form", headers=headers)
    assert refused.status == 403
    assert "another site" in refused.text
    assert reader.get("/agents").status == 200


@pytest.mark.parametrize(
    "headers", [{"Sec-Fetch-Site": "same-origin", "Origin": "null"}, {"Origin": "null"}, {}]
)
def test_a_form_from_here_is_taken(house: House, headers: dict[str, str]) -> None:
    reader = house.owner()
    done = reader.get("/agents").send(form="nav form", headers=headers)
    assert done.location == "/login"


def test_a_session_that_ended_meets_the_login_and_not_a_riddle(house: House) -> None:
    reader = house.owner()
    page = reader.get(house.ask(MAIL))
    reader.http.cookies.clear()
    sheet = page.send(action="approve")
    assert sheet.status == 401
    assert "Log in" in sheet.text


def test_a_stranger_meets_the_door_with_a_form_that_only_the_owner_may_send(
    house: House, owner: Reader
) -> None:
    large = b"a=" + b"x" * (1 << 20)
    sheet = house.stranger().http.post("/device", content=large, headers=FORM)
    assert sheet.status_code == 413
    assert 'name="passphrase"' in sheet.text
    assert owner.http.post("/device", content=large, headers=FORM).status_code == 403


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"token=x", {"Content-Type": "application/json"}, 415),
        (b"token=x", {"Content-Type": "multipart/form-data; boundary=a"}, 415),
        (b"\xff=x", FORM, 400),
        (b"a=%ff", FORM, 400),
        (b"&".join([b"a=1"] * 60_000), FORM, 400),
        (b"a=" + b"x" * (5 << 20), FORM, 413),
        (b"token=a&token=b", FORM, 400),
    ],
)
def test_a_malformed_form_is_a_clear_page(
    house: House, body: bytes, headers: dict[str, str], status: int
) -> None:
    reader = house.owner()
    answer = reader.http.post("/device", content=body, headers=headers)
    assert answer.status_code == status
    assert "That did not work" in answer.text


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH"])
def test_other_methods_are_refused(owner: Reader, method: str) -> None:
    assert owner.http.request(method, "/agents").status_code == 405


def test_a_page_that_takes_no_form_says_so(owner: Reader) -> None:
    token = owner.get("/agents").fields("nav form")[0][1]
    assert owner.http.post("/agents", data={"token": token}).status_code == 405
    assert owner.http.get("/logout").status_code == 405


# Names


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "evil.example:80", ""])
def test_a_name_that_somebody_made_lead_here_is_refused(house: House, host: str) -> None:
    answer = house.stranger(Host=host).http.get("/login")
    assert answer.status_code == 400
    assert "--public-url" in answer.text
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("host", ["127.0.0.1:5", "localhost", "LOCALHOST:5", "[::1]:7377"])
def test_every_name_of_this_machine_is_ours(house: House, host: str) -> None:
    assert house.stranger(Host=host).http.get("/login").status_code == 401


def test_a_trusted_proxy_names_the_address(tmp_path: Path) -> None:
    settings = Settings(trusted_proxies=("127.0.0.1",), requests_per_second=0)
    with housed(tmp_path / "store", settings=settings) as made:
        reader = made.stranger(**{"X-Forwarded-Proto": "https", "X-Forwarded-Host": "data.example"})
        answer = reader.http.get("/login")
        assert answer.headers["set-cookie"].startswith("__Host-pdpp_mark=")
        assert "data.example" in answer.text


def test_a_public_server_is_reached_through_a_proxy_that_changes_the_host(tmp_path: Path) -> None:
    settings = Settings(origin="https://data.example", public=True, requests_per_second=0)
    with housed(tmp_path / "store", settings=settings) as made:
        page = made.stranger().get("/login")
        cookie = page.answer.headers["set-cookie"].partition(";")[0]
        answer = made.stranger().http.post(
            "/login",
            data={**dict(page.fields()), "passphrase": PASSPHRASE},
            headers={"Origin": "https://data.example", "Cookie": cookie},
        )
        assert answer.status_code == 303


def test_guesses_behind_a_proxy_count_for_who_guesses(tmp_path: Path) -> None:
    settings = Settings(trusted_proxies=("127.0.0.1",), requests_per_second=0)
    with housed(tmp_path / "store", settings=settings, clock=SetClock()) as made:
        guesser = made.stranger(**{"X-Forwarded-For": "192.0.2.1"})
        statuses = [guesser.log_in("wrong").status for _ in range(6)]
        assert statuses == [401] * 5 + [429]
        assert made.stranger(**{"X-Forwarded-For": "192.0.2.2"}).log_in().location == "/login"


# When something fails


def test_a_failure_is_a_page_without_detail_and_a_line_in_the_log(
    house: House, owner: Reader, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: object) -> None:
        raise RuntimeError("the secret detail")

    monkeypatch.setattr(type(house.store.vault), "grants", fail)
    with caplog.at_level(logging.ERROR, "pdpp.pages"):
        sheet = owner.get("/agents")
    assert sheet.status == 500
    assert "secret detail" not in sheet.answer.text
    assert "the secret detail" in caplog.text
    assert "page /agents failed" in caplog.text


def test_a_browser_that_goes_away_is_no_failure(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    import socket

    host, port = house.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as line:
        line.sendall(
            b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n"
            b"Content-Type: application/x-www-form-urlencoded\r\n\r\ntoken="
        )
    assert house.stranger().get("/login").status == 401
    assert "pdpp.pages" not in {record.name for record in caplog.records}


def test_an_error_before_a_redirect_can_be_trusted_is_a_page(house: House) -> None:
    answer: httpx.Response = house.stranger().http.get("/oauth/authorize?client_id=nobody")
    assert answer.status_code in (400, 401)
    assert "That did not work" in answer.text
