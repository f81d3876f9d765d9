"""The tutorial, typed as it stands; the owner's clicks in the browser are made in the store."""

import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.shell import (
    DEADLINE_SECONDS,
    Ended,
    Served,
    environment,
    pdpp,
    serving,
)

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial.md"
PORT = "http://127.0.0.1:7377"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="typed into a POSIX shell")


class Reader:
    """Somebody who follows the tutorial in a folder of their own."""

    def __init__(self, folder: Path, served: Served) -> None:
        self.folder = folder
        self.served = served

    def type(self, line: str) -> Ended:
        """Run one command of the page against the server of this test."""
        program, *arguments = shlex.split(line.replace(PORT, self.served.url))
        assert program == "pdpp", line
        done = subprocess.run(
            [sys.executable, "-m", "pdpp", *arguments],
            capture_output=True,
            text=True,
            cwd=self.folder,
            env=environment({"HOME": str(self.folder), "NO_COLOR": "1"}),
            stdin=subprocess.DEVNULL,
            timeout=DEADLINE_SECONDS,
            check=False,
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    def wait_until_told(self, line: str, text: str) -> None:
        """Run a command until it says something: receipts are written a moment after a read."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while text not in self.type(line).out:
            assert time.monotonic() < deadline

    def approve(self) -> str:
        """Approve what the page says and keep the token as connecting does; return the grant."""
        ask = ("grant", "create", "--client", "pdpp", "--purpose", "Learn", "--json")
        only = ("--connection", "cin_home", "--connection", "cin_notes")
        made = pdpp(*ask, *only, data=self.served.data).document
        (self.folder / "token").write_text(made["client_token"])
        connected = self.type(f"pdpp connect {PORT} --token-file token")
        assert connected.code == 0, connected
        return str(made["grant_id"])


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    folder = tmp_path_factory.mktemp("tutorial")
    with serving(folder / "tutorial-data", folder / "notes", "--demo") as served:
        yield Reader(folder, served)


def commands() -> list[str]:
    """Return the commands of the page that neither wait for somebody nor build the project."""
    blocks = re.findall(r"```sh\n(.*?)```", TUTORIAL.read_text(encoding="utf-8"), re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    return [line for line in lines if line.startswith("pdpp ")]


def test_the_reader_sees_what_the_tutorial_says(reader: Reader) -> None:
    serve, connect, *rest = commands()
    assert serve == "pdpp serve --demo --data tutorial-data"
    assert connect == f"pdpp connect {PORT}"
    grant_id = reader.approve()
    told = {line: reader.type(line) for line in rest[:-1]}
    schema, search, window, fetch, refused, config, receipts, grants = told.values()
    for ended in (schema, search, window, fetch, config, receipts, grants):
        assert (ended.code, ended.err) == (0, ""), ended
    assert "Home mail" in schema.out
    assert "m-invoice-4471-paid" in search.out
    assert "adhesive" in window.out
    assert "is paid" in fetch.out
    assert refused.code == 1
    assert "transactions" in refused.err
    assert "mcp" in config.out
    reader.wait_until_told("pdpp receipts --data tutorial-data", "Home mail")
    assert grant_id in grants.out
    assert pdpp("grant", "revoke", grant_id, data=reader.served.data).code == 0
    assert rest[-1] == "pdpp read schema"
    assert reader.type(rest[-1]).code == 78
