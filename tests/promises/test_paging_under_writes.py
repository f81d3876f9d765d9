"""Pages and changes stay true while records are written."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.engine import open_store
from tests.promises.bustle import STEADY, Bustle
from tests.promises.caller import Caller, calling
from tests.promises.letters import declaration
from tests.promises.sights import SEASON
from tests.serving import UNLIMITED, approve, owner

from pdpp.app import make_app
from pdpp.authz.selection import Selection
from pdpp.model.validation import parse_declaration
from pdpp.service.settings import Settings
from pdpp.store.port import Store

PATH = "/v1/streams/messages/records"
CONNECTIONS = ("home", "work")
THREADED = Settings(requests_per_second=0, inline_seconds=0.0, read_seconds=30.0)
"""Settings under which a read that asks twice for the time goes on in another thread."""

SELECTIONS = {
    "everything": Selection(),
    "few fields": Selection(fields=("id", "subject", "amount")),
    "a season": Selection(time=SEASON),
    "a season without its dates": Selection(fields=("id", "note", "label"), time=SEASON),
    "some keys": Selection(keys=("restless-01", "restless-02", "restless-03", *STEADY[:20])),
}
SORTS: list[dict[str, str]] = [
    {},
    {"order": "asc"},
    {"sort": "amount"},
    {"sort": "-amount"},
    {"sort": "label", "order": "desc"},
    {"sort": "-sent_at", "filter[label]": "a"},
    {"sort": "amount", "filter[sent_at][gte]": "2026-03-05"},
]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(tmp_path)
    opened.register(parse_declaration(declaration()))
    for connection_id in CONNECTIONS:
        opened.connect(connection_id, "letters", connection_id.title())
    yield opened
    opened.close()


def _places(rows: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(row["connection_id"], row["id"]) for row in rows]


def _read_while_written(caller: Caller, bustle: Bustle, asked: dict[str, str]) -> list[Any]:
    rows = []
    for page in caller.pages(PATH, limit=13, **asked):
        rows += page["data"]
        bustle.wait_for_writes()
    return rows


def _sorted_by(asked: dict[str, str]) -> str:
    return asked.get("sort", "sent_at").removeprefix("-")


@pytest.mark.parametrize("settings", [UNLIMITED, THREADED], ids=["at once", "in threads"])
def test_pages_show_nothing_twice_and_miss_nothing_that_stayed(
    store: Store, settings: Settings
) -> None:
    bustle = Bustle(store, CONNECTIONS, seed=1)
    bustle.settle()
    with calling(make_app(store, settings), owner(store)) as caller, bustle.going_on():
        for asked in SORTS:
            stayed = [p for p in _places(caller.rows(PATH, limit=100, **asked)) if p[1] in STEADY]
            assert len(stayed) == len(set(stayed))
            rows = _read_while_written(caller, bustle, asked)
            found = [place for place in _places(rows) if place[1] in STEADY]
            assert found == stayed
            name = _sorted_by(asked)
            values = [(*_places([row])[0], row["data"].get(name)) for row in rows]
            assert len(values) == len(set(values))


def test_pages_without_a_visible_order_show_nothing_twice_either(store: Store) -> None:
    bustle = Bustle(store, CONNECTIONS, seed=2)
    bustle.settle()
    token = approve(store, SELECTIONS["a season without its dates"]).token
    with calling(make_app(store, UNLIMITED), token) as caller, bustle.going_on():
        for asked in ({}, {"order": "asc"}):
            places = _places(_read_while_written(caller, bustle, asked))
            assert len(places) == len(set(places))
            steady = {place for place in places if place[1] in STEADY}
            assert steady == {(c, key) for c in CONNECTIONS for key in STEADY}


def test_search_pages_miss_nothing_that_stayed(store: Store) -> None:
    bustle = Bustle(store, CONNECTIONS, seed=3)
    bustle.settle()
    with calling(make_app(store, UNLIMITED), owner(store)) as caller, bustle.going_on():
        rows = []
        for page in caller.pages("/v1/search", q="alpha", limit=20):
            rows += page["data"]
            bustle.wait_for_writes()
        found = [row["id"] for row in rows]
        assert len(found) == len(set(found))
        steady = [row["record_key"] for row in rows if row["record_key"] in STEADY]
        assert sorted(steady) == sorted(STEADY * 2)


@pytest.mark.parametrize("name", SELECTIONS)
def test_replayed_changes_come_to_what_a_full_read_shows(store: Store, name: str) -> None:
    bustle = Bustle(store, ("home",), seed=4)
    bustle.settle()
    token = approve(store, SELECTIONS[name]).token
    with calling(make_app(store, UNLIMITED), token) as caller:
        replica = Replica(caller)
        replica.catch_up()
        with bustle.going_on():
            for _ in range(12):
                bustle.wait_for_writes(3)
                replica.catch_up(bustle)
        for _ in range(25):
            bustle.write_once()
            replica.catch_up()
            assert replica.records == replica.full_read()


class Replica:
    """A copy that a client keeps by replaying changes."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._bookmark = "beginning"
        self.records: dict[str, Any] = {}

    def catch_up(self, bustle: Bustle | None = None) -> int:
        """Replay what changed, page by page; return how much that was."""
        replayed = 0
        asked = {"changes_since": self._bookmark, "connection_id": "home"}
        for page in self._caller.pages(PATH, limit=5, **asked):
            for change in page["data"]:
                replayed += 1
                if change.get("deleted"):
                    self.records.pop(change["id"], None)
                else:
                    self.records[change["id"]] = change
            if bustle is not None:
                bustle.wait_for_writes()
            self._bookmark = page.get("next_changes_since", self._bookmark)
        return replayed

    def full_read(self) -> dict[str, Any]:
        """Return every record that is visible now."""
        rows = self._caller.rows(PATH, limit=100, connection_id="home")
        return {row["id"]: row for row in rows}


def test_an_edit_of_a_hidden_field_is_no_change(store: Store) -> None:
    bustle = Bustle(store, ("home",), seed=5)
    bustle.settle()
    with calling(make_app(store, UNLIMITED), owner(store)) as keeper:
        token = approve(store, SELECTIONS["few fields"]).token
        replica = Replica(keeper.under(token))
        assert replica.catch_up() == len(STEADY)
        line = b'{"key":"steady-000","data":{"id":"steady-000","subject":"alpha 0","note":"new",'
        seen = b'"sent_at":"2026-03-01T00:00:00Z","amount":null,"label":"a"}}'
        written = keeper.send(
            "/v1/ingest/messages",
            {"connection_id": "home"},
            method="POST",
            content=line + seen,
        )
        assert written.json()["records_changed"] == 1
        assert replica.catch_up() == 0
