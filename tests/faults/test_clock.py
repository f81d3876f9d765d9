"""A clock that goes backwards loses no change, brings no token back too long, breaks no log."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.cli.shell import DECLARATION
from tests.engine import revoke_grant
from tests.faults.soundness import check_sound
from tests.oauth.dance import Dance, Party, dancing
from tests.receipts.served import QUICK, kept
from tests.serving import SetClock, World, approve, living, planted_store, refused

from pdpp.model import instant

HOUR = 3_600
ENTRIES = "/v1/streams/entries/records"


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def world(tmp_path: Path, clock: SetClock) -> Iterator[World]:
    store = planted_store(tmp_path / "data", DECLARATION, {"cin_diary": "My days"}, clock=clock)
    with living(store, QUICK, clock) as made:
        yield made


def changes(client: httpx.Client, since: str) -> tuple[list[str], str]:
    answer = client.get(ENTRIES, params={"changes_since": since})
    assert answer.status_code == 200, answer.text
    page: dict[str, Any] = answer.json()
    return [row["id"] for row in page["data"]], page["next_changes_since"]


def test_changes_made_in_an_earlier_time_come_after_those_made_before(
    world: World, clock: SetClock
) -> None:
    client = world.client()
    world.put("cin_diary", "entries", {"id": "a", "text": "one"})
    _, bookmark = changes(client, "beginning")
    clock.advance(-30 * HOUR)
    world.put("cin_diary", "entries", {"id": "b", "text": "two"})
    assert changes(client, bookmark)[0] == ["b"]
    _, bookmark = changes(client, bookmark)
    clock.advance(-HOUR)
    world.put("cin_diary", "entries", {"id": "a", "text": "three"})
    assert changes(client, bookmark)[0] == ["a"]
    clock.advance(40 * HOUR)
    world.put("cin_diary", "entries", {"id": "c", "text": "four"})
    found, _ = changes(client, bookmark)
    assert found == ["a", "c"]


def test_a_grant_expires_by_the_clock_and_a_revoked_one_stays_revoked(
    world: World, clock: SetClock
) -> None:
    ends = clock.now + HOUR * instant.SECOND
    short = approve(world.store, expires_at=ends, now=clock.now)
    gone = approve(world.store, now=clock.now)
    clients = [world.server.client(approval.token) for approval in (short, gone)]
    assert revoke_grant(world.store, gone.grant_id)
    clock.advance(2 * HOUR)
    refused(clients[0].get(ENTRIES), 403, "grant_expired")
    clock.advance(-90 * HOUR)
    assert clients[0].get(ENTRIES).status_code == 200
    refused(clients[1].get(ENTRIES), 403, "grant_revoked")
    clock.advance(90 * HOUR)
    refused(clients[0].get(ENTRIES), 403, "grant_expired")


def test_receipts_go_on_in_one_sound_chain(tmp_path: Path, clock: SetClock) -> None:
    store = planted_store(tmp_path, DECLARATION, {"cin_diary": "My days"}, clock=clock)
    moments = []
    with living(store, QUICK, clock) as world:
        client = world.client()
        for step in (0, -5 * HOUR, HOUR, -HOUR):
            clock.advance(step)
            moments.append(clock.now)
            assert client.get(ENTRIES).status_code == 200
    assert [receipt.at for receipt in kept(tmp_path)] == moments
    check_sound(tmp_path)


def test_tokens_are_renewed_and_spent_once_whatever_the_clock_does(tmp_path: Path) -> None:
    with dancing(tmp_path) as dance:
        party = dance.register()
        tokens = dance.connect(party)
        for step in (-10 * HOUR, -HOUR, 5 * HOUR):
            dance.clock.advance(step)
            tokens = renewed(dance, party, tokens)
        spent = tokens
        tokens = renewed(dance, party, tokens)
        tokens = renewed(dance, party, tokens)
        dance.clock.advance(-20 * HOUR)
        assert dance.refresh(party, spent["refresh_token"]).status_code == 400
        assert dance.read(tokens["access_token"]) == 401


def renewed(dance: Dance, party: Party, tokens: dict[str, Any]) -> dict[str, Any]:
    answer = dance.refresh(party, tokens["refresh_token"])
    assert answer.status_code == 200, answer.text
    pair: dict[str, Any] = answer.json()
    assert dance.read(pair["access_token"]) == 200
    return pair
