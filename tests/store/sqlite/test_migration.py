import sqlite3
from pathlib import Path

import apsw
import pytest
from tests.store.world import Clock, World

from pdpp.model.errors import NewerDatabase, StoreError
from pdpp.store.port import Token
from pdpp.store.sqlite import schema
from pdpp.store.sqlite.store import FILE_NAME, SqliteStore


def change(folder: Path, *statements: str) -> None:
    db = apsw.Connection(str(folder / FILE_NAME))
    for statement in statements:
        db.execute(statement)
    db.close()


def pragma(folder: Path, name: str) -> object:
    db = apsw.Connection(str(folder / FILE_NAME))
    try:
        return db.pragma(name)
    finally:
        db.close()


def test_a_new_database_says_what_it_is(tmp_path: Path, clock: Clock) -> None:
    SqliteStore(tmp_path, clock).close()
    assert pragma(tmp_path, "application_id") == schema.APPLICATION_ID
    assert pragma(tmp_path, "user_version") == schema.VERSION


def test_a_current_database_is_opened_as_it_is(tmp_path: Path, clock: Clock) -> None:
    first = World(SqliteStore(tmp_path, clock), clock).settle()
    first.put({"a": {}})
    first.store.close()
    second = World(SqliteStore(tmp_path, clock), clock)
    assert second.keys() == ["a"]
    second.store.close()


def test_an_older_database_is_brought_up_one_step_at_a_time(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(SqliteStore(tmp_path, clock), clock).settle()
    world.put({"a": {}})
    world.store.close()
    steps = (*schema.MIGRATIONS, "CREATE TABLE later (x); INSERT INTO later VALUES (1)")
    monkeypatch.setattr(schema, "MIGRATIONS", steps)
    monkeypatch.setattr(schema, "VERSION", len(steps))
    again = World(SqliteStore(tmp_path, clock), clock)
    assert again.keys() == ["a"]
    again.store.close()
    assert pragma(tmp_path, "user_version") == len(steps)
    SqliteStore(tmp_path, clock).close()


def test_an_index_from_before_takes_batches_whole_from_now_on(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:1])
        patch.setattr(schema, "VERSION", 1)
        SqliteStore(tmp_path, clock).close()
    SqliteStore(tmp_path, clock).close()
    db = apsw.Connection(str(tmp_path / FILE_NAME))
    kept = dict(db.execute("SELECT k, v FROM lex_config"))
    db.close()
    assert {"hashsize": 8 << 20, "automerge": 8, "pgsz": 8_000}.items() <= kept.items()


def test_a_step_that_fails_leaves_the_database_as_it_was(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    SqliteStore(tmp_path, clock).close()
    version = schema.VERSION
    steps = (*schema.MIGRATIONS, "CREATE TABLE later (x); SELECT * FROM nowhere")
    with monkeypatch.context() as patch:
        patch.setattr(schema, "MIGRATIONS", steps)
        patch.setattr(schema, "VERSION", len(steps))
        with pytest.raises(StoreError, match="nowhere"):
            SqliteStore(tmp_path, clock)
    assert pragma(tmp_path, "user_version") == version
    SqliteStore(tmp_path, clock).close()


def test_a_newer_database_is_refused_with_what_to_do(tmp_path: Path, clock: Clock) -> None:
    SqliteStore(tmp_path, clock).close()
    change(tmp_path, "PRAGMA user_version = 99")
    with pytest.raises(NewerDatabase, match=r"version 99 .* install a newer"):
        SqliteStore(tmp_path, clock)


@pytest.mark.parametrize("version", [0, schema.VERSION, schema.VERSION + 1])
def test_a_database_of_another_program_is_refused_and_left_alone(
    tmp_path: Path, clock: Clock, version: int
) -> None:
    file = tmp_path / FILE_NAME
    db = sqlite3.connect(file)
    db.execute("CREATE TABLE photo (x)")
    db.execute(f"PRAGMA user_version = {version:d}")
    db.commit()
    db.close()
    before = file.read_bytes()
    with pytest.raises(StoreError, match="choose another data folder"):
        SqliteStore(tmp_path, clock)
    assert file.read_bytes() == before


def test_the_tokens_of_a_database_from_before_there_were_families_stay_good(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:1])
        patch.setattr(schema, "VERSION", 1)
        SqliteStore(tmp_path, clock).close()
    columns = "subject, hash, kind, label, created_at"
    change(tmp_path, f"INSERT INTO token ({columns}) VALUES (1, 'h', 'owner', 'x', 5)")
    store = SqliteStore(tmp_path, clock)
    assert store.token("h") == Token("h", "owner", "x", 5)
    assert list(store.vault.clients()) == []
    store.close()
