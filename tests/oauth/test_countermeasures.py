"""The countermeasures of RFC 9700 and RFC 6819 that apply here, one by one."""

import logging
from typing import Any

import httpx
import pytest
from tests.oauth.dance import CALLBACK, Dance, Party, challenge_of, oauth_error, query


@pytest.mark.parametrize(
    "uri",
    [
        f"{CALLBACK}?next=https://evil.example",
        f"{CALLBACK}/../evil",
        f"{CALLBACK}%2f..%2fevil",
        "https://client.example.evil.example/callback",
        "https://client.example:8443/callback",
        "https://CLIENT.example/callback",
    ],
)
def test_rfc9700_2_1_a_redirect_uri_is_compared_exactly(
    dance: Dance, party: Party, uri: str
) -> None:
    assert dance.ask(party, redirect_uri=uri).status_code == 400


@pytest.mark.parametrize("error", [{"response_type": "token"}, {"code_challenge": None}])
def test_rfc9700_4_11_2_a_stranger_cannot_use_the_server_to_redirect_people(
    dance: Dance, party: Party, error: dict[str, Any]
) -> None:
    """Anyone may register a client; only one the owner approved once is redirected to."""
    answer = dance.ask(party, **error)
    assert answer.status_code == 400
    assert "location" not in answer.headers
    assert "client.example" not in answer.text


def test_rfc9700_2_1_1_pkce_is_required_and_cannot_be_downgraded(
    dance: Dance, party: Party
) -> None:
    for changes in (
        {"code_challenge": None, "code_challenge_method": None},
        {"code_challenge_method": "plain"},
        {"code_challenge_method": None},
    ):
        assert dance.ask(party, **changes).status_code == 400


def test_rfc9700_4_8_2_a_verifier_is_needed_even_if_the_challenge_is_sent_as_one(
    dance: Dance, party: Party
) -> None:
    code = dance.code(party)
    oauth_error(dance.exchange(party, code, code_verifier=None), "invalid_request")
    plain = challenge_of(party.verifier)
    oauth_error(dance.exchange(party, code, code_verifier=plain), "invalid_grant")


def test_rfc9700_4_5_a_code_injected_into_another_session_is_useless(
    dance: Dance, party: Party
) -> None:
    """The victim's code is put into the attacker's own dance, whose verifier does not fit."""
    stolen = dance.code(party)
    attackers = Party(party.client_id, "a" * 64, party.redirect_uri)
    oauth_error(dance.exchange(attackers, stolen), "invalid_grant")


def test_rfc6749_4_1_2_a_code_that_comes_twice_ends_what_it_gave(
    dance: Dance, party: Party
) -> None:
    code = dance.code(party)
    tokens = dance.exchange(party, code).json()
    renewed = dance.refresh(party, tokens["refresh_token"]).json()
    oauth_error(dance.exchange(party, code), "invalid_grant")
    for token in (tokens["access_token"], renewed["access_token"]):
        assert dance.read(token) == 401
    oauth_error(dance.refresh(party, renewed["refresh_token"]), "invalid_grant")


def test_a_used_code_ends_what_it_gave_even_when_the_rest_of_the_request_is_wrong(
    dance: Dance, party: Party
) -> None:
    code = dance.code(party)
    tokens = dance.exchange(party, code).json()
    oauth_error(dance.exchange(party, code, code_verifier="w" * 43), "invalid_grant")
    assert dance.read(tokens["access_token"]) == 401


def test_rfc9207_every_answer_to_a_client_names_the_issuer(dance: Dance, party: Party) -> None:
    approved = query(dance.approve(dance.review_of(party)))
    denied = query(dance.authority.deny(dance.review_of(party)).location or "")
    wrong = query(dance.ask(party, response_type="token").headers["location"])
    metadata = dance.http.get("/.well-known/oauth-authorization-server").json()
    for told in (approved, denied, wrong):
        assert told["iss"] == metadata["issuer"]


