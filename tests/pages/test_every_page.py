"""Every page in every state, in a real browser: accessible, steady, and within its screen."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect
from starlette.routing import Route
from tests.pages.chromium import axe_script
from tests.pages.every_page import empty, every_page, lived_in, one_account
from tests.pages.house import House
from tests.pages.test_layout import FAULTS, ROUNDING, SHIFT
from tests.pages.window import DESK, PHONE, Window, window
from tests.soak import SOAK

from pdpp.app import make_app

SHOTS = os.environ.get("PDPP_SCREENSHOTS")
STATES = {"lived-in": lived_in, "one-account": one_account, "empty": empty}
LOOKS = {
    "lived-in-desk-light": ("lived-in", DESK, "light"),
    "lived-in-phone-dark": ("lived-in", PHONE, "dark"),
    "one-account-phone-light": ("one-account", PHONE, "light"),
    "empty-phone-dark": ("empty", PHONE, "dark"),
    **({"lived-in-desk-dark": ("lived-in", DESK, "dark")} if SOAK else {}),
    **({"lived-in-phone-light": ("lived-in", PHONE, "light")} if SOAK else {}),
    **({"one-account-desk-dark": ("one-account", DESK, "dark")} if SOAK else {}),
    **({"empty-desk-light": ("empty", DESK, "light")} if SOAK else {}),
}
"""Each state, size and scheme; what all of them have to do with each other is for a soak."""

WITHOUT_PAGES = {
    "/logout",
    "/setup",
    "/activity/export",
    "/import/uploads",
    "/import/uploads/{upload_id}/{number}",
    "/file/{blob_id}/{name}",
    "/agents/{agent}/see/{approval}/file/{blob_id}/{name}",
    "/agents/{agent}/consent/{approval}",
}
"""Routes that answer with a file, with plain text or with another address. The page of the set-up
is seen in the tests of the first visit, by somebody who is not the owner yet."""

_RULES = "['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice']"
JUDGEMENT = f"""() => axe.run({{resultTypes: ['violations'], runOnly: {_RULES}}}).then(
  (all) => all.violations.flatMap((rule) => rule.nodes.map(
    (node) => [rule.id, node.target.join(' '), node.failureSummary])))"""

_SAME_EVERYWHERE = {"device", "answered", "mistyped", "apology", "settings", "upload", "picker"}
"""Pages that look the same whether there is one account or many."""


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, House]]:
    """Servers that were asked for, each made once."""
    houses = _Houses(tmp_path_factory.mktemp("states"))
    yield houses
    houses.close()


class _Houses(dict[str, House]):
    """A server for each state, started when it is first looked at."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self._open: list[Any] = []

    def __missing__(self, name: str) -> House:
        serving = STATES[name](self._folder / name)
        house = self[name] = serving.__enter__()
        self._open.append(serving)
        return house

    def close(self) -> None:
        for serving in self._open:
            serving.__exit__(None, None, None)


def test_every_route_with_a_page_is_looked_at(states: dict[str, House]) -> None:
    house = states["lived-in"]
    app = make_app(house.store, data=house.folder)
    routes = [route for route in app.routes if isinstance(route, Route)]
    pages = {route.path for route in routes if "pages" in type(route.endpoint).__module__}
    paths = [path.partition("?")[0] for path in (*every_page(house).values(), "/login")]
    seen = {
        next(route.path for route in routes if route.path_regex.match(path))
        for path in paths
        if any(route.path_regex.match(path) for route in routes)
    }
    assert pages - WITHOUT_PAGES - seen == set()
    assert pages >= WITHOUT_PAGES


@pytest.mark.parametrize(("state", "size", "scheme"), LOOKS.values(), ids=LOOKS)
def test_every_page_is_accessible_and_fits_its_screen(
    states: dict[str, House], browser: Browser, state: str, size: dict[str, int], scheme: str
) -> None:
    house, judge = states[state], axe_script()
    look = f"{state}-{scheme}-{size['width']}"
    with window(house, browser, viewport=size, color_scheme=scheme, bypass_csp=True) as owner:
        owner.page.add_init_script(judge)
        faults = [("login", fault) for fault in faults_of(owner, f"login-{look}", "/login")]
        owner.log_in()
        expect(owner.page.get_by_role("heading", level=1)).to_be_visible()
        for name, path in every_page(house).items():
            if state == "one-account" and name in _SAME_EVERYWHERE:
                continue
            shot = f"{name.replace(' ', '-')}-{look}"
            faults += [(name, fault) for fault in faults_of(owner, shot, path)]
        complaints = [line for line in owner.complaints if "404" not in line and "401" not in line]
    assert faults == []
    assert complaints == []


def faults_of(owner: Window, shot: str, path: str) -> Iterator[object]:
    """Yield what moved while the page was loaded, and with all of it unfolded, what is wrong."""
    owner.open(path)
    moved = owner.page.evaluate(SHIFT)
    if moved > ROUNDING:
        yield f"moved by {moved}"
    owner.page.evaluate(
        "() => { for (const fold of document.querySelectorAll('main details')) fold.open = true;"
        " for (const box of document.querySelectorAll('input.opens')) box.checked = true }"
    )
    if SHOTS:
        owner.page.screenshot(path=Path(SHOTS) / f"{shot}.png", full_page=True)
    yield from owner.page.evaluate(FAULTS)
    yield from owner.page.evaluate(JUDGEMENT)
