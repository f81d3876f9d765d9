"""The pages over many records, in a real browser.

CI runs this with some thousand records of the benchmark in 300 streams. A store of a million is
``PDPP_STOCK=FOLDER``: a copy of one that ``make bench N=1000000`` left in its folder.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
from bench import world
from bench.stock import read_stock
from playwright.sync_api import Browser, Page, Response, expect
from tests.engine import open_store
from tests.pages.house import House, housed
from tests.pages.test_layout import FAULTS, ROUNDING, SHIFT
from tests.pages.test_light import MOST_BYTES, MOST_REQUESTS
from tests.pages.window import DESK, PHONE, Window, window
from tests.serving import plant, write

from pdpp.store.port import Store

RECORDS = 6_000
STOCK = os.environ.get("PDPP_STOCK")


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[House, world.World]]:
    """A server with 30 accounts of 10 streams each."""
    if STOCK:
        stock = read_stock(Path(STOCK))
        with housed(stock.folder, store=open_store(stock.folder)) as made:
            yield made, stock.world
        return
    folder = Path(tmp_path_factory.mktemp("many")) / "store"
    folder.mkdir(mode=0o700)
    whole = world.make_world(RECORDS)
    with housed(folder, store=filled(open_store(folder), whole)) as made:
        yield made, whole


def filled(store: Store, whole: world.World) -> Store:
    for document in world.declarations():
        numbers = range(world.CONNECTIONS)
        own = [n for n in numbers if world.connector_key(n) == document["connector_key"]]
        names = {name: name.capitalize() for name in map(world.connection_id, own)}
        plant(store, document, names)
    for batch in whole.batches():
        lines = map(orjson.loads, whole.lines(batch).split(b"\n"))
        write(store, batch.feed.connection_id, batch.feed.stream, lines)
    return store


LOOKS = {
    "desk-light": {"viewport": DESK, "color_scheme": "light"},
    "phone-dark-no-scripts": {
        "viewport": PHONE,
        "color_scheme": "dark",
        "java_script_enabled": False,
    },
}


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_every_page_over_many_records_is_light_and_steady_and_hangs_nowhere_over(
    many: tuple[House, world.World], browser: Browser, look: dict[str, object]
) -> None:
    house, whole = many
    with window(house, browser, **look) as owner:
        owner.open("/login").log_in()
        expect(owner.page.get_by_role("heading", level=1)).to_have_text("What you have")
        for path in paths_of(house, whole):
            answers = loaded(owner, path)
            assert answers[0].status == 200, path
            assert len(answers) <= MOST_REQUESTS, [answer.url for answer in answers]
            assert sum(len(answer.body()) for answer in answers) <= MOST_BYTES, path
            assert owner.page.evaluate(FAULTS) == [], path
            if look.get("java_script_enabled", True):
                assert owner.page.evaluate(SHIFT) <= ROUNDING, path


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_nothing_moves_while_a_page_comes_over_a_slow_line(
    many: tuple[House, world.World], browser: Browser, size: dict[str, int]
) -> None:
    """The browser draws what it has of a page, and draws again when more of it is there."""
    house, whole = many
    with window(house, browser, viewport=size) as owner:
        owner.open("/login").log_in()
        expect(owner.page.get_by_role("heading", level=1)).to_have_text("What you have")
        slow_down(owner.page)
        moved = {path: shift_of(owner, path) for path in paths_of(house, whole)}
        assert {path: shift for path, shift in moved.items() if shift > ROUNDING} == {}


def slow_down(page: Page) -> None:
    """Let what a page loads from now on come in pieces, 40 KB a second."""
    client = page.context.new_cdp_session(page)
    client.send("Network.enable")
    line = {"offline": False, "latency": 0, "downloadThroughput": 40_000, "uploadThroughput": -1}
    client.send("Network.emulateNetworkConditions", line)


def shift_of(owner: Window, path: str) -> float:
    """Open a page and return how far things moved meanwhile."""
    owner.page.goto(owner.house.url + path)
    shift: float = owner.page.evaluate(SHIFT)
    return shift


def paths_of(house: House, whole: world.World) -> list[str]:
    """Return one address of each kind of page."""
    feed = whole.biggest
    account, record = feed.connection_id, feed.key(feed.size // 2)
    paths = ["/", "/search", f"/search?q={world.COMMON}", f"/search?q={world.MEDIUM}&sort=time"]
    paths += [f"/search?account={account}", "/search?month=2025-06", "/accounts", "/import"]
    paths += [f"/accounts/{account}", f"/accounts/{account}/remove", "/agents", "/activity"]
    return [*paths, "/settings", f"/r/{account}/{feed.stream}/{record}", house.ask()]


def loaded(owner: Window, path: str) -> list[Response]:
    """Open a page with nothing in the browser's cache, and return every answer it took."""
    answers: list[Response] = []
    owner.page.goto("about:blank")

    def note(answer: Response) -> None:
        answers.append(answer)

    owner.page.on("response", note)
    owner.page.context.new_cdp_session(owner.page).send(
        "Network.setCacheDisabled", {"cacheDisabled": True}
    )
    owner.page.goto(owner.house.url + path, wait_until="networkidle")
    owner.page.remove_listener("response", note)
    return answers


def test_many_records_are_searched_narrowed_read_and_shared(
    many: tuple[House, world.World], browser: Browser
) -> None:
    house, whole = many
    with window(house, browser) as owner:
        page = owner.open("/login").log_in().page
        expect(page.get_by_text(f"{whole.records:,} records in 30 accounts")).to_be_visible()
        page.wait_for_load_state()
        page.keyboard.press("/")
        page.keyboard.type(world.COMMON)
        page.keyboard.press("Enter")
        expect(page.get_by_role("status")).to_have_text(f"{whole.records // 5:,} records found")
        bar = page.locator(".timeline a").nth(5)
        label = str(bar.get_attribute("aria-label") or bar.locator("title").text_content())
        bar.click()
        expect(page.get_by_role("status")).to_have_text(f"{label.partition(': ')[2]} found")
        page.locator(".results a").first.click()
        expect(page.locator("mark#passage")).to_contain_text(world.COMMON)
        page.get_by_role("link", name="Later:").click()
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        see_bars(owner)
        share_one_account(owner)


def see_bars(owner: Window) -> None:
    """The months of all streams are counted when the first page is gone."""
    owner.open("/search")
    for _ in range(50):
        if owner.page.locator(".timeline").count():
            return
        expect(owner.page.get_by_text("The months are being counted.")).to_be_visible()
        owner.page.wait_for_timeout(200)
        owner.page.reload()
    raise AssertionError("the months were never counted")


def share_one_account(owner: Window) -> None:
    """Pick one stream of one of 30 accounts, and two of its fields."""
    page: Page = owner.open(owner.house.ask()).page
    page.get_by_role("button", name="Choose in Mail-07", exact=True).click()
    streams = page.locator("input[name=stream]")
    expect(streams).to_have_count(len(world.STREAMS))
    for box in streams.all()[1:]:
        box.uncheck()
    page.get_by_role("button", name="fields of").first.click()
    for box in page.locator("input[name=field]").all():
        if not str(box.get_attribute("value")).endswith(("/title", "/sent_at")):
            box.uncheck()
    owner.press("Continue")
    enforced = page.get_by_role("region", name="What it may read")
    expect(enforced).to_contain_text("1 account, 1 kind of record")
    expect(enforced).to_contain_text("2 of 7 fields")
