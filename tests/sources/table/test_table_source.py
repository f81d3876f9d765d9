"""Tables of the owner's own: drafted, declared, approved and imported again."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.shell import pdpp
from tests.sources.kit import (
    Home,
    bring_and_ask,
    check_hostile_text,
    check_overlap,
    counts,
    look,
    read,
    told,
)

from pdpp.model.errors import ImportRefused
from pdpp.model.validation import parse_declaration
from pdpp.sources.importing.state import ImportState
from pdpp.sources.reading.tree import open_tree
from pdpp.sources.source import Confidence, OwnerChoices, Recognition
from pdpp.sources.table import draft as draft_module
from pdpp.sources.table.draft import TableDraft, draft, slug
from pdpp.sources.table.own import OwnTable, own_sources
from pdpp.sources.table.plan import TablePlan, plan_from
from pdpp.sources.table.source import TableSource

ORDERS = (
    "Order No,Date,Customer,Amount,Paid,Comment,Website,Ref\n"
    'A-1,03/02/2026,Nora,12.50,yes,"Two lanterns for the harbour festival, delivered late in the '
    'evening",https://x.example/1,007\n'
    'A-2,04/02/2026,Inês,"1,250.00",no,,https://x.example/2,008\n'
    'A-3,05/02/2026,Nora,7,yes,"Nothing much to say, but long enough to be read as a sentence '
    'of prose",,009\n'
)


def drafted(
    path: Path, content: str | bytes, key: str | None = None, **settings: str
) -> TableDraft:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return draft(open_tree(path), key, settings)


def columns(plan: TablePlan) -> dict[str, str]:
    return {column.field: column.kind for column in plan.columns}


def test_a_draft_says_what_the_columns_hold(tmp_path: Path) -> None:
    made = drafted(tmp_path / "My Orders.csv", ORDERS)
    assert columns(made.plan) == {
        "order_no": "text",
        "date": "date",
        "customer": "text",
        "amount": "number",
        "paid": "boolean",
        "comment": "text",
        "website": "text",
        "ref": "text",
    }
    assert {field: str(role) for field, role in made.roles.items()} == {
        "date": "event-time",
        "customer": "actor",
        "amount": "amount",
        "comment": "body",
        "website": "link",
    }
    assert made.plan.key == ("order_no",)
    assert made.plan.connector_key == "my_orders"
    assert made.notes == ("Date: the day is read first, unless you say --set month_first=yes.",)


def test_a_draft_is_a_sound_declaration_with_what_each_column_is_good_for(tmp_path: Path) -> None:
    stream = parse_declaration(drafted(tmp_path / "o.csv", ORDERS).plan.declaration).streams[
        "records"
    ]
    assert stream.consent_time_field == "date"
    assert {name for name, field in stream.fields.items() if field.lexical} == {
        "order_no",
        "customer",
        "comment",
        "ref",
    }
    assert stream.fields["amount"].aggregations == ("sum", "min", "max")
    assert "group_by" in stream.fields["customer"].aggregations
    assert "group_by_time" in stream.fields["date"].aggregations


def test_the_owner_can_say_that_the_month_comes_first(tmp_path: Path) -> None:
    first = drafted(tmp_path / "o.csv", ORDERS)
    second = drafted(tmp_path / "o.csv", ORDERS, month_first="yes")
    rows = [
        list(read(TableSource(made.plan), tmp_path / "o.csv").values()) for made in (first, second)
    ]
    assert [row[0]["date"] for row in rows] == ["2026-02-03", "2026-03-02"]


def test_a_date_that_can_only_be_read_one_way_is_not_asked_about(tmp_path: Path) -> None:
    made = drafted(tmp_path / "o.csv", "when,n\n25/12/2026,1\n01/02/2026,2\n")
    assert not any("month_first" in note for note in made.notes)
    assert made.plan.columns[0].form == "%d/%m/%Y"


def test_a_draft_of_objects_keeps_what_is_nested(tmp_path: Path) -> None:
    objects = [
        {"id": 1, "name": "a", "tags": ["x"], "at": "2026-01-01T00:00:00Z", "n": 1, "mixed": 1},
        {"id": 2, "name": "b", "tags": [], "at": "2026-01-02T00:00:00Z", "n": 1.5, "mixed": "one"},
        {"id": 3, "name": "c", "ok": True, "none": None},
    ]
    made = drafted(tmp_path / "o.json", json.dumps(objects))
    assert columns(made.plan) == {
        "id": "integer",
        "name": "text",
        "tags": "json",
        "at": "date-time",
        "n": "number",
        "mixed": "json",
        "ok": "boolean",
        "none": "text",
    }
    assert made.plan.key == ("id",)
    records = read(TableSource(made.plan), tmp_path / "o.json")
    assert records[("records", "1")] == {
        "id": "1",
        "name": "a",
        "tags": ["x"],
        "at": "2026-01-01T00:00:00Z",
        "n": 1,
        "mixed": 1,
    }


def test_rows_without_anything_to_tell_them_apart_are_known_by_their_content(
    tmp_path: Path,
) -> None:
    content = "day,what\n2026-01-01,tea\n2026-01-01,tea\n2026-01-02,tea\n"
    made = drafted(tmp_path / "o.csv", content)
    assert made.plan.key == ()
    assert "No column tells the rows apart" in made.notes[0]
    records = read(TableSource(made.plan), tmp_path / "o.csv")
    assert len(records) == 3
    assert sum(key.endswith("-2") for _, key in records) == 1


def test_an_id_that_tells_no_rows_apart_is_kept_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    made = drafted(path, "id,day,what\n7,2026-01-01,tea\n7,2026-01-02,tea\n8,2026-01-02,tea\n")
    assert made.plan.key == ()
    records = read(TableSource(made.plan), path)
    assert sorted(data["id_2"] for data in records.values()) == [7, 7, 8]
    assert all(data["id"] == key for (_, key), data in records.items())


def test_a_row_that_takes_the_place_of_another_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draft_module, "SAMPLE", 2)
    path = tmp_path / "o.csv"
    source = TableSource(drafted(path, "id,n\na,1\nb,2\nb,2\na,3\n").plan)
    [unknown] = told(source, path)
    assert unknown.reason == "a row that takes the place of one with the same key"
    assert unknown.example == "o.csv line 5"


def test_a_table_with_a_column_without_a_name_is_known_again(tmp_path: Path) -> None:
    content = "name,age,\nNora,41,\nInês,38,from the harbour\n"
    plan = drafted(tmp_path / "o.csv", content).plan
    source = TableSource(plan)
    for further in ("Ana,7,\n", "Ana,7,a note\n"):
        (tmp_path / "p.csv").write_text("name,age,\n" + further)
        seen = look(source, tmp_path / "p.csv")
        assert isinstance(seen, Recognition)
        assert seen.confidence is Confidence.CERTAIN
    assert [data.get("column_3") for data in read(source, tmp_path / "p.csv").values()] == [
        "a note"
    ]


def test_a_sign_that_divides_decimals_in_one_column_does_so_in_the_others(tmp_path: Path) -> None:
    path = tmp_path / "o.csv"
    made = drafted(path, "id;price;weight\na;12,50;1,234\nb;3,99;2,345\n")
    records = read(TableSource(made.plan), path)
    assert [data["weight"] for data in records.values()] == [1.234, 2.345]
    made = drafted(path, 'id,price,sold\na,12.50,"1,234"\nb,3.99,"2,345"\n')
    records = read(TableSource(made.plan), path)
    assert [data["sold"] for data in records.values()] == [1_234, 2_345]


def test_only_a_column_of_days_is_asked_which_comes_first(tmp_path: Path) -> None:
    made = drafted(tmp_path / "o.json", '[{"id": 1, "n": 2.5, "ok": true, "e": null, "x": [1]}]')
    assert made.notes == ()


def test_a_row_without_its_key_is_known_by_its_content(tmp_path: Path) -> None:
    made = drafted(tmp_path / "o.csv", "id,what\n1,tea\n2,cake\n")
    (tmp_path / "o.csv").write_text("id,what\n,tea\n2,cake\n")
    keys = [key for _, key in read(TableSource(made.plan), tmp_path / "o.csv")]
    assert len(keys[0]) == 32
    assert keys[1] == "2"


def test_only_the_first_rows_are_looked_at_and_what_differs_later_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draft_module, "SAMPLE", 2)
    path = tmp_path / "o.csv"
    made = drafted(path, "id,n\na,1\nb,2\nc,many\n")
    assert made.notes[0].startswith("Only the first 2 rows were looked at")
    source = TableSource(made.plan)
    assert read(source, path)[("records", "c")] == {"id": "c"}
    [unknown] = told(source, path)
    assert (unknown.reason, unknown.example) == ("a value that is no integer", "o.csv line 4, n")


def test_a_column_that_came_later_is_told_once(tmp_path: Path) -> None:
    path = tmp_path / "o.ndjson"
    made = drafted(path, '{"id": "a"}\n{"id": "b"}\n')
    path.write_text('{"id": "a", "new": 1}\n{"id": "b", "new": 2}\n')
    source = TableSource(made.plan)
    [skipped] = told(source, path)
    assert skipped.reason == "a column that is not declared"
    assert len(read(source, path)) == 2


def test_local_times_float_unless_a_zone_is_given(tmp_path: Path) -> None:
    path = tmp_path / "o.csv"
    made = drafted(path, "id,at\na,01.07.2026 12:00\nb,02.07.2026 13:30\n")
    source = TableSource(made.plan)
    assert read(source, path)[("records", "a")] == {
        "id": "a",
        "at": "2026-07-01T12:00:00",
        "floating": True,
    }
    placed = read(source, path, time_zone="Europe/Lisbon")
    assert placed[("records", "a")] == {"id": "a", "at": "2026-07-01T12:00:00+01:00"}
    with pytest.raises(ImportRefused, match="is not a time zone"):
        read(source, path, time_zone="Nowhere")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("hello", "holds no CSV with a header"),
        ("a,b\n", "holds no"),
        ("a,b\n , \n,\n", "holds no rows"),
    ],
)
def test_what_is_no_table_is_refused(content: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(ImportRefused, match=words):
        drafted(tmp_path / "o.csv", content)


def test_too_many_columns_are_refused(tmp_path: Path) -> None:
    wide = json.dumps([{f"c{number}": 1 for number in range(400)}])
    with pytest.raises(ImportRefused, match="more than 300 columns"):
        drafted(tmp_path / "o.json", wide)


def test_names_become_plain_and_stay_apart(tmp_path: Path) -> None:
    made = drafted(tmp_path / "Überweisung.csv", "Größe (m),Größe [m],日本,id\n1,2,3,4\n")
    assert [column.field for column in made.plan.columns] == [
        "grosse_m",
        "grosse_m_2",
        "column",
        "id",
    ]
    assert made.plan.connector_key == "uberweisung"
    assert slug("***") == ""


def test_a_plan_is_kept_whole(tmp_path: Path) -> None:
    plan = drafted(tmp_path / "o.csv", ORDERS).plan
    assert plan_from(json.loads(json.dumps(plan.as_json()))) == plan
    assert own_sources([plan.as_json()])[0].connector_key == "o"


def test_a_plan_knows_files_with_its_columns_and_no_others(tmp_path: Path) -> None:
    source = TableSource(drafted(tmp_path / "o.csv", ORDERS).plan)
    more = "Extra,Order No,Date,Customer,Amount,Paid,Comment,Website,Ref\nx,,,,,,,,\n"
    for content, known in (
        (ORDERS, True),
        (more, True),
        ("Order No,Date\nA,1\n", False),
        ("{}", False),
    ):
        (tmp_path / "next.csv").write_text(content)
        seen = source.recognise(open_tree(tmp_path / "next.csv"), OwnerChoices())
        assert (seen is not None) == known


def test_objects_need_only_their_key_to_be_known(tmp_path: Path) -> None:
    path = tmp_path / "o.ndjson"
    keyed = TableSource(drafted(path, '{"id": "a", "n": 1}\n{"id": "b"}\n').plan)
    loose = TableSource(drafted(path, '{"n": 1, "m": 1}\n{"n": 1, "m": 1}\n', "x").plan)
    path.write_text('{"id": "c"}\n{"id": "d"}\n')
    assert keyed.recognise(open_tree(path), OwnerChoices()) is not None
    assert loose.recognise(open_tree(path), OwnerChoices()) is None


# Through the program


def test_a_draft_is_shown_and_written_only_after_a_yes(tmp_path: Path) -> None:
    (tmp_path / "orders.csv").write_text(ORDERS)
    home = Home(tmp_path / "data")
    no = pdpp("import", tmp_path / "orders.csv", "--infer", data=home.data, stdin=b"n\n")
    assert no.code == 1
    assert "  amount (Amount): number, amount\n" in no.err
    assert "a record is known by order_no" in no.err
    assert home.records() == {}
    yes = pdpp("import", tmp_path / "orders.csv", "--infer", data=home.data, stdin=b"y\n")
    assert yes.code == 0, yes.err
    assert "3 new" in yes.out
    again = home.bring(tmp_path / "orders.csv")
    assert counts(again) == {"read": 3, "unchanged": 3}
    assert again["source"]["confidence"] == "certain"


def test_a_draft_in_json_is_only_shown(tmp_path: Path) -> None:
    (tmp_path / "birds.csv").write_text("bird,song\nwren,loud\nowl,low\n")
    home = Home(tmp_path / "data")
    ended = home.run(tmp_path / "birds.csv", "--infer", "--json")
    plan = plan_from(json.loads(ended.out)["draft"])
    assert plan.connector_key == "birds"
    assert home.records() == {}
    assert "birds.csv is not known" in home.run(tmp_path / "birds.csv", "--yes").failed()


def test_a_draft_takes_no_name_that_is_in_use(tmp_path: Path) -> None:
    (tmp_path / "codex.csv").write_text(ORDERS)
    home = Home(tmp_path / "data")
    ended = home.run(tmp_path / "codex.csv", "--infer", "--yes")
    assert ended.failed() == "there is a source 'codex' already; name this one with --as KEY"
    assert home.run(tmp_path / "codex.csv", "--infer", "--yes", "--as", "sales").code == 0


DECLARED: dict[str, Any] = {
    "protocol_version": "0.1.0",
    "source": {"kind": "connector", "id": "https://sources.example/runs"},
    "connector_key": "runs",
    "declaration_version": "1",
    "publisher": {"id": "https://sources.example"},
    "display": {"name": "Runs"},
    "streams": [
        {
            "name": "runs",
            "semantics": "mutable_state",
            "schema": {
                "type": "object",
                "properties": {
                    "id": {"type": "string"},
                    "run_day": {"type": "string", "format": "date"},
                    "km": {"type": "number"},
                    "route": {"type": "string"},
                    "splits": {"type": "array"},
                },
                "required": ["id"],
                "additionalProperties": False,
            },
            "primary_key": ["id"],
            "consent_time_field": "run_day",
            "query": {"search": {"lexical_fields": ["route"]}},
        }
    ],
}


def test_a_declaration_of_the_owners_own_is_matched_by_the_names_of_columns(
    tmp_path: Path,
) -> None:
    (tmp_path / "runs.json").write_text(json.dumps(DECLARED))
    (tmp_path / "runs.csv").write_text(
        "ID;Run day;km;route;shoes\nr1;01.02.2026;7,5;Along the river;old\nr2;02.02.2026;10;x;new\n"
    )
    home = Home(tmp_path / "data")
    report = home.bring(tmp_path / "runs.csv", "--declaration", str(tmp_path / "runs.json"))
    assert counts(report) == {"read": 3, "new": 2, "skipped": 1}
    assert report["skipped"][0]["examples"] == ["runs.csv line 2, shoes"]
    assert home.records()[("runs", "r1")] == {
        "id": "r1",
        "run_day": "2026-02-01",
        "km": 7.5,
        "route": "Along the river",
    }
    assert counts(home.bring(tmp_path / "runs.csv")) == {"read": 3, "unchanged": 2, "skipped": 1}


def test_a_declaration_of_several_streams_needs_to_be_told_which(tmp_path: Path) -> None:
    two = {**DECLARED, "streams": [*DECLARED["streams"], {**DECLARED["streams"][0], "name": "b"}]}
    (tmp_path / "runs.json").write_text(json.dumps(two))
    (tmp_path / "runs.csv").write_text("id;km\nr1;7,5\n")
    home = Home(tmp_path / "data")
    given = ("--declaration", str(tmp_path / "runs.json"), "--yes")
    refused = home.run(tmp_path / "runs.csv", *given).failed()
    assert refused == "say which stream the records are of: runs, b"
    assert home.run(tmp_path / "runs.csv", *given, "--stream", "b").code == 0
    assert list(home.records()) == [("b", "r1")]


def test_a_file_without_any_declared_column_is_refused(tmp_path: Path) -> None:
    (tmp_path / "runs.json").write_text(json.dumps(DECLARED))
    (tmp_path / "other.csv").write_text("a;b\n1;2\n")
    ended = Home(tmp_path / "data").run(
        tmp_path / "other.csv", "--declaration", str(tmp_path / "runs.json"), "--yes"
    )
    assert "no table with a column named like a field of 'runs'" in ended.failed()


def test_a_part_and_then_the_whole_come_to_the_same(tmp_path: Path) -> None:
    both = tmp_path / "both" / "orders.csv"
    first = tmp_path / "first" / "orders.csv"
    for path, content in ((both, ORDERS), (first, "\n".join(ORDERS.split("\n")[:2]) + "\n")):
        path.parent.mkdir()
        path.write_text(content)
    plan = draft(open_tree(both), None, {}).plan
    for name in ("steps", "once"):
        ImportState(tmp_path / name).keep_plan("orders", plan.as_json())
    check_overlap(first, both, tmp_path)


def test_hostile_tables_are_told_and_harm_nothing(tmp_path: Path) -> None:
    path = tmp_path / "orders.csv"
    source = TableSource(drafted(path, ORDERS).plan)

    def place(content: bytes) -> Path:
        path.write_bytes(content)
        return path

    check_hostile_text(source, ORDERS.encode(), place)


def test_an_agent_finds_a_sentence_of_a_table(tmp_path: Path) -> None:
    path = tmp_path / "orders.csv"
    path.write_text(ORDERS)
    bring_and_ask(path, tmp_path, "harbour festival", "Two lanterns for the harbour", "--infer")


def test_what_is_shown_names_the_fields_their_kinds_and_roles(tmp_path: Path) -> None:
    (tmp_path / "o.csv").write_text("id,what\n1,tea\n")
    lines = list(OwnTable.drafted(open_tree(tmp_path), None, {}, ()).lines())
    assert lines == [
        "A csv table as 'o'; a record is known by id",
        "  id: integer",
        "  what: text, searched",
    ]
