import json
import shutil
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from tests.cli.shell import Served, entry, pdpp, pdpp_here, serving
from tests.engine import damage_blob, open_store
from tests.store.sqlite.test_deletion import holders

from pdpp.sources.importing.state import ImportState

FILE = "pdpp.sqlite3"


def test_a_sound_store_is_told_to_be_well(diary: Path) -> None:
    assert pdpp("check", data=diary).out == f"All is well in {diary}.\n"
    assert pdpp("check", "--json", data=diary).document == {"ok": True, "problems": []}


def test_what_is_wrong_is_listed_and_the_check_fails(diary: Path, tmp_path: Path) -> None:
    note = tmp_path / "note"
    note.write_text("hello")
    blob_id = pdpp_here("blob", "add", note, "--json", data=diary).document["blobs"][0]["blob_id"]
    with closing(open_store(diary)) as store:
        blob = store.blob(blob_id)
        assert blob is not None
        damage_blob(store, blob, b"other")
    ended = pdpp_here("check", data=diary)
    assert (ended.code, ended.err) == (1, "")
    assert ended.out == f"blob {blob_id} has other content than its name says\n"
    assert pdpp_here("check", "--json", data=diary).document["ok"] is False


@pytest.mark.embedded("about the file of the embedded engine")
def test_a_broken_database_is_told_in_one_line(diary: Path) -> None:
    where = ("--connection", "cin_diary", "--stream", "entries")
    pdpp("ingest", "-", *where, data=diary, stdin=b"".join(entry(f"e{n}") for n in range(900)))
    path = diary / FILE
    content = bytearray(path.read_bytes())
    page = 8_192
    content[2 * page : 20 * page] = b"\x07" * (18 * page)
    path.write_bytes(content)
    assert "malformed; it is damaged: " in pdpp_here("check", data=diary).failed()


@pytest.mark.embedded("a PostgreSQL database is copied by its own tools")
def test_a_backup_on_a_machine_that_does_not_know_the_store_lets_nobody_in_until_confirmed(
    diary: Path, tmp_path: Path
) -> None:
    chosen = ("--client", "agent", "--purpose", "Answer", "--connection", "cin_diary")
    made = pdpp_here("grant", "create", *chosen, "--json", data=diary).document
    assert pdpp_here("backup", tmp_path / "monday", data=diary).code == 0
    shutil.copytree(tmp_path / "monday", tmp_path / "here")
    elsewhere = {"XDG_STATE_HOME": str(tmp_path / "other machine")}
    with serving(tmp_path / "here", tmp_path / "notes") as served:
        assert served.get("/v1/streams", made["client_token"]).status_code == 200
    with serving(tmp_path / "monday", tmp_path / "notes2", env=elsewhere) as served:
        refused = served.get("/v1/streams", made["client_token"])
        assert refused.json()["error"]["code"] == "grant_revoked"
        listed = pdpp("grant", "list", data=tmp_path / "monday", env=elsewhere)
        assert "1 more wait for you since a backup was restored" in listed.err
        confirmed = pdpp(
            *("grant", "confirm", made["grant_id"], "--json"),
            data=tmp_path / "monday",
            env=elsewhere,
        )
        assert confirmed.document["grants"] == [
            {"grant_id": made["grant_id"], "client_id": "agent", "held": False}
        ]
        assert served.get("/v1/streams", made["client_token"]).status_code == 200
    other = pdpp("grant", "confirm", "grt_x", data=tmp_path / "monday", env=elsewhere)
    assert "no grant 'grt_x' waits for you" in other.failed()


@pytest.mark.embedded("a PostgreSQL database is copied by its own tools")
def test_a_backup_has_no_word_of_what_was_deleted_though_no_server_ran(
    diary: Path, tmp_path: Path
) -> None:
    where = ("--connection", "cin_diary", "--stream", "entries")
    written = [entry(f"e{n}", text="zanzibarine" if n == 7 else "plain") for n in range(900)]
    pdpp_here("ingest", "-", *where, data=diary, stdin=b"".join(written))
    assert holders(diary, "zanzibarin") != []
    gone = b'{"key": "e7", "op": "delete"}\n'
    assert pdpp_here("ingest", "-", *where, data=diary, stdin=gone).code == 0
    assert pdpp_here("backup", tmp_path / "monday", data=diary).code == 0
    assert holders(tmp_path / "monday", "zanzibarin") == []
    assert pdpp_here("check", data=tmp_path / "monday").code == 0


@pytest.mark.embedded("about the file of the embedded engine")
def test_a_database_that_lost_a_table_is_told_in_one_line(diary: Path) -> None:
    db = apsw.Connection(str(diary / FILE))
    db.execute("DROP TABLE blob")
    db.close()
    told = pdpp_here("check", data=diary)
    assert (told.code, told.out) == (1, "")
    assert told.err == (
        "error: the database lacks the table 'blob' and cannot be used; put a backup in its place\n"
    )


