"""A page is bounded in bytes: it ends early, with a cursor, and tells the truth about the rest."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.engine import open_store
from tests.promises.caller import Caller, calling
from tests.promises.letters import declaration
from tests.serving import UNLIMITED, SetClock, approve

from pdpp.app import make_app
from pdpp.authz.selection import Selection
from pdpp.model.validation import parse_declaration
from pdpp.store.batch import Line
from pdpp.store.query import PAGE_BYTES

RECORDS = "/v1/streams/messages/records"
THREADS = "/v1/streams/threads/records"
LONG = "long text " * (PAGE_BYTES // 30)
KEYS = [f"m{at}" for at in range(7)]
ENVELOPES = 64 << 10


@pytest.fixture(scope="module")
def caller(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    """A client that sees seven messages of a third of a page each, in two threads."""
    store, clock = open_store(Path(tmp_path_factory.mktemp("bytes"))), SetClock()
    store.register(parse_declaration(declaration()))
    store.connect("home", "letters", "Home")
    feeds = store.catalogue().feeds
    lines = [
        Line(
            at,
            key,
            0,
            {
                "id": key,
                "body": LONG,
                "thread_id": f"t{at % 2}",
                "size": at,
                "sent_at": f"2026-01-0{at + 1}T00:00:00Z",
            },
        )
        for at, key in enumerate(KEYS)
    ]
    store.write(feeds["home", "messages"], lines)
    threads = [Line(at, f"t{at}", 0, {"id": f"t{at}", "subject": "T"}) for at in range(2)]
    store.write(feeds["home", "threads"], threads)
    token = approve(store, Selection(("home",), ("messages", "threads"))).token
    try:
        with calling(make_app(store, UNLIMITED, clock), token) as calls:
            yield calls
    finally:
        store.close()


def followed(caller: Caller, path: str, **params: str) -> list[dict[str, Any]]:
    """Return all pages of a list, each of them bounded."""
    pages: list[dict[str, Any]] = []
    while True:
        reply = caller.exchange("GET", path, list(params.items()))
        assert reply.status == 200, reply
        assert len(reply.body) <= PAGE_BYTES + ENVELOPES
        page = orjson.loads(reply.body)
        pages.append(page)
        assert page["has_more"] is ("next_cursor" in page)
        if not page["has_more"]:
            return pages
        params = {**params, "cursor": page["next_cursor"]}


def ids(pages: list[dict[str, Any]]) -> list[str]:
    return [record["id"] for page in pages for record in page["data"]]


def test_a_page_ends_early_and_the_next_goes_on(caller: Caller) -> None:
    pages = followed(caller, RECORDS, sort="size", limit="100", count="exact")
    assert ids(pages) == KEYS
    assert [len(page["data"]) for page in pages] == [2, 2, 2, 1]
    assert {page["meta"]["count"]["value"] for page in pages} == {len(KEYS)}
    assert all(record["data"]["body"] == LONG for page in pages for record in page["data"])


def test_a_page_without_the_long_field_is_whole(caller: Caller) -> None:
    (page,) = followed(caller, RECORDS, sort="size", limit="100", fields="id,size")
    assert ids([page]) == KEYS


def test_pages_of_changes_end_early(caller: Caller) -> None:
    pages = followed(caller, RECORDS, changes_since="beginning")
    assert sorted(ids(pages)) == KEYS
    assert len(pages) == 4
    assert "next_changes_since" in pages[-1]


def test_expanded_records_count(caller: Caller) -> None:
    pages = followed(caller, THREADS, expand="messages")
    lists = [record["expanded"]["messages"] for page in pages for record in page["data"]]
    assert sorted(ids(pages)) == ["t0", "t1"]
    assert [(len(related["data"]), related["has_more"]) for related in lists] == [(2, True)] * 2
    assert len(pages) == 2


def test_a_record_is_expanded_within_the_same_bytes(caller: Caller) -> None:
    reply = caller.exchange("GET", f"{THREADS}/t0", [("expand", "messages")])
    assert reply.status == 200
    related = orjson.loads(reply.body)["expanded"]["messages"]
    assert (len(related["data"]), related["has_more"]) == (2, True)
    assert len(reply.body) <= PAGE_BYTES + ENVELOPES


RELATIONS = 6


def wide_declaration() -> dict[str, Any]:
    """Return a source whose threads have several relations to their messages, and one to none."""
    made = declaration()
    messages, threads = made["streams"][0], made["streams"][1]
    names = [f"messages_{number}" for number in range(RELATIONS)]
    threads["relationships"] = [{**threads["relationships"][0], "name": name} for name in names]
    offer = {"default_limit": 2, "max_limit": 50}
    threads["query"]["expand"] = [{"name": name, **offer} for name in names]
    made["streams"] = [messages, threads]
    return made


def test_all_relations_of_a_record_share_the_bytes_of_one_page(tmp_path: Path) -> None:
    store, clock = open_store(tmp_path), SetClock()
    store.register(parse_declaration(wide_declaration()))
    store.connect("home", "letters", "Home")
    feeds = store.catalogue().feeds
    lines = [
        Line(at, key, 0, {"id": key, "body": LONG, "thread_id": "t0"})
        for at, key in enumerate(KEYS)
    ]
    store.write(feeds["home", "messages"], lines)
    store.write(feeds["home", "threads"], [Line(0, "t0", 0, {"id": "t0", "subject": "T"})])
    token = approve(store, Selection(("home",), ("messages", "threads"))).token
    names = [f"messages_{number}" for number in range(RELATIONS)]
    asked = [("expand", ",".join(names)), *((f"expand_limit[{name}]", "50") for name in names)]
    with calling(make_app(store, UNLIMITED, clock), token) as caller:
        one = caller.exchange("GET", f"{THREADS}/t0", asked)
        page = caller.exchange("GET", THREADS, asked)
        alone = caller.exchange("GET", f"{THREADS}/t0", [("expand", names[-1])])
    store.close()
    for reply in (one, page):
        assert reply.status == 200
        assert len(reply.body) <= PAGE_BYTES + len(LONG) + ENVELOPES
    expanded = orjson.loads(one.body)["expanded"]
    assert list(expanded) == names
    assert [len(expanded[name]["data"]) for name in names] == [2, 1, 0, 0, 0, 0]
    assert all(expanded[name]["has_more"] for name in names)
    assert len(orjson.loads(alone.body)["expanded"][names[-1]]["data"]) == 2
