"""Killing the program while it brings an older database up leaves the old one or the new one."""

import random
import shutil
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.engine import database_of, open_store
from tests.faults.killing import ROUNDS, Doom, Tell, count_writes, doom, finished, killed
from tests.faults.soundness import check_sound
from tests.promises import ingester
from tests.promises.letters import declaration
from tests.sources.kit import stored

from pdpp.authz.token import TokenKind, mint
from pdpp.model.validation import parse_declaration
from pdpp.store.port import Token
from pdpp.store.sqlite import schema
from pdpp.store.sqlite.store import FILE_NAME

OLDEST = 1
COLUMNS = "subject, hash, kind, label, created_at"


def make_old(tell: Tell, folder: Path) -> None:
    """Fill a store as the first version of the program did."""
    steps, schema.MIGRATIONS = schema.MIGRATIONS, schema.MIGRATIONS[:OLDEST]
    schema.VERSION = OLDEST
    store = open_store(folder)
    # What is written today and was not then goes where it is lost with the connection.
    database_of(store)._writer.execute(
        "CREATE TEMP TABLE length_block (id INTEGER PRIMARY KEY, lengths)"
    )
    store.register(parse_declaration(declaration()))
    store.connect(ingester.CONNECTION, "letters", "Work")
    for batch in range(12):
        ingester.ingest(store, batch)
    _, token = mint(TokenKind.OWNER, "owner", 5)
    values = (token.hash, token.kind, token.label, token.created_at)
    database_of(store)._writer.execute(
        f"INSERT INTO token ({COLUMNS}) VALUES (1, ?, ?, ?, ?)", values
    )
    store.close()
    schema.MIGRATIONS = steps
    tell(token)


def bring_up(tell: Tell, folder: Path) -> None:
    """Open a store, which brings it up."""
    store = open_store(folder)
    tell(schema.VERSION)
    store.close()


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Token]:
    """A folder from before, and a token that is good in it."""
    folder = tmp_path_factory.mktemp("old")
    (token,) = finished(make_old, folder)
    assert version(folder) == OLDEST < schema.VERSION
    return folder, token


def version(folder: Path) -> int:
    db = apsw.Connection(str(folder / FILE_NAME))
    try:
        return int(db.execute("PRAGMA user_version").get)
    finally:
        db.close()


def expected() -> dict[tuple[str, str], Any]:
    records: dict[str, Any] = {}
    for batch in range(12):
        ingester.apply(records, batch)
    return {(ingester.STREAM, key): data for key, data in records.items()}


def test_a_killed_migration_leaves_the_old_database_or_the_new_one(
    old: tuple[Path, Token], ram_path: Path
) -> None:
    folder, token = old
    writes = count_writes(bring_up, shutil.copytree(folder, ram_path / "counted"))
    assert writes > 20
    chance = random.Random(1)
    seen: set[int] = set()
    for number in range(ROUNDS):
        here = shutil.copytree(folder, ram_path / str(number))
        # Every write is the last one once; after that, and beside it, it is any moment.
        end = Doom(write=number + 1) if number < writes else doom(chance, writes, 1, 0.03)
        told = killed(end, bring_up, here)
        seen.add(version(here))
        assert not told or version(here) == schema.VERSION
        store = open_store(here)
        assert stored(store) == expected()
        assert store.token(token.hash) == token
        store.close()
        assert version(here) == schema.VERSION
        check_sound(here)
        shutil.rmtree(here)
    assert seen == {OLDEST, schema.VERSION}
