"""Long values: texts, lists and objects that stand beside their records are read as if within."""

import io
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.engine import database_of
from tests.store.questions import ask
from tests.store.world import Data, World, condition, declare, stream

from pdpp.store.aggregation import AggregateQuery
from pdpp.store.batch import canonical
from pdpp.store.cell import LONG_CHARS, text_cell
from pdpp.store.numbers import read_data
from pdpp.store.query import PAGE_BYTES, ChangePosition, ChangeQuery, PageQuery, Record, SearchQuery
from pdpp.store.scope import Reach
from pdpp.store.tables.records.long_values import has_long_values, split, whole_text

LONG = "long ".ljust(LONG_CHARS + 1, "x")
OTHER = LONG + "y"
PRETENDED = f"short\x0112:{'0' * 64}"
"""A text that looks like the short form of another one."""

VALUES = st.sampled_from(
    [
        None,
        "",
        "short",
        LONG,
        PRETENDED,
        LONG + PRETENDED,
        "\x01",
        "é\u2028" * LONG_CHARS,
        [LONG, 1],
        {"deep": [LONG, Decimal("0.300000000000000001")]},
        [Decimal("0.300000000000000002")] * LONG_CHARS,
        Decimal("0.300000000000000003"),
        list(range(9)),
        12,
    ]
)
DATA = st.dictionaries(st.sampled_from(["a", "b", "c", "d", "n" * 600, ""]), VALUES)


@given(DATA)
def test_data_is_put_together_to_the_letter(data: Data) -> None:
    parts = split(data)
    text = canonical(data)
    assert not has_long_values(text)
    if parts is None:
        assert len(text) <= LONG_CHARS or all(
            len(canonical(value)) <= LONG_CHARS + 2 for value in data.values()
        )
        return
    assert has_long_values(parts.text)
    assert read_data(parts.text) == read_data(parts.plain)
    assert whole_text(parts.text, parts.values) == text
    assert len(parts.text) <= (LONG_CHARS + 700) * (len(data) + 1)


@given(DATA, VALUES)
def test_the_short_form_of_a_member_follows_from_the_member_alone(data: Data, value: Any) -> None:
    alone, beside = split({"a": value}), split({**data, "a": value})
    short = value if alone is None else read_data(alone.plain)["a"]
    assert (value if beside is None else read_data(beside.plain)["a"]) == short


def stored_values(world: World) -> int:
    return int(database_of(world.store).reader.execute("SELECT count(*) FROM long_value").get)


def question_to(reach: Reach, words: str) -> SearchQuery:
    return SearchQuery((reach,), ask(words), 9)


def shown(record: Record | None) -> Data:
    assert record is not None
    data: Data = read_data(record.data)
    return data


def test_records_are_read_whole_or_in_part(world: World) -> None:
    data: Data = {"subject": "s", "body": LONG, "note": OTHER, "size": 3}
    world.put({"a": data, "b": {"subject": "plain"}})
    record = world.store.record(world.reach(), "a")
    assert record is not None
    assert record.data == canonical(data)
    assert shown(world.store.record(world.reach(), "a", frozenset({"note"}))) == {"note": OTHER}
    few = world.reach(fields=["id", "subject", "note"])
    assert shown(world.store.record(few, "a")) == {"subject": "s", "note": OTHER}
    page = world.store.page(PageQuery((world.reach(),), 5, sort="subject", descending=False))
    assert [shown(item) for item in page.records] == [{"subject": "plain"}, data]


def test_a_version_follows_what_is_shown_of_long_values(world: World) -> None:
    few = world.reach(fields=["id", "subject"])
    both = world.reach(fields=["id", "subject", "body"])

    def versions(data: Data) -> list[str]:
        world.put({"a": data})
        return [
            record.version
            for reach in (few, both)
            if (record := world.store.record(reach, "a")) is not None
        ]

    short = versions({"subject": "s", "body": LONG})
    assert versions({"subject": "s", "body": LONG, "note": OTHER}) == short
    assert versions({"subject": "s", "body": LONG, "note": "n"}) == short
    other = versions({"subject": "s", "body": OTHER})
    assert (other[0] == short[0], other[1] == short[1]) == (True, False)


