"""A window of the real browser, and what tests do in it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Browser, ConsoleMessage, Page
from tests.pages.house import PASSPHRASE, House

PHONE = {"width": 360, "height": 740}
DESK = {"width": 1_000, "height": 800}


@dataclass(frozen=True, slots=True)
class Window:
    """A page of the browser, at home on one server; ``complaints`` is what it wrote down."""

    house: House
    page: Page
    complaints: list[str]

    def open(self, path: str) -> "Window":
        """Go to an address of the server."""
        self.page.goto(self.house.url + path)
        return self

    def log_in(self) -> "Window":
        """Log in through the form of the page that is open."""
        self.page.get_by_label("Passphrase").fill(PASSPHRASE)
        self.page.get_by_role("button", name="Log in", exact=True).click()
        return self

    def press(self, name: str) -> None:
        """Press a button by its name, with the passphrase typed where the page asks for it."""
        confirm = self.page.locator("input[name=confirm]")
        button = self.page.get_by_role("button", name=name, exact=True)
        button.wait_for()  # The page that has the button may still be on its way.
        self.page.wait_for_load_state()  # And so may its scripts.
        if name in ("Approve", "Upload") and confirm.count():
            confirm.fill(PASSPHRASE)
        if not name.startswith("Revoke"):
            button.click()
            return
        with self.page.expect_navigation():
            button.click()
        if confirm.count():
            confirm.fill(PASSPHRASE)
            self.page.get_by_role("button", name="Revoke", exact=True).click()

    def sees(self, text: str) -> bool:
        """Tell whether a text can be seen."""
        return self.page.get_by_text(text).first.is_visible()


@contextmanager
def window(house: House, browser: Browser, **options: Any) -> Iterator[Window]:
    """Open a window that knows nothing yet."""
    context = browser.new_context(viewport=options.pop("viewport", DESK), **options)
    page = context.new_page()
    complaints: list[str] = []

    def note(message: ConsoleMessage) -> None:
        # A test that is quicker than the browser has a field in use before one gets the focus by
        # itself, which the browser then leaves where it is, as it should, and says so.
        if not message.text.startswith("Autofocus processing was blocked"):
            complaints.append(message.text)

    page.on("console", note)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    try:
        yield Window(house, page, complaints)
    finally:
        context.close()
