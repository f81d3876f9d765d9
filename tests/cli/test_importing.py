"""``pdpp import`` as a person and as a script use it."""

import json
import os
import pty
import random
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.cli.shell import (
    DEADLINE_SECONDS,
    command,
    environment,
    pdpp,
    pdpp_here,
    started,
    wait_for,
)
from tests.engine import open_store
from tests.launching.process import Program
from tests.sources.kit import Home, zipped

from pdpp.sources.importing.writer import BATCH_ITEMS
from pdpp.sources.keys import KeySealer


def sealed(home: Home, name: str) -> tuple[str, str]:
    """Return the stream and the key of a message that its log gives a name."""
    store = open_store(home.data)
    try:
        return "messages", KeySealer(store.import_secret(), "claude_code").seal(name)
    finally:
        store.close()


def message(number: int, text: str = "") -> bytes:
    """Return one line of an agent's log."""
    line = {
        "type": "user",
        "uuid": f"u{number}",
        "sessionId": "s",
        "version": "1.0.1",
        "timestamp": f"2026-02-01T10:00:{number % 60:02}.000Z",
        "message": {"role": "user", "content": text or f"Message number {number}"},
    }
    return json.dumps(line).encode() + b"\n"


def write_log(path: Path, count: int, first: int = 0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(message(number) for number in range(first, first + count)))
    return path


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "data")


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A folder with a log of three messages."""
    write_log(tmp_path / "logs" / "s.jsonl", 3)
    return tmp_path / "logs"


INTO = "Into: Claude Code (CIN)"


def nameless(text: str) -> str:
    """Return text without the random ids of connections."""
    return re.sub(r"cin_[a-z0-9]{12}", "CIN", text)


def test_an_import_says_what_it_recognised_and_asks_once(home: Home, logs: Path) -> None:
    ended = pdpp("import", logs, data=home.data, stdin=b"y\n")
    assert ended.code == 0
    assert nameless(ended.err) == (
        "logs: Claude Code logs, certain: 1 session, written by version 1.0.1\n"
        f"{INTO}, a new connection\n"
        "Import it? [y/N] "
        "Next:\n"
        f"  pdpp read search WORDS --data {home.data}  search your records\n"
        f"  pdpp serve --data {home.data}{' ' * 14}see them in your browser\n"
        f"  pdpp mcp install CLIENT{' ' * (len(str(home.data)) + 7)}  connect an agent\n"
    )
    assert nameless(ended.out) == (
        "Claude Code logs into Claude Code (CIN): complete\n"
        "  4 read: 4 new, 0 changed, 0 unchanged, 0 deleted, 0 skipped, 0 unknown\n"
        "  messages: 3 new\n"
        "  sessions: 1 new\n"
    )


def test_a_second_import_says_that_the_connection_is_there_already(home: Home, logs: Path) -> None:
    home.bring(logs)
    ended = pdpp("import", logs, "--yes", data=home.data)
    assert f"{INTO}, which holds 4 records\n" in nameless(ended.err)
    assert "4 read: 0 new, 0 changed, 4 unchanged" in ended.out


@pytest.mark.parametrize(
    ("answer", "code", "told"),
    [
        (b"n\n", 1, "Nothing was imported"),
        (b"\n", 1, "Nothing was imported"),
        (b"", 64, "say --yes to import without being asked"),
    ],
)
def test_without_a_yes_nothing_is_imported(
    answer: bytes, code: int, told: str, home: Home, logs: Path
) -> None:
    ended = pdpp("import", logs, data=home.data, stdin=answer)
    assert ended.code == code
    assert told in ended.err
    assert home.records() == {}


def test_ctrl_c_at_the_question_says_that_nothing_was_imported(
    home: Home, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(question: str) -> bool:
        raise KeyboardInterrupt(question)

    monkeypatch.setattr("pdpp.cli.import_task._agrees", interrupted)
    ended = pdpp_here("import", logs, data=home.data)
    assert ended.code == 130
    assert ended.err.endswith("\nNothing was imported.\n")
    assert home.records() == {}


def test_who_says_no_is_told_so_and_not_of_an_error(home: Home, logs: Path) -> None:
    ended = pdpp("import", logs, data=home.data, stdin=b"n\n")
    assert ended.err.endswith("[y/N] Nothing was imported.\n")


def test_how_each_of_several_exports_is_read_is_shown_before_the_question(
    home: Home, tmp_path: Path
) -> None:
    table = "Date,Description,Amount\n2026-01-02,Fee,-3.00\n2026-01-09,Bread,-4.50\n"
    for name in ("giro.csv", "card.csv"):
        (tmp_path / name).write_text(table.replace("Fee", name))
    ended = pdpp("import", tmp_path / "giro.csv", tmp_path / "card.csv", data=home.data, stdin=b"n")
    shown = ended.err.partition("Import 2 exports?")[0]
    for name in ("giro.csv", "card.csv"):
        assert f"\n{name}: read as: date ← 'Date', amount ← 'Amount'" in shown


def test_a_pipe_that_stays_silent_is_no_answer(
    home: Home, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pdpp.cli.import_task._PATIENCE_SECONDS", 0.05)
    reading, writing = os.pipe()
    with open(reading) as silent, open(writing, "w"):
        monkeypatch.setattr(sys, "stdin", silent)
        ended = pdpp_here("import", logs, data=home.data)
    assert ended.code == 64
    assert "say --yes to import without being asked" in ended.err
    assert home.records() == {}


def test_json_needs_a_yes_and_is_the_report_alone(home: Home, logs: Path) -> None:
    assert pdpp("import", logs, "--json", data=home.data).code == 64
    document = pdpp("import", logs, "--json", "--yes", data=home.data).document
    assert document["counts"]["new"] == 4
    assert document["connection"]["display_name"] == "Claude Code"


def test_an_import_keeps_the_memory_that_each_batch_takes(
    home: Home, logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = list[str]()
    monkeypatch.setattr("pdpp.cli.import_task.keep_memory", lambda: kept.append("kept"))
    assert pdpp_here("import", logs, "--yes", data=home.data).code == 0
    assert kept == ["kept"]


def test_what_is_not_known_is_refused_with_what_was_seen(home: Home, tmp_path: Path) -> None:
    (tmp_path / "photo.bin").write_bytes(b"\x89PNG")
    ended = pdpp("import", tmp_path / "photo.bin", "--yes", data=home.data)
    told = ended.failed()
    assert told.startswith("photo.bin is not known: it is a file of 4 bytes. Known are ")


def test_who_names_a_wrong_source_is_told_the_right_one(home: Home, tmp_path: Path) -> None:
    people = tmp_path / "people.vcf"
    people.write_text("BEGIN:VCARD\nVERSION:3.0\nFN:A\nEND:VCARD\n")
    told = home.run(people, "--as", "whatsapp", "--yes").failed()
    label = "Contacts (vCard or CSV)"
    assert told == f"people.vcf does not look like WhatsApp chat; without --as it is {label}"
    told = home.run(people, "--as", "whatsap", "--yes").failed()
    assert told.startswith("there is no source 'whatsap'; did you mean 'whatsapp'? There are ")


def test_an_empty_file_is_called_so(home: Home, tmp_path: Path) -> None:
    (tmp_path / "lease.pdf").touch()
    told = home.run(tmp_path / "lease.pdf", "--yes").failed()
    assert told == "lease.pdf is empty; download it again"


@pytest.mark.parametrize(
    ("name", "content"),
    [("my sales.csv", "id,thing\n1,rope\n2,sail\n"), ("s.json", '[{"id": 1, "thing": "rope"}]')],
)
def test_a_table_that_nobody_knows_names_the_command_that_reads_it(
    name: str, content: str, home: Home, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(content)
    told = home.run(tmp_path / name, "--yes").failed()
    assert ("as a bank statement with its columns named: --set date=" in told) == (".csv" in name)
    command = told.partition("comes in with: ")[2].partition(". Known are")[0].partition(";")[0]
    assert pdpp(*shlex.split(command)[1:], "--yes", data=home.data).code == 0


def test_a_path_that_is_not_there_is_told(home: Home, tmp_path: Path) -> None:
    assert "No such file or directory" in home.run(tmp_path / "nothing", "--yes").failed()


def test_a_zip_is_imported_where_it_is(home: Home, tmp_path: Path) -> None:
    content = b"".join(message(number) for number in range(3))
    path = zipped(tmp_path / "logs.zip", {"projects/a/s.jsonl": content, "../out": b""})
    before = sorted(tmp_path.rglob("*"))
    report = home.bring(path)
    assert report["counts"]["new"] == 4
    assert report["skipped"][0]["reason"] == "a name that leads outside the archive"
    outside = [place for place in sorted(tmp_path.rglob("*")) if home.data not in place.parents]
    assert outside == sorted([*before, home.data])


def test_the_owner_chooses_source_and_connection(home: Home, logs: Path) -> None:
    report = home.bring(logs, "--as", "claude_code", "--connection", "cin_mine")
    assert report["connection"]["connection_id"] == "cin_mine"
    refused = home.run(logs, "--as", "codex", "--yes").failed()
    assert refused.startswith("logs does not look like Codex logs")


def test_an_id_that_no_account_has_is_told_before_and_after_it_becomes_one(
    home: Home, tmp_path: Path
) -> None:
    for name in ("a", "b", "c"):
        write_log(tmp_path / name / f"{name}.jsonl", 2)
    first = home.bring(tmp_path / "a", "--connection", "cin_work")
    assert first["notes"] == ["no account has the id cin_work: it is a new one"]
    again = home.bring(tmp_path / "a", "--connection", "cin_work")
    assert again["notes"] == []
    told = home.run(tmp_path / "b", "--connection", "cin_wrok", "--yes")
    plan = "no account has the id cin_wrok: it is a new one; of Claude Code logs there is"
    assert f"{plan} Claude Code (cin_work)" in told.err
    third = home.bring(tmp_path / "c", "--connection", "cin_wokr")
    assert "Claude Code (cin_work), Claude Code (cin_wrok)" in third["notes"][0]


def test_a_setting_that_a_source_does_not_have_is_refused(home: Home, logs: Path) -> None:
    told = home.run(logs, "--set", "colour=red", "--yes").failed()
    assert told == "Claude Code logs has no setting 'colour'; it has none"
    assert home.run(logs, "--set", "colour", "--yes").code == 64


def test_several_paths_are_imported_one_after_the_other(home: Home, tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_log(tmp_path / name / f"{name}.jsonl", 2)
    ended = pdpp("import", tmp_path / "a", tmp_path / "b", "--yes", data=home.data)
    assert ended.out.count("complete") == 2
    assert len(home.records()) == 6


def test_a_damaged_export_is_brought_in_as_far_as_it_goes(home: Home, tmp_path: Path) -> None:
    noise = random.Random(3)
    log = b"".join(message(number, noise.randbytes(40).hex()) for number in range(3_000))
    whole = zipped(tmp_path / "x.zip", {"s.jsonl": log}).read_bytes()
    at = len(whole) // 2
    (tmp_path / "x.zip").write_bytes(whole[:at] + bytes(20) + whole[at + 20 :])
    ended = home.run(tmp_path / "x.zip", "--yes", "--json")
    assert ended.code == 1
    report = json.loads(ended.out)
    assert report["status"] == "incomplete"
    assert "the rest of a file that is damaged" in [case["reason"] for case in report["skipped"]]
    assert 1_000 < report["counts"]["new"] < 3_000


def test_nothing_is_deleted_after_an_export_that_could_not_be_read_whole(
    home: Home, tmp_path: Path
) -> None:
    noise = random.Random(3)
    log = b"".join(message(number, noise.randbytes(40).hex()) for number in range(3_000))
    path = zipped(tmp_path / "x.zip", {"s.jsonl": log})
    home.bring(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2] + bytes(20) + whole[len(whole) // 2 + 20 :])
    ended = home.run(path, "--yes", "--mirror")
    assert "Nothing is deleted: the export could not be read whole." in ended.err
    assert len(home.records()) == 3_001


# History


def test_two_exports_of_a_folder_are_told_apart_by_their_files(home: Home, tmp_path: Path) -> None:
    folder = tmp_path / "Downloads"
    folder.mkdir()
    (folder / "people.vcf").write_text("BEGIN:VCARD\nVERSION:3.0\nFN:Ana\nEND:VCARD\n")
    (folder / "giro.csv").write_text("Date,Description,Amount\n2026-02-01,Bakery,-4.50\n")
    places = ["Downloads/people.vcf", "Downloads/giro.csv"]
    audits = home.run("--audit", str(folder)).out
    assert all(f"\n{place}: " in f"\n{audits}" for place in places)
    told = json.loads(home.run(str(folder), "--yes", "--json").out)["imports"]
    assert sorted(document["found"] for document in told) == sorted(places)
    history = home.run("history").out
    assert all(place in history for place in places)


def test_the_history_shows_every_import_again(home: Home, logs: Path) -> None:
    assert home.run("history").out == "Nothing was imported yet.\n"
    first, second = home.bring(logs), home.bring(logs)
    listed = json.loads(home.run("history", "--json").out)["imports"]
    assert listed == [second, first]
    lines = home.run("history").out.splitlines()
    assert lines[0].startswith("IMPORT ")
    assert lines[1].startswith(second["import_id"])
    one = pdpp("import", "history", first["import_id"], data=home.data)
    assert one.out.startswith("Claude Code logs into Claude Code")
    assert pdpp("import", "history", first["import_id"], "--json", data=home.data).document == first


def test_several_exports_are_told_by_their_files_and_summed_up_and_listed_newest_first(
    home: Home, tmp_path: Path
) -> None:
    names = [f"WhatsApp Chat - {name}.zip" for name in ("Ana", "Bo", "Cy", "Di", "Eva", "Fay")]
    for name in names:
        chat = f"[19/09/2026, 09:52:10] {name}: Ahoy\r\n[19/09/2026, 09:52:11] Nora: Hi\r\n"
        zipped(tmp_path / "in" / name, {"_chat.txt": chat.encode()})
    ended = home.run(tmp_path / "in", "--yes")
    told = [line for line in nameless(ended.out).splitlines() if not line.startswith(" ")]
    assert told == [f"{name}: WhatsApp chat into WhatsApp (CIN): complete" for name in names]
    assert "All together: 6 exports, records: 18 new, 0 changed, 0 unchanged\n" in ended.err
    lines = home.run("history").out.splitlines()[1:]
    assert [line.partition("  ")[2].partition(".zip")[0] + ".zip" for line in lines] == names[::-1]


def test_an_import_that_is_not_in_the_history_is_told(home: Home, logs: Path) -> None:
    home.bring(logs)
    gone = pdpp("import", "history", "yesterday", data=home.data)
    assert gone.failed() == "there is no import 'yesterday'; see pdpp import history"
    assert pdpp("import", "history", "a", "b", data=home.data).code == 64


# Mirrors


@pytest.fixture
def shrunk(home: Home, logs: Path) -> Path:
    """A folder of logs that lost a message since it was imported."""
    home.bring(logs)
    return write_log(logs / "s.jsonl", 2).parent


def test_nothing_is_deleted_unless_it_is_mirrored(home: Home, shrunk: Path) -> None:
    report = home.bring(shrunk)
    assert report["counts"]["deleted"] == 0
    assert sealed(home, "s.u2") in home.records()


def test_a_mirror_shows_what_would_go_and_asks(home: Home, shrunk: Path) -> None:
    refused = pdpp("import", shrunk, "--mirror", data=home.data, stdin=b"y\nn\n")
    gone = ":".join(sealed(home, "s.u2"))
    assert f"No longer in the export: 1 messages, such as {gone} “" in refused.err
    assert "Delete 1 record? [y/N] " in refused.err
    assert sealed(home, "s.u2") in home.records()
    agreed = pdpp("import", shrunk, "--mirror", data=home.data, stdin=b"y\ny\n")
    assert "1 deleted" in agreed.out
    assert sealed(home, "s.u2") not in home.records()


def test_a_mirror_keeps_what_another_export_of_the_account_holds(
    home: Home, tmp_path: Path
) -> None:
    folder = tmp_path / "chats"
    folder.mkdir()

    def chat(name: str, count: int) -> None:
        lines = (f"13/04/2025, 08:{n:02} - {name}: word {n}\n" for n in range(count))
        (folder / f"WhatsApp Chat with {name}.txt").write_text("".join(lines))

    def left() -> int:
        ended = home.run(str(folder), "--mirror", "--yes", "--json")
        assert ended.code in (0, 1)
        return len(home.records())

    chat("Ana", 4)
    chat("Bo", 6)
    assert left() == 10 + 2
    chat("Bo", 5)
    assert left() == 9 + 2
    (folder / "old.zip").write_bytes(b"PK\x03\x04 cut off")
    chat("Ana", 3)
    assert left() == 9 + 2


def test_a_mirror_of_tables_of_ones_own_takes_one_path(home: Home, tmp_path: Path) -> None:
    tables = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for table in tables:
        table.write_text("plant,price\nFicus,12\n")
    assert home.run(*map(str, tables), "--infer", "--mirror", "--yes").code == 64


def test_a_mirror_of_a_script_deletes_and_says_so(home: Home, shrunk: Path) -> None:
    ended = home.run(shrunk, "--mirror", "--yes", "--json")
    assert json.loads(ended.out)["counts"]["deleted"] == 1
    assert "No longer in the export: 1 messages" in ended.err
    again = home.run(shrunk, "--mirror", "--yes", "--json")
    assert json.loads(again.out)["counts"]["deleted"] == 0
    assert again.err == ""


# Interruption


def counted(home: Home) -> Callable[[], bool]:
    """Return whether a first batch is written."""
    positions = home.data / "imports" / "positions"

    def begun() -> bool:
        return any(path.stat().st_size > 200 for path in positions.glob("*.ndjson"))

    return begun


def test_ctrl_c_leaves_whole_batches_and_the_same_command_goes_on(
    home: Home, tmp_path: Path
) -> None:
    total = 5 * BATCH_ITEMS
    path = write_log(tmp_path / "logs" / "s.jsonl", total)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with started("import", path, "--yes", "--data", home.data, **pipes) as process:
        wait_for(counted(home), process)
        process.send_signal(signal.SIGINT)
        out, err = (text.decode() for text in process.communicate(timeout=DEADLINE_SECONDS))
    assert process.returncode == 130
    assert "interrupted" in out
    assert "The same command goes on." in err
    assert "Traceback" not in err
    kept = len(home.records())
    assert 0 < kept < total
    report = home.bring(path)
    assert report["status"] == "complete"
    assert report["counts"]["new"] == total + 1 - kept
    assert report["counts"]["unchanged"] <= 1
    assert len(home.records()) == total + 1
    listed = json.loads(home.run("history", "--json").out)["imports"]
    assert [held["status"] for held in listed] == ["complete", "interrupted"]


def test_ctrl_c_among_several_exports_says_what_was_not_begun(home: Home, tmp_path: Path) -> None:
    path = write_log(tmp_path / "in" / "logs" / "s.jsonl", 5 * BATCH_ITEMS)
    (tmp_path / "in" / "people.vcf").write_text("BEGIN:VCARD\nVERSION:3.0\nFN:A\nEND:VCARD\n")
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    paths = (path, tmp_path / "in" / "people.vcf")
    with started("import", *paths, "--yes", "--data", home.data, **pipes) as process:
        wait_for(counted(home), process)
        process.send_signal(signal.SIGINT)
        err = process.communicate(timeout=DEADLINE_SECONDS)[1].decode()
    assert process.returncode == 130
    assert "1 export not begun. The same command goes on." in err


# Watching


def test_a_watched_folder_is_followed_until_ctrl_c(home: Home, logs: Path) -> None:
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    options = ("--watch", "--every", "0.05", "--yes", "--data", home.data)

    def holds(key: str) -> Callable[[], bool]:
        def look() -> bool:
            with suppress(Exception):
                return sealed(home, key) in home.records()
            return False

        return look

    with started("import", logs, *options, **pipes) as process:
        wait_for(holds("s.u2"), process)
        with (logs / "s.jsonl").open("ab") as file:
            file.write(message(3))
            file.write(message(4)[:20])
        wait_for(holds("s.u3"), process)
        with (logs / "s.jsonl").open("ab") as file:
            file.write(message(4)[20:])
        wait_for(holds("s.u4"), process)
        write_log(logs / "t.jsonl", 1, first=7)
        wait_for(holds("t.u7"), process)
        process.send_signal(signal.SIGINT)
        out, err = (text.decode() for text in process.communicate(timeout=DEADLINE_SECONDS))
    assert process.returncode == 130, err
    assert f"Watching {logs}; Ctrl-C ends it.\n" in err
    assert "0 skipped" in out
    assert "messages: 6 new" in out


def test_a_watch_takes_one_path_and_no_mirror(home: Home, logs: Path) -> None:
    assert home.run(logs, "--watch", "--mirror", "--yes").code == 64
    assert pdpp("import", logs, logs, "--watch", data=home.data).code == 64


# A person at a terminal


def at_a_terminal(*arguments: str | Path, answer: bytes) -> tuple[int, str]:
    """Run the program with a terminal, and answer what it asks."""
    leader, follower = pty.openpty()
    process = Program(
        command(*arguments), stdin=follower, stdout=follower, stderr=follower, env=environment()
    )
    os.close(follower)
    os.write(leader, answer)
    seen = b""
    with suppress(OSError):
        while chunk := os.read(leader, 65_536):
            seen += chunk
    os.close(leader)
    return process.wait(timeout=DEADLINE_SECONDS), seen.decode("utf-8", "replace")


def test_a_terminal_shows_a_bar_with_the_rate(home: Home, tmp_path: Path) -> None:
    path = write_log(tmp_path / "logs" / "s.jsonl", 2_000)
    code, seen = at_a_terminal("import", path, "--data", home.data, answer=b"y\n")
    assert code == 0, seen
    assert "█" in seen or "░" in seen
    assert "records" in seen
    assert "/s" in seen
    assert "Claude Code logs into Claude Code" in seen


def test_no_bar_is_written_where_nobody_sees_it(home: Home, tmp_path: Path) -> None:
    path = write_log(tmp_path / "logs" / "s.jsonl", 2_000)
    ended = pdpp("import", path, "--yes", data=home.data)
    assert "\x1b" not in ended.err + ended.out


def test_names_from_a_file_cannot_steer_a_terminal(home: Home, tmp_path: Path) -> None:
    name = "evil\x1b[2J\u202e.jsonl"
    path = tmp_path / name
    path.write_bytes(message(1) + b"nonsense\n")
    ended = pdpp("import", path, "--yes", data=home.data)
    assert "\x1b" not in ended.out + ended.err
    assert "\u202e" not in ended.out + ended.err


def test_a_declaration_that_is_no_json_is_told(home: Home, logs: Path, tmp_path: Path) -> None:
    for content in ("{", "[]"):
        (tmp_path / "d.json").write_text(content)
        given: list[Any] = ["--declaration", str(tmp_path / "d.json"), "--yes"]
        assert "d.json is not" in home.run(logs, *given).failed()