def test_long_values_are_rewritten_left_and_deleted_with_their_record(world: World) -> None:
    assert world.put({"a": {"body": LONG, "note": LONG}, "b": {"body": LONG}}).new == 2
    assert stored_values(world) == 3
    assert world.put({"a": {"body": LONG, "note": LONG}}).unchanged == 1
    assert world.put({"a": {"body": OTHER, "note": "short"}}).changed == 1
    assert shown(world.store.record(world.reach(), "a")) == {"body": OTHER, "note": "short"}
    assert stored_values(world) == 2
    assert world.put({"a": {"note": OTHER}, "b": None}).changed == 1
    assert shown(world.store.record(world.reach(), "a")) == {"note": OTHER}
    assert world.put({"b": {"body": LONG}}).new == 1
    assert shown(world.store.record(world.reach(), "b")) == {"body": LONG}
    assert world.put({"a": None, "b": None}).deleted == 2
    assert stored_values(world) == 0
    assert world.store.check() == []


def test_a_change_to_a_hidden_long_value_is_no_change(world: World) -> None:
    world.put({"a": {"subject": "s", "body": LONG}})
    few = world.reach(fields=["id", "subject"])
    horizon = world.clock.pass_by()
    world.put({"a": {"subject": "s", "body": OTHER}})
    after = ChangePosition(horizon - 1, None)
    later = world.clock.pass_by()

    def changed(fields: list[str]) -> int:
        query = ChangeQuery(world.reach(fields=fields), 9, after, later, tombstones=True)
        return len(world.store.changes(query).changes)

    assert few.fields is not None
    assert (changed(["id", "subject"]), changed(["id", "body"])) == (0, 1)


@pytest.mark.parametrize("name", ["subject", "note", "thread"])
def test_records_are_found_by_a_long_value(world: World, name: str) -> None:
    at = {"a": LONG, "b": OTHER, "c": "short", "d": PRETENDED, "e": LONG[:-1], "f": LONG}
    world.put({key: {name: text} for key, text in at.items()})
    for text in {*at.values(), text_cell(LONG), "short"}:
        reach = world.reach(conditions=(condition(world.reach(), name, "eq", text),))
        assert world.keys(reach) == [key for key in at if at[key] == text]
        assert world.store.count(reach) == list(at.values()).count(text)


def test_long_texts_are_sorted_by_their_beginning_and_followed_page_by_page(world: World) -> None:
    texts = {"a": f"m{LONG}", "b": "a", "c": f"b{LONG}", "d": "z", "e": f"b{OTHER}", "f": "b"}
    world.put({key: {"subject": text} for key, text in texts.items()})
    expected = sorted(texts, key=lambda key: text_cell(texts[key]))
    for descending in (False, True):
        keys: list[str] = []
        query = PageQuery((world.reach(),), 1, sort="subject", descending=descending)
        while True:
            page = world.store.page(query)
            keys += map(world.key, page.records)
            if page.next is None:
                break
            query = query._replace(after=page.next)
        assert keys == (expected[::-1] if descending else expected)


def test_groups_are_named_by_the_whole_text(world: World) -> None:
    texts = [LONG, LONG, OTHER, LONG[:-1], "short"]
    world.put({f"k{at}": {"thread": text, "size": at} for at, text in enumerate(texts)})
    query = AggregateQuery((world.reach(),), "count", group_by="thread")
    groups = world.store.aggregate(query)
    assert {key: total.count for key, total in groups.items()} == {
        text: texts.count(text) for text in texts
    }
    narrow = world.reach(conditions=(condition(world.reach(), "size", "lt", 4),))
    groups = world.store.aggregate(AggregateQuery((narrow,), "count", group_by="thread"))
    assert set(groups) == set(texts[:4])
    query = AggregateQuery((world.reach(),), "count_distinct", field="thread")
    assert len(world.store.aggregate(query)[None].distinct) == 4


def test_groups_read_no_other_long_value_of_a_record(world: World) -> None:
    world.put({"k": {"thread": LONG, "note": OTHER, "size": 1}})
    with database_of(world.store).writing() as db:
        # Whoever reads the note fails.
        db.execute("DELETE FROM long_value WHERE name = 'note'")
    for metric, field in (("count", None), ("count_distinct", "thread"), ("sum", "size")):
        query = AggregateQuery((world.reach(),), metric, field=field, group_by="thread")
        assert list(world.store.aggregate(query)) == [LONG]


def test_long_texts_are_searched(world: World) -> None:
    text = f"{LONG} needle in the long text {LONG}"
    world.put({"a": {"subject": "s", "body": text}, "b": {"subject": "needle", "body": LONG}})
    for question in ("needle", '"needle in the long"', "+needle +text"):
        hits = world.store.search(question_to(world.reach(), question)).hits
        assert "a" in [world.key(hit.record) for hit in hits], question
        assert all(shown(hit.record)["body"].startswith("long") for hit in hits)
    hidden = world.reach(fields=["id", "subject"])
    hits = world.store.search(question_to(hidden, "needle")).hits
    assert [shown(hit.record) for hit in hits] == [{"subject": "needle"}]
    world.put({"a": {"subject": "s", "body": LONG}})
    assert len(world.store.search(question_to(world.reach(), "needle")).hits) == 1


