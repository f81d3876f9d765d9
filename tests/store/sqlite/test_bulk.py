"""Bulk: rows that go in together stand there as if each had been added alone."""

from collections.abc import Iterator

import apsw
import pytest

from pdpp.store.sqlite import bulk
from pdpp.store.sqlite.opening import SqliteConnection
from pdpp.store.sqlite.store import SqliteStore
from pdpp.store.tables.records.dated import mark_of
from pdpp.store.tables.write.new_records import NewRecords

pytestmark = pytest.mark.embedded("about the statements of the embedded engine")


@pytest.fixture
def db() -> Iterator[SqliteConnection]:
    opened = SqliteConnection(":memory:")
    opened.execute("CREATE TABLE place (name TEXT PRIMARY KEY, size) WITHOUT ROWID")
    yield opened
    opened.close()


@pytest.mark.parametrize("count", [0, 1, 2, 7, 511, 512, 513, 1_500])
def test_any_number_of_rows_is_added_once_and_in_order(db: SqliteConnection, count: int) -> None:
    rows = [(f"n{at:05}", at) for at in range(count)]
    db.executemany("INSERT INTO place VALUES (?, ?)", iter(rows))
    assert db.execute("SELECT * FROM place ORDER BY name").fetchall() == rows


def test_of_rows_that_replace_each_other_the_last_one_stays(db: SqliteConnection) -> None:
    rows = [("a", 1), ("b", 2), ("a", 3)]
    db.executemany("INSERT OR REPLACE INTO place VALUES (?, ?)", rows)
    assert db.execute("SELECT * FROM place").fetchall() == [("a", 3), ("b", 2)]
    db.executemany("INSERT OR IGNORE INTO place VALUES (?, ?)", [("c", 4), ("a", 5)])
    assert db.execute("SELECT * FROM place").fetchall() == [("a", 3), ("b", 2), ("c", 4)]


def test_a_row_that_is_there_already_is_refused(db: SqliteConnection) -> None:
    with pytest.raises(apsw.ConstraintError):
        db.executemany("INSERT INTO place VALUES (?, ?)", [("a", 1), ("b", 2), ("a", 3)])


def test_what_is_no_plain_insertion_is_asked_row_by_row(db: SqliteConnection) -> None:
    db.executemany("INSERT INTO place VALUES (?, ? + 1)", [("a", 1), ("b", 2)])
    db.executemany("DELETE FROM place WHERE name = ?", [("a",), ("c",)])
    assert db.execute("SELECT * FROM place").fetchall() == [("b", 3)]
    assert bulk.insertion_of("INSERT INTO long_value VALUES (?, ?)") is None


def test_records_and_cells_of_every_kind_are_what_was_given(tmp_path: object) -> None:
    store = SqliteStore(tmp_path)  # type: ignore[arg-type]
    count = 300
    numbers = range(count)
    cells = [
        (None if at % 7 == 0 else f"t{at % 3}", None, at / 3 if at % 2 else at) for at in numbers
    ]
    new = NewRecords(
        4,
        9,
        (0, 2),
        (0,),
        [at + 1 for at in numbers],
        [f"k{at}" for at in numbers],
        [(at * 7_919) % 301 - 150 for at in numbers],
        [5] * count,
        [None if at % 5 == 0 else at for at in numbers],
        [1] * count,
        [f"{at:016x}" for at in numbers],
        cells,
        [b'{"at":%d}' % at for at in numbers],
    )
    with store._db.writing() as db:
        assert isinstance(db, SqliteConnection)
        db.insert_records(new)
        rows = db.execute("SELECT id, key, surrogate, time, digest, data FROM record").fetchall()
        stored = db.execute("SELECT field, record, value FROM cell").fetchall()
        dated = db.execute("SELECT feed, mark, time, sequence FROM dated_cell").fetchall()
    store.close()
    columns = (new.ids, new.keys, new.surrogates, new.times, new.digests, new.data)
    assert sorted(rows) == sorted(zip(*columns, strict=True), key=lambda row: row[0])
    wanted = {(place, new.ids[at]): cells[at][place] for at in numbers for place in (0, 2)}
    found = {(place, id): None if value == b"" else value for place, id, value in stored}
    assert found == wanted
    assert len(stored) == 2 * count
    assert dated == sorted(
        (4, mark_of(0, f"t{at % 3}"), 0, at + 1) for at in numbers if at % 7 and at % 5
    )


def record_columns(version: int, first: int, count: int) -> NewRecords:
    """Return records that have the same in most fields, some of them with no time."""
    numbers = range(first, first + count)
    return NewRecords(
        4,
        version,
        (0, 1, 2, 3),
        (0, 1, 2, 3),
        [at + 1 for at in numbers],
        [f"k{at}" for at in numbers],
        [(at * 7_919) % 100_003 - 50_000 for at in numbers],
        [5] * count,
        [None if at % 5 == 0 else (at - 30) * 700_000 for at in numbers],
        [1] * count,
        [f"{at:016x}" for at in numbers],
        [("chat", version, None, f"t{at % 2}") for at in numbers],
        [b"{}"] * count,
    )


def test_what_all_records_of_a_batch_have_is_theirs_alone(tmp_path: object) -> None:
    store = SqliteStore(tmp_path)  # type: ignore[arg-type]
    batches = [record_columns(9, 0, 700), record_columns(10, 700, 1), record_columns(11, 800, 60)]
    with store._db.writing() as db:
        assert isinstance(db, SqliteConnection)
        for new in batches:
            db.insert_records(new)
        stored = db.execute("SELECT field, value, surrogate, record FROM cell").fetchall()
        dated = db.execute("SELECT feed, mark, time, sequence FROM dated_cell").fetchall()
    store.close()
    wanted = set()
    wanted_dated = set()
    for new in batches:
        for id, surrogate, time, cells in zip(
            new.ids, new.surrogates, new.times, new.cells, strict=True
        ):
            for place, value in enumerate(cells):
                wanted.add((place, b"" if value is None else value, surrogate, id))
                if value is not None and time is not None:
                    assert isinstance(value, int | str)
                    wanted_dated.add((4, mark_of(place, value), time // 1_000_000, id))
    assert (len(stored), set(stored)) == (len(wanted), wanted)
    assert (len(dated), set(dated)) == (len(wanted_dated), wanted_dated)
