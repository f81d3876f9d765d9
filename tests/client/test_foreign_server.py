"""The library against another implementation of the protocol: the shapes of the reference."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.reference_server import Behaviour, ReferenceServer
from tests.reference_server.world import LONG_BODY, PICTURE

from pdpp import AsyncClient, Client
from pdpp.client import PdppError, ServerError
from pdpp.client.envelope import hit_of, page_of, record_of, schema_of
from pdpp.client.request import SearchOptions
from pdpp.model.errors import AmbiguousConnection, FieldNotText, NotFound, StreamNotAllowed


@pytest.fixture(scope="module")
def server() -> Iterator[ReferenceServer]:
    with ReferenceServer() as running:
        yield running


@pytest.fixture
def client(server: ReferenceServer) -> Iterator[Client]:
    with Client(server.url, server.token) as made:
        yield made


def test_a_schema_has_what_the_server_tells_and_nothing_else(client: Client) -> None:
    schema = client.schema()
    assert schema.detail == "compact"
    assert schema.token_kind == "client"
    assert schema.connections == {
        "cin_work": "Work mail",
        "cin_home": "Home mail",
        "cin_bank": "Everyday account",
    }
    mail, bank = schema.streams
    assert (mail.name, mail.record_counts) == ("messages", {"cin_work": None, "cin_home": None})
    assert (bank.connector_key, bank.record_counts) == ("bank", {"cin_bank": None})
    assert mail.fields["subject"] == "declared"


@pytest.mark.parametrize("compact", ["served", "refused", "ignored"])
def test_a_full_schema_is_read_from_a_server_that_knows_no_detail(compact: str) -> None:
    with (
        ReferenceServer(Behaviour(compact=compact)) as server,
        Client(server.url, server.token) as client,
    ):
        full = client.schema("messages", full=True)
        assert full.detail is None
        assert full.streams[0].fields["sent_at"]["range_filter"]["usable"] is True
        assert client.schema("messages").streams[0].name == "messages"


def test_nothing_is_said_of_a_token_that_the_server_does_not_describe() -> None:
    assert schema_of({"connectors": []}).token_kind is None


def test_members_of_another_kind_are_left_out() -> None:
    named = {"connection_id": "c", "stream": "s", "id": "r"}
    record = record_of({**named, "version": 7, "data": [], "expanded": {"a": 5, "b": named}})
    assert (record.version, record.data, record.deleted) == (None, {}, False)
    assert [one.id for one in record.related["b"].records] == ["c/s:r"]
    assert record.related["a"].records == ()
    assert record_of({**named, "deleted": True}).deleted
    hit = hit_of(
        {
            **named,
            "record_key": "r",
            "id": 5,
            "title": ["odd"],
            "matched_fields": "odd",
            "evidence_excerpts": [5, {"field_path": "f"}, {"field_path": "f", "preview_text": "p"}],
        }
    )
    assert (hit.id, hit.title, hit.matched_fields) == ("c/s:r", None, ())
    assert [part.preview_text for part in hit.excerpts] == ["p"]
    page = page_of(record_of)({"data": [], "next_cursor": 5, "meta": {"warnings": [{}, "odd"]}})
    assert page.next_cursor is None
    assert [notice.message for notice in page.warnings] == ["warning"]


def test_streams_are_listed_for_every_connection(client: Client) -> None:
    rows = client.streams()
    assert [(row.connection_id, row.name, row.record_count) for row in rows] == [
        ("cin_work", "messages", 12),
        ("cin_home", "messages", 1),
        ("cin_bank", "payments", 4),
    ]
    assert {row.connector_key for row in rows} == {None}
    named = client.streams("messages")
    assert [row.connection_id for row in named] == ["cin_work", "cin_home"]


@pytest.mark.parametrize("describes", [True, False])
def test_a_stream_is_taken_from_the_list_where_it_has_no_address_of_its_own(
    describes: bool,
) -> None:
    with (
        ReferenceServer(Behaviour(describes=describes)) as server,
        Client(server.url, server.token) as client,
    ):
        named = client.streams("messages")
        assert [row.connection_id for row in named] == ["cin_work", "cin_home"]
        one = client.streams("messages", connection_id="cin_home")
        assert [row.connection_id for row in one] == ["cin_home"]
        with pytest.raises(PdppError) as refusal:
            client.streams("nowhere")
        assert refusal.value.status in (401, 403)


def test_records_come_without_a_version(client: Client) -> None:
    page = client.records("messages", connection_id="cin_work", limit=5).first()
    first = page.items[0]
    assert (first.id, first.version, first.connector_key) == ("cin_work/messages:m0", None, None)
    assert page.has_more
    assert page.count is None
    keys = [r.key for r in client.records("messages", connection_id="cin_work", limit=5)]
    assert keys == [f"m{number}" for number in range(12)]
    assert client.record("cin_work/messages:m3").data["subject"] == "Invoice 3"


def test_a_hit_has_an_id_and_no_invented_title(server: ReferenceServer, client: Client) -> None:
    hits = list(client.search("heron", limit=5))
    assert len(hits) == 13
    home = next(hit for hit in hits if hit.connection_id == "cin_home")
    assert home.id == "cin_home/messages:m1"
    assert (home.title, home.event_time, home.connector_key) == (None, None, None)
    [part] = home.excerpts
    assert (part.start_chars, part.total_chars, part.digest) == (None, None, None)
    assert "<mark>heron</mark>" in part.preview_text
    address = f"{server.url}/v1/streams/messages/records/m1?connection_id=cin_home"
    assert client.citation_url(home) == address
    assert client.search("heron", limit=5).first().count == 13


def test_a_snippet_is_a_passage_without_offsets() -> None:
    with ReferenceServer(Behaviour(snippets_only=True)) as other:
        with Client(other.url, other.token) as reader:
            [hit] = reader.search("ferry", connection_id="cin_home")
        [excerpt] = hit.excerpts
        assert (excerpt.field_path, excerpt.start_chars) == ("subject", None)
        assert excerpt.preview_text == "Dinner at the <mark>ferry</mark>"


@pytest.mark.parametrize(
    ("members", "passage"),
    [
        ({"snippet": {"field": "body", "text": "a <mark>b</mark>"}}, "a <mark>b</mark>"),
        ({"snippet": "a b", "matched_fields": ["body"]}, "a b"),
        ({"snippet": "a b", "matched_fields": ["body", "title"]}, None),
        ({"snippet": {"field": "body", "text": "a b"}, "matched_fields": ["title"]}, None),
        ({"snippet": {"field": None, "text": "a b"}}, None),
        ({"snippet": None, "evidence_excerpts": None, "matched_fields": [7]}, None),
    ],
)
def test_a_snippet_proves_only_the_field_that_matched(
    members: dict[str, Any], passage: str | None
) -> None:
    hit = hit_of({"connection_id": "c", "stream": "s", "record_key": "k", **members})
    assert [excerpt.preview_text for excerpt in hit.excerpts] == ([passage] if passage else [])


@pytest.mark.parametrize(
    "scope",
    [
        {"streams": ["nope"]},
        {"streams": ["messages", "nope"]},
        {"streams": ["payments"], "connection_id": "cin_work"},
    ],
)
def test_a_search_in_a_stream_that_is_not_there_is_refused(
    client: Client, scope: SearchOptions
) -> None:
    with pytest.raises(StreamNotAllowed, match="opens no stream"):
        client.search("heron", **scope).first()
    with pytest.raises(StreamNotAllowed, match="opens no stream"):
        client.ask_search("heron", **scope)
    assert list(client.search("heron", streams=["payments"])) == []


def test_a_long_field_is_read_to_its_end_past_characters_that_count_twice(client: Client) -> None:
    windows = list(client.windows("cin_work/messages:m0", "body", limit_chars=1_000))
    assert "".join(window.text for window in windows) == LONG_BODY
    assert {window.id for window in windows} == {"cin_work/messages:m0"}
    assert windows[0].digest is None


def test_changes_go_on_with_the_cursor_alone(server: ReferenceServer, client: Client) -> None:
    server.asked.clear()
    changes = client.changes("messages", connection_id="cin_work", limit=5)
    keys = [record.key for record in changes]
    assert keys == [*(f"m{number}" for number in range(12)), "gone"]
    assert changes.bookmark == "bkm_15"
    assert [asked.query.get("changes_since") for asked in server.asked] == [
        ["beginning"],
        None,
        None,
    ]
    assert list(client.changes("messages", changes.bookmark, connection_id="cin_work")) == []


def test_the_bookmark_is_there_after_the_last_page_only(client: Client) -> None:
    changes = client.changes("messages", connection_id="cin_work", limit=5)
    pages = changes.pages()
    next(pages)
    assert changes.bookmark is None


def test_numbers_are_read(client: Client) -> None:
    assert client.aggregate("payments", "sum", field="amount").value == -105.0
    groups = client.aggregate("messages", group_by="from", connection_id="cin_work").groups
    assert sum(group.count for group in groups) == 12


def test_refusals_keep_the_code_and_words_of_the_server(client: Client) -> None:
    with pytest.raises(AmbiguousConnection) as ambiguous:
        client.record("messages:m1")
    choices = ambiguous.value.detail["available_connections"]
    assert [choice["connection_id"] for choice in choices] == ["cin_work", "cin_home"]
    with pytest.raises(FieldNotText):
        client.window("cin_work/messages:m1", "picture")
    with pytest.raises(ServerError) as refused:
        client.records("diary").first()
    assert (refused.value.status, refused.value.code) == (401, "context.stream_not_allowed")
    with pytest.raises(NotFound):
        client.search("x", mode="semantic").first()
    with pytest.raises(NotFound, match="Blob not found"):
        client.save_blob("blob99", "unused")


def test_a_blob_is_read_and_saved(client: Client, tmp_path: Path) -> None:
    name = client.record("cin_work/messages:m1").data["picture"]["blob_id"]
    with client.blob(name) as blob:
        assert (blob.media_type, blob.size_bytes, b"".join(blob)) == ("image/png", 9, PICTURE)
    saved = client.save_blob(f"pdpp://blob/{name}", tmp_path / "picture.png")
    assert (saved.size_bytes, saved.path.read_bytes()) == (9, PICTURE)


def test_everything_is_cited_by_its_address(server: ReferenceServer, client: Client) -> None:
    address = f"{server.url}/v1/streams/messages/records/m3?connection_id=cin_work"
    record = client.record("cin_work/messages:m3")
    assert client.citation_url(record) == address
    window = client.window("cin_work/messages:m3", "body")
    assert client.citation_url(window) == address


def test_the_client_for_event_loops_reads_it_too(server: ReferenceServer, tmp_path: Path) -> None:
    async def read() -> None:
        async with AsyncClient(server.url, server.token) as client:
            assert (await client.schema("messages")).streams[0].name == "messages"
            assert len(await client.streams()) == 3
            rows = [r.key async for r in client.records("messages", connection_id="cin_work")]
            assert rows == [f"m{number}" for number in range(12)]
            changes = client.changes("messages", connection_id="cin_work", limit=5)
            assert [r.key async for r in changes] == [*rows, "gone"]
            assert changes.bookmark == "bkm_15"
            assert (await client.record("cin_work/messages:m3")).data["subject"] == "Invoice 3"
            hits = [hit async for hit in client.search("picture")]
            assert [hit.id for hit in hits] == ["cin_home/messages:m1"]
            assert client.citation_url(hits[0]).startswith(f"{server.url}/v1/streams/messages/")
            windows = client.windows("cin_work/messages:m0", "body", limit_chars=4_000)
            assert "".join([w.text async for w in windows]) == LONG_BODY
            assert (await client.window("cin_work/messages:m1", "subject")).text == "Invoice 1"
            assert (await client.aggregate("payments")).value == 4
            async with client.blob("blob1") as blob:
                assert b"".join([piece async for piece in blob]) == PICTURE
            await client.save_blob("blob1", tmp_path / "picture.png")
            with pytest.raises(StreamNotAllowed):
                await client.ask_search("heron", streams=["nope"])

    asyncio.run(read())


def test_a_token_that_ended_is_told_as_such(client: Client, server: ReferenceServer) -> None:
    server.alive = False
    try:
        with pytest.raises(PdppError) as refused:
            client.schema()
    finally:
        server.alive = True
    assert refused.value.code == "context.active_false"