def test_a_blob_is_seen_through_a_long_reference(world: World) -> None:
    blob = world.store.keep_blob(io.BytesIO(b"bytes"), "text/plain", 99)
    file = {"blob_id": blob.blob_id, "mime_type": "text/x-odd", "about": LONG}
    world.put({"a": {"file": file}})
    use = world.store.blob_shown(blob.blob_id, [world.reach()])
    assert use is not None
    assert (use.field, use.media_type) == ("file", "text/x-odd")
    world.put({"a": {"file": None}})
    assert world.store.blob_shown(blob.blob_id, [world.reach()]) is None


def test_long_values_move_with_a_merge_and_go_with_their_connection(world: World) -> None:
    world.store.connect("c2", "mail", "Second")
    world.put({"a": {"body": LONG}, "b": {"body": LONG}})
    world.put({"a": {"body": OTHER}, "c": {"body": OTHER}}, "c2")
    while world.store.move_some("c2", "c1").more:
        pass
    while world.store.delete_removed():
        pass
    reach = world.reach()
    bodies = {key: shown(world.store.record(reach, key))["body"] for key in ("a", "b", "c")}
    assert world.keys() == ["a", "b", "c"]
    assert bodies["c"] == OTHER
    assert stored_values(world) == 3
    world.store.remove_connection("c1")
    while world.store.delete_removed():
        pass
    assert stored_values(world) == 0


def test_a_declaration_indexes_long_values_anew(world: World) -> None:
    world.put({"a": {"note": f"needle {LONG}"}, "b": {"note": "short"}})
    query: Mapping[str, Any] = {
        "range_filters": {"note": ["gte"]},
        "search": {"lexical_fields": ["note"]},
    }
    world.store.register(declare(stream(query=dict(query)), version="2"))
    reach = world.reach()
    assert len(world.store.search(question_to(reach, "needle")).hits) == 1
    found = reach.narrowed([condition(reach, "note", "eq", f"needle {LONG}")])
    assert world.keys(found) == ["a"]
    page = world.store.page(PageQuery((reach,), 5, sort="note", descending=False))
    assert [world.key(record) for record in page.records] == ["a", "b"]


def test_a_page_ends_where_it_has_enough_bytes(world: World) -> None:
    text = "z" * (PAGE_BYTES // 4)
    world.put({f"k{at}": {"body": text, "note": text, "size": at} for at in range(5)})
    sizes = []
    query = PageQuery((world.reach(),), 100, sort="size", descending=False)
    keys: list[str] = []
    while True:
        page = world.store.page(query)
        sizes.append(sum(len(record.data) for record in page.records))
        keys += map(world.key, page.records)
        if page.next is None:
            break
        query = query._replace(after=page.next)
    assert keys == [f"k{at}" for at in range(5)]
    assert len(sizes) == 5
    assert max(sizes) <= PAGE_BYTES
    some = query._replace(after=None, select=frozenset({"body"}))
    assert len(world.store.page(some).records) == 3
    hidden = world.reach(fields=["id", "size"])
    assert len(world.store.page(PageQuery((hidden,), 100, sort="size")).records) == 5


def test_a_longer_record_is_a_page_by_itself(world: World) -> None:
    text = "z" * (PAGE_BYTES + 9)
    world.put({"a": {"body": text}, "b": {"body": text}, "c": {"size": 1}})
    page = world.store.page(PageQuery((world.reach(),), 9))
    assert len(page.records) == 1
    assert page.next is not None


def test_pages_of_changes_end_where_they_have_enough_bytes(world: World) -> None:
    text = "z" * (PAGE_BYTES // 3)
    for at in range(5):
        world.put({f"k{at}": {"body": text}})
        world.clock.pass_by()
    keys: list[str] = []
    after, pages = ChangePosition(0, None), 0
    while True:
        query = ChangeQuery(world.reach(), 100, after, world.clock.now, tombstones=False)
        page = world.store.changes(query)
        keys += map(world.key, page.changes)
        pages, after = pages + 1, page.last
        if not page.has_more:
            break
    assert keys == [f"k{at}" for at in range(5)]
    assert pages == 3


def test_what_is_lost_is_reported(world: World) -> None:
    world.put({"a": {"body": LONG}})
    assert world.store.check() == []
    with database_of(world.store).writing() as db:
        db.execute("DELETE FROM long_value")
    assert world.store.check() == ["c1/messages lacks 1 of the long values of its records"]
