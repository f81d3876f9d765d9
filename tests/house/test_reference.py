"""The pages made from the code are as the code makes them, and every command's help teaches."""

from pathlib import Path

import click
import pytest
from rich.cells import cell_len
from tests.house.reference import PAGES, ROOT, leaves, top

from pdpp.authz import detail
from pdpp.cli.program import program

LEAVES = {leaf.command_path: leaf for leaf in leaves(program, top())}
GROUPS = {
    leaf.parent.command_path: leaf.parent for leaf in LEAVES.values() if leaf.parent is not None
}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_page_is_as_the_code_makes_it(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == PAGES[path](), (
        f"{path.relative_to(ROOT)} is out of date; run: make docs"
    )


@pytest.mark.parametrize("name", LEAVES)
def test_the_help_of_every_command_shows_how_it_is_used_and_how_it_can_end(name: str) -> None:
    told = help_of(LEAVES[name])
    shown = told.partition("Examples:")[2]
    assert f"  {name}" in shown
    assert "Exit codes: 0 done; 1 " in shown
    assert "64 wrong usage" in shown


@pytest.mark.parametrize("name", LEAVES)
def test_the_help_of_every_command_fits_a_terminal_of_eighty_columns(name: str) -> None:
    assert [line for line in help_of(LEAVES[name]).splitlines() if cell_len(line) > 80] == []


@pytest.mark.parametrize("name", GROUPS | LEAVES)
def test_no_line_of_a_help_is_cut(name: str) -> None:
    lines = help_of((GROUPS | LEAVES)[name]).splitlines()[1:]
    assert [line for line in lines if line.endswith("...")] == []


@pytest.mark.parametrize("name", LEAVES)
def test_every_option_of_every_command_says_what_it_is(name: str) -> None:
    options = [param for param in LEAVES[name].command.params if isinstance(param, click.Option)]
    assert [option.name for option in options if not option.help] == []


def help_of(leaf: click.Context) -> str:
    return leaf.command.get_help(leaf)


def test_every_member_of_authorization_details_is_documented() -> None:
    page = (ROOT / "docs" / "reference" / "authorization.md").read_text("utf-8")
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    named = {name for row in rows for name in row.split("`")[1::2]}
    assert {*detail._DETAIL_KEYS, *detail._OPTIONAL_DETAIL_KEYS} <= named
    assert {"name", *detail._OPTIONAL_STREAM_KEYS} <= named
