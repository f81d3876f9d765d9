"""An encrypted data folder, as its owner meets it in a terminal and in scripts."""

import os
import pty
from pathlib import Path

import pytest
from tests.cli.shell import DEADLINE_SECONDS, entry, pdpp, pdpp_here, serving, started
from tests.cli.test_cli_owner import _read_until
from tests.store.sqlite.test_deletion import holders

from pdpp.encryption.key_file import KdfCost, KeyFile, read_key_file
from pdpp.encryption.unlocking import FILE_VARIABLE, PASSPHRASE_VARIABLE
from pdpp.store.sqlite.conversion import BUILDING

pytestmark = pytest.mark.embedded("a PostgreSQL database is encrypted by its own tools")

GOOD = "four or five words"
NEWER = "another few good words"
OPEN = {PASSPHRASE_VARIABLE: GOOD}
WHERE = ("--connection", "cin_diary", "--stream", "entries")


@pytest.fixture(autouse=True)
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a try cost little in this process; what the program chooses is tested elsewhere."""
    whole = KeyFile.seal.__func__  # type: ignore[attr-defined]
    costs_little = classmethod(lambda cls, key, text: whole(cls, key, text, KdfCost(1, 64, 1)))
    monkeypatch.setattr(KeyFile, "seal", costs_little)


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setenv(PASSPHRASE_VARIABLE, GOOD)
    return monkeypatch


@pytest.fixture
def locked(diary: Path, given: pytest.MonkeyPatch) -> Path:
    """An encrypted diary with one entry."""
    path = diary.parent / "entries.ndjson"
    path.write_bytes(entry("zanzibarine"))
    assert pdpp_here("ingest", path, *WHERE, data=diary).code == 0
    assert pdpp_here("encryption", "on", "--json", data=diary).out == '{"encryption": "on"}\n'
    return diary


def test_every_command_reads_and_writes_it_and_no_file_of_it_is_legible(
    locked: Path, tmp_path: Path
) -> None:
    assert pdpp_here("encryption", "status", data=locked).out.endswith("its passphrase opens it.\n")
    found = pdpp_here("read", "fetch", "cin_diary/entries:zanzibarine", data=locked)
    assert "zanzibarine" in found.out, found.err
    picture = tmp_path / "quagmirelike.txt"
    picture.write_text("quagmirelike " * 20_000)
    blob = pdpp_here("blob", "add", picture, "--json", data=locked).document["blobs"][0]["blob_id"]
    assert pdpp_here("check", data=locked).out == f"All is well in {locked}.\n"
    assert pdpp_here("receipts", data=locked).code == 0
    assert pdpp_here("backup", tmp_path / "copy", data=locked).code == 0
    assert pdpp_here("check", data=tmp_path / "copy").code == 0
    assert pdpp_here("export", "--all", "--output", tmp_path / "out", data=locked).code == 0
    assert list((tmp_path / "out").rglob(f"*{blob}*"))
    for folder in (locked, tmp_path / "copy"):
        assert holders(folder, "zanzibarine", "quagmirelike") == []


def test_the_words_of_a_refusal_are_one_line_that_says_what_to_do(
    locked: Path, given: pytest.MonkeyPatch
) -> None:
    given.setenv(PASSPHRASE_VARIABLE, "some other words here")
    assert pdpp_here("check", data=locked).failed() == "this is not the passphrase of the store"
    given.delenv(PASSPHRASE_VARIABLE)
    without = pdpp_here("check", data=locked).failed()
    assert "is encrypted: run this in a terminal, or give its passphrase in" in without
    assert "is encrypted; commands ask" in "\n".join(_overview(locked))


def _overview(folder: Path) -> list[str]:
    from pdpp.cli.overview import overview, overview_lines

    return list(overview_lines(overview(folder)))


def test_a_new_key_a_new_passphrase_and_none(
    locked: Path, given: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    newer = tmp_path / "newer"
    newer.write_text(f"{NEWER}\n")
    before = (locked / "pdpp.sqlite3").read_bytes()
    only = ("encryption", "rekey", "--passphrase-only", "--new-passphrase-file", newer)
    assert pdpp_here(*only, data=locked).out.endswith("has a new passphrase.\n")
    assert (locked / "pdpp.sqlite3").read_bytes() == before
    assert pdpp_here("check", data=locked).failed() == "this is not the passphrase of the store"
    given.setenv(FILE_VARIABLE, str(newer))
    newest = tmp_path / "newest"
    newest.write_text("the third one is good too")
    fresh = pdpp_here("encryption", "rekey", "--new-passphrase-file", newest, data=locked)
    assert fresh.out.endswith("has a new key and a new passphrase.\n"), fresh.err
    assert (locked / "pdpp.sqlite3").read_bytes()[:16] != before[:16]
    given.setenv(FILE_VARIABLE, str(newest))
    assert pdpp_here("check", data=locked).code == 0
    assert pdpp_here("encryption", "off", data=locked).code == 0
    given.delenv(FILE_VARIABLE)
    given.delenv(PASSPHRASE_VARIABLE)
    assert pdpp_here("check", data=locked).out == f"All is well in {locked}.\n"
    assert holders(locked, "zanzibarine") != []
    assert "is not encrypted" in pdpp_here("encryption", "off", data=locked).failed()
    assert pdpp_here("encryption", "status", data=locked).out.endswith("is not encrypted.\n")
    assert "with --new-passphrase-file" in pdpp_here("encryption", "on", data=locked).err


def test_what_a_decryption_that_was_killed_wrote_is_removed_by_the_next_command(
    locked: Path,
) -> None:
    (locked / BUILDING).mkdir()
    (locked / BUILDING / "pdpp.sqlite3").write_text("zanzibarine, without a key")
    assert holders(locked, "zanzibarine") != []
    assert pdpp_here("check", data=locked).code == 0
    assert not (locked / BUILDING).exists()
    assert holders(locked, "zanzibarine") == []


def test_a_key_file_that_is_gone_is_named(locked: Path) -> None:
    (locked / "encryption.json").unlink()
    assert "encryption.json is missing" in pdpp_here("check", data=locked).failed()


def test_an_export_of_it_is_restored_into_another_encrypted_store(
    locked: Path, tmp_path: Path
) -> None:
    out, new = tmp_path / "out", tmp_path / "new"
    picture = tmp_path / "quagmirelike.txt"
    picture.write_text("quagmirelike " * 9_000)
    assert pdpp_here("blob", "add", picture, data=locked).code == 0
    assert pdpp_here("export", "--all", "--output", out, data=locked).code == 0
    assert pdpp_here("encryption", "on", data=new).code == 0
    restored = pdpp_here("restore", out, data=new)
    assert restored.code == 0, restored.err
    assert pdpp_here("check", data=new).code == 0
    fetched = pdpp_here("read", "fetch", "cin_diary/entries:zanzibarine", data=new)
    assert "zanzibarine" in fetched.out, fetched.err
    assert holders(new, "zanzibarine", "quagmirelike") == []


def test_what_is_encrypted_is_not_encrypted_twice(locked: Path) -> None:
    assert "encrypted already" in pdpp_here("encryption", "on", data=locked).failed()


def test_a_server_begins_an_encrypted_store_and_every_worker_opens_it(tmp_path: Path) -> None:
    data = tmp_path / "data"
    options = ("--encrypt", "--demo", "--workers", "2")
    with serving(data, tmp_path / "notes", *options, env=OPEN) as served:
        answers = {served.get("/v1/search?q=invoice").status_code for _ in range(6)}
        assert answers == {200}
        assert "in use" in pdpp("encryption", "off", data=data, env=OPEN).failed()
        chosen, secret = ("owner", "init", "--passphrase-file", "-"), b"correct horse battery\n"
        owner = pdpp(*chosen, data=data, stdin=secret, env=OPEN)
        assert owner.code == 0, owner.err
        well = pdpp("doctor", served.url, data=data, env=OPEN)
        assert f"All is well: agents can connect to {served.url}/mcp." in well.out, well.err
        assert "is encrypted: run this" in pdpp("doctor", served.url, data=data).failed()
        assert holders(data, "invoice", "Almeida") == []
        log = served.err.read_text() + served.out.read_text()
    assert GOOD not in log
    key_file = read_key_file(data)
    assert key_file is not None
    assert (key_file.cost.time, key_file.cost.memory_kib) == (3, 65_536)


def test_in_a_terminal_the_passphrase_is_asked_for_and_not_shown(locked: Path) -> None:
    ours, theirs = pty.openpty()
    streams = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
    with started("check", "--data", locked, start_new_session=True, **streams) as process:
        os.close(theirs)
        seen = _read_until(ours, b"Passphrase of the store: ")
        os.write(ours, f"{GOOD}\n".encode())
        seen += _read_until(ours, b"All is well")
        assert process.wait(timeout=DEADLINE_SECONDS) == 0
    os.close(ours)
    assert GOOD.encode() not in seen
