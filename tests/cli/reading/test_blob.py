"""``pdpp read blob``: bytes into a file or another program."""

import hashlib
import json
import subprocess
from pathlib import Path

import pytest
from tests.cli.reading.desk import Desk
from tests.cli.shell import command, environment


@pytest.fixture(scope="module")
def blob_id(desk: Desk) -> str:
    photo = desk.get("/v1/streams/photos/records", limit=1).json()["data"][0]
    return str(photo["data"]["image"]["blob_id"])


@pytest.mark.parametrize("form", ["{}", "pdpp://blob/{}"])
def test_a_blob_is_saved_and_told(desk: Desk, blob_id: str, tmp_path: Path, form: str) -> None:
    target = tmp_path / "a photo.png"
    line = desk.read("blob", form.format(blob_id), "-o", target)
    size = target.stat().st_size
    assert line == f"{target}: {size:,} bytes of image/png, sha256 {blob_id}\n"
    assert hashlib.sha256(target.read_bytes()).hexdigest() == blob_id
    told = json.loads(desk.read("blob", blob_id, "-o", target, "--json"))
    assert told == {
        "file": str(target),
        "media_type": "image/png",
        "size_bytes": size,
        "sha256": blob_id,
    }


def test_bytes_go_to_another_program_as_they_are(desk: Desk, blob_id: str) -> None:
    done = subprocess.run(
        command("read", "blob", blob_id),
        env=environment(desk.variables),
        capture_output=True,
        check=True,
    )
    assert hashlib.sha256(done.stdout).hexdigest() == blob_id
    assert done.stderr == b"image/png\n"


def test_bytes_are_no_json(desk: Desk, blob_id: str) -> None:
    ended = desk.here("read", "blob", blob_id, "--json")
    assert (ended.code, ended.out) == (64, "")
    assert "save them with -o FILE" in ended.err


def test_a_blob_that_is_not_there_leaves_nothing(desk: Desk, tmp_path: Path) -> None:
    told = desk.here("read", "blob", "0" * 64, "-o", tmp_path / "x").failed()
    assert told.startswith("blob_not_found: ")
    assert list(tmp_path.iterdir()) == []


def test_bytes_never_reach_a_terminal(desk: Desk, blob_id: str) -> None:
    code, screen = desk.terminal("read", "blob", blob_id)
    assert code == 64
    assert "not for a terminal" in screen
