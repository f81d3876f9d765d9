"""Whatever is taken back is refused on the very next request, everywhere."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.engine import revoke_grant, revoke_package
from tests.oauth.dance import Dance, Party, oauth_error
from tests.serving import grant

Tokens = dict[str, Any]


def revoke(dance: Dance, party: Party, token: str, **form: str) -> int:
    data = {"token": token, "client_id": party.client_id, **form}
    answer = dance.http.post("/oauth/revoke", data=data)
    assert answer.headers["cache-control"] == "no-store"
    return answer.status_code


def test_an_access_token_is_revoked_alone(dance: Dance, party: Party) -> None:
    tokens = dance.connect(party)
    assert revoke(dance, party, tokens["access_token"], token_type_hint="access_token") == 200
    assert dance.read(tokens["access_token"]) == 401
    assert dance.refresh(party, tokens["refresh_token"]).status_code == 200


def test_a_refresh_token_takes_its_family_along(dance: Dance, party: Party) -> None:
    tokens = dance.connect(party)
    renewed = dance.refresh(party, tokens["refresh_token"]).json()
    assert revoke(dance, party, renewed["refresh_token"], token_type_hint="nonsense") == 200
    for token in (tokens["access_token"], renewed["access_token"]):
        assert dance.read(token) == 401
    oauth_error(dance.refresh(party, renewed["refresh_token"]), "invalid_grant")


def test_a_token_that_is_unknown_or_anothers_is_answered_the_same_and_stays(
    dance: Dance, party: Party, other: Party
) -> None:
    tokens = dance.connect(party)
    by_hand = grant(dance.store)
    for token in ("unknown", tokens["access_token"], tokens["refresh_token"], by_hand):
        assert revoke(dance, other, token) == 200
    assert dance.read(tokens["access_token"]) == 200
    assert dance.read(by_hand) == 200
    assert dance.refresh(party, tokens["refresh_token"]).status_code == 200


def test_who_asks_and_for_what_must_be_said(dance: Dance, party: Party) -> None:
    post = dance.http.post
    oauth_error(post("/oauth/revoke", data={"token": "x"}), "invalid_request")
    data = {"client_id": party.client_id}
    oauth_error(post("/oauth/revoke", data=data), "invalid_request")
    unknown = {"token": "x", "client_id": "cli_unknown"}
    oauth_error(post("/oauth/revoke", data=unknown), "invalid_client")


def _token(dance: Dance, party: Party, tokens: Tokens) -> None:
    revoke(dance, party, tokens["access_token"])


def _family(dance: Dance, party: Party, tokens: Tokens) -> None:
    revoke(dance, party, tokens["refresh_token"])


def _package(dance: Dance, _party: Party, tokens: Tokens) -> None:
    revoke_package(dance.store, tokens["grant_package_id"])


def _children(dance: Dance, _party: Party, tokens: Tokens) -> None:
    for child in list(dance.store.vault.package_grants(tokens["grant_package_id"])):
        revoke_grant(dance.store, child.id)


def _client(dance: Dance, party: Party, _tokens: Tokens) -> None:
    dance.authority.revoke_client(party.client_id)


def _expiry(dance: Dance, _party: Party, _tokens: Tokens) -> None:
    dance.clock.advance(3_600)


@pytest.mark.parametrize("take_back", [_token, _family, _package, _children, _client, _expiry])
def test_the_very_next_request_is_refused_on_every_surface(
    dance: Dance, party: Party, take_back: Callable[[Dance, Party, Tokens], None]
) -> None:
    tokens = dance.connect(party)
    bearer = {"Authorization": f"Bearer {tokens['access_token']}"}
    records = "/v1/streams/notes/records"
    first = dance.http.get(f"{records}?connection_id=c1&limit=5", headers=bearer).json()
    cursor = f"{records}?connection_id=c1&limit=5&cursor={first['next_cursor']}"
    changes = f"{records}?connection_id=c1&changes_since=beginning"
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "search", "arguments": {"query": "quiet"}},
    }
    accept = {**bearer, "Accept": "application/json, text/event-stream"}

    def answers() -> list[bool]:
        reads = [dance.http.get(path, headers=bearer) for path in (cursor, changes)]
        reads.append(dance.http.get("/v1/search?q=quiet&connection_id=c1", headers=bearer))
        mcp = dance.http.post("/mcp", json=call, headers=accept)
        shown = mcp.status_code == 200 and "quiet</mark>" in mcp.text
        return [answer.status_code == 200 for answer in reads] + [shown]

    assert answers() == [True] * 4
    take_back(dance, party, tokens)
    assert answers() == [False] * 4


@pytest.mark.scenario("S054")
def test_an_issued_package_goes_on_without_a_grant_that_was_taken_back(
    dance: Dance, party: Party
) -> None:
    tokens = dance.connect(party, resource=f"{dance.url}/mcp")
    for child in list(dance.store.vault.package_grants(tokens["grant_package_id"])):
        if child.allowances[0].connection_id == "c1":
            revoke_grant(dance.store, child.id)
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "search", "arguments": {"query": "quiet"}},
    }
    headers = {
        "Authorization": f"Bearer {tokens['access_token']}",
        "Accept": "application/json, text/event-stream",
    }
    found = dance.http.post("/mcp", json=call, headers=headers).json()["result"]
    told = found["structuredContent"]
    assert {hit["id"].partition("/")[0] for hit in told["results"]} == {"c2"}
    (unavailable,) = told["content_ladder"]["unavailable_connections"]
    assert unavailable["connection_id"] == "c1"
    assert "grant_revoked" in str(unavailable)


def test_a_client_that_lost_everything_may_ask_again(dance: Dance, party: Party) -> None:
    waiting = dance.review_of(party)
    code = dance.code(party)
    tokens = dance.connect(party)
    dance.authority.revoke_client(party.client_id)
    assert dance.read(tokens["access_token"]) == 403
    oauth_error(dance.exchange(party, code), "invalid_grant")
    with pytest.raises(Exception, match="already decided"):
        dance.authority.review(waiting)
    assert dance.read(dance.connect(party)["access_token"]) == 200


def test_one_client_is_revoked_alone(dance: Dance, party: Party, other: Party) -> None:
    mine, theirs = dance.connect(party), dance.connect(other)
    dance.authority.revoke_client(party.client_id)
    assert (dance.read(mine["access_token"]), dance.read(theirs["access_token"])) == (403, 200)
