"""Columns and tables that a version of a program calls otherwise: the import says what it lacks."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from tests.sources.formats import test_whatsapp_database as whatsapp
from tests.sources.kit import Home
from tests.sources.samples import every_sample

from pdpp.sources.reading.sqlitefile import SQLITE_HEAD, SqliteCopy

LACKING = "what a table or column holds that is not there under its name"
DATABASES = [
    (name, file)
    for name, sample in every_sample().items()
    for file, content in sample.files.items()
    if content.startswith(SQLITE_HEAD)
]


def copy_of(script: str) -> SqliteCopy:
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    connection.executescript(script)
    return SqliteCopy(connection, "a.db")


def told(copy: SqliteCopy) -> list[str]:
    return [skip.example for skip in copy.lacking()]


def test_a_column_that_is_not_there_is_null_and_told_once() -> None:
    copy = copy_of("create table t (a, b)")
    for _ in range(2):
        assert copy.pick("t", "x", "a", "c") == "x.a, NULL AS c"
    [lost] = copy.lacking()
    assert (lost.reason, lost.example, lost.lost) == (LACKING, "a.db: t.c", True)


def test_what_later_versions_brought_may_be_absent_as_long_as_nothing_newer_is_there() -> None:
    later = (frozenset({"second"}), frozenset({"third"}), frozenset({"fourth"}))
    names = ("first", "second", "third", "fourth")
    for columns, lacking in (
        ("first", []),
        ("first, second", []),
        ("first, third", ["a.db: t.second"]),
        ("fourth", ["a.db: t.first", "a.db: t.second", "a.db: t.third"]),
    ):
        copy = copy_of(f"create table t ({columns})")
        copy.pick("t", "x", *names, later=later)
        assert told(copy) == lacking


def test_a_table_that_is_not_there_is_told() -> None:
    copy = copy_of("create table t (a)")
    assert copy.has("t", "a")
    assert not copy.has("u", "a")
    assert not copy.has_one("t", "b", "c")
    assert copy.has_one("t", "c", "a")
    assert told(copy) == ["a.db: u", "a.db: t.b"]


def renamed(content: bytes, table: str, column: str, place: Path) -> bytes:
    """Return a database in which a table or a column of it has another name."""
    place.write_bytes(content)
    connection = sqlite3.connect(place)
    what = f'RENAME COLUMN "{column}" TO "new_{column}"' if column else f'RENAME TO "new_{table}"'
    connection.execute(f'ALTER TABLE "{table}" {what}')
    connection.commit()
    connection.close()
    return place.read_bytes()


def names_in(content: bytes, place: Path) -> list[tuple[str, str]]:
    """Return the tables and columns of a database, a table by itself with no column."""
    place.write_bytes(content)
    connection = sqlite3.connect(place)
    sql = "select name from sqlite_master where type = 'table' and name not like 'sqlite%'"
    tables = [row[0] for row in connection.execute(sql)]
    columns = [
        (table, row[0])
        for table in tables
        for row in connection.execute("select name from pragma_table_info(?)", (table,))
    ]
    connection.close()
    return [*((table, "") for table in tables), *columns]


def contents(home: Home) -> list[Any]:
    return sorted(repr(sorted(data.items())) for data in home.records().values())


@pytest.mark.parametrize(("name", "file"), DATABASES, ids=lambda value: value)
def test_nothing_of_a_database_goes_in_silence(name: str, file: str, tmp_path: Path) -> None:
    """Each table and column is renamed in turn: nothing changes, or the import says so."""
    sample = every_sample()[name]
    path = sample.folder(tmp_path / "e")
    home = Home(tmp_path / "home")
    home.bring(path, *sample.options)
    whole, content = contents(home), sample.files[file]
    for number, (table, column) in enumerate(names_in(content, tmp_path / "names.db")):
        sample.folder(path, {file: renamed(content, table, column, tmp_path / "renamed.db")})
        other = Home(tmp_path / f"home {number}")
        other.seal_like(home)
        ended = other.run(path, "--yes", "--json", *sample.options)
        report = json.loads(ended.out) if ended.code == 0 else None
        if report is not None and not report["files"]["unknown"]:
            assert contents(other) == whole, f"{table}.{column}: {report}"


def test_a_whatsapp_database_without_its_files_is_not_complete(tmp_path: Path) -> None:
    schema = whatsapp.SCHEMA.replace("ZWAMEDIAITEM", "ZWAMEDIATHING")
    path = whatsapp.database(tmp_path / "ChatStorage.sqlite", *whatsapp.MESSAGES, schema=schema)
    report = Home(tmp_path / "home").bring(path)
    assert report["status"] == "incomplete"
    [case] = [case for case in report["skipped"] if case["reason"] == LACKING]
    assert case["examples"] == ["ChatStorage.sqlite: ZWAMEDIAITEM"]
