"""The guided demo, as a person sees it in a terminal and as a program reads it."""

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.cli.shell import DEADLINE_SECONDS, Ended, command, environment, pdpp, stored
from tests.launching.process import Program

from pdpp.cli.demo.server import CLIENT

COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture(scope="module")
def demo() -> dict[str, Any]:
    return pdpp("demo", "--json").document


def steps_of(demo: dict[str, Any], who: str = "agent") -> list[dict[str, Any]]:
    return [step for step in demo["steps"] if step.get("who") == who]


def step(demo: dict[str, Any], title: str) -> dict[str, Any]:
    [found] = [step for step in demo["steps"] if title in step["title"]]
    return dict(found)


def test_each_step_says_what_was_asked_and_what_each_half_cost(demo: dict[str, Any]) -> None:
    asked = [(step["tool"], step["arguments"]) for step in steps_of(demo)]
    assert [tool for tool, _ in asked] == [
        "schema",
        "search",
        "read_record_field",
        "search",
        "read_record_field",
        "query_records",
        "query_records",
        "schema",
    ]
    for told in steps_of(demo):
        compact = json.dumps(told["structured_content"], ensure_ascii=False, separators=(",", ":"))
        assert told["content_chars"] == len(told["content"])
        assert told["structured_chars"] == len(compact)


def test_the_agent_answers_its_questions_from_what_it_was_shown(demo: dict[str, Any]) -> None:
    evidence = step(demo, "invoice 4471")["content"]
    assert "<mark>invoice</mark> <mark>4471</mark> is paid" in evidence
    letter = step(demo, "What was it for?")
    assert letter["arguments"]["id"].startswith("cin_home/messages:")
    assert letter["arguments"]["id"] in evidence
    assert "green kitchen tiles" in letter["content"]
    needle = re.sub("</?mark>", "", step(demo, "by Friday")["content"])
    assert "see the hallway by Friday" in needle
    window = step(demo, "around it")["structured_content"]["window"]
    assert window["end_chars"] - window["start_chars"] < 500
    assert window["total_chars"] > 200_000
    assert f"{window['total_chars']:,}" in step(demo, "around it")["after"]


def test_what_the_grant_hides_is_in_no_answer_to_the_agent(demo: dict[str, Any]) -> None:
    seen = json.dumps(steps_of(demo), ensure_ascii=False)
    [everything] = steps_of(demo, "another client")
    for hidden in ("cin_bank", "Banco Azul", "cin_team", 'important", "to answer'):
        assert hidden not in seen
    assert "cin_bank" in everything["content"]
    total = everything["structured_content"]["data"]["meta"]["count"]["value"]
    told = f"{total} hits, the best 10 of them from Atlas & Tide chat, Banco Azul, Home mail"
    assert total > 10
    assert told in everything["after"]
    stream = step(demo, "may not look")["structured_content"]["error"]
    assert stream["code"] == "grant_stream_not_allowed"
    field = step(demo, "field it may not see")["structured_content"]["error"]
    assert field["code"] == "field_not_granted"


def test_the_last_request_comes_after_the_grant_was_taken_back(demo: dict[str, Any]) -> None:
    last = demo["steps"][-1]
    assert last["content"].startswith("grant_revoked: ")


