"""CSV in the ways it is written."""

import tracemalloc
from pathlib import Path

import pytest

from pdpp.model.errors import DamagedFile
from pdpp.sources.item import Skipped
from pdpp.sources.reading import csvtable
from pdpp.sources.reading.csvtable import CsvTable, Row, find_table, rows
from pdpp.sources.reading.tree import FileEntry, open_tree


def entry(path: Path, content: str | bytes) -> FileEntry:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return open_tree(path).entries[0]


def table(file: FileEntry) -> CsvTable:
    found = find_table(file)
    assert found is not None
    return found


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found_out(delimiter: str, tmp_path: Path) -> None:
    text = "Day|Amount|Words\n1|2|a, b; c\n3|4|d, e; f\n".replace("|", delimiter)
    quoted = text.replace("a, b; c", '"a, b; c"').replace("d, e; f", '"d, e; f"')
    file = entry(tmp_path / "a.csv", quoted)
    assert table(file) == CsvTable("utf-8", delimiter, 1, ("Day", "Amount", "Words"))
    assert [row.cells for row in rows(file, table(file)) if isinstance(row, Row)] == [
        ("1", "2", "a, b; c"),
        ("3", "4", "d, e; f"),
    ]


def test_lines_before_the_header_are_passed_over(tmp_path: Path) -> None:
    file = entry(
        tmp_path / "a.csv",
        "Account;DE12\nPeriod;2026\n\nDate;Amount;Purpose\n1.2.2026;-3,50;Coffee\n2.2.2026;4;Tea\n",
    )
    assert table(file).header_line == 4
    assert table(file).header == ("Date", "Amount", "Purpose")
    assert [row.line for row in rows(file, table(file)) if isinstance(row, Row)] == [5, 6]


def test_a_cell_may_hold_quotes_delimiters_and_lines(tmp_path: Path) -> None:
    file = entry(tmp_path / "a.csv", 'a,b\n1,"one ""two"",\nthree"\n2,x\n')
    first, second = rows(file, table(file))
    assert first == Row(3, ("1", 'one "two",\nthree'))
    assert second == Row(4, ("2", "x"))


def test_short_rows_are_filled_and_long_ones_told_unless_they_only_end_empty(
    tmp_path: Path,
) -> None:
    file = entry(tmp_path / "a.csv", "a,b\n1\n1,2,,\n1,2,3\n\n , \n4,5\n")
    assert list(rows(file, table(file))) == [
        Row(2, ("1", "")),
        Row(3, ("1", "2")),
        Skipped("a row with more cells than columns", "a.csv line 4", lost=True),
        Row(7, ("4", "5")),
    ]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "just some text\nin two lines\n",
        "1,2\n3,4\n",
        "same,same\n1,2\n",
        b"\x00\x01\x02,\xff\n\x00,\x00\n",
        ",,,\n1,2,3,4\n",
    ],
)
def test_what_has_no_header_is_no_table(content: str | bytes, tmp_path: Path) -> None:
    assert find_table(entry(tmp_path / "a.csv", content)) is None


def test_a_cell_as_long_as_a_long_note_is_read(tmp_path: Path) -> None:
    text = "the tide\n" * 1_900 + "is " * 200_000
    file = entry(tmp_path / "a.csv", f'a,b\n1,"{text}"\n3,4\n')
    first, second = rows(file, table(file))
    assert isinstance(first, Row)
    assert first.cells == ("1", text)
    assert second == Row(1903, ("3", "4"))


def test_a_row_that_takes_more_than_any_value_may_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pdpp.sources.reading.csvtable._LONGEST_ROW", 1_000)
    file = entry(tmp_path / "a.csv", 'a,b\n1,2\n3,"' + "a long line\n" * 100 + '"\n')
    found = rows(file, table(file))
    assert next(found) == Row(2, ("1", "2"))
    with pytest.raises(DamagedFile, match="does not end"):
        next(found)


def test_a_document_of_one_line_is_not_taken_apart_to_see_whether_it_is_a_table(
    tmp_path: Path,
) -> None:
    file = entry(tmp_path / "a.json", '{"a": "' + "a word, " * (1 << 20) + '"}')
    tracemalloc.start()
    try:
        assert find_table(file) is None
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 8 * file.size


