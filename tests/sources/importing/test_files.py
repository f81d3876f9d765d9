"""File counts: every file of an export is read, attached, passed over or unknown."""

import json
from pathlib import Path

from tests.sources.formats.test_chatgpt import TIDES, export
from tests.sources.kit import Home


def test_every_file_of_an_export_is_accounted_for(tmp_path: Path) -> None:
    folder = export(tmp_path / "export", TIDES)
    (folder / "chat.html").write_text("<p>all of it again</p>")
    (folder / "surprise.bin").write_bytes(b"x")
    (folder / ".DS_Store").write_bytes(b"x")
    report = Home(tmp_path / "home").bring(folder)
    files = report["files"]
    known = files["read"] + files["attached"]
    left_out = sum(case["count"] for case in files["passed_over"])
    [unknown] = files["unknown"]
    assert unknown["examples"] == ["surprise.bin"]
    assert files["found"] == known + left_out + unknown["count"] == len(list(folder.rglob("*.*")))
    assert report["unaccounted"] == 0
    assert report["status"] == "complete"


def test_units_of_the_input_are_counted_by_kind(tmp_path: Path) -> None:
    folder = export(tmp_path / "export", TIDES)
    [document] = json.loads((folder / "conversations.json").read_text())
    report = Home(tmp_path / "home").bring(folder)
    assert report["units"] == {"conversation": 1, "message": len(document["mapping"])}