@pytest.fixture(scope="module")
def temporary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder for temporary files of a plain run."""
    return tmp_path_factory.mktemp("temporary")


@pytest.fixture(scope="module")
def plain(temporary: Path) -> Ended:
    """A run without a terminal."""
    return pdpp("demo", env={"TMPDIR": str(temporary)})


def test_without_a_terminal_it_runs_through_in_plain_text_and_leaves_nothing(
    plain: Ended, temporary: Path
) -> None:
    ended = plain
    assert (ended.code, ended.err) == (0, "")
    assert "\x1b" not in ended.out
    assert CLIENT in ended.out
    assert re.search(r"^together +[\d,]+ +[\d,]+$", ended.out, re.MULTILINE)
    assert max(map(len, ended.out.splitlines())) <= 100
    assert list(temporary.iterdir()) == []


@pytest.fixture(scope="module")
def narrow() -> Ended:
    """A run with whole answers in a narrow terminal."""
    return pdpp("demo", "--full", env={"COLUMNS": "40"})


def test_a_narrow_terminal_gets_narrow_lines(narrow: Ended) -> None:
    assert narrow.code == 0
    assert max(map(len, narrow.out.splitlines())) <= 40


def test_answers_are_cut_unless_they_are_wanted_whole(plain: Ended, narrow: Ended) -> None:
    assert re.search(r"… and [\d,]+ more characters", plain.out)
    whole = " ".join(narrow.out.split())
    assert "more characters" not in whole
    assert "more lines" not in whole


@contextmanager
def in_terminal(
    *arguments: str, env: dict[str, str] | None = None
) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Start the program in a terminal of its own; yield it and the terminal's other end."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    process = Program(
        command(*arguments),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment(
            {"TERM": "xterm-256color", "COLUMNS": "90", **stored(arguments), **(env or {})}
        ),
        start_new_session=True,
        takes_terminal=True,
    )
    os.close(theirs)
    try:
        yield process, ours
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def read_until(terminal: int, text: str) -> str:
    """Read what a terminal shows until a text is there or nothing more comes."""
    shown, deadline = b"", time.monotonic() + DEADLINE_SECONDS
    while text.encode() not in shown:
        left = deadline - time.monotonic()
        assert select.select([terminal], [], [], max(0, left))[0], shown
        try:
            shown += os.read(terminal, 65_536)
        except OSError:
            break
    return shown.decode(errors="replace")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_in_a_terminal_it_waits_for_enter_and_shows_colours() -> None:
    with in_terminal("demo") as (process, terminal):
        shown = read_until(terminal, "Enter goes on")
        assert "The owner decides" in shown
        assert "The agent connects" not in shown
        assert COLOUR.search(shown)
        for _ in range(20):
            os.write(terminal, b"\n")
        shown = read_until(terminal, "pdpp serve --demo")
        assert "Taken back" in shown
        assert process.wait(DEADLINE_SECONDS) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_without_colour_and_without_waiting_where_that_is_wished() -> None:
    with in_terminal("demo", "--fast", env={"NO_COLOR": "1"}) as (process, terminal):
        shown = read_until(terminal, "pdpp serve --demo")
        assert process.wait(DEADLINE_SECONDS) == 0
    assert "Enter goes on" not in shown
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]", shown)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_ctrl_c_leaves_at_once_and_cleanly(tmp_path: Path) -> None:
    with in_terminal("demo", env={"TMPDIR": str(tmp_path)}) as (process, terminal):
        read_until(terminal, "Enter goes on")
        assert len(list(tmp_path.glob("pdpp-demo-*"))) == 1
        os.write(terminal, b"\x03")
        shown = read_until(terminal, "\0")
        assert process.wait(DEADLINE_SECONDS) == 130
    assert "Traceback" not in shown
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
def test_a_wish_to_end_is_met_without_leaving_anything(tmp_path: Path) -> None:
    with in_terminal("demo", env={"TMPDIR": str(tmp_path)}) as (process, terminal):
        read_until(terminal, "Enter goes on")
        process.send_signal(signal.SIGTERM)
        assert process.wait(DEADLINE_SECONDS) == 143
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_goes_away_ends_it_quietly(tmp_path: Path) -> None:
    source, sink = os.pipe()
    os.close(source)
    with Program(
        command("demo"),
        stdout=sink,
        stderr=subprocess.PIPE,
        env=environment({"TMPDIR": str(tmp_path)}),
    ) as process:
        os.close(sink)
        _, said = process.communicate(timeout=DEADLINE_SECONDS)
    assert (process.returncode, said) == (1, b"")
    assert list(tmp_path.iterdir()) == []
