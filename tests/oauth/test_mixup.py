"""Two clients whose codes, tokens, verifiers and redirect URIs are crossed in every way."""

from itertools import product

import pytest
from tests.oauth.dance import Dance, Party, oauth_error

PARTS = ("client_id", "redirect_uri", "verifier")


@pytest.mark.parametrize("swapped", list(product([False, True], repeat=3))[1:])
def test_a_code_is_good_only_with_all_that_belongs_to_it(
    dance: Dance, party: Party, other: Party, swapped: tuple[bool, ...]
) -> None:
    code = dance.code(party)
    values = [
        getattr(other if swap else party, name) for name, swap in zip(PARTS, swapped, strict=True)
    ]
    crossed = Party(values[0], values[2], values[1])
    oauth_error(dance.exchange(crossed, code), "invalid_grant")
    assert dance.exchange(party, code).status_code == 200


def test_the_codes_of_two_clients_cannot_be_exchanged_for_each_other(
    dance: Dance, party: Party, other: Party
) -> None:
    mine, theirs = dance.code(party), dance.code(other)
    oauth_error(dance.exchange(party, theirs), "invalid_grant")
    oauth_error(dance.exchange(other, mine), "invalid_grant")
    assert dance.exchange(party, mine).status_code == 200
    assert dance.exchange(other, theirs).status_code == 200


def test_a_code_of_one_request_does_not_fit_the_verifier_of_another(
    dance: Dance, party: Party
) -> None:
    second = Party(party.client_id, "z" * 64, party.redirect_uri)
    first_code, second_code = dance.code(party), dance.code(second)
    oauth_error(dance.exchange(party, second_code), "invalid_grant")
    oauth_error(dance.exchange(second, first_code), "invalid_grant")


def test_one_client_cannot_use_the_redirect_uri_of_another(
    dance: Dance, party: Party, other: Party
) -> None:
    assert dance.ask(party, redirect_uri=other.redirect_uri).status_code == 400
    assert dance.ask(other, redirect_uri=party.redirect_uri).status_code == 400


def test_a_crossed_refresh_harms_neither_client(dance: Dance, party: Party, other: Party) -> None:
    mine, theirs = dance.connect(party), dance.connect(other)
    oauth_error(dance.refresh(party, theirs["refresh_token"]), "invalid_grant")
    oauth_error(dance.refresh(other, mine["refresh_token"]), "invalid_grant")
    assert dance.read(mine["access_token"]) == 200
    assert dance.refresh(party, mine["refresh_token"]).status_code == 200
    assert dance.refresh(other, theirs["refresh_token"]).status_code == 200


def test_a_used_code_that_another_client_presents_ends_nothing(
    dance: Dance, party: Party, other: Party
) -> None:
    code = dance.code(party)
    tokens = dance.exchange(party, code).json()
    oauth_error(dance.exchange(other, code), "invalid_grant")
    assert dance.read(tokens["access_token"]) == 200


def test_a_code_is_no_device_code_and_no_refresh_token(dance: Dance, party: Party) -> None:
    code = dance.code(party)
    oauth_error(dance.refresh(party, code), "invalid_grant")
    device = "urn:ietf:params:oauth:grant-type:device_code"
    answer = dance.token(grant_type=device, device_code=code, client_id=party.client_id)
    oauth_error(answer, "invalid_grant")
    review_id = dance.review_of(party)
    oauth_error(dance.exchange(party, review_id), "invalid_grant")
    assert dance.exchange(party, code).status_code == 200
