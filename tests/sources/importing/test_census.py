"""The census and the audit: what an export holds, counted twice, and nothing written."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.cli.shell import pdpp_here
from tests.sources.formats import test_bank_csv as bank_csv
from tests.sources.formats import test_chatgpt as chatgpt
from tests.sources.formats import test_slack as slack
from tests.sources.formats import test_whatsapp as whatsapp
from tests.sources.kit import Home

from pdpp.sources.importing.census import take_census
from pdpp.sources.reading.tree import open_tree


def audit(path: Path) -> dict[str, Any]:
    ended = pdpp_here("import", path, "--audit", "--json", data=path.parent / "no store")
    assert ended.code == 0, ended
    [document] = json.loads(ended.out)["audits"]
    assert not (path.parent / "no store").exists()
    result: dict[str, Any] = document
    return result


@pytest.mark.parametrize("make", [chatgpt.export, slack.export])
def test_an_audit_counts_what_an_import_brings(make: Any, tmp_path: Path) -> None:
    given = (chatgpt.TIDES,) if make is chatgpt.export else (slack.DAYS,)
    path = make(tmp_path / "e", *given)
    document = audit(path)
    report = Home(tmp_path / "home").bring(path)
    assert document["records"] == {name: held["new"] for name, held in report["streams"].items()}
    assert document["units"] == report["units"]
    assert report["unaccounted"] == 0


def test_an_audit_tells_a_person_both_counts_by_name(tmp_path: Path) -> None:
    path = tmp_path / "account.csv"
    path.write_text("Date,Description,Amount\n2026-01-02,Bread,-3.50\n2026-01-03,Tea,-2.10\n")
    told = pdpp_here("import", path, "--audit", data=tmp_path / "none").out.splitlines()
    assert told == [
        "account.csv: Bank statement (CSV): 2 transactions",
        "  read in its format: 2 × row",
        "  counted again, without its format:",
        "    3 lines with text",
        "    2 rows below a header",
        "  everything is accounted for",
    ]


@pytest.mark.parametrize("option", ["--infer", "--mirror", "--watch"])
def test_an_audit_refuses_what_it_would_not_heed(option: str, tmp_path: Path) -> None:
    path = tmp_path / "orders.csv"
    path.write_text("order,total\no1,12.5\n")
    told = pdpp_here("import", path, "--audit", option, data=tmp_path / "none").failed(code=64)
    assert "--audit counts exports of known formats" in told


def test_a_text_and_a_table_are_counted_by_lines(tmp_path: Path) -> None:
    whatsapp.put(tmp_path / "e", "1/1/26, 10:00 - Ana: a\nmore\n")
    bank_csv.put(tmp_path / "e", "Date,Memo,Amount\n2026-01-31,Tea,-3.50\n")
    census = take_census(open_tree(tmp_path / "e"))
    assert census.units["lines with text"] == 4
    assert census.files == {".txt": 1, ".csv": 1}


@pytest.mark.parametrize(("name", "before"), [("all.json", ""), ("all.js", "window.YTD.all = ")])
def test_a_census_goes_on_counting_what_it_knows_in_a_file_of_very_many_kinds(
    name: str, before: str, tmp_path: Path
) -> None:
    kinds: dict[str, Any] = {f"kind{'x' * number}": {} for number in range(300)}
    document = {"notes": [{}], **kinds, "more": {"notes": [{}] * 5}, "end": {}}
    (tmp_path / name).write_text(before + json.dumps([document, {"notes": [{}] * 5}]))
    units = take_census(open_tree(tmp_path)).units
    assert units["JSON objects at item.notes.item"] == 6
    assert sum(count for unit, count in units.items() if unit.startswith("JSON")) < 300
