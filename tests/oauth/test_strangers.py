"""Strangers may ask, within bounds; a page that the owner merely visits may not even that."""

from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import httpx
import orjson
import pytest
from tests.engine import database_of
from tests.oauth.dance import CALLBACK, Dance, Party, details, oauth_error

from pdpp.authz import outstanding
from pdpp.authz.outstanding import RequestBounds
from pdpp.model.errors import OAuthError
from pdpp.oauth.browser_origin import BrowserUse, check_browser

EVIL = "https://evil.example"


def post(dance: Dance, path: str, party: Party, **headers: str) -> httpx.Response:
    if path == "/oauth/register":
        return dance.http.post(path, json={"redirect_uris": [CALLBACK]}, headers=headers)
    form = {**dance.request(party), "token": "x", "grant_type": "refresh_token"}
    return dance.http.post(path, data=form, headers=headers)


ENDPOINTS = [
    "/oauth/register",
    "/oauth/token",
    "/oauth/revoke",
    "/oauth/par",
    "/oauth/device_authorization",
    "/oauth/introspect",
]


@pytest.mark.parametrize("path", ENDPOINTS)
@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": EVIL, "Sec-Fetch-Site": "cross-site"},
        {"Origin": EVIL},
        {"Origin": "null"},
        {"Origin": "file://"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
    ids=["browser", "origin", "null", "file", "metadata"],
)
def test_a_page_of_another_site_posts_nothing_to_a_server_on_this_machine(
    dance: Dance, party: Party, path: str, headers: dict[str, str]
) -> None:
    before = rows(dance)
    answer = post(dance, path, party, **headers)
    oauth_error(answer, "access_denied", 403)
    assert "access-control-allow-origin" not in answer.headers
    assert rows(dance) == before


def rows(dance: Dance) -> int:
    count = "(SELECT count(*) FROM {})"
    tables = ("client", "short_lived_secret", "token", "refresh_token")
    counts = " + ".join(count.format(table) for table in tables)
    return int(database_of(dance.store).reader.execute(f"SELECT {counts}").get)


@pytest.mark.parametrize("path", ["/oauth/register", "/oauth/token", "/oauth/revoke"])
def test_a_page_of_this_machine_may_be_a_client(dance: Dance, party: Party, path: str) -> None:
    local = {"Origin": "http://localhost:6274", "Sec-Fetch-Site": "same-site"}
    answer = post(dance, path, party, **local)
    assert answer.status_code != 403
    assert answer.headers["access-control-allow-origin"] == "*"


def test_a_preflight_of_another_site_is_refused_on_this_machine(dance: Dance) -> None:
    asked = {"Origin": EVIL, "Access-Control-Request-Method": "POST"}
    answer = dance.http.options("/oauth/register", headers=asked)
    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize(
    ("use", "origin", "served"),
    [
        (BrowserUse.CLIENTS, "https://agent.example", True),
        (BrowserUse.CLIENTS, "http://localhost:6274", True),
        (BrowserUse.CLIENTS, "https://data.example", True),
        (BrowserUse.CLIENTS, "http://agent.example", False),
        (BrowserUse.CLIENTS, "null", False),
        (BrowserUse.CLIENTS, "https://[", True),
        (BrowserUse.NOBODY, "https://agent.example", False),
        (BrowserUse.NOBODY, "https://data.example", True),
        (BrowserUse.ANYBODY, "http://agent.example", True),
    ],
)
def test_on_a_public_address_a_page_elsewhere_may_be_a_client_but_no_device(
    use: BrowserUse, origin: str, served: bool
) -> None:
    headers = {"origin": origin, "sec-fetch-site": "cross-site"}
    with nullcontext() if served else pytest.raises(OAuthError):
        check_browser(use, headers, "https://data.example")


def test_a_program_says_nothing_of_an_origin_and_is_served(dance: Dance, party: Party) -> None:
    form = {"client_id": party.client_id}
    assert dance.http.post("/oauth/device_authorization", data=form).status_code == 200


# Bounds


def ask_as_device(dance: Dance, party: Party) -> httpx.Response:
    wide = details(
        *({"name": f"s{number}", "fields": [f"{n}" * 500 for n in range(5)]} for number in range(5))
    )
    form = {"client_id": party.client_id, "authorization_details": wide}
    return dance.http.post("/oauth/device_authorization", data=form)


def bounded(dance: Dance, monkeypatch: pytest.MonkeyPatch, **bounds: int) -> None:
    """Give every authority of the server other bounds."""
    limits = replace(RequestBounds(), **bounds)
    real = outstanding.make_room
    monkeypatch.setattr(
        "pdpp.authz.authority.make_room",
        lambda transaction, _, address, now: real(transaction, limits, address, now),
    )


def test_only_so_many_requests_of_one_address_wait(
    dance: Dance, party: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    bounded(dance, monkeypatch, address_requests=3)
    for _ in range(3):
        dance.review_of(party)
    for refused in (
        dance.http.post("/oauth/device_authorization", data={"client_id": party.client_id}),
        dance.http.post("/oauth/par", data=dance.request(party)),
    ):
        oauth_error(refused, "temporarily_unavailable", 429)
        assert refused.headers["retry-after"] == "60"
    assert dance.ask(party).status_code == 429


def test_only_so_many_requests_wait_in_all(
    dance: Dance, party: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    bounded(dance, monkeypatch, requests=2)
    for _ in range(2):
        dance.review_of(party)
    assert dance.ask(party).status_code == 503


def test_the_bytes_of_what_waits_are_bounded_on_the_disk_too(
    dance: Dance, party: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    bounded(dance, monkeypatch, address_bytes=40_000)
    taken = 0
    while ask_as_device(dance, party).status_code == 200:
        taken += 1
        assert taken < 20
    assert taken > 1
    kept = "SELECT sum(octet_length(body)) FROM short_lived_secret"
    assert int(database_of(dance.store).reader.execute(kept).get) < 80_000


def test_what_nobody_approved_makes_room_when_its_time_is_over(
    dance: Dance, party: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    bounded(dance, monkeypatch, address_requests=2)
    for _ in range(2):
        dance.review_of(party)
    assert dance.ask(party).status_code == 429
    dance.clock.advance(601)
    assert dance.ask(party).status_code == 303
    waiting = "SELECT count(*) FROM short_lived_secret WHERE kind = 'review'"
    assert int(database_of(dance.store).reader.execute(waiting).get) == 1


def test_a_decision_makes_room_at_once(
    dance: Dance, party: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    bounded(dance, monkeypatch, address_requests=1)
    for _ in range(3):
        dance.approve(dance.review_of(party))


def test_a_client_whose_addresses_are_too_many_bytes_is_refused(dance: Dance) -> None:
    uris = [f"https://client.example/{number}/{'x' * 900}" for number in range(12)]
    answer = dance.http.post("/oauth/register", json={"redirect_uris": uris})
    oauth_error(answer, "invalid_client_metadata")


def test_the_sweep_reads_no_body_whatever_strangers_wrote_into_it(
    dance: Dance, party: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(5):
        assert ask_as_device(dance, party).status_code == 200
    # In that module alone: jobs in the background read JSON of their own.
    reading = SimpleNamespace(loads=lambda _: pytest.fail("a body was read"), dumps=orjson.dumps)
    monkeypatch.setattr("pdpp.store.tables.vault.reader.orjson", reading)
    with dance.store.vault.transaction() as transaction:
        # Not before: the server's own sweep would come first now and then.
        dance.clock.advance(601)
        assert transaction.sweep(dance.clock.now, 10**15) == 10
        assert transaction.outstanding() == (0, 0)
