"""Refresh tokens are replaced at each use; one that comes twice ends its family."""

import pytest
from tests.engine import revoke_package
from tests.oauth.dance import Dance, Party, oauth_error


def live(dance: Dance, *tokens: str) -> list[bool]:
    return [dance.read(token) == 200 for token in tokens]


def test_a_refresh_gives_a_new_pair_and_the_old_access_token_stays(
    dance: Dance, party: Party
) -> None:
    first = dance.connect(party, scope="pdpp:read offline_access")
    dance.clock.advance(60)
    second = dance.refresh(party, first["refresh_token"]).json()
    assert second["refresh_token"] != first["refresh_token"]
    assert second["scope"] == "pdpp:read offline_access"
    assert second["grant_package_id"] == first["grant_package_id"]
    assert live(dance, first["access_token"], second["access_token"]) == [True, True]


def test_a_chain_of_refreshes_goes_on(dance: Dance, party: Party) -> None:
    tokens = dance.connect(party)
    for _ in range(5):
        dance.clock.advance(86_400)
        tokens = dance.refresh(party, tokens["refresh_token"]).json()
        assert live(dance, tokens["access_token"]) == [True]


def test_a_lost_answer_may_be_asked_for_again(dance: Dance, party: Party) -> None:
    first = dance.connect(party)
    dance.clock.advance(60)
    lost = dance.refresh(party, first["refresh_token"]).json()
    dance.clock.advance(30)
    again = dance.refresh(party, first["refresh_token"]).json()
    tokens = (first["access_token"], lost["access_token"], again["access_token"])
    assert live(dance, *tokens) == [True, False, True]
    dance.clock.advance(60)
    assert dance.refresh(party, again["refresh_token"]).status_code == 200


def test_a_lost_answer_may_be_lost_again_within_the_time(dance: Dance, party: Party) -> None:
    first = dance.connect(party)
    answers = []
    for _ in range(4):
        dance.clock.advance(7)
        answers.append(dance.refresh(party, first["refresh_token"]).json())
    assert live(dance, *(answer["access_token"] for answer in answers)) == [False] * 3 + [True]


def test_what_a_lost_answer_held_ends_the_family_when_it_turns_up(
    dance: Dance, party: Party
) -> None:
    first = dance.connect(party)
    lost = dance.refresh(party, first["refresh_token"]).json()
    again = dance.refresh(party, first["refresh_token"]).json()
    oauth_error(dance.refresh(party, lost["refresh_token"]), "invalid_grant")
    assert live(dance, again["access_token"]) == [False]
    oauth_error(dance.refresh(party, again["refresh_token"]), "invalid_grant")


def test_a_used_refresh_token_ends_its_family_after_the_grace(dance: Dance, party: Party) -> None:
    first = dance.connect(party)
    second = dance.refresh(party, first["refresh_token"]).json()
    dance.clock.advance(31)
    oauth_error(dance.refresh(party, first["refresh_token"]), "invalid_grant")
    assert live(dance, first["access_token"], second["access_token"]) == [False, False]
    oauth_error(dance.refresh(party, second["refresh_token"]), "invalid_grant")


def test_a_used_refresh_token_ends_its_family_once_its_successor_was_used(
    dance: Dance, party: Party
) -> None:
    first = dance.connect(party)
    second = dance.refresh(party, first["refresh_token"]).json()
    third = dance.refresh(party, second["refresh_token"]).json()
    oauth_error(dance.refresh(party, first["refresh_token"]), "invalid_grant")
    assert live(dance, third["access_token"]) == [False]


def test_one_family_ends_alone(dance: Dance, party: Party) -> None:
    one, another = dance.connect(party), dance.connect(party)
    dance.refresh(party, one["refresh_token"])
    dance.clock.advance(31)
    dance.refresh(party, one["refresh_token"])
    assert live(dance, one["access_token"], another["access_token"]) == [False, True]


def test_a_refresh_token_ends_in_time(dance: Dance, party: Party) -> None:
    tokens = dance.connect(party)
    dance.clock.advance(90 * 86_400 - 1)
    tokens = dance.refresh(party, tokens["refresh_token"]).json()
    dance.clock.advance(90 * 86_400)
    oauth_error(dance.refresh(party, tokens["refresh_token"]), "invalid_grant")


@pytest.mark.parametrize("what", ["package", "client"])
def test_what_the_owner_takes_back_cannot_be_refreshed(
    dance: Dance, party: Party, what: str
) -> None:
    tokens = dance.connect(party)
    if what == "package":
        revoke_package(dance.store, tokens["grant_package_id"])
    else:
        dance.authority.revoke_client(party.client_id)
    oauth_error(dance.refresh(party, tokens["refresh_token"]), "invalid_grant")


def test_a_refresh_may_ask_for_less_but_not_for_more(dance: Dance, party: Party) -> None:
    tokens = dance.connect(party)
    refused = dance.refresh(party, tokens["refresh_token"], scope="pdpp:read offline_access")
    oauth_error(refused, "invalid_scope")
    assert dance.refresh(party, tokens["refresh_token"], scope="pdpp:read").status_code == 200


@pytest.mark.parametrize("token", ["", "pdpp_refresh_unknown"])
def test_a_refresh_token_that_is_none_is_refused(dance: Dance, party: Party, token: str) -> None:
    oauth_error(dance.refresh(party, token), "invalid_grant" if token else "invalid_request")


def test_an_access_token_is_no_refresh_token_nor_the_other_way_round(
    dance: Dance, party: Party
) -> None:
    tokens = dance.connect(party)
    oauth_error(dance.refresh(party, tokens["access_token"]), "invalid_grant")
    assert dance.read(tokens["refresh_token"]) == 401
