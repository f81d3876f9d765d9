"""The owner's pages in a real browser, full of hostile text: nothing runs and nothing leaves."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlsplit

import pytest
from playwright.sync_api import Browser, expect
from tests.attacks.corpus import HOST, KEYS, STREAM, TEXTS, hostile_store, note
from tests.pages.chromium import browsing
from tests.pages.house import MAIL, House, housed
from tests.pages.window import Window, window
from tests.serving import UNLIMITED

from pdpp.authz.requester import agent_id
from pdpp.authz.selection import Selection, make_grant, resolve
from pdpp.evidence.fence import HIDDEN
from pdpp.model import instant
from pdpp.receipts.recorder import ReceiptPolicy

CLIENT = f'<img src="https://{HOST}/" onerror=hacked=1>\u202e{TEXTS["template"]}'[:90]
EVERY = "\n".join(TEXTS.values()).encode("utf-8", "replace").decode()[:18_000]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browsing(tmp_path_factory.mktemp("browser-home")) as started:
        yield started


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """The hostile store with an owner and an agent that has read from it."""
    folder = Path(tmp_path_factory.mktemp("hostile-house"))
    store = hostile_store(folder)
    settings = replace(UNLIMITED, receipts=ReceiptPolicy(seconds=0.02))
    with housed(folder, store=store, settings=settings) as made:
        made.world.put("cin_a", "notes", note("every", EVERY))
        approval, secret, token = make_grant(
            tuple(resolve(Selection(), store.catalogue())),
            client_id=CLIENT,
            purpose=TEXTS["script"] + TEXTS["html"],
            now=instant.now(),
        )
        store.vault.keep_grant(approval, [token])
        agent = made.world.server.client(secret)
        assert agent.get("/v1/streams/notes/records").status_code == 200
        assert agent.get("/v1/search", params={"q": TEXTS["script"]}).status_code == 200
        yield made


@pytest.fixture(scope="module")
def desk(house: House, browser: Browser) -> Iterator[tuple[Window, list[str]]]:
    """A window of the owner, and every address that it asked for."""
    asked: list[str] = []
    with window(house, browser) as made:
        made.page.on("request", lambda request: asked.append(request.url))
        made.page.on("dialog", lambda dialog: asked.append(f"dialog {dialog.message}"))
        made.open("/login").log_in()
        expect(made.page.get_by_role("heading", level=1)).to_be_visible()
        made.complaints.clear()
        yield made, asked


def check_page(desk: tuple[Window, list[str]], path: str) -> str:
    """Open a page; return its text after checking that it did nothing but show it."""
    seen, asked = desk
    asked.clear()
    seen.complaints.clear()
    seen.open(path)
    seen.page.wait_for_load_state("networkidle")
    assert seen.page.evaluate("typeof hacked") == "undefined"
    assert [url for url in asked if not url.startswith(seen.house.url + "/")] == []
    told = [line for line in seen.complaints if "404" not in line]
    assert told == [], told
    for selector in ("main script", "main img", "main iframe", "main svg", "main style"):
        assert seen.page.locator(selector).count() == 0, selector
    handlers = "[...document.querySelectorAll('*')].flatMap(n => n.getAttributeNames())"
    names = seen.page.evaluate(f"{handlers}.filter(n => n.startsWith('on') || n === 'style')")
    assert names == []
    links = seen.page.evaluate("[...document.querySelectorAll('main a')].map(a => a.href)")
    assert not any(link.startswith(("javascript:", "data:")) for link in links)
    text = str(seen.page.locator("body").inner_text())
    assert not HIDDEN.search(text.replace("\n", "").replace("\t", ""))
    return text


def read_through(desk: tuple[Window, list[str]], path: str) -> str:
    """Return the text of a record's page and of the pages on which its body goes on."""
    text, start = check_page(desk, path), -1
    while True:
        links = desk[0].page.evaluate("[...document.querySelectorAll('main a')].map(a => a.href)")
        starts = [int(query["from"]) for link in links if "from" in (query := query_of(link))]
        if not (later := [other for other in starts if other > start]):
            return text
        start = min(later)
        text += check_page(desk, f"{path}?field=body&from={start}")


def query_of(link: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(link).query))


def test_a_page_of_a_record_shows_every_text_as_text(desk: tuple[Window, list[str]]) -> None:
    text = read_through(desk, "/r/cin_a/notes/every")
    assert "<script>hacked=1</script>" in text
    assert "{{ 7*7 }}" in text
    marked = check_page(desk, f"/r/cin_a/notes/every?field=body&chars=0-{len(EVERY) // 2}")
    assert "onerror" in marked
    check_page(desk, "/r/cin_a/notes/mega?field=body&chars=500000-500100")


@pytest.mark.parametrize("name", ["html", "script", "attribute", "javascript", "bidi", "markdown"])
def test_a_declared_link_and_a_title_stay_what_they_are(
    desk: tuple[Window, list[str]], name: str
) -> None:
    check_page(desk, f"/r/cin_a/notes/n{list(TEXTS).index(name)}")


def test_keys_in_an_address_are_only_keys(desk: tuple[Window, list[str]]) -> None:
    for name in ("markup", "query", "quotes", "dollar", "bidi", "backslash"):
        check_page(desk, f"/r/cin_b/notes/{quote(KEYS[name], safe='')}")
    check_page(desk, f"/r/{quote('cin c · d')}/{quote(STREAM, safe='')}/{quote(KEYS['row'])}")
    check_page(desk, "/r/cin_a/notes/" + quote("<script>hacked=1</script>", safe=""))


def test_consent_shows_accounts_and_wishes_as_text(desk: tuple[Window, list[str]]) -> None:
    house = desk[0].house
    name = "Helper\" onmouseover='hacked=1' {{ 7*7 }}"
    text = check_page(desk, house.ask(name=name))
    assert "onmouseover='hacked=1' {{ 7*7 }}" in text
    assert "</script><img src" in text
    asked = {
        **MAIL,
        "source": "shelf",
        "purpose_description": (TEXTS["script"] + TEXTS["html"])[:300],
        "streams": [{"name": "notes"}, {"name": STREAM, "necessity": "optional"}],
    }
    text = check_page(desk, house.ask(asked, name=name))
    assert "<script>hacked=1</script>" in text


def test_agents_and_their_receipts_show_names_as_text(desk: tuple[Window, list[str]]) -> None:
    assert "onerror=hacked=1" in check_page(desk, "/agents")
    check_page(desk, f"/agents/{agent_id(CLIENT)}")
    for path in ("/receipts", "/device?user_code=" + quote(TEXTS["html"]), "/consent/<script>"):
        check_page(desk, path)


def test_the_check_of_pages_sees_what_it_must(desk: tuple[Window, list[str]]) -> None:
    seen, _ = desk
    seen.open("/agents")
    seen.page.evaluate("document.querySelector('main').innerHTML = '<img alt=x>'")
    assert seen.page.locator("main img").count() == 1
    seen.page.evaluate("window.hacked = 1")
    assert seen.page.evaluate("typeof hacked") == "number"
