"""Every read leaves a receipt with exactly the handles that were in its answer, and no content."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest
from tests.receipts.served import characters, good, kept, receipts_after, tool
from tests.resource.library import BOOKS, COVER, LEAFLET, book, library_store
from tests.serving import UNLIMITED, World, living, put

from pdpp.authz.selection import Selection, make_package, resolve
from pdpp.model import instant
from pdpp.model.grant import Interval
from pdpp.receipts.served import shown_fields
from pdpp.store.receipts import Receipt

BOOK_FIELDS = tuple(sorted(BOOKS["schema"]["properties"]))
HOME = ("home", "books")


class Reader:
    """Reads with one client and remembers what came."""

    def __init__(self, path: str, **params: Any) -> None:
        self._path = path
        self._params = params
        self.answer = httpx.Response(0)

    def __call__(self, world: World) -> None:
        self.answer = good(world.client().get(self._path, params=self._params))

    @property
    def data(self) -> list[Any]:
        """Return the data of each row of the answer."""
        rows: list[Any] = [row["data"] for row in self.answer.json()["data"]]
        return rows


def handles(receipt: Receipt) -> tuple[Any, ...]:
    return receipt.operation, receipt.connection_id, receipt.stream, receipt.records


def test_a_page_leaves_its_records_its_fields_and_its_characters(tmp_path: Path) -> None:
    read = Reader("/v1/streams/books/records", connection_id="home", limit=3)
    before = instant.now()
    (receipt,) = receipts_after(tmp_path, read)
    rows = read.answer.json()["data"]
    assert handles(receipt) == ("listRecords", *HOME, tuple(row["id"] for row in rows))
    assert receipt.fields == BOOK_FIELDS
    assert receipt.characters == characters(*read.data)
    assert (receipt.client_id, receipt.package_id) == ("test-client", None)
    assert (receipt.grant_id or "").startswith("grt_")
    assert (receipt.bytes, receipt.detail) == (0, None)
    assert before <= receipt.at <= instant.now()


def test_characters_are_counted_and_not_bytes(tmp_path: Path) -> None:
    read = Reader("/v1/streams/books/records/b2", connection_id="home")
    (receipt,) = receipts_after(tmp_path, read)
    data = read.answer.json()["data"]
    assert receipt.characters == characters(data) < len(orjson.dumps(data))


def test_a_page_over_several_connections_leaves_a_receipt_for_each(tmp_path: Path) -> None:
    read = Reader("/v1/streams/books/records")
    receipts = receipts_after(tmp_path, read)
    rows = read.answer.json()["data"]
    assert {receipt.connection_id: set(receipt.records) for receipt in receipts} == {
        name: {row["id"] for row in rows if row["connection_id"] == name}
        for name in ("home", "work")
    }
    assert sum(receipt.characters for receipt in receipts) == characters(*read.data)


def test_only_the_fields_that_were_asked_for_and_granted_are_named(tmp_path: Path) -> None:
    def act(world: World) -> None:
        client = world.client(connections=("home",), fields=("id", "title", "remark"))
        path = "/v1/streams/books/records"
        good(client.get(path))
        good(client.get(path, params={"fields": "title"}))
        good(client.get(path, params={"view": "card"}))

    fields = [receipt.fields for receipt in receipts_after(tmp_path, act)]
    assert fields == [("id", "remark", "title"), ("title",), ("id", "title")]


def test_what_is_related_is_told_with_its_own_stream(tmp_path: Path) -> None:
    read = Reader(
        "/v1/streams/books/records",
        connection_id="home",
        expand=["author", "reviews", "summary", "shelf"],
        fields="title",
    )
    receipts = receipts_after(tmp_path, read)
    found = {receipt.stream: (set(receipt.records), receipt.fields) for receipt in receipts}
    rows = read.answer.json()["data"]
    reviews = {r["id"] for row in rows for r in row["expanded"]["reviews"]["data"]}
    assert found["books"] == ({"b1", "b2", "b3", "b4", "b5"}, ("title",))
    assert found["authors"] == ({"a1", "a2"}, ("born", "id", "name"))
    assert found["reviews"][0] == reviews
    assert len(reviews) == 2
    assert found["summaries"][0] == {"s1"}
    assert found["shelves"][0] == {"7"}
    assert len(receipts) == 5


def test_a_single_record_and_what_is_related_to_it(tmp_path: Path) -> None:
    read = Reader("/v1/streams/books/records/b1", connection_id="home", expand="author")
    whole, author = receipts_after(tmp_path, read)
    body = read.answer.json()
    assert handles(whole) == ("getRecord", *HOME, ("b1",))
    assert handles(author) == ("getRecord", "home", "authors", ("a1",))
    assert whole.characters == characters(body["data"])
    assert author.characters == characters(body["expanded"]["author"]["data"])


def test_changes_tell_of_what_came_and_of_what_went(tmp_path: Path) -> None:
    def act(world: World) -> None:
        client = world.client(connections=("home",))
        path = "/v1/streams/books/records"
        first = good(client.get(path, params={"changes_since": "beginning"})).json()
        good(world.owner().delete(f"{path}/b3", params={"connection_id": "home"}))
        put(world.store, "home", "books", {"id": "b9", "added_at": "2026-01-09T10:00:00Z"})
        since = {"changes_since": first["next_changes_since"]}
        assert len(good(client.get(path, params=since)).json()["data"]) == 2

    first, second = receipts_after(tmp_path, act)
    assert set(first.records) == {"b1", "b2", "b3", "b4", "b5"}
    assert set(second.records) == {"b3", "b9"}
    assert second.characters == characters({"added_at": "2026-01-09T10:00:00Z", "id": "b9"})


def test_a_window_leaves_its_field_and_the_length_of_its_text(tmp_path: Path) -> None:
    path = "/v1/streams/books/records/b1/field-window"
    read = Reader(path, connection_id="home", field="text", offset_chars=5, limit_chars=33)
    (receipt,) = receipts_after(tmp_path, read)
    assert handles(receipt) == ("readFieldWindow", *HOME, ("b1",))
    assert (receipt.fields, receipt.characters) == (("text",), 33)


def test_words_that_a_field_does_not_hold_leave_a_receipt(tmp_path: Path) -> None:
    path = "/v1/streams/books/records/b1/field-window"
    params = {"connection_id": "home", "field": "text", "q": "4711"}

    def guess(world: World) -> None:
        assert world.client().get(path, params=params).status_code == 404

    (receipt,) = receipts_after(tmp_path, guess)
    assert handles(receipt) == ("readFieldWindow", *HOME, ("b1",))
    assert (receipt.fields, receipt.asked, receipt.characters) == (("text",), ("text",), 0)


def test_a_field_without_a_value_leaves_a_receipt(tmp_path: Path) -> None:
    path = "/v1/streams/books/records/b1/field-window"

    def look(world: World) -> None:
        empty = {"connection_id": "home", "field": empty_field(world, "b1")}
        assert world.client().get(path, params=empty).status_code == 404

    *_, receipt = receipts_after(tmp_path, look)
    assert handles(receipt) == ("readFieldWindow", *HOME, ("b1",))
    assert (len(receipt.fields or ()), receipt.characters) == (1, 0)


def empty_field(world: World, key: str) -> str:
    """Return a field of a record that has no value."""
    found = world.owner().get(f"/v1/streams/books/records/{key}", params={"connection_id": "home"})
    data: dict[str, object] = found.json()["data"]
    return next(str(name) for name in BOOK_FIELDS if data.get(name) is None)


def test_a_range_outside_a_file_leaves_a_receipt(tmp_path: Path) -> None:
    def guess(world: World) -> None:
        blob = f"/v1/blobs/{blob_of(world, 'b1')}"
        beyond = {"Range": "bytes=99999999-"}
        for method in ("GET", "HEAD"):
            assert world.client().request(method, blob, headers=beyond).status_code == 416

    read, head = receipts_after(tmp_path, guess)[1:]
    assert handles(read) == ("readBlob", *HOME, ("b1",))
    assert handles(head) == ("headBlob", *HOME, ("b1",))
    assert (read.bytes, head.bytes) == (0, 0)


def test_a_text_blob_read_in_windows_counts_its_characters(tmp_path: Path) -> None:
    path = "/v1/streams/books/records/b2/field-window"
    (receipt,) = receipts_after(tmp_path, Reader(path, connection_id="home", field="cover"))
    assert (receipt.fields, receipt.characters, receipt.bytes) == (("cover",), len(LEAFLET), 0)


def test_a_search_leaves_what_its_hits_showed(tmp_path: Path) -> None:
    read = Reader("/v1/search", q="lantern", **{"streams[]": "books"})
    receipts = receipts_after(tmp_path, read)
    hits = read.answer.json()["data"]
    told = {(r.connection_id, key) for r in receipts for key in r.records}
    assert told == {(hit["connection_id"], hit["record_key"]) for hit in hits}
    shown = [hit["title"] + hit["event_time"] for hit in hits]
    shown += [e["preview_text"] for hit in hits for e in hit["evidence_excerpts"]]
    assert sum(receipt.characters for receipt in receipts) == sum(map(len, shown))
    by_key = {key: receipt.fields for receipt in receipts for key in receipt.records}
    assert by_key["b1"] == by_key["b5"] == ("added_at", "text", "title")
    assert by_key["w3"] == ("added_at", "remark", "title")
    assert {receipt.operation for receipt in receipts} == {"search"}


@pytest.mark.parametrize("path", ["/v1/search", "/v1/search/hybrid", "/v1/search/semantic"])
def test_a_search_that_found_nothing_is_a_receipt_without_records(
    tmp_path: Path, path: str
) -> None:
    (receipt,) = receipts_after(tmp_path, Reader(path, q="zyzzyva"))
    assert handles(receipt)[1:] == (None, None, ())
    assert receipt.characters == 0
    assert (receipt.grant_id or "").startswith("grt_")


@pytest.mark.parametrize(
    ("path", "params", "operation", "stream"),
    [
        ("/v1/schema", {}, "getSchema", None),
        ("/v1/schema", {"stream": "books"}, "getSchema", None),
        ("/v1/streams", {}, "listStreams", None),
        ("/v1/streams/books", {}, "getStream", "books"),
        ("/v1/streams/books/records", {"filter[title]": "none"}, "listRecords", "books"),
    ],
)
def test_a_read_without_records_tells_its_operation(
    tmp_path: Path, path: str, params: dict[str, str], operation: str, stream: str | None
) -> None:
    (receipt,) = receipts_after(tmp_path, Reader(path, **params))
    assert handles(receipt) == (operation, None, stream, ())
    assert (receipt.characters, receipt.fields) == (0, ())


@pytest.mark.parametrize(
    ("params", "fields", "place"),
    [
        ({"metric": "count", "connection_id": "home"}, (), "home"),
        ({"metric": "sum", "field": "pages", "connection_id": "home"}, ("pages",), "home"),
        (
            {"metric": "max", "field": "price", "group_by": "author_id", "connection_id": "home"},
            ("author_id", "price"),
            "home",
        ),
        (
            {"group_by_time": "added_at", "granularity": "month"},
            ("added_at",),
            None,
        ),
    ],
)
def test_an_aggregate_leaves_its_fields_and_no_record(
    tmp_path: Path, params: dict[str, str], fields: tuple[str, ...], place: str | None
) -> None:
    read = Reader("/v1/streams/books/aggregate", **params)
    (receipt,) = receipts_after(tmp_path, read)
    body = read.answer.json()
    assert handles(receipt) == ("aggregate", place, "books", ())
    assert receipt.fields == fields
    assert receipt.characters == characters(body.get("groups", body.get("value")))
    assert (receipt.grant_id or "").startswith("grt_")


def blob_of(world: World, key: str) -> str:
    found = world.owner().get(f"/v1/streams/books/records/{key}", params={"connection_id": "home"})
    blob_id: str = found.json()["data"]["cover"]["blob_id"]
    return blob_id


def test_a_blob_leaves_its_record_and_the_bytes_that_were_sent(tmp_path: Path) -> None:
    found = []

    def act(world: World) -> None:
        blob_id = blob_of(world, "b1")
        found.append(blob_id)
        client = world.client()
        good(client.get(f"/v1/blobs/{blob_id}"))
        good(client.get(f"/v1/blobs/{blob_id}", headers={"Range": "bytes=10-19"}))
        good(client.head(f"/v1/blobs/{blob_id}"))

    whole, part, head = receipts_after(tmp_path, act)[1:]
    assert handles(whole) == ("readBlob", *HOME, ("b1",))
    assert handles(head) == ("headBlob", *HOME, ("b1",))
    assert [r.bytes for r in (whole, part, head)] == [len(COVER), 10, 0]
    assert {r.detail for r in (whole, part, head)} == set(found)
    assert {(r.fields, r.characters) for r in (whole, part, head)} == {(("cover",), 0)}


def test_the_owners_reads_are_the_owners(tmp_path: Path) -> None:
    def act(world: World) -> None:
        owner = world.owner()
        blob_id = blob_of(world, "b1")
        good(owner.get("/v1/streams/books/records", params={"fields": "title"}))
        stored = good(owner.post("/v1/blobs", content=b"by itself")).json()["blob_id"]
        good(owner.get(f"/v1/blobs/{stored}"))
        good(owner.get(f"/v1/blobs/{blob_id}"))

    one, home, work, lonely, shown = receipts_after(tmp_path, act)
    for receipt in (one, home, work, lonely, shown):
        assert (receipt.client_id, receipt.grant_id, receipt.package_id) == (None, None, None)
    assert one.fields is None
    assert {home.fields, work.fields} == {("title",)}
    assert (lonely.bytes, lonely.records, lonely.connection_id) == (9, (), None)
    assert shown.records == ("b1",)


def test_writing_and_being_refused_leave_no_receipt(tmp_path: Path) -> None:
    def act(world: World) -> None:
        owner, client = world.owner(), world.client(connections=("home",), fields=("id", "title"))
        line = b'{"key":"n","data":{"id":"n","added_at":"2026-01-01T00:00:00Z"}}\n'
        good(owner.post("/v1/ingest/books", params={"connection_id": "home"}, content=line))
        good(owner.delete("/v1/streams/books/records/n", params={"connection_id": "home"}))
        for path in (
            "/v1/streams/books/records/none",
            "/v1/streams/nothing/records",
            "/v1/streams/books/records/b1/field-window?field=text",
            "/v1/blobs/" + "0" * 64,
            "/v1/search/semantic?q=",
            "/v1/streams/books/records?limit=x",
        ):
            assert client.get(path).status_code >= 400, path
        assert world.server.client().get("/v1/streams").status_code == 401

    assert receipts_after(tmp_path, act) == []


def test_a_read_that_was_tried_twice_is_told_once(tmp_path: Path) -> None:
    found: list[dict[str, Any]] = []

    def act(world: World) -> None:
        world.put("home", "books", *(book(f"m{number}", 9) for number in range(4_000)))
        client = world.client(
            connections=("home",), streams=("books",), time=Interval(instant.parse("2026-01-05"))
        )
        params: dict[str, Any] = {"count": "exact", "limit": 2}
        found.append(good(client.get("/v1/streams/books/records", params=params)).json())

    (receipt,) = receipts_after(tmp_path, act, replace(UNLIMITED, inline_seconds=0.0))
    assert receipt.characters == characters(*(row["data"] for row in found[0]["data"]))
    assert found[0]["meta"]["count"]["value"] == 4_000


# Through the adapter


def package(world: World) -> tuple[str, dict[str, str]]:
    """Return a package token over both shelves, and the child grant of each."""
    allowances = resolve(Selection(), world.store.catalogue())
    made, grants, secret, token = make_package(
        allowances, client_id="a-host", purpose="test", now=instant.now()
    )
    world.store.vault.keep_package(made, grants, [token])
    return secret, {grant.allowances[0].connection_id: grant.id for grant in grants}


def test_each_tool_is_told_once_as_what_it_read(tmp_path: Path) -> None:
    def act(world: World) -> None:
        client = world.client(connections=("home",))
        tool(client, "query_records", stream="books", limit=2)
        tool(client, "fetch", id="home/books:b1")
        tool(client, "read_record_field", id="home/books:b1", field_path="text", limit_chars=20)
        tool(client, "aggregate", stream="books", metric="count")
        tool(client, "search", query="quay")

    receipts = receipts_after(tmp_path, act)
    told = [handles(receipt) for receipt in receipts if receipt.operation != "getSchema"]
    assert told == [
        ("listRecords", *HOME, ("b5", "b4")),
        ("getRecord", *HOME, ("b1",)),
        ("readFieldWindow", *HOME, ("b1",)),
        ("aggregate", *HOME, ()),
        ("search", *HOME, ("b1",)),
    ]


def test_a_package_names_the_child_grant_that_was_read_through(tmp_path: Path) -> None:
    children: dict[str, str] = {}

    def act(world: World) -> None:
        secret, found = package(world)
        children.update(found)
        client = world.server.client(secret)
        tool(client, "search", query="lantern")
        good(client.get("/v1/search", params={"q": "lantern"}))
        good(client.get(f"/v1/blobs/{blob_of(world, 'b1')}"))

    receipts = [r for r in receipts_after(tmp_path, act) if r.client_id is not None]
    read = [receipt for receipt in receipts if receipt.records]
    assert {receipt.connection_id for receipt in read} == {"home", "work"}
    assert {r.grant_id for r in read if r.connection_id} == set(children.values())
    for receipt in read:
        assert receipt.grant_id == children[receipt.connection_id or ""]
    assert {receipt.client_id for receipt in receipts} == {"a-host"}
    assert all((receipt.package_id or "").startswith("pkg_") for receipt in receipts)


# Content


def test_nothing_of_the_content_or_of_a_question_is_in_the_file(tmp_path: Path) -> None:
    with living(library_store(tmp_path), UNLIMITED) as world:
        client = world.client()
        for path in (
            "/v1/streams/books/records?expand=author&expand=reviews",
            "/v1/streams/books/records?filter[author_id]=a9&count=exact",
            "/v1/streams/books/records/b1?connection_id=home",
            "/v1/streams/books/records/b1/field-window?connection_id=home&field=text&q=quay",
            "/v1/search?q=lantern+gift",
            "/v1/search?q=sesquipedalian",
            "/v1/streams/books/aggregate?group_by=author_id&metric=count",
        ):
            good(client.get(path))
        tool(client, "search", query="lantern")
        good(client.get(f"/v1/blobs/{blob_of(world, 'b2')}"))
    assert len(kept(tmp_path)) > 10
    words = (
        "lantern quay moved gift harbour lights untold tides stormy opinion ana reis ledger "
        "leaflet attic sesquipedalian night test-owner bearer pdpp_client"
    )
    for file in tmp_path.glob("receipts*"):
        content = file.read_bytes().lower()
        assert [word for word in words.split() if word.encode() in content] == []


def test_the_fields_of_a_receipt_are_those_shown_of_those_asked_for() -> None:
    ab, bc = frozenset("ab"), frozenset("bc")
    assert shown_fields(None, None) is None
    assert shown_fields(None, bc) == ("b", "c")
    assert shown_fields(ab, None) == ("a", "b")
    assert shown_fields(ab, bc) == ("b",)
