"""Resource servers that the owner trusts may ask what a token opens; nobody else may."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.engine import revoke_grant, revoke_package
from tests.oauth.dance import Dance, Party, oauth_error, query
from tests.serving import grant, owner

from pdpp.authz.token import TokenKind, mint


def asker(dance: Dance, **members: Any) -> str:
    """Return the secret of a resource server."""
    secret, token = mint(TokenKind.RESOURCE_SERVER, "archive", dance.clock.now)
    dance.store.vault.keep_token(replace(token, **members))
    return secret


def ask(dance: Dance, bearer: str | None, token: str) -> httpx.Response:
    headers = {} if bearer is None else {"Authorization": f"Bearer {bearer}"}
    return dance.http.post("/oauth/introspect", data={"token": token}, headers=headers)


def test_a_package_token_is_told_with_its_grants(dance: Dance, party: Party) -> None:
    tokens = dance.connect(party, resource=f"{dance.url}/mcp")
    told = ask(dance, asker(dance), tokens["access_token"]).json()
    streams = [detail.pop("streams") for detail in told["authorization_details"]]
    assert sorted(stream[0]["connection_ids"] for stream in streams) == [["c1"], ["c2"]]
    now = dance.clock.now // 1_000_000
    assert told == {
        "active": True,
        "token_type": "Bearer",
        "iss": dance.url,
        "iat": now,
        "exp": now + 3_600,
        "aud": f"{dance.url}/mcp",
        "scope": "pdpp:read",
        "pdpp_token_kind": "mcp_package",
        "subject_id": "owner",
        "sub": "owner",
        "client_id": party.client_id,
        "grant_package_id": tokens["grant_package_id"],
        "authorization_details": told["authorization_details"],
    }


def test_a_revoked_child_is_no_longer_told(dance: Dance, party: Party) -> None:
    tokens = dance.connect(party)
    child = next(dance.store.vault.package_grants(tokens["grant_package_id"]))
    revoke_grant(dance.store, child.id)
    told = ask(dance, asker(dance), tokens["access_token"]).json()
    assert len(told["authorization_details"]) == 1


def test_a_client_token_is_told_with_its_grant(dance: Dance, party: Party) -> None:
    location = dance.approve(dance.review_of(party), package=False)
    tokens = dance.exchange(party, query(location)["code"]).json()
    told = ask(dance, asker(dance), tokens["access_token"]).json()
    assert told["grant_id"] == tokens["grant_id"]
    assert told["pdpp_token_kind"] == "client"
    assert told["client_id"] == party.client_id
    assert "aud" not in told
    [detail] = told["authorization_details"]
    opened = {id for stream in detail["streams"] for id in stream["connection_ids"]}
    assert opened == {"c1", "c2"}


def test_an_owner_token_may_ask_and_be_asked_about(dance: Dance) -> None:
    secret = owner(dance.store)
    told = ask(dance, secret, secret).json()
    assert told["pdpp_token_kind"] == "owner"
    assert told["subject_id"] == "owner"
    assert "authorization_details" not in told
    assert "exp" not in told


def test_what_opens_nothing_is_only_inactive(dance: Dance, party: Party) -> None:
    secret = asker(dance)
    tokens = dance.connect(party)
    revoked = dance.connect(party)
    revoke_package(dance.store, revoked["grant_package_id"])
    for token in ("unknown", secret, tokens["refresh_token"], revoked["access_token"]):
        assert ask(dance, secret, token).json() == {"active": False}
    dance.clock.advance(3_600)
    assert ask(dance, secret, tokens["access_token"]).json() == {"active": False}


@pytest.mark.parametrize("who", ["nobody", "client", "package", "revoked", "expired", "unknown"])
def test_nobody_else_may_ask(dance: Dance, party: Party, who: str) -> None:
    token = dance.connect(party)["access_token"]
    bearer = {
        "nobody": None,
        "client": grant(dance.store),
        "package": token,
        "revoked": asker(dance, revoked_at=dance.clock.now),
        "expired": asker(dance, expires_at=dance.clock.now),
        "unknown": "unknown",
    }[who]
    answer = ask(dance, bearer, token)
    oauth_error(answer, "invalid_client", 401)
    assert answer.headers["www-authenticate"] == "Bearer"


def test_a_resource_server_cannot_read_itself(dance: Dance) -> None:
    assert dance.read(asker(dance)) == 403


def test_the_token_must_be_named(dance: Dance) -> None:
    headers = {"Authorization": f"Bearer {asker(dance)}"}
    oauth_error(
        dance.http.post("/oauth/introspect", headers=headers, data={"x": "y"}), "invalid_request"
    )
    basic = dance.http.post("/oauth/introspect", data={"token": "x"}, auth=("a", "b"))
    oauth_error(basic, "invalid_client", 401)


@pytest.mark.embedded("about the file of the embedded engine")
def test_a_token_is_not_called_inactive_where_nobody_can_tell(
    dance: Dance, party: Party, tmp_path: Path
) -> None:
    tokens, secret = dance.connect(party), asker(dance)
    assert ask(dance, secret, tokens["access_token"]).json()["active"]
    (tmp_path / "data").rename(tmp_path / "moved")
    time.sleep(0.1)  # a server looks for its file a hundred times a second
    answer = ask(dance, secret, tokens["access_token"])
    (tmp_path / "moved").rename(tmp_path / "data")
    assert (answer.status_code, "active" in answer.json()) == (503, False)
    assert ask(dance, secret, tokens["access_token"]).json()["active"]
