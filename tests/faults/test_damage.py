"""A damaged page of the database is told: to callers, in the log, and by pdpp check."""

import shutil
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from tests.cli.shell import DECLARATION, entry, pdpp, serving
from tests.engine import back_up
from tests.faults.soundness import check_sound
from tests.serving import planted_store, put, refused

from pdpp.store.sqlite.store import FILE_NAME

pytestmark = pytest.mark.embedded("a PostgreSQL database is copied by its own tools")

DAMAGED = "it is damaged: stop the server, see what pdpp check says, and put a backup in its place"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A diary of many entries, of which there is a backup."""
    folder = tmp_path / "data"
    store = planted_store(folder, DECLARATION, {"cin_diary": "My days"})
    put(store, "cin_diary", "entries", *({"id": f"e{n}", "text": "rain " * 90} for n in range(900)))
    back_up(store, tmp_path / "backup")
    store.close()
    return folder


def damage(folder: Path, table: str) -> None:
    """Flip every bit of the first page of a table."""
    path = folder / FILE_NAME
    db = apsw.Connection(str(path))
    root = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).get
    size = int(str(db.pragma("page_size")))
    db.close()
    content = bytearray(path.read_bytes())
    start = (int(root) - 1) * size
    content[start : start + size] = bytes(byte ^ 0xFF for byte in content[start : start + size])
    path.write_bytes(content)


def test_a_damaged_page_is_told_to_callers_and_in_the_log_and_mended_by_a_backup(
    data: Path, tmp_path: Path
) -> None:
    token = pdpp("owner", "token", "--json", data=data).document["owner_token"]
    shutil.rmtree(tmp_path / "backup")
    assert pdpp("backup", tmp_path / "backup", data=data).code == 0
    damage(data, "record")
    with serving(data, tmp_path / "notes") as served:
        for path in ("/v1/streams/entries/records", "/v1/streams/entries/records/e1"):
            error = refused(served.get(path, token), 500, "api_error")
            assert error["message"].startswith("The database of this server is damaged.")
        assert served.get("/healthz", token).status_code == 200
        told = served.err.read_text()
    assert f"{data / FILE_NAME}: {DAMAGED}" in told
    assert "Traceback" not in told
    shutil.rmtree(data)
    shutil.copytree(tmp_path / "backup", data)
    with serving(data, tmp_path / "later") as served:
        assert served.get("/v1/streams/entries/records/e1", token).status_code == 200
    check_sound(data)


def test_a_server_whose_tokens_cannot_be_read_says_so_and_is_not_ready(
    data: Path, tmp_path: Path
) -> None:
    token = pdpp("owner", "token", "--json", data=data).document["owner_token"]
    with serving(data, tmp_path / "before") as served:
        assert served.get("/readyz", token).status_code == 200
    damage(data, "token")
    with serving(data, tmp_path / "notes") as served:
        refused(served.get("/v1/streams", token), 500, "api_error")
        answer = served.get("/readyz", token)
        assert (answer.status_code, answer.json()["failing"]) == (503, ["store"])
        told = served.err.read_text()
    assert DAMAGED in told
    assert "Traceback" not in told


@pytest.mark.parametrize("table", ["record", "cell", "feed", "token"])
def test_a_check_names_the_file_and_what_to_do(data: Path, table: str) -> None:
    damage(data, table)
    ended = pdpp("check", data=data)
    assert ended.code == 1
    assert f"{data / FILE_NAME}: {DAMAGED}" in ended.out
    assert "\n\n" not in ended.out


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:100_000])


def scribble(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[100:4_000] = b"\x07" * 3_900
    path.write_bytes(content)


def overwrite(path: Path) -> None:
    path.write_bytes(b"Dear diary " * 10_000)


@pytest.mark.parametrize("harm", [cut, scribble, overwrite])
def test_a_file_that_is_beyond_reading_is_told_in_one_line_by_every_command(
    data: Path, harm: Callable[[Path], None]
) -> None:
    harm(data / FILE_NAME)
    where = ("--connection", "cin_diary", "--stream", "entries")
    for command in (("check",), ("ingest", "-", *where)):
        ended = pdpp(*command, data=data, stdin=entry("new"))
        assert ended.code == 1
        assert str(data) in ended.out + ended.err
        assert "damaged" in ended.out + ended.err
