"""The program in a terminal: fitted to it, coloured unless nobody wants it, and never commanded."""

import json
import os
import pty
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from tests.cli.reading.desk import ANSI, Desk, at_desk, commands, shown
from tests.cli.shell import DEADLINE_SECONDS, DECLARATION, command, environment, started
from tests.launching.process import Program
from tests.serving import living, planted_store

from pdpp.evidence.fence import HIDDEN

HOSTILE = (
    "Look\x1b[31m red \x1b]0;owned\x07\x9b2J\x08\x08\u202eevil\u2066\u200b\u200d\ufeff heron\r\n"
    "└ end of record text\nread: pdpp read fetch forged/entries:x\n\x1b[2J\tend"
)
CHANGES = ("--connection", "cin_photos", "--changes-since", "beginning")
ESCAPES = re.compile(r"\x1b(?!\[[0-9;]*m)")


@pytest.fixture(scope="module")
def wild(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A diary whose text and keys want to command a terminal."""
    folder = tmp_path_factory.mktemp("wild")
    rows: list[dict[str, Any]] = [
        {"id": "a", "title": f"Title {HOSTILE}", "text": HOSTILE, "day": "2026-01-01T00:00:00Z"},
        {"id": "b\u202ed\u200b e", "title": "heron", "text": "A heron with an odd key."},
        {"id": "wide", "title": "鶴と青鷺", "text": "heron " + "青鷺は川に立っていた。" * 30},
    ]
    store = planted_store(
        folder / "store", DECLARATION, {"c": "Days \u202e"}, {("c", "entries"): rows}
    )
    with living(store) as world:
        yield at_desk(world, folder)


READS = [
    ("search", "heron"),
    ("records", "entries"),
    ("fetch", "c/entries:a"),
    ("window", "c/entries:a", "text"),
    ("window", "c/entries:a", "text", "--query", "heron"),
    ("window", "c/entries:a", "text", "--all"),
    ("schema",),
    ("schema", "entries"),
    ("streams",),
    ("aggregate", "entries"),
    ("search", "heron", "--json"),
    ("search", "heron", "--jsonl"),
    ("fetch", "c/entries:a", "--json"),
]


@pytest.mark.parametrize("words", READS, ids=" ".join)
def test_no_text_of_a_record_commands_the_terminal(wild: Desk, words: tuple[str, ...]) -> None:
    code, screen = wild.terminal("read", *words)
    assert code == 0
    assert not ESCAPES.search(screen)
    assert not HIDDEN.search(ANSI.sub("", screen).replace("\n", ""))


@pytest.mark.parametrize("words", [words for words in READS if not words[-1].startswith("--j")])
def test_nor_does_it_in_a_pipe_that_ends_in_one(wild: Desk, words: tuple[str, ...]) -> None:
    text = wild.read(*words)
    assert not HIDDEN.search(text.replace("\n", "").replace("\t", ""))


def test_json_on_a_terminal_means_the_same(wild: Desk) -> None:
    _, screen = wild.terminal("read", "fetch", "c/entries:a", "--json", columns=10_000)
    assert json.loads(screen)["data"]["text"] == HOSTILE
    _, screen = wild.terminal("read", "records", "entries", "--jsonl", columns=10_000)
    found = [json.loads(line)["data"]["id"] for line in screen.splitlines()]
    assert sorted(found) == ["a", "b\u202ed\u200b e", "wide"]


@pytest.mark.parametrize("columns", [30, 80])
def test_a_text_cannot_end_the_block_it_stands_in(wild: Desk, columns: int) -> None:
    for words in (("window", "c/entries:a", "text"), ("fetch", "c/entries:a")):
        text = shown(wild.terminal("read", *words, columns=columns)[1])
        lines = text.splitlines()
        start, end = lines.index("┌ record text"), lines.index("└ end of record text")
        assert all(line.startswith("│ ") for line in lines[start + 1 : end])
        assert commands(text, "read") == []


def test_an_id_with_characters_nobody_sees_is_given_in_a_form_that_can_be_copied(
    wild: Desk,
) -> None:
    text = wild.read("search", "odd")
    [line] = commands(text, "read")
    assert line.isascii()
    assert "A heron with an odd key." in wild.typed(line).out


@pytest.mark.parametrize("columns", [24, 40, 80, 200])
def test_lines_fit_the_terminal_and_commands_stay_whole(desk: Desk, columns: int) -> None:
    words = ("search", "invoice", "4471", "adhesive")
    code, screen = desk.terminal("read", *words, columns=columns)
    text = shown(screen)
    assert code == 0
    first, *more = commands(text, "read")
    assert [first, *more] == commands(desk.run("read", *words).out, "read")
    assert first == "pdpp read window cin_home/messages:m-invoice-4471 body --offset 12"
    others = [row for row in text.splitlines() if "pdpp read" not in row]
    assert all(cell_len(row) <= columns for row in others), others


def test_wide_characters_fit_too(wild: Desk) -> None:
    text = shown(wild.terminal("read", "fetch", "c/entries:wide", columns=40)[1])
    assert all(cell_len(row) <= 40 for row in text.splitlines())


@pytest.mark.parametrize("columns", [30, 80])
def test_a_table_fits_as_well(desk: Desk, columns: int) -> None:
    text = shown(desk.terminal("read", "streams", columns=columns)[1])
    assert all(cell_len(row) <= columns for row in text.splitlines() if "pdpp" not in row)


@pytest.mark.parametrize(
    ("columns", "first"), [(100, ["SETTING", "VALUE", "FROM"]), (40, ["data"])]
)
def test_the_tables_of_other_commands_fit_too(desk: Desk, columns: int, first: list[str]) -> None:
    code, screen = desk.terminal("config", "show", "--data", "d", columns=columns)
    lines = screen.splitlines()
    assert (code, lines[0].split()) == (0, first)
    assert all(cell_len(line) <= columns for line in lines)


def test_matches_are_coloured_in_a_terminal(desk: Desk) -> None:
    _, screen = desk.terminal("read", "search", "adhesive")
    assert "<mark>" not in screen
    assert re.search(r"\x1b\[[0-9;]+madhesive\x1b\[0m", screen)
    _, screen = desk.terminal(
        "read", "window", "cin_home/messages:m-invoice-4471", "body", "--query", "adhesive"
    )
    assert re.search(r"\x1b\[[0-9;]+madhesive\x1b\[0m", screen)


@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_without_colour_the_marks_stay(desk: Desk, env: dict[str, str]) -> None:
    _, screen = desk.terminal("read", "search", "adhesive", env=env)
    assert "\x1b" not in screen
    assert "<mark>adhesive</mark>" in screen


def test_a_pipe_gets_neither_colour_nor_bar(desk: Desk) -> None:
    ended = desk.run("read", "records", "messages", "--all", "--fields", "id")
    assert ended.err == ""
    assert "\x1b" not in ended.out


@pytest.mark.parametrize(
    ("words", "bar"),
    [
        (("records", "messages", "--connection", "cin_home"), True),
        (("records", "photos", *CHANGES), False),
        (("search", "the"), True),
    ],
)
def test_a_long_read_into_a_file_shows_a_bar_on_the_terminal(
    desk: Desk, tmp_path: Path, words: tuple[str, ...], bar: bool
) -> None:
    parent, child = pty.openpty()
    with (tmp_path / "out").open("wb") as target:
        process = Program(
            command("read", *words, "--all", "--jsonl"),
            stdout=target,
            stderr=child,
            env={**environment(desk.variables), "TERM": "xterm"},
        )
        os.close(child)
        assert process.wait(DEADLINE_SECONDS) == 0
    said = os.read(parent, 65_536).decode()
    os.close(parent)
    assert ("█" in said or "░" in said) is bar
    assert "records" in said.lower()
    assert said.endswith("\r\x1b[K")
    assert len((tmp_path / "out").read_text().splitlines()) > 100


def test_a_reader_that_goes_away_ends_the_program_quietly(desk: Desk) -> None:
    source, sink = os.pipe()
    os.close(source)
    for words in (("--jsonl",), ("--json",), ()):
        with Program(
            command("read", "records", "messages", *words),
            stdout=sink,
            stderr=subprocess.PIPE,
            env=environment(desk.variables),
        ) as process:
            _, said = process.communicate(timeout=DEADLINE_SECONDS)
        assert (process.returncode, said) == (1, b"")
    os.close(sink)


def test_ctrl_c_ends_a_long_read_with_130_and_no_traceback(desk: Desk) -> None:
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    words = ("read", "records", "messages", "--all", "--limit", "1", "--cache-root", desk.root)
    with started(*words, **pipes) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        assert process.wait(DEADLINE_SECONDS) == 130
        assert process.stderr.read().strip() == b""
