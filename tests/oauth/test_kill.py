"""Killing a server that hands out, renews and takes back tokens leaves a state that is whole."""

import random
from pathlib import Path
from typing import Any

import pytest
from tests.faults.killing import ROUNDS, doom, killed
from tests.oauth.dance import Dance, Party, dancing, oauth_error
from tests.oauth.killed import (
    ISSUED,
    REFRESHED,
    REVOKED,
    REVOKING,
    dance_on,
    renewed,
    reopened,
    revoke,
)

LIFE = min(25, ROUNDS)
"""How often one store is killed before the next begins."""
WRITES = 120
Told = tuple[str, str, dict[str, Any]]


@pytest.mark.parametrize("life", range(ROUNDS // LIFE))
def test_a_killed_server_keeps_what_it_gave_and_what_it_took_back(
    ram_path: Path, life: int
) -> None:
    chance = random.Random(life)
    with dancing(ram_path):
        pass
    seen: set[str] = set()
    for number in range(LIFE):
        end = doom(chance, WRITES, steps=8, seconds=0.1)
        told: list[Told] = killed(end, dance_on, ram_path, LIFE * life + number)
        seen |= {step for step, _, _ in told}
        with reopened(ram_path) as dance:
            assert dance.store.check() == []
            assert dance.http.get("/readyz").status_code == 200
            for client_id, steps in by_client(told).items():
                check(dance, client_id, steps)
    assert {ISSUED, REFRESHED, REVOKED} <= seen


def by_client(told: list[Told]) -> dict[str, list[Told]]:
    clients: dict[str, list[Told]] = {}
    for step in told:
        clients.setdefault(step[1], []).append(step)
    return clients


def check(dance: Dance, client_id: str, steps: list[Told]) -> None:
    """Check that the last pair is good or gone, as was told, and that it is so as a whole."""
    last, _, pair = steps[-1]
    begun = last == REVOKING and dance.read(pair["access_token"]) == 401
    if last == REVOKED or begun:
        check_gone(dance, client_id, pair)
    else:
        assert dance.read(pair["access_token"]) == 200
        following = renewed(dance, client_id, pair)
        assert dance.read(following["access_token"]) == 200
        if len(steps) > 2:
            check_spent(dance, client_id, steps[0][2], following)
        else:
            revoke(dance, client_id, following)
            check_gone(dance, client_id, following)


def check_gone(dance: Dance, client_id: str, pair: dict[str, Any]) -> None:
    """Check that nothing of a pair is good, and that taking it back again is no error."""
    assert dance.read(pair["access_token"]) == 401
    oauth_error(dance.refresh(Party(client_id, ""), pair["refresh_token"]), "invalid_grant")
    revoke(dance, client_id, pair)


def check_spent(
    dance: Dance, client_id: str, first: dict[str, Any], living: dict[str, Any]
) -> None:
    """Check that a pair which was spent long ago is refused and ends those that came from it."""
    oauth_error(dance.refresh(Party(client_id, ""), first["refresh_token"]), "invalid_grant")
    assert dance.read(living["access_token"]) == 401
