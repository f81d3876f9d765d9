"""What files are written in, and their rows."""

import json
from pathlib import Path
from typing import Any

import pytest

from pdpp.sources.item import Skipped
from pdpp.sources.reading.tree import FileEntry, open_tree
from pdpp.sources.table.rows import RawRow, TableLayout, layout_of, read_rows, tables


def entry(path: Path, content: str | bytes) -> FileEntry:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return open_tree(path).entries[0]


@pytest.mark.parametrize(
    ("name", "content", "layout"),
    [
        ("a.csv", "a,b\n1,2\n", TableLayout("csv")),
        ("a.json", '[{"a": 1}]', TableLayout("json", "item")),
        ("a.json", '\ufeff [\n {"a": 1}]', TableLayout("json", "item")),
        ("a.json", '{"n": 1, "rows": [{"a": 1}], "x": {}}', TableLayout("json", "rows.item")),
        ("a.json", '{"a": {"b": [1]}, "rows": [\n{}]}', TableLayout("json", "rows.item")),
        ("a.json", '{"deep": {"rows": [{"a": 1}]}}', None),
        ("a.json", '{"a": 1}', None),
        ("a.json", "[1, 2]", None),
        ("a.ndjson", '{"a": 1}\n{"a": 2}\n', TableLayout("ndjson")),
        ("a.txt", '{"a": 1}\n{"a": 2}\n', TableLayout("ndjson")),
        ("a.jsonl", '{"a": 1}', TableLayout("ndjson")),
        ("a.json", '{\n"rows": [{"a": 1}]}', TableLayout("json", "rows.item")),
        ("a.txt", "hello\nworld\n", None),
        ("a.txt", "", None),
    ],
)
def test_a_layout_is_found_out_by_the_beginning_of_a_file(
    name: str, content: str, layout: TableLayout | None, tmp_path: Path
) -> None:
    assert layout_of(entry(tmp_path / name, content)) == layout


@pytest.mark.parametrize("name", ["a.csv", "a.json", "a.ndjson"])
def test_rows_of_every_layout_come_with_their_names(name: str, tmp_path: Path) -> None:
    written: list[dict[str, Any]] = [{"a": "1", "b": "x"}, {"a": "2", "b": "y"}]
    texts = {
        "a.csv": "a,b\n1,x\n2,y\n",
        "a.json": json.dumps(written),
        "a.ndjson": "\n".join(map(json.dumps, written)),
    }
    file = entry(tmp_path / name, texts[name])
    layout = layout_of(file)
    assert layout is not None
    found = list(read_rows(file, layout))
    assert [row.values for row in found if isinstance(row, RawRow)] == written
    assert all(isinstance(row, RawRow) and row.where.startswith(name) for row in found)


def test_rows_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    csv = entry(tmp_path / "a.csv", "a,b\n1,2,3\n")
    assert [type(row) for row in read_rows(csv, TableLayout("csv"))] == [Skipped]
    lines = entry(tmp_path / "a.ndjson", "nonsense\n{}\n")
    assert [type(row) for row in read_rows(lines, TableLayout("ndjson"))] == [Skipped, RawRow]
    array = entry(tmp_path / "a.json", '[{"a": bad}, 5, {"a": 1}]')
    assert [type(row) for row in read_rows(array, TableLayout("json", "item"))] == [
        Skipped,
        Skipped,
        RawRow,
    ]


def test_what_lies_beside_the_records_is_told(tmp_path: Path) -> None:
    content = '{"n": 1, "books": [{"a": 1}], "films": [{"a": 2}, {"a": 3}]}'
    document = entry(tmp_path / "a.json", content)
    beside = list(read_rows(document, TableLayout("json", "books.item")))
    assert [row.example for row in beside if isinstance(row, Skipped)] == [
        "a.json n",
        "a.json films",
    ]
    table = entry(tmp_path / "a.csv", "sep=,\na,b\n1,2\n\nc,d,e\n1,2,3\n4,5,6\n")
    above = [row for row in read_rows(table, TableLayout("csv")) if isinstance(row, Skipped)]
    assert [row.example for row in above] == ["a.csv line 2", "a.csv line 3"]


def test_a_column_without_a_name_keeps_what_it_holds(tmp_path: Path) -> None:
    table = entry(tmp_path / "a.csv", ",a,b\n0,x,2\n1,y,3\n")
    rows = [row.values for row in read_rows(table, TableLayout("csv")) if isinstance(row, RawRow)]
    assert rows == [{"column 1": "0", "a": "x", "b": "2"}, {"column 1": "1", "a": "y", "b": "3"}]


def test_a_table_that_has_gone_is_told(tmp_path: Path) -> None:
    [told] = read_rows(entry(tmp_path / "a.csv", "no table"), TableLayout("csv"))
    assert told == Skipped("a file that is no table", "a.csv", cut=True)


def test_the_tables_of_a_folder_are_found_among_other_files(tmp_path: Path) -> None:
    for name, content in {"a.csv": "a,b\n1,2\n", "b.pdf": "a,b\n1,2\n", "c.csv": ""}.items():
        (tmp_path / name).write_text(content)
    assert [file.name for file, _ in tables(open_tree(tmp_path))] == ["a.csv"]
