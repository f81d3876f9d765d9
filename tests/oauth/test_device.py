"""A device without a browser gets its tokens while the owner decides elsewhere."""

from typing import Any

import httpx
import pytest
from tests.oauth.dance import DEVICE, Dance, Party, details, oauth_error

from pdpp.model.errors import NotFound


def start(dance: Dance, party: Party, **form: str) -> dict[str, Any]:
    answer = dance.http.post(
        "/oauth/device_authorization", data={"client_id": party.client_id, **form}
    )
    assert answer.status_code == 200, answer.text
    assert answer.headers["cache-control"] == "no-store"
    told: dict[str, Any] = answer.json()
    return told


def poll(dance: Dance, party: Party, started: dict[str, Any]) -> httpx.Response:
    return dance.token(
        grant_type=DEVICE, device_code=started["device_code"], client_id=party.client_id
    )


def review_of(dance: Dance, started: dict[str, Any]) -> str:
    return dance.authority.device_review(started["user_code"], dance.url).id


def test_a_device_learns_where_its_owner_types_which_code(dance: Dance, party: Party) -> None:
    started = start(dance, party)
    assert started["verification_uri"] == f"{dance.url}/device"
    code = started["user_code"]
    assert started["verification_uri_complete"] == f"{dance.url}/device?user_code={code}"
    assert len(code) == 9
    assert code[4] == "-"
    assert started["expires_in"] == 600
    assert started["interval"] == 5


def test_an_approved_device_gets_its_tokens_once(dance: Dance, party: Party) -> None:
    started = start(dance, party, scope="pdpp:read", resource=f"{dance.url}/v1")
    oauth_error(poll(dance, party, started), "authorization_pending")
    review_id = review_of(dance, started)
    review = dance.authority.review(review_id)
    assert (review.redirect_uri, review.resource) == (None, f"{dance.url}/v1")
    assert dance.approve(review_id) == ""
    tokens = poll(dance, party, started).json()
    assert dance.read(tokens["access_token"]) == 200
    assert dance.refresh(party, tokens["refresh_token"]).status_code == 200
    oauth_error(poll(dance, party, started), "invalid_grant")
    assert dance.read(tokens["access_token"]) == 401


def test_a_device_code_that_comes_again_ends_what_it_gave_also_after_its_time(
    dance: Dance, party: Party
) -> None:
    started = start(dance, party)
    dance.approve(review_of(dance, started))
    tokens = poll(dance, party, started).json()
    dance.clock.advance(601)
    assert dance.read(tokens["access_token"]) == 200
    oauth_error(poll(dance, party, started), "invalid_grant")
    assert dance.read(tokens["access_token"]) == 401


def test_a_denied_device_is_told(dance: Dance, party: Party) -> None:
    started = start(dance, party)
    assert dance.authority.deny(review_of(dance, started)).location is None
    oauth_error(poll(dance, party, started), "access_denied")
    oauth_error(poll(dance, party, started), "access_denied")


def test_a_device_that_waited_too_long_is_told(dance: Dance, party: Party) -> None:
    started = start(dance, party)
    dance.clock.advance(300)
    review_id = review_of(dance, started)
    draft = dance.draft(review_id)
    dance.clock.advance(299)
    oauth_error(poll(dance, party, started), "authorization_pending")
    dance.clock.advance(1)
    oauth_error(poll(dance, party, started), "expired_token")
    with pytest.raises(NotFound):
        dance.authority.device_review(started["user_code"], dance.url)
    with pytest.raises(NotFound, match="no longer waits"):
        dance.authority.approve(review_id, draft, "")
    assert list(dance.store.vault.grants()) == []


def test_a_device_that_asks_too_often_is_slowed_down_more_each_time(
    dance: Dance, party: Party
) -> None:
    started = start(dance, party)
    for wait, expected in (
        (0, "authorization_pending"),
        (4, "slow_down"),
        (5, "slow_down"),
        (14, "slow_down"),
        (20, "authorization_pending"),
        (20, "authorization_pending"),
    ):
        dance.clock.advance(wait)
        oauth_error(poll(dance, party, started), expected)


@pytest.mark.parametrize("spell", [str.lower, lambda code: code.replace("-", " "), "  {}. ".format])
def test_a_user_code_may_be_typed_carelessly(dance: Dance, party: Party, spell: Any) -> None:
    started = start(dance, party)
    review = dance.authority.device_review(spell(started["user_code"]), dance.url)
    assert review.client_id == party.client_id


@pytest.mark.parametrize("code", ["", "BBBB-BBBB", "x" * 5_000])
def test_a_wrong_user_code_finds_nothing(dance: Dance, party: Party, code: str) -> None:
    start(dance, party)
    with pytest.raises(NotFound):
        dance.authority.device_review(code, dance.url)


def test_only_one_decision_about_a_device_counts(dance: Dance, party: Party) -> None:
    started = start(dance, party)
    yes, no = review_of(dance, started), review_of(dance, started)
    dance.approve(yes)
    with pytest.raises(NotFound):
        dance.authority.deny(no)
    with pytest.raises(NotFound):
        review_of(dance, started)
    assert poll(dance, party, started).status_code == 200


def test_a_device_may_ask_for_something_in_particular(dance: Dance, party: Party) -> None:
    started = start(dance, party, authorization_details=details())
    review = dance.authority.review(review_of(dance, started))
    assert review.details[0]["source"] == "notes"
    dance.approve(review.id, package=False)
    assert poll(dance, party, started).json()["authorization_details"]


def test_a_device_code_is_good_for_its_own_client_only(
    dance: Dance, party: Party, other: Party
) -> None:
    started = start(dance, party)
    dance.approve(review_of(dance, started))
    oauth_error(poll(dance, other, started), "invalid_grant")
    assert poll(dance, party, started).status_code == 200


@pytest.mark.parametrize(
    ("form", "error"),
    [
        ({"client_id": ""}, "invalid_request"),
        ({"client_id": "cli_unknown"}, "invalid_client"),
        ({"resource": "https://elsewhere.example/"}, "invalid_target"),
        ({"authorization_details": "[{}]"}, "invalid_authorization_details"),
    ],
)
def test_a_bad_device_request_is_refused(
    dance: Dance, party: Party, form: dict[str, str], error: str
) -> None:
    data = {"client_id": party.client_id} | form
    oauth_error(dance.http.post("/oauth/device_authorization", data=data), error)


def test_a_client_that_registered_for_no_device_codes_gets_none(dance: Dance) -> None:
    party = dance.register(grant_types=["authorization_code"])
    data = {"client_id": party.client_id}
    refused = dance.http.post("/oauth/device_authorization", data=data)
    oauth_error(refused, "unauthorized_client")
    answer = dance.token(grant_type=DEVICE, device_code="dev_x", client_id=party.client_id)
    oauth_error(answer, "unauthorized_client")


@pytest.mark.parametrize("code", [None, "dev_unknown"])
def test_a_device_code_that_is_none_is_refused(
    dance: Dance, party: Party, code: str | None
) -> None:
    form = {} if code is None else {"device_code": code}
    answer = dance.token(grant_type=DEVICE, client_id=party.client_id, **form)
    oauth_error(answer, "invalid_request" if code is None else "invalid_grant")


def test_an_approval_that_no_device_collected_is_ended(dance: Dance, party: Party) -> None:
    dance.approve(review_of(dance, start(dance, party)), package=False)
    start(dance, party)
    dance.clock.advance(601)
    dance.authority.sweep()
    assert [grant.revoked_at for grant in dance.store.vault.grants()] == [dance.clock.now]
