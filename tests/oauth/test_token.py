"""Codes become tokens, once, for the client and the request they were made for."""

from pathlib import Path

import pytest
from tests.engine import kept_bytes, revoke_package
from tests.oauth.dance import CALLBACK, Dance, Party, details, oauth_error, query

from pdpp.authz.grant_draft import from_details
from pdpp.authz.token import hash_token
from pdpp.model.errors import InvalidRequest
from pdpp.model.grant import AccessMode


def test_a_code_becomes_a_package_token_where_the_owner_picked(dance: Dance, party: Party) -> None:
    answer = dance.exchange(party, dance.code(party))
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    tokens = answer.json()
    package = dance.store.vault.package(tokens["grant_package_id"])
    assert package is not None
    assert package.client_id == party.client_id
    assert tokens == {
        "access_token": tokens["access_token"],
        "token_type": "Bearer",
        "expires_in": 3_600,
        "refresh_token": tokens["refresh_token"],
        "scope": "pdpp:read",
        "pdpp_token_kind": "mcp_package",
        "grant_package_id": package.id,
    }
    children = list(dance.store.vault.package_grants(package.id))
    assert {child.allowances[0].connection_id for child in children} == {"c1", "c2"}
    assert len(children) == 2
    assert dance.read(tokens["access_token"]) == 200


def test_a_request_with_details_becomes_one_grant_and_is_told_what_was_granted(
    dance: Dance, party: Party
) -> None:
    wish = {
        "name": "notes",
        "fields": ["id", "title"],
        "connection_ids": ["c1"],
        "resources": ["7"],
    }
    review_id = dance.review_of(party, authorization_details=details(wish))
    (asked,) = dance.authority.review(review_id).details
    assert asked["purpose_description"] == "Sort my notes"
    draft = from_details(dance.authority.review(review_id), dance.store.catalogue())
    location = dance.authority.approve(review_id, draft, "seen").location or ""
    tokens = dance.exchange(party, query(location)["code"]).json()
    assert tokens["pdpp_token_kind"] == "client"
    grant = dance.store.vault.grant(tokens["grant_id"])
    assert grant is not None
    assert grant.purpose == "Sort my notes"
    assert tokens["authorization_details"] == [
        {
            "type": "https://pdpp.dev/data-access",
            "source": "https://pdpp.dev/sources/notes",
            "purpose_description": "Sort my notes",
            "access_mode": "continuous",
            "streams": [wish],
        }
    ]
    answer = dance.http.get(
        "/v1/streams/notes/records", headers={"Authorization": f"Bearer {tokens['access_token']}"}
    )
    assert [row["data"] for row in answer.json()["data"]] == [{"id": "7", "title": "note 7"}]


def test_the_evidence_of_an_approval_is_kept(dance: Dance, party: Party) -> None:
    review_id = dance.review_of(party)
    draft = dance.draft(review_id)
    dance.authority.approve(review_id, draft, "exactly this text")
    (consent,) = dance.store.vault.consents(party.client_id)
    assert consent.text == "exactly this text"
    assert consent.digest == draft.digest
    assert consent.decided_at == dance.clock.now
    assert consent.revisions == (draft.allowances[0].revision,)
    assert consent.package_id is not None
    assert list(dance.store.vault.consents("another")) == []


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"grant_type": None}, "invalid_request"),
        ({"grant_type": "password"}, "unsupported_grant_type"),
        ({"grant_type": "client_credentials"}, "unsupported_grant_type"),
        ({"code": None}, "invalid_request"),
        ({"code": "code_unknown"}, "invalid_grant"),
        ({"client_id": None}, "invalid_client"),
        ({"client_id": "cli_unknown"}, "invalid_client"),
        ({"client_secret": "guess"}, "invalid_client"),
        ({"redirect_uri": None}, "invalid_grant"),
        ({"redirect_uri": f"{CALLBACK}/"}, "invalid_grant"),
        ({"code_verifier": None}, "invalid_request"),
        ({"code_verifier": "x" * 43}, "invalid_grant"),
        ({"code_verifier": "short"}, "invalid_request"),
        ({"resource": "https://elsewhere.example/"}, "invalid_target"),
    ],
)
def test_a_wrong_token_request_gives_nothing_and_costs_the_right_one_nothing(
    dance: Dance, party: Party, changes: dict[str, str | None], error: str
) -> None:
    code = dance.code(party)
    oauth_error(dance.exchange(party, code, **changes), error)
    assert dance.exchange(party, code).status_code == 200


