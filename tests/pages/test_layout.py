"""Every page keeps its shape: nothing moves, overlaps or hangs over, whatever a page holds."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser
from tests.engine import open_store
from tests.pages.chromium import picture
from tests.pages.house import MAIL, House, housed
from tests.pages.journey import heading
from tests.pages.test_home import fail_import
from tests.pages.test_record import DECLARATION
from tests.pages.window import DESK, PHONE, Window, window
from tests.serving import planted_store, put
from tests.soak import SOAK

SHIFT = """() => new Promise((done) => {
  let total = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) total += entry.value;
  }).observe({ type: "layout-shift", buffered: true });
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(total), 50)));
})"""
"""How far things moved since the page began, as the browser counts it."""

ROUNDING = 0.001
"""A line that is rounded to another pixel moves by less, a picture that comes late by far more."""

FAULTS = """() => {
  const faults = [];
  const shown = (node) => node.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const name = (node) => node.tagName + " " + (node.innerText || node.value || "").slice(0, 40);
  const held = (node) => {
    for (let at = node.parentElement; at; at = at.parentElement)
      if (getComputedStyle(at).overflowX !== "visible") return true;
    return false;
  };
  const nodes = [...document.body.querySelectorAll("*")].filter(shown);
  for (const node of nodes) {
    const box = node.getBoundingClientRect();
    const away = box.right <= 0;  // the link that shows itself when it has the focus
    if (box.width && !away && (box.right > innerWidth + 1 || box.left < -1) && !held(node))
      faults.push("hangs over: " + name(node));
  }
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  for (let text = texts.nextNode(); text; text = texts.nextNode()) {
    if (!shown(text.parentElement) || text.parentElement.closest("option")) continue;
    for (const word of text.data.matchAll(/(?<!\\S)\\p{L}{4,16}(?!\\S)/gu)) {
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
      if (lines.size > 1) faults.push("a broken word: " + word[0]);
    }
  }
  const kinds = "a, button, input, select, textarea, summary";
  const floats = (node) =>
    node && (["sticky", "fixed"].includes(getComputedStyle(node).position)
      || floats(node.parentElement));
  // What stays in sight lies over what can be scrolled away from under it.
  const controls = nodes.filter((node) => node.matches(kinds) && !floats(node));
  const boxes = controls.flatMap((node) =>
    [...node.getClientRects()].filter((box) => box.width && box.height).map((box) => [node, box]));
  for (const [at, [one, a]] of boxes.entries()) for (const [two, b] of boxes.slice(at + 1)) {
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (one !== two && wide > 2 && high > 2 && !one.contains(two) && !two.contains(one))
      faults.push("overlap: " + name(one) + " / " + name(two));
  }
  for (const node of document.fonts) faults.push("a font that comes later: " + node.family);
  return faults;
}"""
"""What hangs over the edge of the screen, which words are broken, and which controls overlap."""

_TRIES = 3
"""A minute that passes between two pictures changes a time on a page; no minute passes thrice."""

SCRIPTED = {"/import", "/settings"}
"""Pages on which a script shows more than there is without: a place to drop files, passkeys."""


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A server without records, whose last import failed."""
    folder = Path(tmp_path_factory.mktemp("empty")) / "store"
    folder.mkdir(mode=0o700)
    with housed(folder, store=open_store(folder)) as made:
        fail_import(made.store, folder / f"{'broken-' * 30}.zip", "It is no zip.")
        yield made


