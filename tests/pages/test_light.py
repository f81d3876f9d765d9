"""Every page is light: 40 KB with its style and three requests at most, however much there is."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.pages.house import REDIRECT, House, Reader, Sheet, housed
from tests.pages.test_home import fail_import
from tests.pages.test_import import Uploader, vault
from tests.serving import seeded_store

from pdpp.demo import sources

MOST_BYTES, MOST_REQUESTS = 40_000, 3
ACCOUNTS = 40


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """The demo world with 40 more accounts and many failed imports."""
    folder = Path(tmp_path_factory.mktemp("crowded")) / "store"
    store = seeded_store(folder)
    keys = sorted(store.catalogue().sources)
    for number in range(ACCOUNTS):
        key = keys[number % len(keys)]
        store.connect(
            f"cin_{number:012}", key, f"{key.replace('_', ' ')} of the year {2000 + number}"
        )
    with housed(folder, store=store) as made:
        for number in range(60):
            fail_import(made.store, folder / f"export-{number}.zip", "This is no zip file. " * 5)
        yield made


@pytest.fixture(scope="module")
def host(crowded: House) -> Reader:
    return crowded.owner()


def shared_bytes(reader: Reader) -> int:
    """Return what every page loads beside itself."""
    style = reader.get("/").tree.css_first("link[rel=stylesheet]")
    assert style is not None
    paths = str(style.attributes["href"]), "/icon.svg"
    return sum(len(reader.http.get(path).content) for path in paths)


def faults(shared: int, **pages: Sheet) -> dict[str, int]:
    """Return the pages that are too heavy, by name, each with its bytes."""
    heavy = {}
    for name, page in pages.items():
        loaded = page.tree.css("link[rel=stylesheet], link[rel=icon], script[src]")
        assert len(loaded) + 1 <= MOST_REQUESTS, name
        if len(page.answer.content) + shared > MOST_BYTES:
            heavy[name] = len(page.answer.content) + shared
    return heavy


def tick_all(page: Sheet) -> tuple[tuple[str, str], ...]:
    """Return every box of a page that is not ticked."""
    boxes = page.tree.css("input[type=checkbox]:not([checked])")
    return tuple((str(box.attributes["name"]), str(box.attributes["value"])) for box in boxes)


def test_a_page_is_light(crowded: House, host: Reader) -> None:
    account = "/accounts/cin_home"
    paths = ["/", "/search", "/search?q=invoice", "/search?q=the+invoice+kitchen", "/accounts"]
    paths += ["/search?month=2026-03", "/search?account=cin_home", "/search?q=nothingatall"]
    paths += [account, f"{account}/remove", "/import", "/agents", "/activity", "/settings"]
    paths += ["/device", "/acounts", "/r/cin_home/messages/m-invoice-4471", "/consent/gone"]
    paths += [f"/import/{crowded.store.jobs.recent(1, 'import')[0].id}"]
    paths += [
        f"/accounts/{number:012}".replace("/accounts/", "/accounts/cin_") for number in (0, 7)
    ]
    pages = {path: host.get(path) for path in paths}
    assert faults(shared_bytes(host), **pages) == {}
    assert faults(shared_bytes(host), login=crowded.stranger().get("/login")) == {}


def test_what_was_uploaded_is_listed_on_a_light_page(crowded: House, host: Reader) -> None:
    notes = {f"note {number} with a long name": f"# {number}\n" for number in range(200)}
    plan = Uploader(host).send("notes.zip", vault(**notes))
    assert plan.status == 200
    assert faults(shared_bytes(host), plan=plan, imports=host.get("/import")) == {}


def test_choosing_among_48_accounts_is_light_at_every_step(crowded: House, host: Reader) -> None:
    shared = shared_bytes(host)
    first = host.get(crowded.ask())
    opened = first.send(action="open:cin_home", tick=tick_all(first))
    fields = opened.send(action="open:cin_home/messages", tick=tick_all(opened))
    chosen = fields.send(action="update", tick=tick_all(fields), span="all")
    again = chosen.send(action="open:")
    everyday = again.send(action="preset:everyday")
    wrong = everyday.send(action="update", span="dates", since="2026-02-01", until="2026-01-01")
    assert wrong.status == 400
    told = fields.send(action="approve", confirm="wrong", tick=tick_all(fields))
    pages = {"first": first, "opened": opened, "fields": fields, "chosen": chosen, "again": again}
    pages |= {"everyday": everyday, "wrong": wrong, "told": told}
    assert faults(shared, **pages) == {}
    assert "48 accounts" in chosen.text


def test_all_that_48_accounts_hold_is_approved_step_by_step(crowded: House, host: Reader) -> None:
    """What was ticked on one page is still ticked on the next, though its boxes are not there."""
    client_id = crowded.register("Reads It All")
    page = host.get(crowded.ask(client_id=client_id))
    page = page.send(action="open:cin_bank", tick=tick_all(page))
    payee = ("field", "cin_bank/transactions/counterparty")
    fields = page.send(action="open:cin_bank/transactions")
    assert payee in fields.fields()
    page = fields.send(action="open:cin_home", untick=(payee,))
    page = page.send(action="update", untick=(("stream", "cin_home/threads"),))
    location = page.send(action="approve").location
    grants = [grant for grant in crowded.store.vault.grants() if grant.client_id == client_id]
    allowances = {(a.connection_id, a.stream): a for grant in grants for a in grant.allowances}
    assert len(grants) == 48
    bank = allowances["cin_bank", "transactions"]
    assert not bank.whole
    assert "counterparty" not in bank.fields
    assert ("cin_home", "messages") in allowances
    assert ("cin_home", "threads") not in allowances
    assert all(a.whole for place, a in allowances.items() if place != ("cin_bank", "transactions"))
    assert crowded.redeem(location, client_id, REDIRECT)
    agents = host.get("/agents")
    links = {str(node.attributes["href"]) for node in agents.tree.css("a.agent")}
    pages = {link: host.get(link) for link in links}
    assert faults(shared_bytes(host), agents=agents, **pages) == {}


def test_a_request_for_every_source_is_light(crowded: House, host: Reader) -> None:
    asked: list[dict[str, Any]] = [
        {
            "type": "https://pdpp.dev/data-access",
            "source": source.declaration["connector_key"],
            "purpose_code": "https://pdpp.dev/purpose/assistant",
            "purpose_description": "Answer questions about everything.",
            "access_mode": "continuous",
            "streams": [{"name": "*"}],
        }
        for source in sources()
    ]
    page = host.get(crowded.ask(*asked))
    assert "48 accounts" in page.text, json.dumps(asked)[:200]
    less = page.send(action="open:")
    assert faults(shared_bytes(host), page=page, less=less) == {}
    kept = less.send(action="update", untick=(("connection", "cin_bank"),))
    assert "47 accounts" in kept.text
