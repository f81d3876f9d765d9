"""Many at once: exactly one wins."""

import threading
from collections.abc import Callable
from typing import TypeVar

import httpx
from tests.oauth.dance import DEVICE, Dance, Party, query
from tests.serving import DEADLINE

from pdpp.model.errors import NotFound

T = TypeVar("T")
MANY = 8


def at_once(dance: Dance, *works: Callable[[httpx.Client], T]) -> list[T]:
    """Do several things from threads that begin together; one alone is done by many."""
    every = works * MANY if len(works) == 1 else works
    barrier = threading.Barrier(len(every))
    results: list[T] = []

    def run(work: Callable[[httpx.Client], T], client: httpx.Client) -> None:
        barrier.wait(DEADLINE)
        results.append(work(client))

    threads = [threading.Thread(target=run, args=(work, dance.server.client())) for work in every]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE)
    assert len(results) == len(every)
    return results


def posting(path: str, form: dict[str, str]) -> Callable[[httpx.Client], httpx.Response]:
    return lambda http: http.post(path, data=form)


def test_one_code_gives_tokens_once_and_its_replay_ends_them(dance: Dance, party: Party) -> None:
    form = {
        "grant_type": "authorization_code",
        "code": dance.code(party),
        "client_id": party.client_id,
        "redirect_uri": party.redirect_uri,
        "code_verifier": party.verifier,
    }
    answers = at_once(dance, posting("/oauth/token", form))
    won = [answer.json() for answer in answers if answer.status_code == 200]
    assert len(won) == 1
    assert all(a.json()["error"] == "invalid_grant" for a in answers if a.status_code != 200)
    assert dance.read(won[0]["access_token"]) == 401


def test_one_refresh_token_leaves_one_living_pair(dance: Dance, party: Party) -> None:
    first = dance.connect(party)
    dance.clock.advance(1)
    form = {
        "grant_type": "refresh_token",
        "refresh_token": first["refresh_token"],
        "client_id": party.client_id,
    }
    answers = at_once(dance, posting("/oauth/token", form))
    pairs = [answer.json() for answer in answers if answer.status_code == 200]
    living = [pair for pair in pairs if dance.read(pair["access_token"]) == 200]
    assert len(living) == 1
    assert dance.refresh(party, living[0]["refresh_token"]).status_code == 200


def test_a_used_refresh_token_wins_nothing_however_many_try(dance: Dance, party: Party) -> None:
    first = dance.connect(party)
    second = dance.refresh(party, first["refresh_token"]).json()
    dance.clock.advance(31)
    form = {
        "grant_type": "refresh_token",
        "refresh_token": first["refresh_token"],
        "client_id": party.client_id,
    }
    answers = at_once(dance, posting("/oauth/token", form))
    assert {answer.status_code for answer in answers} == {400}
    assert dance.read(second["access_token"]) == 401


def test_one_review_is_approved_once(dance: Dance, party: Party) -> None:
    review_id = dance.review_of(party)
    draft = dance.draft(review_id)

    def approve(_: httpx.Client) -> str | None:
        try:
            return dance.authority.approve(review_id, draft, "").location
        except NotFound:
            return None

    locations = [location for location in at_once(dance, approve) if location is not None]
    assert len(locations) == 1
    assert len(list(dance.store.vault.grants())) == 2
    assert dance.exchange(party, query(locations[0])["code"]).status_code == 200


def test_one_pushed_request_is_begun_once(dance: Dance, party: Party) -> None:
    pushed = dance.http.post("/oauth/par", data=dance.request(party)).json()["request_uri"]
    asked = {"client_id": party.client_id, "request_uri": pushed}
    answers = at_once(dance, lambda http: http.get("/oauth/authorize", params=asked))
    assert sorted(answer.status_code for answer in answers) == [303] + [400] * (MANY - 1)


def test_one_device_is_served_once(dance: Dance, party: Party) -> None:
    started = dance.http.post(
        "/oauth/device_authorization", data={"client_id": party.client_id}
    ).json()
    dance.approve(dance.authority.device_review(started["user_code"], dance.url).id)
    form = {
        "grant_type": DEVICE,
        "device_code": started["device_code"],
        "client_id": party.client_id,
    }
    answers = at_once(dance, posting("/oauth/token", form))
    assert sorted(answer.status_code for answer in answers) == [200] + [400] * (MANY - 1)


def test_a_revocation_and_a_refresh_at_once_leave_nothing_alive(dance: Dance, party: Party) -> None:
    for _ in range(5):
        tokens = dance.connect(party)
        who, token = {"client_id": party.client_id}, tokens["refresh_token"]
        renewal = {**who, "grant_type": "refresh_token", "refresh_token": token}
        answers = at_once(
            dance,
            posting("/oauth/revoke", {**who, "token": token}),
            posting("/oauth/token", renewal),
        )
        given = [a.json()["access_token"] for a in answers if "access_token" in a.text]
        for access in (tokens["access_token"], *given):
            assert dance.read(access) == 401
