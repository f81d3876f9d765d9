"""README, typed as it stands: every line of its blocks is run, in order, in a fresh checkout."""

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from zipfile import ZipFile

import httpx
import pytest
from tests.cli.shell import pdpp_here
from tests.house.terminal import (
    ADDRESS,
    ROOT,
    Running,
    Terminal,
    blocks,
    checkout,
    commands,
    inline,
    way,
)

README = ROOT / "README.md"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="typed into a POSIX shell")


class Newcomer:
    """Somebody who has just cloned the project, and does what README says."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.terminal = Terminal(checkout(folder), {"PORT": "0"})
        self._stack = stack
        self.server: Running | None = None

    def start(self, line: str) -> None:
        """Start the server, and take its token as the text says."""
        self.server = self._stack.enter_context(self.terminal.running(line))
        said = self.server.until("Stop with Ctrl-C")
        [self.terminal.url] = set(re.findall(r"answers on (\S+)", said))
        [token] = set(re.findall(r"TOKEN=(\S+)", said))
        self.terminal.variables["TOKEN"] = token
        assert (self.terminal.folder / ".demo").is_dir()

    def would(self, line: str) -> str:
        """Return what a line of make would do."""
        done = self.terminal.succeed(f"{line} --dry-run")
        assert "-r requirements/run.txt" not in done
        return done

    def ask(self, line: str) -> None:
        """Ask the server with curl, and see that it answers with a list."""
        answer = json.loads(self.terminal.succeed(f"{line} --silent"))
        found = answer.get("data") or answer.get("connectors")
        assert found, answer
        if "q=" in line:
            assert all(part["read"] for hit in found for part in hit["evidence_excerpts"])

    def bring_in(self, line: str) -> None:
        """Import an export that lies where the line says, and agree when asked."""
        _, _, place = shlex.split(line)
        export = Path(place.replace("~", self.terminal.variables["HOME"]))
        export.parent.mkdir(parents=True)
        with ZipFile(export, "w") as packed:
            packed.writestr("notes/rain.md", "# Rain\n\nIt rained all day.\n")
        self.terminal.variables["PATH"] = f".venv/bin:{self.terminal.variables['PATH']}"
        with self.terminal.running(line) as running:
            running.until("?")
            running.answer("y")
            code, screen = running.end()
        assert code == 0, screen
        assert "1 new" in screen


def run_tests(newcomer: Newcomer, line: str) -> None:
    """A test cannot run all tests: look that the line would, and that CI runs it."""
    assert "-m pytest" in newcomer.would(line)
    assert (ROOT / ".ci" / "run").read_text().splitlines()[-1] == f"exec {line}"


def connect(newcomer: Newcomer, line: str) -> None:
    assert f"Connected to {newcomer.terminal.url}" in newcomer.terminal.succeed(line)


def read(newcomer: Newcomer, line: str) -> None:
    assert "m-invoice-4471" in newcomer.terminal.succeed(line)


def configure(newcomer: Newcomer, line: str) -> None:
    assert newcomer.terminal.url in newcomer.terminal.succeed(line)


WAYS: dict[str, Callable[[Newcomer, str], None]] = {
    r"make run": Newcomer.start,
    r"make test": run_tests,
    r"curl -H .*": Newcomer.ask,
    r'echo "\$TOKEN" \| \.venv/bin/pdpp connect .*': connect,
    r"\.venv/bin/pdpp read search .*": read,
    r"\.venv/bin/pdpp mcp config \S+": configure,
    r"pdpp import \S+": Newcomer.bring_in,
}
"""How each kind of line is run; a line of no kind is one that nobody runs."""


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Newcomer]:
    with ExitStack() as stack:
        yield Newcomer(tmp_path_factory.mktemp("checkout"), stack)


def test_every_line_of_every_block_does_what_the_text_says(newcomer: Newcomer) -> None:
    lines = commands(README)
    assert lines[:2] == ["make run", "make test"]
    for line in lines:
        way(WAYS, line)(newcomer, line)
    seen_by_an_agent(newcomer)
    assert newcomer.server is not None
    assert "Traceback" not in newcomer.server.interrupt().screen


def seen_by_an_agent(newcomer: Newcomer) -> None:
    """Compare what README shows of a search with what an agent is shown."""
    [shown, *_] = blocks(README, "text")
    call = {"name": "search", "arguments": {"query": "+invoice +4471 +adhesive"}}
    answer = httpx.post(
        f"{newcomer.terminal.url}/mcp",
        json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call},
        headers={
            "Authorization": f"Bearer {newcomer.terminal.variables['TOKEN']}",
            "Accept": "application/json, text/event-stream",
        },
        trust_env=False,
        timeout=30,
    )
    assert answer.json()["result"]["content"][0]["text"] == shown.rstrip("\n")
    assert f"`search {json.dumps(call['arguments'], separators=(',', ':'))}`" in README.read_text()


def test_a_line_that_no_test_runs_is_noticed() -> None:
    with pytest.raises(AssertionError, match="no test knows how to run"):
        way(WAYS, "pdpp backup elsewhere")


@pytest.mark.parametrize("line", [line for line in inline(README) if line.startswith("make ")])
def test_every_make_line_in_the_text_would_do_something(newcomer: Newcomer, line: str) -> None:
    done = newcomer.would(line)
    for given in re.findall(r"[A-Z]+=(\S+)", line):
        assert given in done


@pytest.mark.parametrize("line", [line for line in inline(README) if "pdpp" in line.split()[0]])
def test_every_command_in_the_text_is_one(line: str) -> None:
    words = [word for word in line.split()[1:] if not word.isupper()]
    told = pdpp_here(*words, "--help")
    assert (told.code, told.err) == (0, "")
    assert told.out.startswith(f"Usage: pdpp {' '.join(words)}")


def test_the_walk_that_the_text_names_comes_to_its_end(newcomer: Newcomer) -> None:
    line = ".venv/bin/pdpp demo"
    assert line in inline(README)
    done = subprocess.run(
        shlex.split(line),
        cwd=newcomer.terminal.folder,
        env=newcomer.terminal.variables,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_address_of_the_pages_is_where_a_server_listens_unless_told() -> None:
    assert ADDRESS.rpartition(":")[2] in (ROOT / "Makefile").read_text().splitlines()[0]