@pytest.fixture(scope="module")
def endless(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A server with one account of a very long name, whose records have words without an end."""
    folder = Path(tmp_path_factory.mktemp("endless"))
    store = planted_store(folder, DECLARATION, {"c": "Account" * 15})
    long: dict[str, Any] = {"name": "Title" * 60, "body": "word" * 400, "tags": ["tag" * 90]}
    put(store, "c", "things", *({"id": f"{number}-{'k' * 90}", **long} for number in range(3)))
    with housed(folder, store=store) as made:
        yield made


CONVERSATIONS = {
    **MAIL,
    "streams": [{"name": "threads", "time_range": {"since": "2026-01-01T00:00:00Z"}}],
}
"""A long name beside a long count."""


def paths_of(house: House) -> tuple[str, ...]:
    """Return the pages that a house has for its owner."""
    every = "/", "/search", "/accounts", "/import", "/agents", "/activity", "/settings"
    jobs = [f"/import/{job.id}" for job in house.store.jobs.recent(1, "import")]
    accounts = [f"/accounts/{name}" for name in house.store.catalogue().connections][:1]
    asked = house.ask(MAIL), house.ask(CONVERSATIONS), house.ask()
    return *every, *jobs, *accounts, "/acounts", *asked


RECORDS = {
    "house": ("/search?q=invoice&month=2026-03", "/r/cin_home/messages/m-invoice-4471"),
    "endless": (
        f"/r/c/things/1-{'k' * 90}",
        f"/r/c/things/1-{'k' * 90}?field=body&chars=9-900",
        "/search?q=wordword*",
    ),
    "empty": ("/search?q=nothing",),
}


LOOKS = {
    "many-desk-light": ("house", DESK, "light"),
    "many-phone-dark": ("house", PHONE, "dark"),
    "long-phone-light": ("endless", PHONE, "light"),
    "empty-phone-dark": ("empty", PHONE, "dark"),
    **({"long-desk-dark": ("endless", DESK, "dark")} if SOAK else {}),
    **({"empty-desk-light": ("empty", DESK, "light")} if SOAK else {}),
}


@pytest.mark.parametrize(("name", "size", "scheme"), LOOKS.values(), ids=LOOKS)
def test_nothing_moves_overlaps_or_hangs_over(
    request: pytest.FixtureRequest, browser: Browser, name: str, size: dict[str, int], scheme: str
) -> None:
    """A page looks the same as soon as it is there, when all is loaded, and without scripts."""
    house: House = request.getfixturevalue(name)
    look = {"viewport": size, "color_scheme": scheme}
    with (
        window(house, browser, **look) as owner,
        window(house, browser, **look, java_script_enabled=False) as plain,
    ):
        for one in (owner, plain):
            one.open("/login").log_in()
            one.page.locator("h1").wait_for()
        paths = (*paths_of(house), *RECORDS[name])
        assert [fault for path in paths for fault in faults_of(owner, plain, path)] == []


def faults_of(owner: Window, plain: Window, path: str) -> Iterator[tuple[str, str]]:
    """Compare the pictures of a page, and look for what moved, overlaps or hangs over."""
    owner.page.goto(owner.house.url + path, wait_until="domcontentloaded")
    first = picture(owner.page)
    owner.page.wait_for_load_state("load")
    if moved := owner.page.evaluate(SHIFT):
        yield path, f"moved by {moved}"
    for fault in owner.page.evaluate(FAULTS):
        yield path, fault
    loaded = picture(owner.page)
    if loaded != first:
        yield path, "looks other when all is loaded"
    if path not in SCRIPTED and not looks_alike(owner, plain, path, loaded):
        yield path, "looks other without scripts"


def looks_alike(owner: Window, plain: Window, path: str, loaded: bytes) -> bool:
    """Compare a page as it was loaded, and if need be as it is now, with itself without scripts."""
    for _ in range(_TRIES):
        if picture(plain.open(path).page) == loaded:
            return True
        loaded = picture(owner.open(path).page)
    return False


def test_the_measures_notice_what_is_wrong(house: House, browser: Browser) -> None:
    with window(house, browser, bypass_csp=True) as owner:
        owner.open("/accounts").log_in()
        heading(owner.page, "Accounts")
        assert owner.page.evaluate(FAULTS) == []
        owner.page.add_style_tag(content="main li { width: 120vw; margin-top: -2em }")
        owner.page.add_style_tag(content="h1 { width: 3em }")
        faults = " ".join(owner.page.evaluate(FAULTS))
        assert "hangs over" in faults
        assert "a broken word: Accounts" in faults
        assert "overlap" in faults
        owner.page.evaluate(
            "document.body.prepend(Object.assign(document.createElement('div'), "
            "{style: 'height: 200px'}))"
        )
        assert owner.page.evaluate(SHIFT) > 0
