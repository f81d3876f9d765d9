"""Accounting: what was read equals what is said of it, or the import is not complete."""

import json
import os
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.sources.harness import Harness
from tests.sources.kit import Home, zipped
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


# What cannot be read

NOTES = {f"vault/{name}.md": f"# {name}\n" for name in "abc"} | {"vault/.obsidian/app.json": "{}"}


def _folder(place: Path) -> Path:
    for name, text in NOTES.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    return place


def _with_a_strange_name(place: Path) -> Path:
    vault = _folder(place) / "vault"
    (vault / "c.md").rename(vault / os.fsdecode(b"c\xff.md"))
    return place


def _with_a_closed_folder(place: Path) -> Path:
    (_folder(place) / "vault" / "closed").mkdir()
    return place


def _zip_with_an_encrypted_note(place: Path) -> Path:
    path = zipped(place.with_suffix(".zip"), {name: text.encode() for name, text in NOTES.items()})
    content = bytearray(path.read_bytes())
    entry = content.rindex(b"PK\x01\x02", 0, content.rindex(b"vault/c.md"))
    content[entry + 8] |= 1
    path.write_bytes(content)
    return path


def _zip_of_two_notes_of_one_name(place: Path) -> Path:
    path = zipped(place.with_suffix(".zip"), {name: text.encode() for name, text in NOTES.items()})
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("vault/c.md", "# another text\n")
    return path


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody look into folders called ``closed``: whoever runs the tests may open them all."""
    scandir = os.scandir

    def scan(path: Any) -> Any:
        if str(path).endswith("/closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr("pdpp.sources.reading.folder.os.scandir", scan)


@pytest.mark.usefixtures("closed")
@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (_with_a_closed_folder, "a folder that cannot be read"),
        (_with_a_strange_name, "a name that is not UTF-8"),
        (_zip_with_an_encrypted_note, "encrypted"),
        (_zip_of_two_notes_of_one_name, "a name used twice"),
    ],
)
def test_an_export_of_which_something_cannot_be_read_is_not_complete_and_no_mirror(
    make: Callable[[Path], Path], reason: str, tmp_path: Path
) -> None:
    home, whole = Home(tmp_path / "data"), _folder(tmp_path / "whole")
    assert home.bring(whole)["status"] == "complete"
    path = make(tmp_path / "lacking")
    ended = home.run(path, "--audit", "--json")
    [audited] = json.loads(ended.out)["audits"]
    assert (ended.code, audited["accounted"], audited["complete"]) == (1, True, False)
    ended = home.run(path, "--as", "markdown", "--mirror", "--yes", "--json")
    assert "Nothing is deleted" in ended.err
    document = json.loads(ended.out)
    [report] = document.get("imports", [document])
    assert (ended.code, report["status"], report["counts"]["deleted"]) == (1, "incomplete", 0)
    assert reason in [case["reason"] for case in report["skipped"]]
    assert report["unaccounted"] == 0
    assert [case["reason"] for case in audited["skipped"]] == [reason]


def test_an_audit_says_that_an_import_would_not_be_complete(tmp_path: Path) -> None:
    path = tmp_path / "people.vcf"
    path.write_text("BEGIN:VCARD\nVERSION:3.0\nFN:Ada\nEND:VCARD\nBEGIN:VCARD\nVERSION:3.0\nFN:Bo")
    told = Home(tmp_path / "data").run(path, "--audit")
    assert told.code == 1
    assert "accounted for, and not all of it can be read: an import is incomplete" in told.out


def test_an_audit_of_what_is_not_known_ends_as_the_import_does(tmp_path: Path) -> None:
    path = tmp_path / "game.xyz"
    path.write_bytes(b"\x00\x01")
    home = Home(tmp_path / "data")
    assert home.run(path, "--audit").code == home.run(path, "--yes").code == 1


def test_an_audit_reads_the_files_of_an_export_to_their_end(tmp_path: Path) -> None:
    sample = every_sample()["google_keep: notes and lists"]
    picture = next(name for name in sample.files if name.endswith((".jpg", ".png")))
    path = sample.zip(tmp_path / "keep.zip")
    with zipfile.ZipFile(path) as archive:
        start = archive.getinfo(picture).header_offset + 30 + len(picture)
    content = bytearray(path.read_bytes())
    content[start + 2] ^= 0xFF
    path.write_bytes(content)
    home = Home(tmp_path / "data")
    [audited] = json.loads(home.run(path, "--audit", "--json").out)["audits"]
    document = home.bring(path)
    [report] = document.get("imports", [document])
    assert (audited["complete"], report["status"]) == (False, "incomplete")
    assert audited["skipped"] == report["skipped"]
