"""Killing the server while it hands out tokens leaves a state that is whole."""

import json
import os
import random
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.oauth.dance import Dance, Party, oauth_error
from tests.serving import UNLIMITED, SetClock, running

from pdpp.app import make_app
from pdpp.authz.authority import Authority
from pdpp.store.sqlite.store import SqliteStore

ROOT = Path(__file__).parents[2]
ROUNDS = 60 if os.environ.get("PDPP_SOAK") == "1" else 4


def killed(folder: Path, chance: random.Random) -> list[dict[str, Any]]:
    """Let a server hand out tokens, kill it at some moment, and return what it told."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.oauth.killed", str(folder)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "src")))},
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(chance.randint(2, 6))]
        with suppress(subprocess.TimeoutExpired):
            process.wait(chance.random() * 0.02)
        process.kill()
        lines += process.stdout.read().split("\n")
    return [json.loads(line) for line in lines if line.strip()]


def test_a_killed_server_leaves_one_living_pair_or_a_retry_that_gives_one(tmp_path: Path) -> None:
    chance = random.Random(ROUNDS)
    for number in range(ROUNDS):
        folder = tmp_path / str(number)
        client, *given = killed(folder, chance)
        store = SqliteStore(folder, SetClock())
        assert store.check() == []
        settings = UNLIMITED
        with running(make_app(store, settings, SetClock())) as server:
            authority = Authority(store, SetClock())
            dance = Dance(store, server, SetClock(), authority, server.client())
            check(dance, Party(client["client_id"], ""), given)
        store.close()


def check(dance: Dance, party: Party, given: list[dict[str, Any]]) -> None:
    """Check that the last pair is good, and that every earlier one is spent."""
    assert given
    last = given[-1]
    assert dance.read(last["access_token"]) == 200
    renewed = dance.refresh(party, last["refresh_token"])
    assert renewed.status_code == 200, renewed.text
    assert dance.read(renewed.json()["access_token"]) == 200
    if len(given) > 1:
        oauth_error(dance.refresh(party, given[0]["refresh_token"]), "invalid_grant")
        assert dance.read(renewed.json()["access_token"]) == 401
