"""The tutorial, typed and clicked as it stands: a fresh checkout, a terminal and a real browser."""

import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.cli.shell import DEADLINE_SECONDS
from tests.house.terminal import ROOT, Running, Terminal, checkout, commands, way
from tests.pages.chromium import browsing

TUTORIAL = ROOT / "docs" / "tutorial.md"
PASSPHRASE = "four plain words here"

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="typed into a POSIX shell"),
]


class Reader:
    """Somebody who follows the tutorial: two terminals, and a browser where the text says so."""

    def __init__(self, folder: Path, page: Page, stack: ExitStack) -> None:
        variables = {"PDPP_PORT": "0", "DISPLAY": ":0", "BROWSER": "true"}
        self.terminal = Terminal(checkout(folder), variables)
        self.page = page
        self.revoked = False
        self.server: Running | None = None
        self._stack = stack

    def walk(self, line: str) -> None:
        """Follow the walk to its end, with Enter after each step."""
        with self.terminal.running(line) as walking:
            walking.until("Enter goes on")
            walking.answer("\n" * 30)
            code, screen = walking.end()
        assert code == 0, screen
        assert "invoice 4471" in screen

    def press(self, name: str) -> None:
        """Press a button of the page."""
        self.page.get_by_role("button", name=name, exact=True).click()

    def serve(self, line: str) -> None:
        """Start the server, open the address it prints, and choose a passphrase with its code."""
        self.server = self._stack.enter_context(self.terminal.running(line))
        said = self.server.until("Stop with Ctrl-C")
        [self.terminal.url] = set(re.findall(r"answers on (\S+)", said))
        [code] = re.findall(r"^ +((?:\w{4}-){2}\w{4})$", said, re.MULTILINE)
        self.page.goto(f"{self.terminal.url}/agents")
        self.page.get_by_label("Set-up code").fill(code)
        for label in ("Passphrase", "The same passphrase again"):
            self.page.get_by_label(label, exact=True).fill(PASSPHRASE)
        self.press("Set up")
        expect(self.page.get_by_role("heading", level=1)).to_have_text("Who may read your data")

    def connect(self, line: str) -> None:
        """Ask for access, choose what the text names, look at it, and approve."""
        assert "Tick *Home mail* and *Notes*" in TUTORIAL.read_text()
        with self.terminal.running(line) as asking:
            said = asking.until("Waiting for the owner")
            [address] = re.findall(r"^ +(http\S+)$", said, re.MULTILINE)
            self.page.goto(address)
            for name in ("Home mail", "Notes"):
                self.page.get_by_role("checkbox", name=name).check()
            self.press("Continue")
            self.page.get_by_text("See what the agent would see").first.click()
            self.page.get_by_label("Passphrase").fill(PASSPHRASE)
            self.press("Approve")
            code, screen = asking.end()
        assert code == 0, screen
        assert re.findall(r"^  ([\w ]+): ", screen, re.MULTILINE) == ["Home mail", "Notes"]

    def schema(self, line: str) -> None:
        """See what there is; after the revocation nothing is."""
        code, screen = self.terminal.type(line)
        assert code == (78 if self.revoked else 0), screen
        assert ("grant_revoked" if self.revoked else "Home mail") in screen

    def refused(self, line: str) -> None:
        """Ask for what was not approved."""
        code, screen = self.terminal.type(line)
        assert code == 1, screen
        assert "transactions" in screen

    def configure(self, line: str) -> None:
        """See how an agent is connected to this very server."""
        said = self.terminal.succeed(line)
        assert '"--provider-url"' in said
        assert self.terminal.url in said

    def see_receipts(self, line: str) -> None:
        """See what was read; receipts are written a moment after a read."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while "Home mail" not in self.terminal.succeed(line):
            assert time.monotonic() < deadline

    def take_back(self, line: str) -> None:
        """See the grants, and revoke the client in the browser."""
        assert self.terminal.succeed(line).count("active") >= 2
        assert "`http://127.0.0.1:7377/agents`" in TUTORIAL.read_text()
        self.page.goto(f"{self.terminal.url}/agents")
        self.page.get_by_role("link", name="pdpp").first.click()
        self.page.get_by_role("button", name="Revoke everything").click()
        self.page.get_by_label("Passphrase").fill(PASSPHRASE)
        self.page.locator("main form button.primary").click()
        expect(self.page.get_by_text("revoked", exact=True).first).to_be_visible()
        self.revoked = True


def shows(text: str) -> Callable[[Reader, str], None]:
    """Return the step that types a line and sees a text."""

    def step(reader: Reader, line: str) -> None:
        assert text in reader.terminal.succeed(line)

    return step


WAYS: dict[str, Callable[[Reader, str], None]] = {
    r"make program": shows("make: Nothing to be done"),
    r"\.venv/bin/pdpp demo": Reader.walk,
    r"export PATH=.*": shows(""),
    r"pdpp serve --demo --data tutorial-data": Reader.serve,
    r"pdpp connect \S+": Reader.connect,
    r"pdpp read schema": Reader.schema,
    r"pdpp read search .*": shows("m-invoice-4471-paid"),
    r"pdpp read window .*": shows("adhesive"),
    r"pdpp read fetch .*": shows("is paid"),
    r"pdpp read records transactions": Reader.refused,
    r"pdpp mcp config \S+": Reader.configure,
    r"pdpp receipts --data tutorial-data": Reader.see_receipts,
    r"pdpp grant list --data tutorial-data": Reader.take_back,
}
"""How each kind of line is run; a line of no kind is one that nobody runs."""


@pytest.fixture
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reader]:
    with ExitStack() as stack:
        browser = stack.enter_context(browsing(tmp_path_factory.mktemp("browser-home")))
        yield Reader(tmp_path_factory.mktemp("checkout"), browser.new_page(), stack)


def test_the_reader_sees_what_the_tutorial_says(reader: Reader) -> None:
    for line in commands(TUTORIAL):
        way(WAYS, line)(reader, line)
    assert reader.revoked
    assert reader.server is not None
    assert "Traceback" not in reader.server.interrupt().screen


def test_a_line_of_the_tutorial_that_no_test_runs_is_noticed() -> None:
    with pytest.raises(AssertionError, match="no test knows how to run"):
        way(WAYS, "pdpp backup elsewhere")