def test_a_code_is_good_for_a_minute(dance: Dance, party: Party) -> None:
    first, second = dance.code(party), dance.code(party)
    dance.clock.advance(59)
    assert dance.exchange(party, first).status_code == 200
    dance.clock.advance(1)
    oauth_error(dance.exchange(party, second), "invalid_grant")


def test_a_code_of_an_approval_that_was_taken_back_gives_nothing(
    dance: Dance, party: Party
) -> None:
    code = dance.code(party)
    (consent,) = dance.store.vault.consents()
    revoke_package(dance.store, consent.package_id or "")
    oauth_error(dance.exchange(party, code), "invalid_grant")


def test_an_access_token_ends_in_time(dance: Dance, party: Party) -> None:
    token = dance.connect(party)["access_token"]
    dance.clock.advance(3_599)
    assert dance.read(token) == 200
    dance.clock.advance(1)
    assert dance.read(token) == 401


def test_no_token_outlives_its_approval(dance: Dance, party: Party) -> None:
    end = dance.clock.now + 100_000_000
    review_id = dance.review_of(party)
    location = dance.approve(review_id, expires_at=end)
    tokens = dance.exchange(party, query(location)["code"]).json()
    assert tokens["expires_in"] == 100
    kept = dance.store.vault.refresh(hash_token(tokens["refresh_token"]))
    assert kept is not None
    assert kept.expires_at == end
    dance.clock.advance(50)
    renewed = dance.refresh(party, tokens["refresh_token"]).json()
    assert renewed["expires_in"] == 50
    dance.clock.advance(50)
    assert dance.read(renewed["access_token"]) == 403
    oauth_error(dance.refresh(party, renewed["refresh_token"]), "invalid_grant")


def test_a_code_of_an_approval_that_has_ended_gives_nothing(dance: Dance, party: Party) -> None:
    location = dance.approve(dance.review_of(party), expires_at=dance.clock.now + 30_000_000)
    dance.clock.advance(30)
    oauth_error(dance.exchange(party, query(location)["code"]), "invalid_grant")


def test_an_approval_that_ended_before_it_began_is_refused(dance: Dance, party: Party) -> None:
    review_id = dance.review_of(party)
    with pytest.raises(InvalidRequest):
        dance.approve(review_id, expires_at=dance.clock.now)
    dance.approve(review_id)


def test_a_draft_of_another_client_is_refused(dance: Dance, party: Party, other: Party) -> None:
    review_id = dance.review_of(party)
    with pytest.raises(InvalidRequest):
        dance.approve(review_id, client_id=other.client_id)
    assert list(dance.store.vault.consents()) == []


@pytest.mark.parametrize("package", [True, False])
def test_a_draft_that_opens_nothing_is_refused(dance: Dance, party: Party, package: bool) -> None:
    review_id = dance.review_of(party)
    with pytest.raises(InvalidRequest):
        dance.approve(review_id, package=package, allowances=())
    assert list(dance.store.vault.grants()) == []


@pytest.mark.parametrize("package", [True, False])
def test_a_single_use_gives_one_token_and_ends_with_it(
    dance: Dance, party: Party, package: bool
) -> None:
    review_id = dance.review_of(party)
    mode = AccessMode.SINGLE_USE
    location = dance.approve(review_id, package=package, access_mode=mode)
    dance.clock.advance(30)
    tokens = dance.exchange(party, query(location)["code"]).json()
    assert "refresh_token" not in tokens
    for grant in dance.store.vault.grants():
        assert grant.expires_at == dance.clock.now + 3_600_000_000
    dance.clock.advance(3_600)
    assert dance.read(tokens["access_token"]) == 403


