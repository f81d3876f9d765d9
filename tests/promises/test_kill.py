"""Killing the program at any moment loses nothing that was acknowledged and corrupts nothing."""

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.promises import ingester
from tests.promises.caller import Caller, calling
from tests.promises.letters import declaration
from tests.serving import UNLIMITED, owner

from pdpp.app import make_app
from pdpp.model.validation import parse_declaration
from pdpp.store.sqlite.store import SqliteStore

ROOT = Path(__file__).parents[2]
ROUNDS = 400 if os.environ.get("PDPP_SOAK") == "1" else 20
ENDLESS = 10**6


def spawn(folder: Path, first: int, last: int = ENDLESS) -> subprocess.Popen[str]:
    """Start an ingesting process."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.promises.ingester", str(folder), str(first), str(last)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "src")))},
        stdout=subprocess.PIPE,
        text=True,
    )


def kill_at_some_moment(folder: Path, first: int, chance: random.Random) -> int:
    """Let a process ingest, kill it, and return the last batch it acknowledged."""
    with spawn(folder, first) as process:
        assert process.stdout is not None
        acknowledged = first - 1
        for _ in range(chance.randint(0, 4)):
            acknowledged = int(process.stdout.readline())
        try:
            process.wait(chance.random() * 0.02)
        except subprocess.TimeoutExpired:
            process.kill()
        rest = process.stdout.read().split("\n")[:-1]
    return int(rest[-1]) if rest else acknowledged


@contextmanager
def reopened(folder: Path) -> Iterator[tuple[SqliteStore, Caller]]:
    store = SqliteStore(folder)
    try:
        with calling(make_app(store, UNLIMITED), owner(store)) as caller:
            yield store, caller
    finally:
        store.close()


def held(caller: Caller) -> dict[str, Any]:
    rows = caller.rows("/v1/streams/messages/records", limit=100, count="exact")
    return {row["id"]: row["data"] for row in rows}


def found(caller: Caller, word: str) -> list[str]:
    return [hit["record_key"] for hit in caller.get("/v1/search", q=word)["data"]]


def check_words(caller: Caller, records: dict[str, Any], batches: range) -> None:
    """Check that the index finds the records of some batches by their words, and no others."""
    for batch in batches:
        for number in (0, ingester.SIZE // 2, ingester.SIZE - 1):
            key = ingester.key_of(batch, number)
            for word in ("first", "second"):
                text = f"{word}{batch}x{number}"
                there = records.get(key, {}).get("subject") == text
                assert found(caller, text) == ([key] if there else []), text


def test_a_killed_ingest_loses_nothing_acknowledged_and_corrupts_nothing(tmp_path: Path) -> None:
    chance = random.Random(ROUNDS)
    store = SqliteStore(tmp_path)
    store.register(parse_declaration(declaration()))
    store.connect(ingester.CONNECTION, "letters", "Work")
    store.close()
    expected: dict[str, Any] = {}
    done = -1
    for _ in range(ROUNDS):
        acknowledged = kill_at_some_moment(tmp_path, done + 1, chance)
        for batch in range(done + 1, acknowledged + 1):
            ingester.apply(expected, batch)
        with reopened(tmp_path) as (store, caller):
            assert store.check() == []
            records = held(caller)
            if records != expected:
                acknowledged += 1
                ingester.apply(expected, acknowledged)
            assert records == expected
            check_words(caller, expected, range(max(0, acknowledged - 2), acknowledged + 2))
            if acknowledged >= 0:
                again = ingester.ingest(store, acknowledged)
                assert again["records_unchanged"] == again["records_accepted"]
        done = acknowledged
    check_replay(tmp_path, expected, done)


def check_replay(folder: Path, expected: dict[str, Any], done: int) -> None:
    """Ingest everything once more and come to the same."""
    assert done > 0
    with reopened(folder) as (store, caller):
        for batch in range(done + 1):
            answer = ingester.ingest(store, batch)
            assert answer["records_rejected"] == 0
        assert held(caller) == expected
        assert store.check() == []
        check_words(caller, expected, range(done + 1))