@pytest.mark.embedded("a PostgreSQL database is copied by its own tools")
def test_a_backup_of_a_served_store_is_a_store_of_its_own(
    demo_server: Served, tmp_path: Path
) -> None:
    target = tmp_path / "new" / "my backup"
    ended = pdpp("backup", target, "--json", data=demo_server.data)
    assert ended.document == {"backup": str(target)}
    assert {path.name for path in target.parent.iterdir()} == {"my backup"}
    assert pdpp("check", data=target).code == 0
    listed = [pdpp("connection", "list", data=data).out for data in (demo_server.data, target)]
    assert listed[0] == listed[1]


@pytest.mark.embedded("a PostgreSQL database is copied by its own tools")
def test_a_backup_holds_what_imports_remember(diary: Path, tmp_path: Path) -> None:
    log = tmp_path / "logs" / "s.jsonl"
    log.parent.mkdir()
    log.write_text(
        '{"type": "user", "uuid": "u1", "sessionId": "s", "version": "1.0.1",'
        ' "timestamp": "2026-02-01T10:00:00Z", "message": {"role": "user", "content": "Hello"}}\n'
    )
    pdpp("import", log, "--yes", data=diary)
    state = ImportState(diary)
    state.remember("bank_csv", "a;b", {"date": "a"})
    copy = tmp_path / "copy"
    pdpp_here("backup", copy, data=diary)
    files = [path for path in (diary / "imports").rglob("*") if path.is_file()]
    kept = {path.relative_to(diary) for path in files if path.suffix != ".lock"}
    assert len(kept) == 3
    assert [path for path in copy.rglob("*.lock") if path.parent.name == "turns"] == []
    for name in kept:
        assert (copy / name).read_bytes() == (diary / name).read_bytes()
        assert (copy / name).stat().st_mode & 0o077 == 0
    assert ImportState(copy).recall("bank_csv", "a;b") == {"date": "a"}
    histories = [pdpp("import", "history", data=data).out for data in (diary, copy)]
    assert histories[0] == histories[1]
    assert "Claude Code" in histories[0]
    again = pdpp("import", log, "--yes", data=copy).out
    assert "2 read: 0 new, 0 changed, 2 unchanged" in again


def test_what_is_half_written_or_gone_meanwhile_is_not_copied(tmp_path: Path) -> None:
    state = ImportState(tmp_path / "data")
    state.keep_report("one", {"a": 1})
    folder = tmp_path / "data" / "imports"
    (folder / "two.new").write_text("{")
    (folder / "gone.json").symlink_to(folder / "nowhere")
    state.copy(tmp_path / "copy")
    assert [path.name for path in (tmp_path / "copy" / "imports").iterdir()] == ["one.json"]


@pytest.mark.embedded("a PostgreSQL database is copied by its own tools")
def test_a_backup_goes_into_an_empty_folder_and_never_over_anything(
    diary: Path, tmp_path: Path
) -> None:
    target = tmp_path / "empty"
    target.mkdir()
    assert "is copied to" in pdpp_here("backup", target, data=diary).out
    assert "is not an empty folder" in pdpp_here("backup", target, data=diary).failed()
    assert "is not an empty folder" in pdpp_here("backup", target / FILE, data=diary).failed()


@pytest.mark.embedded("a PostgreSQL database is copied by its own tools")
def test_a_backup_that_fails_leaves_nothing_behind(diary: Path, tmp_path: Path) -> None:
    (diary / "blobs" / "1" / "ab").mkdir(parents=True)
    (diary / "blobs" / "1" / "ab" / "lost").symlink_to(tmp_path / "nowhere")
    told = pdpp_here("backup", tmp_path / "copy" / "here", data=diary).failed()
    assert told.startswith("cannot write the backup: ")
    assert list((tmp_path / "copy").iterdir()) == []


@pytest.mark.embedded("about the file of the embedded engine")
def test_a_database_of_a_newer_version_is_told_and_left_alone(diary: Path) -> None:
    db = apsw.Connection(str(diary / FILE))
    db.pragma("user_version", 99)
    db.close()
    for command in (("serve", "--port", "0"), ("owner", "token")):
        told = pdpp(*command, data=diary).failed()
        assert told.startswith("the database is of version 99"), told
    error = json.loads(pdpp("check", "--json", data=diary).err)["error"]
    assert error["code"] == "newer_database"


@pytest.mark.embedded("about the file of the embedded engine")
def test_indexes_that_miss_records_are_told_and_made_anew(diary: Path) -> None:
    where = ("--connection", "cin_diary", "--stream", "entries")
    pdpp_here("ingest", "-", *where, data=diary, stdin=entry("e1"))
    with closing(apsw.Connection(str(diary / FILE))) as db:
        db.execute("DELETE FROM cell")
    told = pdpp_here("check", data=diary)
    assert (told.code, "cin_diary/entries is not indexed" in told.out) == (1, True)
    assert "pdpp check --mend" in told.out
    assert pdpp_here("check", "--mend", data=diary).out == f"All is well in {diary}.\n"
    assert pdpp_here("check", data=diary).code == 0