def test_a_single_use_ends_no_later_than_the_owner_said(dance: Dance, party: Party) -> None:
    review_id = dance.review_of(party)
    end = dance.clock.now + 1_000_000
    dance.approve(review_id, access_mode=AccessMode.SINGLE_USE, expires_at=end)
    assert {grant.expires_at for grant in dance.store.vault.grants()} == {end}


def test_a_client_that_registered_for_no_refresh_gets_none(dance: Dance) -> None:
    party = dance.register(grant_types=["authorization_code"])
    tokens = dance.connect(party)
    assert "refresh_token" not in tokens
    oauth_error(dance.refresh(party, "pdpp_refresh_x"), "unauthorized_client")


def test_a_token_is_good_only_where_it_was_issued_for(dance: Dance, party: Party) -> None:
    everywhere = dance.connect(party)["access_token"]
    for resource in ("/mcp", "/v1", "/"):
        token = dance.connect(party, resource=dance.url + resource)["access_token"]
        initialize = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        bearer = {"Authorization": f"Bearer {token}"}
        mcp = dance.http.post("/mcp", json=initialize, headers=bearer).status_code
        assert (dance.read(token), mcp) == {
            "/mcp": (401, 200),
            "/v1": (200, 401),
            "/": (200, 200),
        }[resource]
    assert dance.read(everywhere) == 200


def test_a_token_request_may_name_the_resource_but_never_another_one(
    dance: Dance, party: Party
) -> None:
    mcp, v1 = f"{dance.url}/mcp", f"{dance.url}/v1"
    same = dance.exchange(party, dance.code(party, resource=mcp), resource=mcp)
    assert dance.read(same.json()["access_token"]) == 401
    crossed = dance.exchange(party, dance.code(party, resource=mcp), resource=v1)
    oauth_error(crossed, "invalid_target")
    narrowed = dance.exchange(party, dance.code(party), resource=mcp).json()
    assert dance.read(narrowed["access_token"]) == 401
    oauth_error(dance.refresh(party, narrowed["refresh_token"], resource=v1), "invalid_target")


def test_tokens_and_codes_are_kept_as_hashes(dance: Dance, party: Party, tmp_path: Path) -> None:
    code = dance.code(party)
    tokens = dance.exchange(party, code).json()
    kept = kept_bytes(tmp_path / "data")
    assert party.client_id.encode() in kept
    for secret in (code, tokens["access_token"], tokens["refresh_token"], party.verifier):
        assert secret.encode() not in kept


def test_an_approval_that_no_token_opens_any_more_is_ended(
    dance: Dance, party: Party, other: Party
) -> None:
    code = dance.code(party)
    replayed = dance.exchange(party, code).json()
    oauth_error(dance.exchange(party, code), "invalid_grant")
    kept = dance.connect(other)

    def ended() -> list[bool]:
        dance.authority.sweep()
        packages = [
            dance.store.vault.package(each["grant_package_id"]) for each in (replayed, kept)
        ]
        assert dance.read(replayed["access_token"]) == 401
        return [package is not None and package.revoked_at is not None for package in packages]

    assert ended() == [False, False]
    dance.clock.advance(3_600 + 86_400 + 1)
    ended()
    assert ended() == [True, False]
    assert dance.refresh(other, kept["refresh_token"]).status_code == 200


def test_an_approval_nobody_collected_is_ended(dance: Dance, party: Party) -> None:
    dance.code(party)
    collected = dance.connect(party)
    dance.clock.advance(61)
    dance.authority.sweep()
    ended = [grant for grant in dance.store.vault.grants() if grant.revoked_at is not None]
    assert len(ended) == 2
    assert dance.read(collected["access_token"]) == 200
