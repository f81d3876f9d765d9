"""A forked program is what an interpreter of its own would be."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cli.shell import DEADLINE_SECONDS, command, environment
from tests.launching.process import Program

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is forked")

Told = tuple[int, bytes, bytes]


def ended(kind: type[subprocess.Popen[bytes]], words: list[str], folder: Path, **env: str) -> Told:
    pipe = subprocess.PIPE
    with kind(
        command(*words), stdin=pipe, stdout=pipe, stderr=pipe, cwd=folder, env=environment(env)
    ) as process:
        out, err = process.communicate(b"", DEADLINE_SECONDS)
    return process.returncode, out, err


@pytest.mark.parametrize(
    "words", [["--version"], ["no-such-command"], ["grant", "list"], ["config", "--json"]]
)
def test_it_says_what_a_launched_one_says(words: list[str], tmp_path: Path) -> None:
    given = {"PDPP_DATA": "of my own", "PDPP_PORT": "7777"}
    launched = ended(subprocess.Popen, words, tmp_path, **given)
    assert ended(Program, words, tmp_path, **given) == launched


def test_a_signal_ends_it_and_whoever_started_it_is_told(tmp_path: Path) -> None:
    words = command("ingest", "-", "--data", tmp_path)
    with Program(words, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert forked(process.pid)
        process.send_signal(signal.SIGKILL)
        assert process.wait(DEADLINE_SECONDS) == -signal.SIGKILL


def forked(pid: int) -> bool:
    """Tell whether a process shows the name of the one that it was forked from."""
    return b"tests.launching.forker" in Path(f"/proc/{pid}/cmdline").read_bytes()


def test_what_a_fork_cannot_do_is_started_as_ever(tmp_path: Path) -> None:
    words = command("ingest", "-", "--data", tmp_path)
    with Program(words, stdin=subprocess.PIPE, umask=0o077) as process:
        assert not forked(process.pid)
        process.kill()


def test_it_has_a_session_and_a_terminal_of_its_own_where_that_is_asked_for(tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    words = command("serve", "--port", "0", "--data", tmp_path)  # it does not end by itself
    with Program(words, stdin=theirs, start_new_session=True, takes_terminal=True) as process:
        assert forked(process.pid)
        deadline = time.monotonic() + DEADLINE_SECONDS
        while os.tcgetpgrp(ours) != process.pid:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert os.getsid(process.pid) == process.pid
        process.kill()
    os.close(theirs)
    os.close(ours)


def test_what_programs_import_when_they_need_it_is_there_before_they_are_forked(
    tmp_path: Path,
) -> None:
    table = tmp_path / "bank.csv"
    table.write_text("Date,Description,Amount\n2026-02-01,Bakery,-4.50\n")
    # It waits for an answer: a program that ended has no maps.
    words = command("import", table, "--data", tmp_path / "data")
    with Program(words, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert forked(process.pid)
        mapped = Path(f"/proc/{process.pid}/maps").read_text()
        process.kill()
    assert [
        name for name in ("numpy", "uvloop", "markupsafe", "pyexpat") if name not in mapped
    ] == []


def test_whoever_no_longer_reads_what_it_says_is_told_by_its_code(tmp_path: Path) -> None:
    def code(kind: type[subprocess.Popen[bytes]]) -> int:
        unread, written = os.pipe()
        os.close(unread)
        with kind(command("--help"), stdout=written, stderr=subprocess.DEVNULL) as process:
            os.close(written)
        return process.returncode

    assert code(Program) == code(subprocess.Popen)
