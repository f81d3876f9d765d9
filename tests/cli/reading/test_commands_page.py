"""The page about the commands, compared with the program."""

import re
import shlex
from pathlib import Path

import click
import pytest
from tests.cli.reading.desk import Desk

from pdpp.cli.program import program
from pdpp.cli.reading.group import READS

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "commands.md").read_text()
PAGES = [*(f"read {name}" for name in READS), "export", "restore"]


def section(leaf: str) -> str:
    after = re.split(rf"^##+ `pdpp {leaf}`$", PAGE, flags=re.MULTILINE)[1]
    return re.split(r"^##+ ", after, flags=re.MULTILINE)[0]


def options(leaf: str) -> set[str]:
    command: click.Command | None = program
    for name in leaf.split():
        assert isinstance(command, click.Group)
        command = command.get_command(click.Context(command), name)
    assert command is not None
    return {
        max(parameter.opts, key=len)
        for parameter in command.params
        if isinstance(parameter, click.Option)
    }


@pytest.mark.parametrize("leaf", PAGES)
def test_the_page_has_every_option_and_no_others(leaf: str) -> None:
    rows = re.findall(r"^\| (`--.*?) \|", section(leaf), re.MULTILINE)
    named = {option for row in rows for option in re.findall(r"`(--[a-z-]+)`", row)}
    assert named == options(leaf)


def test_the_commands_of_the_page_run_as_they_stand(desk: Desk, tmp_path: Path) -> None:
    blocks = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if "--data" not in line]
    assert len(lines) == 7
    for line in lines:
        program, *words = shlex.split(line)
        assert program == "pdpp"
        if "-o" in words:
            at = words.index("-o") + 1
            words[at] = f"{tmp_path}/{words[at]}"
        ended = desk.here(*words)
        assert (ended.code, ended.err) == (0, ""), line
