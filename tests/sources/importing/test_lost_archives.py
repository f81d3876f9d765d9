"""Archives that cannot be opened: the export that they lie in is not complete."""

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.sources.kit import Home, zipped

NOTES = {f"vault/{name}.md": f"# {name}\n".encode() for name in "abc"}
VAULT = {**NOTES, "vault/.obsidian/app.json": b"{}"}
LOST = "an archive that cannot be read"


def packed(files: Mapping[str, bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, held in files.items():
            archive.writestr(name, held)
    return content.getvalue()


GOOD = packed({"x.md": b"# A rope"})
ENCRYPTED = bytearray(GOOD)
ENCRYPTED[GOOD.rindex(b"PK\x01\x02") + 8] |= 1
DEEP = packed({"one.zip": packed({"two.zip": packed({"three.zip": GOOD})})})
KINDS = {"damaged": GOOD[:40], "encrypted": bytes(ENCRYPTED), "deep": DEEP}


def place(folder: Path, files: Mapping[str, bytes]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def report_of(home: Home, path: Path) -> dict[str, Any]:
    document = home.bring(path)
    [report] = document.get("imports", [document])
    return dict(report)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["vault/old.zip", "vault/sub/old.zip"])
@pytest.mark.parametrize("form", ["folder", "vault itself", "archive"])
def test_an_export_in_which_an_archive_cannot_be_opened_is_not_complete(
    kind: str, name: str, form: str, tmp_path: Path
) -> None:
    files, home = {**VAULT, name: KINDS[kind]}, Home(tmp_path / "home")
    path = place(tmp_path / "in", files)
    path = {"vault itself": path / "vault"}.get(form, path)
    if form == "archive":
        path = zipped(tmp_path / "in.zip", files)
    assert home.run(path, "--audit").code == 1
    report = report_of(home, path)
    assert (report["status"], report["unaccounted"], report["counts"]["new"]) == (
        "incomplete",
        0,
        3,
    )
    [skipped] = [case for case in report["skipped"] if case["reason"] == LOST]
    assert skipped["count"] == 1
    mirrored = home.run(path, "--mirror", "--yes")
    assert "Nothing is deleted" in mirrored.err


def test_an_archive_in_a_folder_of_notes_is_of_the_notes(tmp_path: Path) -> None:
    path = place(tmp_path / "in", {"a.md": b"# A", "b.md": b"# B", "sub/old.zip": GOOD[:40]})
    assert report_of(Home(tmp_path / "home"), path)["status"] == "incomplete"


def test_an_archive_that_cannot_be_opened_and_is_kept_as_a_file_is_not_lost(tmp_path: Path) -> None:
    files = {**VAULT, "vault/a.md": b"See ![[old.zip]]", "vault/sub/old.zip": KINDS["encrypted"]}
    report = report_of(Home(tmp_path / "home"), place(tmp_path / "in", files))
    assert (report["status"], report["files"]["kept"]) == ("complete", 1)
    assert LOST in [case["reason"] for case in report["skipped"]]


@pytest.mark.parametrize("name", ["old.zip", "others/old.zip"])
def test_a_damaged_download_beside_a_vault_is_of_none_that_came_in(
    name: str, tmp_path: Path
) -> None:
    path = place(tmp_path / "in", {**VAULT, name: GOOD[:40]})
    document = Home(tmp_path / "home").bring(path)
    assert [report["status"] for report in document["imports"]] == ["complete"]
    assert any(words.startswith(name) for words in document["not_known"])