def test_rfc9700_4_7_the_state_is_given_back_untouched(dance: Dance, party: Party) -> None:
    state = "a+b %26 \U0001f600 <>\"'&=#?" * 9
    assert query(dance.approve(dance.review_of(party, state=state)))["state"] == state


def test_rfc9700_4_12_a_browser_is_redirected_with_303(dance: Dance, party: Party) -> None:
    dance.connect(party)
    assert dance.ask(party).status_code == 303
    assert dance.ask(party, response_type="token").status_code == 303


ENDPOINTS = [
    ("GET", "/oauth/authorize"),
    ("POST", "/oauth/par"),
    ("POST", "/oauth/token"),
    ("POST", "/oauth/device_authorization"),
    ("POST", "/oauth/register"),
    ("POST", "/oauth/revoke"),
    ("POST", "/oauth/introspect"),
    ("GET", "/.well-known/oauth-authorization-server"),
]


@pytest.mark.parametrize(("method", "path"), ENDPOINTS)
def test_rfc9700_4_2_and_4_16_no_answer_is_kept_framed_sniffed_or_referred_from(
    dance: Dance, method: str, path: str
) -> None:
    headers = dance.http.request(method, path).headers
    assert headers["cache-control"] == "no-store"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]


def test_the_redirect_with_a_request_refers_from_nowhere(dance: Dance, party: Party) -> None:
    headers = dance.ask(party).headers
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    assert headers["x-frame-options"] == "DENY"


def test_rfc9700_4_14_a_refresh_token_that_comes_twice_ends_its_family(
    dance: Dance, party: Party
) -> None:
    tokens = dance.connect(party)
    renewed = dance.refresh(party, tokens["refresh_token"]).json()
    dance.clock.advance(31)
    oauth_error(dance.refresh(party, tokens["refresh_token"]), "invalid_grant")
    assert dance.read(renewed["access_token"]) == 401


def test_rfc9700_4_10_2_a_token_for_one_resource_is_refused_at_another(
    dance: Dance, party: Party
) -> None:
    token = dance.connect(party, resource=f"{dance.url}/mcp")["access_token"]
    assert dance.read(token) == 401


@pytest.mark.parametrize("name", ["access_token", "token", "bearer"])
def test_rfc9700_4_3_2_a_token_in_an_address_is_not_taken(
    dance: Dance, party: Party, name: str
) -> None:
    token = dance.connect(party)["access_token"]
    assert dance.http.get("/v1/streams", params={name: token}).status_code == 401


def test_a_token_request_in_the_address_is_not_taken(dance: Dance, party: Party) -> None:
    form = {
        "grant_type": "authorization_code",
        "code": dance.code(party),
        "client_id": party.client_id,
        "redirect_uri": party.redirect_uri,
        "code_verifier": party.verifier,
    }
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = dance.http.post("/oauth/token", params=form, headers=headers)
    oauth_error(answer, "invalid_request")


def test_rfc9700_2_4_the_passwords_of_people_are_no_grant(dance: Dance, party: Party) -> None:
    answer = dance.token(grant_type="password", username="owner", password="x")
    oauth_error(answer, "unsupported_grant_type")


def test_rfc9700_2_1_2_nothing_is_given_in_the_front_channel(dance: Dance, party: Party) -> None:
    dance.connect(party)
    for response_type in ("token", "id_token", "code token", "none"):
        location = dance.ask(party, response_type=response_type).headers["location"]
        assert query(location)["error"] == "unsupported_response_type"
    assert "access_token" not in dance.approve(dance.review_of(party))


def test_rfc6819_5_1_4_1_3_secrets_are_long_and_never_the_same(dance: Dance, party: Party) -> None:
    codes = {dance.code(party) for _ in range(5)}
    tokens = [dance.connect(party) for _ in range(5)]
    secrets = codes | {t[name] for t in tokens for name in ("access_token", "refresh_token")}
    assert len(secrets) == 15
    assert min(map(len, secrets)) >= 43


