"""Work: rows that are handed over packed stand in the tables exactly as they were meant."""

from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine import Work, database_of
from tests.store.records import FEWER, KEYS, MESSAGES
from tests.store.world import Clock, Data, World, declare, fresh, stream

from pdpp.model import instant
from pdpp.store.batch import WriteResult
from pdpp.store.cell import CellValue
from pdpp.store.numbers import read_data
from pdpp.store.scope import digest_of
from pdpp.store.sqlite.store import FILE_NAME, SqliteStore
from pdpp.store.tables.positions import cells_of, indexed
from pdpp.store.tables.records.long_values import split

pytestmark = pytest.mark.embedded("about the file of the embedded engine")

FRACTIONS = (0.1, 1 / 3, 5e-324, 1.7976931348623157e308, 2.2250738585072014e-308, 123456.789e-30)
TEXTS = (
    "",
    "a\x00b",
    'say "hi"\\',
    "\x01\x1f\x7f\u2028",
    "𝒳\U0010ffff",
    "null",
    "12",
    "z" * 70_000,
)

Cells = dict[tuple[int, str], CellValue]


def cells_in(folder: Path) -> Cells:
    """Return the value of each place and key; what is absent is None."""
    db = apsw.Connection(str(folder / FILE_NAME))
    rows: list[Any] = db.execute(
        "SELECT field, key, value FROM cell JOIN record ON record.id = cell.record"
    ).fetchall()
    db.close()
    return {(place, key): None if value == b"" else value for place, key, value in rows}


def meant(world: World, records: dict[str, Data]) -> Cells:
    """Return the cells of some records, which have none in a field that none of them fills."""
    rows = cells_of(indexed(world.feed()).cells)([*records.values()])
    filled = [any(value is not None for value in column) for column in zip(*rows, strict=True)]
    return {
        (place, key): value
        for key, values in zip(records, rows, strict=True)
        for place, value in enumerate(values)
        if filled[place]
    }


def same(found: Cells, wanted: Cells) -> bool:
    """Compare values with their types: 1 is not 1.0 in an index."""
    kinds = [{place: type(value) for place, value in cells.items()} for cells in (found, wanted)]
    return found == wanted and kinds[0] == kinds[1]


@FEWER
@given(st.dictionaries(KEYS, MESSAGES, max_size=6))
def test_cells_are_the_very_values_of_their_records(records: dict[str, Data]) -> None:
    folders: list[Path] = []

    def engine(folder: Path, clock: instant.Clock) -> SqliteStore:
        folders.append(folder)
        return SqliteStore(folder, clock)

    with fresh(engine) as world:
        world.settle()
        world.put(dict(records))
        assert same(cells_in(folders[0]), meant(world, records))


def test_fractions_and_odd_texts_are_found_again_by_their_value(tmp_path: Path) -> None:
    world = World(SqliteStore(tmp_path, Clock())).settle()
    records: dict[str, Data] = {f"f{n}": {"weight": held} for n, held in enumerate(FRACTIONS)}
    records |= {f"t{n}": {"thread": held, "body": held} for n, held in enumerate(TEXTS)}
    assert world.put(dict(records)).new == len(records)
    assert same(cells_in(tmp_path), meant(world, records))
    for key, data in records.items():
        record = world.store.record(world.reach(), key)
        assert record is not None
        assert read_data(record.data) == data
        assert record.version == digest_of(parts.plain if (parts := split(data)) else record.data)
    assert world.put(dict.fromkeys(records)).deleted == len(records)
    assert cells_in(tmp_path) == {}
    world.store.close()


@pytest.mark.parametrize("broken", ["record", "cell", "word_block"])
def test_a_batch_that_fails_on_the_way_leaves_nothing(broken: str, tmp_path: Path) -> None:
    world = World(SqliteStore(tmp_path, Clock())).settle()
    world.put({"a": {"body": "apple", "thread": "t"}})
    before = cells_in(tmp_path)
    db = apsw.Connection(str(tmp_path / FILE_NAME))
    db.execute(f"CREATE TRIGGER no AFTER INSERT ON {broken} BEGIN SELECT RAISE(ABORT, 'no'); END")
    db.close()
    with pytest.raises(apsw.Error):
        world.put({"a": {"body": "pear", "size": 1}, "b": {"body": "plum"}})
    assert world.keys() == ["a"]
    assert cells_in(tmp_path) == before
    world.store.close()


def test_a_batch_made_ready_before_its_stream_changed_is_written_as_it_is_declared_now(
    tmp_path: Path,
) -> None:
    world = World(SqliteStore(tmp_path, Clock())).settle(
        declare(stream(query={"range_filters": {"at": ["gte"]}}))
    )
    world.put({"old": {"size": 1}})
    data = {"size": 2, "weight": 0.1, "at": "2026-03-01T12:00:00Z"}
    batch = world.store.batch(world.feed())
    batch.keep("new", 5, data, None)
    batch.drop("old", 6)
    world.store.register(declare(version="2"))
    assert batch.write() == WriteResult(new=1, deleted=1)
    assert same(cells_in(tmp_path), meant(world, {"new": data}))
    world.store.close()


def test_a_message_is_edited_as_quickly_however_many_are_of_its_time() -> None:
    said = {"thread": "t", "at": "2026-03-02T08:00:00Z", "body": "kelp"}

    def steps(others: int) -> int:
        with fresh(SqliteStore) as world:
            world.settle(declare(stream(thread="thread")))
            world.put({f"k{number}": said for number in range(others)})
            work = Work()
            with database_of(world.store).writing() as db:
                db.trace_v2(apsw.SQLITE_TRACE_PROFILE, work.take)
            world.put({"k1": said | {"body": "moss"}})
            return work.units

    assert steps(3_000) < 2 * steps(30)
