"""Clients register themselves within limits, and nothing hostile is kept or repeated."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.engine import database_of
from tests.oauth.dance import CALLBACK, Dance, Party, dancing, oauth_error
from tests.serving import UNLIMITED

from pdpp.authz import authority
from pdpp.authz.client_metadata import read_metadata


def register(dance: Dance, **metadata: Any) -> httpx.Response:
    return dance.http.post("/oauth/register", json={"redirect_uris": [CALLBACK], **metadata})


def kept(dance: Dance) -> int:
    rows = database_of(dance.store).reader.execute("SELECT count(*) FROM client")
    return int(rows.get)


def test_a_client_registers_and_is_answered_with_201(dance: Dance) -> None:
    answer = register(dance, client_name="Claude", token_endpoint_auth_method="none")
    assert answer.status_code == 201
    assert answer.headers["cache-control"] == "no-store"
    told = answer.json()
    assert told["client_name"] == "Claude"
    assert told["redirect_uris"] == [CALLBACK]
    assert told["grant_types"] == ["authorization_code", "refresh_token"]
    assert "client_secret" not in told
    client = dance.authority.client(told["client_id"])
    assert client is not None
    assert client.approved_at is None


def test_a_client_that_asks_for_a_secret_learns_that_it_is_public(dance: Dance) -> None:
    told = register(dance, token_endpoint_auth_method="client_secret_basic").json()
    assert told["token_endpoint_auth_method"] == "none"


def test_a_client_may_register_twice(dance: Dance) -> None:
    first, second = (register(dance).json()["client_id"] for _ in range(2))
    assert first != second


HOSTILE = [
    {"client_name": "<img src=x onerror=alert(1)>"},
    {"client_name": "safe\u202etxt"},
    {"client_name": "x" * 1_000},
    {"redirect_uris": ["javascript:alert(document.domain)"]},
    {"redirect_uris": ["https://client.example@evil.example/cb"]},
    {"redirect_uris": []},
    {"redirect_uris": [f"https://client.example/{number}" for number in range(1_000)]},
    {"client_uri": "data:text/html,<b>x</b>"},
    {"grant_types": ["password"]},
]


@pytest.mark.parametrize("metadata", HOSTILE)
def test_hostile_metadata_is_refused_not_repeated_and_not_kept(
    dance: Dance, metadata: dict[str, Any]
) -> None:
    before = kept(dance)
    answer = register(dance, **metadata)
    assert answer.status_code == 400
    assert answer.json()["error"] in ("invalid_client_metadata", "invalid_redirect_uri")
    assert len(answer.content) < 400
    for value in metadata.values():
        for text in [value] if isinstance(value, str) else value:
            assert text in ("password",) or text not in answer.text
    assert kept(dance) == before


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"{}", {"Content-Type": "text/plain"}, 415),
        (b"redirect_uris=x", {"Content-Type": "application/x-www-form-urlencoded"}, 415),
        (b"{", {"Content-Type": "application/json"}, 400),
        (b"\xff", {"Content-Type": "application/json"}, 400),
        (b"[" * 100_000, {"Content-Type": "application/json"}, 400),
        (b" " * 200_000, {"Content-Type": "application/json"}, 413),
    ],
)
def test_a_body_that_is_no_small_json_object_is_refused(
    dance: Dance, body: bytes, headers: dict[str, str], status: int
) -> None:
    answer = dance.http.post("/oauth/register", content=body, headers=headers)
    assert answer.status_code == status
    assert kept(dance) == 0


def test_an_address_registers_only_so_often(tmp_path: Path) -> None:
    settings = replace(UNLIMITED, registrations_per_minute=1, registration_burst=2)
    with dancing(tmp_path, settings) as dance:
        answers = [register(dance) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [201, 201, 429]
    assert 0 < int(answers[2].headers["retry-after"]) <= 60
    oauth_error(answers[2], "temporarily_unavailable", 429)


def test_an_address_asks_only_so_often(tmp_path: Path) -> None:
    settings = replace(UNLIMITED, oauth_requests_per_second=0.01, oauth_request_burst=2)
    with dancing(tmp_path, settings) as dance:
        answers = [dance.token(grant_type="password") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [400, 400, 429]


def test_too_many_clients_that_never_came_to_anything_push_out_the_oldest(
    dance: Dance, party: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(authority, "_MOST_CLIENTS", 3)
    dance.connect(party)
    made = []
    for _ in range(5):
        dance.clock.advance(1)
        made.append(register(dance).json()["client_id"])
    alive = [dance.authority.client(client_id) is not None for client_id in made]
    assert alive == [False, False, True, True, True]
    assert dance.authority.client(party.client_id) is not None


def test_clients_known_by_their_documents_push_out_the_oldest_too(
    dance: Dance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(authority, "_MOST_CLIENTS", 3)
    described = read_metadata({"redirect_uris": ["https://client.example/cb"]})
    ids = [f"https://client.example/{number}" for number in range(5)]
    for client_id in ids:
        dance.clock.advance(1)
        dance.authority.keep_document(client_id, described)
    alive = [dance.authority.client(client_id) is not None for client_id in ids]
    assert alive == [False, False, True, True, True]


def test_a_client_that_never_got_an_approval_is_forgotten_in_time(
    dance: Dance, party: Party, other: Party
) -> None:
    dance.connect(party)
    dance.clock.advance(86_400)
    dance.authority.sweep()
    assert dance.authority.client(other.client_id) is not None
    dance.clock.advance(1)
    dance.authority.sweep()
    assert dance.authority.client(other.client_id) is None
    assert dance.authority.client(party.client_id) is not None
    assert dance.ask(other).status_code == 400