def test_rfc6819_5_1_6_access_tokens_are_short_lived(dance: Dance, party: Party) -> None:
    assert dance.connect(party)["expires_in"] <= 3_600


def test_rfc6819_4_1_1_no_secret_of_a_client_can_be_stolen_as_there_is_none(
    dance: Dance, party: Party
) -> None:
    answer = dance.exchange(party, dance.code(party), client_secret="anything")
    oauth_error(answer, "invalid_client")


def test_rfc6819_5_2_2_3_a_refresh_token_is_bound_to_its_client(
    dance: Dance, party: Party, other: Party
) -> None:
    tokens = dance.connect(party)
    oauth_error(dance.refresh(other, tokens["refresh_token"]), "invalid_grant")
    assert dance.refresh(party, tokens["refresh_token"]).status_code == 200


def test_rfc6819_4_4_1_10_a_decision_needs_the_owner_and_not_only_its_address(
    dance: Dance, party: Party
) -> None:
    """Who knows the address of a review sees the login, and a form from elsewhere does nothing."""
    review_id = dance.review_of(party)
    for answer in (
        dance.http.get(f"/consent/{review_id}"),
        dance.http.post(f"/consent/{review_id}", data={"decision": "approve"}),
    ):
        assert answer.status_code in (401, 403)
    assert dance.authority.review(review_id).client_id == party.client_id
    assert list(dance.store.vault.grants()) == []


def test_no_secret_stands_in_a_log(
    dance: Dance, party: Party, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    for name in list(logging.Logger.manager.loggerDict):
        if name.startswith("pdpp"):
            caplog.set_level(logging.DEBUG, name)
    review_id = dance.review_of(party, state="a very private state")
    code = query(dance.approve(review_id))["code"]
    tokens = dance.exchange(party, code).json()
    renewed = dance.refresh(party, tokens["refresh_token"]).json()
    dance.exchange(party, code)
    started = dance.http.post(
        "/oauth/device_authorization", data={"client_id": party.client_id}
    ).json()
    own = "\n".join(
        record.getMessage()
        for record in caplog.records
        if not record.name.startswith(("httpx", "httpcore"))
    )
    assert f"token client={party.client_id}" in own
    assert "outcome=invalid_grant" in own
    for secret in (
        code,
        party.verifier,
        tokens["access_token"],
        tokens["refresh_token"],
        renewed["access_token"],
        renewed["refresh_token"],
        started["device_code"],
        started["user_code"],
        review_id,
        "a very private state",
    ):
        assert secret not in own


def test_each_step_is_logged_with_its_client_and_outcome(
    dance: Dance, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "pdpp.oauth")
    dance.ask(Party("cli\u202e_x\n2026 forged", "v"))
    lines = [r.getMessage() for r in caplog.records if r.name == "pdpp.oauth"]
    assert len(lines) == 1
    assert "\n" not in lines[0]
    assert "\u202e" not in lines[0]
    assert lines[0].startswith("authorize client=cli⟨U+202E⟩_x⟨U+000A⟩2026 forged from=127.0.0.1")
    assert lines[0].endswith("outcome=invalid_client")


def test_a_failure_of_ours_tells_nothing(
    dance: Dance, party: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a secret of the inside")

    monkeypatch.setattr("pdpp.oauth.token_request.TokenEndpoint.serve", fail)
    code = dance.code(party)
    description = oauth_error(dance.exchange(party, code), "server_error", 500)
    assert "inside" not in description
    monkeypatch.undo()
    assert dance.exchange(party, code).status_code == 200


def options(answer: httpx.Response) -> set[str]:
    return set(answer.headers.get("allow", "").split(", "))


@pytest.mark.parametrize(("method", "path"), ENDPOINTS)
def test_every_endpoint_takes_its_own_method_only(dance: Dance, method: str, path: str) -> None:
    for wrong in sorted({"GET", "POST", "PUT", "DELETE", "PATCH"} - {method}):
        answer = dance.http.request(wrong, path)
        assert answer.status_code == 405, (wrong, answer.text)
        assert method in options(answer)
