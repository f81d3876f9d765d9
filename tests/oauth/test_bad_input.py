"""Input that is too much, too often or not what it claims: a clear error, no echo, nothing kept."""

import socket
from contextlib import suppress
from urllib.parse import urlencode, urlsplit

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine import database_of
from tests.oauth.dance import Dance, Party, oauth_error

from pdpp.model.errors import OAuthError, PdppError
from pdpp.oauth.request import read_parameters

MARK = "zq9-mark"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def rows(dance: Dance) -> list[int]:
    tables = ("client", "short_lived_secret", "token", "refresh_token", "grant", "consent")
    db = database_of(dance.store).reader
    return [int(db.execute(f"SELECT count(*) FROM {table}").get) for table in tables]


def post(dance: Dance, path: str, body: str) -> httpx.Response:
    return dance.http.post(path, content=body.encode(), headers=FORM)


PATHS = ["/oauth/par", "/oauth/token", "/oauth/device_authorization", "/oauth/revoke"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "body",
    [
        f"client_id={MARK}&client_id={MARK}",
        f"grant_type=a&code={MARK}&code={MARK}",
        "state=" + MARK * 1_000,
        "n" * 101 + f"={MARK}",
        f"client_id=%ff{MARK}",
        f"client_id={MARK}é",
        "&".join(f"p{number}={MARK}" for number in range(65)),
    ],
)
def test_repeated_long_many_or_malformed_parameters_are_refused(
    dance: Dance, path: str, body: str
) -> None:
    before = rows(dance)
    answer = post(dance, path, body)
    oauth_error(answer, "invalid_request")
    assert MARK not in answer.text
    assert rows(dance) == before


@pytest.mark.parametrize("path", PATHS)
def test_a_body_of_another_kind_or_size_is_refused(dance: Dance, path: str) -> None:
    oauth_error(dance.http.post(path, json={"client_id": "x"}), "invalid_request", 415)
    oauth_error(dance.http.post(path, files={"client_id": b"x"}), "invalid_request", 415)
    oauth_error(dance.http.post(path), "invalid_request", 415)
    oauth_error(post(dance, path, "x=" + "y" * 200_000), "invalid_request", 413)


@pytest.mark.parametrize("name", ["state", "scope", "client_id", "resource", "redirect_uri"])
def test_an_address_with_a_repeated_or_huge_parameter_leads_nowhere(
    dance: Dance, party: Party, name: str
) -> None:
    before = rows(dance)
    good = dance.request(party, resource=f"{dance.url}/mcp")
    repeated = dance.http.get("/oauth/authorize", params=[*good.items(), (name, good[name])])
    huge = dance.ask(party, **{name: MARK * 600})
    for answer in (repeated, huge):
        assert answer.status_code == 400
        assert answer.headers["content-type"].startswith("text/html")
        assert "location" not in answer.headers
        assert MARK not in answer.text
    assert rows(dance) == before


@pytest.mark.parametrize(
    "value", ["<script>alert(1)</script>", '"><svg/onload=alert(1)>', "{{7*7}}", "%0d%0aX: y"]
)
def test_nothing_of_a_bad_request_is_shown_again(dance: Dance, party: Party, value: str) -> None:
    for changes in ({"client_id": value}, {"redirect_uri": value}, {"response_type": value}):
        answer = dance.ask(party, **changes)
        assert answer.status_code == 400
        assert value not in answer.text
        assert "49" not in answer.text
    answer = dance.token(grant_type=value)
    assert value not in answer.text


def test_a_state_cannot_add_a_header(dance: Dance, party: Party) -> None:
    dance.connect(party)
    answer = dance.ask(party, response_type="token", state="x\r\nSet-Cookie: a=b")
    assert answer.status_code == 303
    assert "set-cookie" not in answer.headers


def test_a_client_that_leaves_in_the_middle_of_its_request_harms_nobody(
    dance: Dance, caplog: pytest.LogCaptureFixture
) -> None:
    address = urlsplit(dance.url)
    with socket.create_connection((str(address.hostname), address.port or 0)) as connection:
        connection.sendall(
            b"POST /oauth/token HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n"
            b"Content-Type: application/x-www-form-urlencoded\r\n\r\ngrant_type="
        )
    oauth_error(dance.token(grant_type="password"), "unsupported_grant_type")
    assert "failed" not in caplog.text


def test_large_details_are_taken_up_to_their_own_limit(dance: Dance, party: Party) -> None:
    body = dance.request(party, authorization_details="[" + " " * 60_000 + "7]")
    answer = dance.http.post("/oauth/par", data=body)
    oauth_error(answer, "invalid_authorization_details")
    body = dance.request(party, authorization_details="[" + " " * 66_000 + "7]")
    oauth_error(dance.http.post("/oauth/par", data=body), "invalid_request")


@pytest.mark.parametrize(("name", "value"), [(100, 4_097), (101, 4_096)])
def test_names_and_values_are_taken_up_to_their_limits(name: int, value: int) -> None:
    good = b"n" * 100 + b"=" + b"v" * 4_096
    assert read_parameters(good) == {"n" * 100: "v" * 4_096}
    with pytest.raises(OAuthError, match="too long"):
        read_parameters(b"n" * name + b"=" + b"v" * value)


@given(st.binary(max_size=400))
def test_any_bytes_are_parameters_or_refused(encoded: bytes) -> None:
    with suppress(PdppError):
        assert all(read_parameters(encoded).values())


NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)


@given(st.dictionaries(NAMES, NAMES, max_size=9))
def test_parameters_come_back_as_they_were_sent(told: dict[str, str]) -> None:
    assert read_parameters(urlencode(told).encode()) == told


def test_an_empty_parameter_counts_as_absent() -> None:
    assert read_parameters(b"a=&b=1") == {"b": "1"}
