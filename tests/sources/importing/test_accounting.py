"""Accounting: what was read equals what is said of it, or the import is not complete."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.sources.harness import Harness
from tests.sources.kit import Home
from tests.sources.samples import every_sample

from pdpp.sources.formats.gpx.source import Gpx
from pdpp.sources.item import Finding, Item, Skipped, Unknown
from pdpp.sources.reading.guard import account


def test_a_unit_of_which_nothing_is_said_is_unknown() -> None:
    def silent() -> Iterator[Finding]:
        yield from ()

    seen, said = account(silent(), "a.json item 3", "item")
    assert said == Unknown("an entry from which nothing was read", "a.json item 3")
    assert seen.kind == "item"  # type: ignore[union-attr]


def test_a_unit_that_is_skipped_for_a_reason_is_accounted_for() -> None:
    skipped = Skipped("an empty message", "a.json item 3")
    assert list(account([skipped], "a.json item 3", "item"))[1:] == [skipped]


def test_an_import_in_which_something_is_lost_is_not_complete(harness: Harness) -> None:
    report = harness.report
    report.counts["read"] = 3
    report.counts["new"] = 2
    assert report.unaccounted() == 1
    report.skip("a reason", "where")
    assert report.unaccounted() == 0
    report.files.total = 2
    report.files.read = 1
    assert report.unaccounted() == 1


def test_the_machinery_counts_what_a_reader_yields(harness: Harness) -> None:
    def read(entry: object, point: object) -> Iterator[Finding]:
        assert entry != point
        yield from account([Item("notes", "a", {"id": "a", "text": "x"})], "a.txt 1", "line")
        yield from account([], "a.txt 2", "line")

    harness.put("a.txt", "")
    assert harness.read_parts(read)
    assert harness.report.units == {"line": 2}
    assert harness.report.unaccounted() == 0
    assert harness.report.counts["unknown"] == 1


@pytest.mark.parametrize("name", ["google_chat: a Takeout of today", "discord: lists"])
def test_an_audit_says_of_each_file_what_the_import_says(name: str, tmp_path: Path) -> None:
    home, path = Home(tmp_path / "data"), every_sample()[name].folder(tmp_path / "e")
    [audited] = json.loads(home.run(path, "--audit", "--json").out)["audits"]
    imported = home.bring(path)["files"]
    for part in ("found", "attached", "passed_over", "unknown"):
        assert audited["files"][part] == imported[part]


def test_an_audit_tells_what_the_store_would_refuse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tide.gpx"
    path.write_text('<gpx version="1.1"><wpt lat="1" lon="2"><name>Tide</name></wpt></gpx>')
    declared = json.loads(json.dumps(Gpx().declaration()))
    for stream in declared["streams"]:
        stream["schema"]["required"].append("depth")
    monkeypatch.setattr(Gpx, "declaration", lambda _: declared)
    [audited] = json.loads(Home(tmp_path / "data").run(path, "--audit", "--json").out)["audits"]
    assert (audited["records"], audited["accounted"]) == ({}, True)
    [refused] = audited["skipped"]
    assert refused["reason"].startswith("refused as schema_violation: ")
