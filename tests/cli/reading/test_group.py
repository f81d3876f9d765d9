"""``pdpp read`` as a whole: help that teaches, and a start that imports no more than it uses."""

import os
import pty
import subprocess
import sys
from contextlib import suppress

import pytest
from tests.cli.reading.desk import Desk
from tests.cli.shell import environment, pdpp_here

from pdpp.cli.reading.group import READS

LETTER = "cin_home/messages:m-invoice-4471"
HEAVY = ("rich", "asyncio", "apsw", "orjson", "starlette", "uvicorn", "jinja2", "pdpp.store")


@pytest.mark.parametrize("name", [*READS, "export", "restore"])
def test_the_help_of_each_command_teaches_by_example(name: str) -> None:
    leaf = f"read {name}" if name in READS else name
    ended = pdpp_here(*leaf.split(), "--help")
    assert ended.code == 0
    assert f"Usage: pdpp {leaf}" in ended.out
    assert f"    pdpp {leaf}" in ended.out.partition("Examples:")[2]
    assert "--json" in ended.out


def test_the_group_lists_its_commands_and_exit_codes() -> None:
    shown = pdpp_here("read", "--help").out
    for name, (_, summary) in READS.items():
        assert f"  {name} " in shown
        assert summary in shown
    for code in ("64", "69", "77", "78", "130"):
        assert code in shown


@pytest.mark.parametrize("form", [(), ("--json",), ("--jsonl",)])
@pytest.mark.parametrize("words", [("search", "invoice"), ("records", "messages")])
def test_a_read_imports_only_what_it_uses(
    desk: Desk, words: tuple[str, ...], form: tuple[str, ...]
) -> None:
    script = (
        "import sys\n"
        "from pdpp.cli.program import run\n"
        f"assert run({['read', *words, *form]!r}) == 0\n"
        f"print(sorted(set({HEAVY!r}) & sys.modules.keys()), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        env=environment(desk.variables),
        check=True,
    )
    assert done.stderr == "[]\n"
    assert done.stdout


@pytest.mark.parametrize("words", [("search", "invoice"), ("schema",), ("fetch", LETTER)])
def test_a_terminal_costs_a_read_no_whole_renderer(desk: Desk, words: tuple[str, ...]) -> None:
    script = (
        "import sys\n"
        "from pdpp.cli.program import run\n"
        f"assert run({['read', *words]!r}) == 0\n"
        f"heavy = {{'rich.console', 'rich.text', 'rich.style', *{HEAVY[1:]!r}}}\n"
        "print(sorted(heavy & sys.modules.keys()), 'rich' in sys.modules, file=sys.stderr)\n"
    )
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=theirs,
        stderr=subprocess.PIPE,
        env=environment({**desk.variables, "TERM": "xterm"}),
    ) as process:
        os.close(theirs)
        with suppress(OSError):
            while os.read(ours, 65_536):
                pass
        os.close(ours)
        assert process.stderr is not None
        assert process.stderr.read() == b"[] True\n"


def test_a_read_names_no_secret_where_others_can_see_it(desk: Desk) -> None:
    ended = desk.run("read", "search", "invoice")
    assert desk.token not in ended.out + ended.err
    for name in (*READS, "../export"):
        shown = pdpp_here(*("read", name) if name in READS else ("export",), "--help").out
        assert "--token " not in shown
