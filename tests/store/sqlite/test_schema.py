"""Which files are opened as a store, and which are refused and left as they are."""

import sqlite3
from pathlib import Path

import apsw
import pytest
from tests.store.world import Clock, World

from pdpp.model.errors import NewerDatabase, StoreError
from pdpp.store.sqlite import schema
from pdpp.store.sqlite.store import FILE_NAME, SqliteStore

pytestmark = pytest.mark.embedded("about the file of the embedded engine")


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


def refused(folder: Path, clock: Clock, kind: type[StoreError] = StoreError) -> str:
    """Return the one sentence a folder is refused with; its file stays as it is."""
    before = (folder / FILE_NAME).read_bytes()
    with pytest.raises(kind) as refusal:
        SqliteStore(folder, clock)
    assert (folder / FILE_NAME).read_bytes() == before
    assert "\n" not in refusal.value.message
    return refusal.value.message


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


def test_a_newer_database_is_refused_with_what_to_do(tmp_path: Path, clock: Clock) -> None:
    SqliteStore(tmp_path, clock).close()
    change(tmp_path, "PRAGMA user_version = 99")
    message = refused(tmp_path, clock, NewerDatabase)
    assert "version 99" in message
    assert "install a newer" in message


@pytest.mark.parametrize("version", [1, 5, schema.VERSION - 1])
def test_a_database_from_before_the_first_release_is_refused_by_its_version(
    tmp_path: Path, clock: Clock, version: int
) -> None:
    SqliteStore(tmp_path, clock).close()
    change(tmp_path, f"PRAGMA user_version = {version:d}")
    assert f"of version {version}, from before the first release" in refused(tmp_path, clock)


@pytest.mark.parametrize("table", ["record", "blob", "token", "setting"])
def test_a_database_that_lacks_a_table_is_refused_by_the_name_of_the_table(
    tmp_path: Path, clock: Clock, table: str
) -> None:
    SqliteStore(tmp_path, clock).close()
    change(tmp_path, f"DROP TABLE {table}")
    assert f"lacks the table '{table}'" in refused(tmp_path, clock)


@pytest.mark.parametrize("version", [0, schema.VERSION, schema.VERSION + 1])
def test_a_database_of_another_program_is_refused(
    tmp_path: Path, clock: Clock, version: int
) -> None:
    db = sqlite3.connect(tmp_path / FILE_NAME)
    db.execute("CREATE TABLE photo (x)")
    db.execute(f"PRAGMA user_version = {version:d}")
    db.commit()
    db.close()
    assert "not a store of pdpp; choose another data folder" in refused(tmp_path, clock)


def test_an_empty_file_is_refused(tmp_path: Path, clock: Clock) -> None:
    (tmp_path / FILE_NAME).touch()
    assert "not a store of pdpp; choose another data folder" in refused(tmp_path, clock)


@pytest.mark.parametrize("size", [20, 2_000])
def test_a_text_file_is_refused(tmp_path: Path, clock: Clock, size: int) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"Dear diary, this is not a database at all. " * size)
    assert "cannot open the database" in refused(tmp_path, clock)