def test_a_line_too_long_for_anybody_is_told_and_the_next_row_read(tmp_path: Path) -> None:
    file = entry(tmp_path / "a.csv", b"a,b\n1,2\n" + b"," * (17 << 20) + b"\n5,6\n")
    found = list(rows(file, table(file)))
    assert found[0] == Row(2, ("1", "2"))
    assert found[1] == Skipped("a line that is too long", "a.csv line 3", lost=True)
    assert isinstance(found[2], Row)
    assert found[2].cells == ("5", "6")


def test_a_long_last_line_is_told_as_well(tmp_path: Path) -> None:
    file = entry(tmp_path / "a.csv", b"a,b\n1,2\n" + b"," * (17 << 20))
    assert list(rows(file, table(file)))[-1] == Skipped(
        "a line that is too long", "a.csv line 3", lost=True
    )


def test_a_quote_that_is_never_closed_ends_the_file_with_a_reason(tmp_path: Path) -> None:
    lines = csvtable._MOST_LINES_A_ROW + 10
    file = entry(tmp_path / "a.csv", 'a,b\n1,2\n3,"4\n' + "5,6\n" * lines)
    with pytest.raises(DamagedFile, match="a row that does not end, near line"):
        list(rows(file, table(file)))


CUT = "a last row that is cut off"


@pytest.mark.parametrize(
    ("last", "line"),
    [
        ("5,6", 4),
        ("5", 4),
        ('5,6,"' + "x" * 131_070, 4),
        ('5,6,"sev', 4),
        ('5,6,"seven\nand', 5),
        ('5,"6\n', 4),
        ('5,"6""', 4),
    ],
)
def test_a_last_row_that_breaks_off_is_told_as_cut(last: str, line: int, tmp_path: Path) -> None:
    file = entry(tmp_path / "a.csv", f"a,b,c\n1,2,3\n3,4,5\n{last}")
    found = list(rows(file, table(file)))
    assert found[:2] == [Row(2, ("1", "2", "3")), Row(3, ("3", "4", "5"))]
    assert found[2:] == [Skipped(CUT, f"a.csv line {line}", cut=True)]


@pytest.mark.parametrize(
    ("before", "last"),
    [
        ("1,2,3\n", "5,6,7"),
        ("1,2,3\n", '5,6,"7"'),
        ("1,2,3\n", '5,6,"7"""'),
        ("1,2,3\n", "Sum,7\n"),
        ("1,2,3\n", "5,6,\n\n"),
        ("1,2\n", "5,6"),
    ],
)
def test_a_last_row_that_is_only_short_or_lacks_its_line_end_is_a_row(
    before: str, last: str, tmp_path: Path
) -> None:
    file = entry(tmp_path / "a.csv", f"a,b,c\n4,5,6\n{before}{last}")
    found = list(rows(file, table(file)))
    assert len(found) == 3
    assert all(isinstance(row, Row) for row in found)


def test_a_sample_that_is_not_csv_to_its_end_is_judged_by_its_beginning(tmp_path: Path) -> None:
    file = entry(tmp_path / "a.csv", "a,b\n1,2\n3,4\n5," + "x" * 200_000 + "\n")
    assert table(file).header == ("a", "b")


def test_a_name_that_comes_again_gets_a_number(tmp_path: Path) -> None:
    file = entry(tmp_path / "a.csv", "Day,Out,Currency,In,Currency\n1,2,EUR,3,USD\n")
    assert table(file).header == ("Day", "Out", "Currency", "In", "Currency (2)")


def test_rows_that_end_with_one_more_delimiter_than_the_header_are_its_rows(tmp_path: Path) -> None:
    file = entry(tmp_path / "a.csv", "Day,Words\n1,a,\n2,b,\n")
    assert table(file).header == ("Day", "Words")
    assert [row.cells for row in rows(file, table(file)) if isinstance(row, Row)] == [
        ("1", "a"),
        ("2", "b"),
    ]


def test_zeros_behind_a_table_are_no_row(tmp_path: Path) -> None:
    file = entry(tmp_path / "a.csv", b"Day,Words\n1,Ebb\n2,Flood\n" + bytes(9_000))
    assert list(rows(file, table(file))) == [Row(2, ("1", "Ebb")), Row(3, ("2", "Flood"))]
    torn = entry(tmp_path / "b.csv", b"Day,Words\n1,Ebb\n2" + bytes(9_000))
    assert find_table(torn) is None or any(
        isinstance(row, Skipped) and row.cut for row in rows(torn, table(torn))
    )
