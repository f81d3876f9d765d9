"""``pdpp read --data``: the owner reads a folder without a grant, and leaves receipts."""

import json
import os
import shlex
from pathlib import Path

import pytest
from tests.cli.shell import pdpp_here


@pytest.fixture(autouse=True)
def nobody_connected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PDPP_CACHE_ROOT", str(tmp_path / "none"))
    monkeypatch.delenv("PDPP_PROVIDER_URL", raising=False)


@pytest.fixture
def full(diary: Path, tmp_path: Path) -> Path:
    """The diary with an entry in it."""
    lines = tmp_path / "entries.ndjson"
    data = {"id": "e1", "title": "A walk", "text": "We saw a heron by the river."}
    entry = {"key": "e1", "data": data, "emitted_at": "2026-01-31"}
    lines.write_text(json.dumps(entry) + "\n")
    arguments = ("ingest", str(lines), "--connection", "cin_diary", "--stream", "entries")
    assert pdpp_here(*arguments, data=diary).code == 0
    return diary


def test_the_owner_reads_without_a_grant_and_leaves_receipts(full: Path) -> None:
    found = pdpp_here("read", "search", "heron", data=full)
    assert found.code == 0, found.err
    assert "saw a <mark>heron</mark> by" in found.out
    assert f"--data {shlex.quote(str(full))}" in found.out
    window = pdpp_here("read", "window", "cin_diary/entries:e1", "text", data=full)
    assert "We saw a heron by the river." in window.out
    rows = pdpp_here("read", "streams", "--json", data=full).document["data"]
    assert {row["name"]: row["record_count"] for row in rows} == {"entries": 1, "moods": 0}
    receipts = pdpp_here("receipts", "--json", data=full).document["receipts"]
    assert {receipt["operation"] for receipt in receipts} >= {"search", "readFieldWindow"}
    assert {receipt["client_id"] for receipt in receipts} == {None}
    assert pdpp_here("owner", "tokens", "--all", "--json", data=full).document == {"tokens": []}
    assert pdpp_here("grant", "list", "--all", "--json", data=full).document == {"grants": []}


def test_the_folder_may_stand_before_the_command(full: Path) -> None:
    found = pdpp_here("read", "--data", str(full), "search", "heron")
    assert "saw a <mark>heron</mark> by" in found.out
    assert f"--data {shlex.quote(str(full))}" in found.out


def test_a_cursor_of_one_run_is_good_in_the_next(full: Path, tmp_path: Path) -> None:
    lines = tmp_path / "more.ndjson"
    more = [
        {"key": f"e{n}", "data": {"id": f"e{n}", "title": f"Day {n}"}, "emitted_at": "2026-02-01"}
        for n in range(2, 5)
    ]
    lines.write_text("".join(json.dumps(line) + "\n" for line in more))
    pdpp_here("ingest", str(lines), "--connection", "cin_diary", "--stream", "entries", data=full)
    shown = pdpp_here("read", "--data", str(full), "records", "entries", "--limit", "2").out
    [following] = [line for line in shown.splitlines() if line.startswith("next: ")]
    assert following.endswith(f"--data {shlex.quote(str(full))}")
    ask = ("read", "records", "entries", "--limit", "2", "--json")
    first = pdpp_here(*ask, data=full).document
    second = pdpp_here(*ask, "--cursor", first["next_cursor"], data=full).document
    ids = [row["id"] for page in (first, second) for row in page["data"]]
    assert sorted(ids) == ["e1", "e2", "e3", "e4"]


def test_a_file_is_read_from_the_folder(full: Path, tmp_path: Path) -> None:
    content = os.urandom(300_000)
    (tmp_path / "photo").write_bytes(content)
    added = pdpp_here("blob", "add", str(tmp_path / "photo"), "--json", data=full).document
    blob_id = added["blobs"][0]["blob_id"]
    told = pdpp_here("read", "blob", blob_id, "-o", str(tmp_path / "copy"), data=full)
    assert told.code == 0, told.err
    assert (tmp_path / "copy").read_bytes() == content


def test_refusals_are_told(full: Path, tmp_path: Path) -> None:
    assert "there is no store" in pdpp_here("read", "streams", data=tmp_path / "x").failed()
    assert "no record" in pdpp_here("read", "fetch", "cin_diary/entries:zz", data=full).failed()
    both = pdpp_here("read", "streams", "--provider", "http://127.0.0.1:1", data=full)
    assert "leave --provider out" in both.failed(code=64)
