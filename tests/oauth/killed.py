"""A server and its clients, who dance on and on until somebody kills them; made to be killed.

Each thing is told twice: as a wish before it is asked for, and once it was answered.
"""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from tests.engine import open_store
from tests.faults.killing import Tell
from tests.oauth.dance import Dance, Party
from tests.serving import UNLIMITED, SetClock, running

from pdpp.app import make_app
from pdpp.authz.authority import Authority

ISSUED, REFRESHED, REVOKING, REVOKED = "issued", "refreshed", "revoking", "revoked"


@contextmanager
def reopened(folder: Path) -> Iterator[Dance]:
    """Serve a folder that was served before."""
    clock = SetClock()
    store = open_store(folder, clock)
    try:
        with running(make_app(store, UNLIMITED, clock)) as server:
            yield Dance(store, server, clock, Authority(store, clock), server.client())
    finally:
        store.close()


def dance_on(tell: Tell, folder: Path, seed: int) -> None:
    """Connect clients, renew what they got, take some of it back, and tell every step."""
    chance = random.Random(seed)
    with reopened(folder) as dance:
        for _ in count():
            _live(tell, dance, chance)


def _live(tell: Tell, dance: Dance, chance: random.Random) -> None:
    party = dance.register()
    tokens = dance.connect(party)
    tell((ISSUED, party.client_id, tokens))
    for _ in range(chance.randint(0, 3)):
        tokens = renewed(dance, party.client_id, tokens)
        tell((REFRESHED, party.client_id, tokens))
    if chance.random() < 0.5:
        tell((REVOKING, party.client_id, tokens))
        revoke(dance, party.client_id, tokens)
        tell((REVOKED, party.client_id, tokens))


def renewed(dance: Dance, client_id: str, tokens: dict[str, Any]) -> dict[str, Any]:
    """Return the next pair of a client, which it must get."""
    answer = dance.refresh(Party(client_id, ""), tokens["refresh_token"])
    assert answer.status_code == 200, answer.text
    pair: dict[str, Any] = answer.json()
    return pair


def revoke(dance: Dance, client_id: str, tokens: dict[str, Any]) -> None:
    """Take back everything that came from one approval."""
    form = {"token": tokens["refresh_token"], "client_id": client_id}
    answer = dance.http.post("/oauth/revoke", data=form)
    assert answer.status_code == 200, answer.text
