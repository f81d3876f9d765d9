"""Lengths: the blocks say of every row of the index what the engine would say."""

from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.store.records import FEWER
from tests.store.world import Clock, Data, World, declare, fresh, stream

from pdpp.evidence.analyse import parse_query
from pdpp.store.port import HitPage, SearchQuery
from pdpp.store.sqlite.search import lengths, search
from pdpp.store.sqlite.store import FILE_NAME, SqliteStore

TEXTS = st.none() | st.lists(st.sampled_from(["kelp", "tide-pool", "猫犬", "…"]), max_size=5).map(
    " ".join
)
BATCHES = st.lists(
    st.dictionaries(
        st.sampled_from("abcdef"),
        st.none() | st.fixed_dictionaries({"subject": TEXTS, "body": TEXTS}),
        max_size=6,
    ),
    max_size=4,
)


def opened(folder: Path) -> apsw.Connection:
    return apsw.Connection(str(folder / FILE_NAME))


def engine_says(db: apsw.Connection) -> dict[int, int]:
    db.register_fts5_function("size", lambda api, *_: api.column_size(0))
    rows: list[Any] = db.execute("SELECT rowid, size(lex) FROM lex").fetchall()
    return dict(rows)


def taken_down(db: apsw.Connection) -> dict[int, bytes]:
    rows: list[Any] = db.execute("SELECT id, lengths FROM length_block").fetchall()
    return dict(rows)


def total(blocks: dict[int, bytes]) -> int:
    return sum(
        low + 256 * high for b in blocks.values() for low, high in zip(b[::2], b[1::2], strict=True)
    )


def look(world: World, q: str = "kelp") -> HitPage:
    return world.store.search(SearchQuery((world.reach(),), parse_query(q), 9_999))


@FEWER
@given(BATCHES)
def test_every_row_of_the_index_has_its_length_and_no_other_has_one(
    batches: list[dict[str, Data | None]],
) -> None:
    folders: list[Path] = []

    def engine(folder: Path, clock: Any) -> SqliteStore:
        folders.append(folder)
        return SqliteStore(folder, clock)

    with fresh(engine) as world:
        world.settle()
        for batch in batches:
            world.put(batch)
        db = opened(folders[0])
        wanted = engine_says(db)
        assert lengths.of_rows(db, list(wanted)) == list(wanted.values())
        assert total(taken_down(db)) == sum(wanted.values())
        db.close()


def test_records_of_several_blocks_are_scored_by_their_own_lengths(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "CANDIDATES", 3_000)
    world.put({f"{n:04}": {"body": "kelp" + " tide" * (n % 7)} for n in range(2_500)})
    scores: dict[int, set[int]] = {length: set() for length in range(7)}
    for hit in look(world).hits:
        scores[int(world.key(hit.record)) % 7].add(hit.position.score)
    assert [len(found) for found in scores.values()] == [1] * 7
    told = [found.pop() for found in scores.values()]
    assert told == sorted(set(told), reverse=True)


def test_a_text_longer_than_is_told_apart_counts_as_the_longest(world: World) -> None:
    sizes = {"a": 60_000, "b": lengths.LONGEST, "c": lengths.LONGEST + 500}
    world.put({key: {"body": "kelp" + " tide" * (size - 1)} for key, size in sizes.items()})
    score = {world.key(hit.record): hit.position.score for hit in look(world).hits}
    assert score["a"] > score["b"] == score["c"]


def test_a_search_without_the_lengths_still_answers(tmp_path: Path, clock: Clock) -> None:
    world = World(SqliteStore(tmp_path, clock), clock).settle()
    world.put({"a": {"body": "kelp"}, "b": {"body": "kelp tide"}})
    db = opened(tmp_path)
    db.execute("DELETE FROM length_block")
    db.close()
    assert {world.key(hit.record) for hit in look(world).hits} == {"a", "b"}
    world.store.close()


def test_fields_that_become_searchable_or_cease_to_be_have_their_lengths_follow(
    tmp_path: Path, clock: Clock
) -> None:
    world = World(SqliteStore(tmp_path, clock), clock).settle()
    world.put({"a": {"subject": "kelp", "body": "one two three", "note": "four five"}})
    other = stream(query={"search": {"lexical_fields": ["body", "note"]}})
    world.store.register(declare(other, version="2"))
    db = opened(tmp_path)
    wanted = engine_says(db)
    assert sorted(wanted.values()) == [2, 3]
    assert lengths.of_rows(db, list(wanted)) == list(wanted.values())
    assert total(taken_down(db)) == 5
    db.close()
    world.store.close()
