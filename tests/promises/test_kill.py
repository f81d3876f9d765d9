"""Killing the program at any moment loses nothing that was acknowledged and corrupts nothing."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.engine import open_store
from tests.faults.killing import ROUNDS, doom, killed
from tests.promises import ingester
from tests.promises.caller import Caller, calling
from tests.promises.letters import declaration
from tests.serving import UNLIMITED, owner

from pdpp.app import make_app
from pdpp.model.validation import parse_declaration
from pdpp.store.port import Store

WRITES = 150
"""About as many as four batches make."""
LIFE = min(25, ROUNDS)
"""How often one store is killed before the next begins."""


@contextmanager
def reopened(folder: Path) -> Iterator[tuple[Store, Caller]]:
    store = open_store(folder)
    try:
        with calling(make_app(store, UNLIMITED), owner(store)) as caller:
            yield store, caller
    finally:
        store.close()


def held(caller: Caller) -> dict[str, Any]:
    rows = caller.rows("/v1/streams/messages/records", limit=100, count="exact")
    return {row["id"]: row["data"] for row in rows}


def found(caller: Caller, word: str) -> list[str]:
    """Return what holds a word itself; without the quotes the nearest words would do."""
    hits = caller.get("/v1/search", q=f'"{word}"')["data"]
    return [hit["record_key"] for hit in hits]


def check_words(caller: Caller, records: dict[str, Any], batches: range) -> None:
    """Check that the index finds the records of some batches by their words, and no others."""
    for batch in batches:
        for number in (0, ingester.SIZE // 2, ingester.SIZE - 1):
            key = ingester.key_of(batch, number)
            for word in ("first", "second"):
                text = f"{word}{batch}x{number}"
                there = records.get(key, {}).get("subject") == text
                assert found(caller, text) == ([key] if there else []), text


@pytest.mark.parametrize("life", range(ROUNDS // LIFE))
def test_a_killed_ingest_loses_nothing_acknowledged_and_corrupts_nothing(
    ram_path: Path, life: int
) -> None:
    chance = random.Random(life)
    store = open_store(ram_path)
    store.register(parse_declaration(declaration()))
    store.connect(ingester.CONNECTION, "letters", "Work")
    store.close()
    expected: dict[str, Any] = {}
    done = -1
    for _ in range(LIFE):
        told = killed(doom(chance, WRITES), ingester.ingest_on, ram_path, done + 1)
        acknowledged = told[-1] if told else done
        for batch in range(done + 1, acknowledged + 1):
            ingester.apply(expected, batch)
        with reopened(ram_path) as (store, caller):
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
    check_replay(ram_path, expected, done)


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
