"""The library against the real server: what it returns is what ``/v1`` says."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.shell import DECLARATION
from tests.engine import revoke_grant
from tests.serving import World, all_rows, approve, grant, living, owner, planted_store

from pdpp import Client
from pdpp.authz.selection import Selection
from pdpp.client import Handle
from pdpp.model import errors
from pdpp.model.errors import PdppError

INVOICE = "cin_home/messages:m-invoice-4471"
DIARY = "cin_notes/documents:renovation-diary"


def test_the_schema_tells_connections_streams_and_fields(demo: World, client: Client) -> None:
    index = client.schema()
    assert index.raw == demo.client().get("/v1/schema").json() | {"bearer": index.raw["bearer"]}
    assert index.connections["cin_home"] == "Home mail"
    assert (index.detail, index.token_kind) == ("compact", "client")
    scoped = client.schema("messages", connection_id="cin_home")
    [row] = scoped.streams
    assert (row.name, row.connector_key, row.record_counts) == (
        "messages",
        "demo_mail",
        {"cin_home": 598},
    )
    assert row.fields["body"] == "t=text,role=body,lex"
    full = client.schema("messages", connection_id="cin_home", full=True)
    assert full.streams[0].fields["body"]["lexical_search"]["usable"] is True
    assert full.streams[0].record_counts == {"cin_home": 598}


def test_streams_are_one_row_for_each_connection(client: Client) -> None:
    rows = client.streams("messages")
    assert {row.connection_id for row in rows} == {"cin_home", "cin_work", "cin_team"}
    [home] = client.streams("messages", connection_id="cin_home")
    assert (home.record_count, home.display_name) == (598, "Home mail")
    assert home.newest_record_at == home.raw["freshness"]["newest_record_at"]
    assert len(client.streams()) == 19


def test_records_page_to_the_end_in_the_servers_order(demo: World, client: Client) -> None:
    found = list(client.records("messages", connection_id="cin_home", limit=100))
    told = all_rows(
        demo.client(), "/v1/streams/messages/records", connection_id="cin_home", limit=100
    )
    assert [record.raw for record in found] == told
    assert found[0].id == f"cin_home/messages:{found[0].key}"
    assert not found[0].deleted


def test_records_are_filtered_sorted_projected_and_expanded(client: Client) -> None:
    page = client.records(
        "messages",
        connection_id="cin_home",
        filter={"sent_at": {"gte": "2026-03-01", "lt": "2026-04-01"}},
        fields=["subject", "sent_at"],
        sort="sent_at",
        count="exact",
        limit=3,
    ).first()
    assert page.count is not None
    assert page.count > 3
    assert page.has_more
    assert [set(record.data) for record in page.items] == [{"subject", "sent_at"}] * 3
    times = [record.data["sent_at"] for record in page.items]
    assert times == sorted(times)
    assert all(time.startswith("2026-03") for time in times)
    [order] = (
        client.records("orders", limit=1, expand=["items"], expand_limit={"items": 1}).first().items
    )
    assert order.expanded["items"]["limit"] == 1


def test_what_the_server_does_otherwise_is_a_notice(client: Client) -> None:
    [notice] = client.records("messages", limit=1_000).first().warnings
    assert notice.code == "limit_clamped"
    assert "100" in notice.message


def test_changes_end_in_a_bookmark_that_leads_on(demo: World, client: Client) -> None:
    changes = client.changes("albums", connection_id="cin_photos", limit=2)
    assert len(list(changes)) == 5
    since = changes.bookmark or ""
    later = client.changes("albums", since, connection_id="cin_photos")
    assert list(later) == []
    assert later.bookmark


@pytest.mark.parametrize(
    ("id", "connection_id"),
    [
        (INVOICE, None),
        ("messages:m-invoice-4471", "cin_home"),
        ("pdpp://record/cin_home%2Fmessages%3Am-invoice-4471", None),
        (INVOICE, "cin_home"),
        ("messages:m-invoice-4471", None),
        (Handle("cin_home", "messages", "m-invoice-4471"), None),
    ],
)
def test_a_record_has_many_names(
    client: Client, id: str | Handle, connection_id: str | None
) -> None:
    record = client.record(id, connection_id=connection_id)
    assert record.id == INVOICE
    assert record.data["subject"] == "Invoice 4471 for the kitchen tiles"


def test_one_record_can_be_projected(client: Client) -> None:
    assert set(client.record(INVOICE, fields=["subject"]).data) == {"subject"}
    assert "body" not in client.record(INVOICE, view="envelope").data


def test_a_window_is_by_offset_or_around_words(client: Client) -> None:
    text = client.record(INVOICE).data["body"]
    window = client.window(INVOICE, "body", offset_chars=5, limit_chars=20)
    assert (window.text, window.start_chars, window.end_chars) == (text[5:25], 5, 25)
    assert (window.has_more, window.complete, window.next_offset_chars) == (True, False, 25)
    assert (window.id, window.field_path) == (INVOICE, "body")
    around = client.window(INVOICE, "body", query="tiles", before_chars=3, after_chars=3)
    assert around.match_count == 1
    [(start, end)] = around.matches
    assert text[start:end] == "tiles"


def test_a_long_field_is_walked_window_by_window(client: Client) -> None:
    windows = list(client.windows(DIARY, "body"))
    whole = client.record(DIARY).data["body"]
    assert len(windows) > 5
    assert "".join(window.text for window in windows) == whole
    assert {window.digest for window in windows} == {windows[0].digest}
    half = list(
        client.windows(
            "documents:renovation-diary", "body", offset_chars=200_000, connection_id="cin_notes"
        )
    )
    assert "".join(window.text for window in half) == whole[200_000:]


def test_a_field_that_changes_while_it_is_walked_is_told(tmp_path: Path) -> None:
    entry = {"id": "a", "text": "one two three"}
    store = planted_store(tmp_path, DECLARATION, {"c": "C"}, {("c", "entries"): [entry]})
    with living(store) as world, Client(world.server.url, grant(store)) as client:
        pieces = client.windows("c/entries:a", "text", limit_chars=4)
        assert next(pieces).text == "one "
        world.put("c", "entries", entry | {"text": "all is other"})
        with pytest.raises(errors.Conflict, match="has changed while it was read"):
            next(pieces)


def test_search_gives_hits_with_what_proves_them(demo: World, client: Client) -> None:
    hits = list(client.search("invoice 4471", limit=3))
    told = all_rows(demo.client(), "/v1/search", q="invoice 4471", limit=3)
    assert [hit.raw for hit in hits] == told
    part = next(hit for hit in hits if hit.id == INVOICE).excerpts[0]
    text = client.record(INVOICE).data[part.field_path]
    bare = part.preview_text.replace("<mark>", "").replace("</mark>", "")
    assert bare == text[part.start_chars : part.end_chars]
    assert {text[start:end].lower() for start, end in part.matches} == {"invoice", "4471"}


def test_search_is_narrowed_and_its_mode_is_chosen(client: Client) -> None:
    hits = client.search("invoice", streams=["messages"], connection_id="cin_home")
    assert {(hit.stream, hit.connection_id) for hit in hits} == {("messages", "cin_home")}
    for mode in ("hybrid", "semantic"):
        [notice] = client.search("invoice", mode=mode).first().warnings
        assert notice.code == "semantic_unavailable"


def test_aggregates_are_a_number_or_groups(client: Client) -> None:
    assert client.aggregate("messages", connection_id="cin_home").value == 598
    found = client.aggregate("transactions", "sum", field="amount", group_by="category", limit=2)
    assert len(found.groups) == 2
    assert found.other_count + sum(group.count for group in found.groups) == 539
    assert isinstance(found.groups[0].value, float)
    assert found.value is None


Ask = Callable[[Client], Any]


@pytest.mark.parametrize(
    ("ask", "kind"),
    [
        (lambda c: c.record("cin_home/messages:nothing"), errors.NotFound),
        (lambda c: c.record("cin_none/messages:m-1"), errors.StreamNotAllowed),
        (lambda c: c.records("messages", fields=["nothing"]).first(), errors.UnknownField),
        (lambda c: c.records("messages", cursor="odd").first(), errors.InvalidCursor),
        (lambda c: c.records("notebooks", filter={"id": {"gte": 1}}).first(), errors.InvalidFilter),
        (lambda c: c.records("messages", expand=["x"]).first(), errors.InvalidExpand),
        (lambda c: c.schema("messages", full=True), errors.AmbiguousSchemaDetail),
        (lambda c: list(c.changes("messages")), errors.AmbiguousConnection),
        (lambda c: c.window(INVOICE, "body", limit_chars=99_999), errors.InvalidWindow),
        (lambda c: c.blob("0" * 64), errors.BlobNotFound),
        (lambda c: c.record(INVOICE, connection_id="cin_work"), errors.InvalidRequest),
        (lambda c: c.record("no handle"), errors.InvalidRequest),
        (lambda c: c.record("messages:m-1", connection_id="a/b"), errors.InvalidRequest),
    ],
)
def test_errors_are_those_of_the_server(client: Client, ask: Ask, kind: type[PdppError]) -> None:
    with pytest.raises(PdppError) as told:
        ask(client)
    assert type(told.value) is kind
    assert told.value.status == kind.status
    assert told.value.message


def test_an_error_keeps_everything_the_server_told(client: Client) -> None:
    with pytest.raises(errors.AmbiguousConnection) as told:
        list(client.changes("messages"))
    choices = told.value.detail["available_connections"]
    assert {choice["connection_id"] for choice in choices} == {"cin_home", "cin_work", "cin_team"}
    assert told.value.detail["request_id"].startswith("req_")
    assert told.value.param == "connection_id"


def test_a_revoked_grant_is_told(demo: World) -> None:
    approval = approve(demo.store, Selection(streams=("albums",)))
    with Client(demo.server.url, approval.token) as client:
        assert client.streams()
        revoke_grant(demo.store, approval.grant_id)
        with pytest.raises(errors.GrantRevoked):
            client.streams()


def test_the_owner_may_use_the_library_too(demo: World) -> None:
    with Client(demo.server.url, owner(demo.store)) as client:
        assert client.schema().token_kind == "owner"


def test_a_bad_address_or_token_is_refused_at_once_and_never_repeated() -> None:
    with pytest.raises(ValueError, match="is not an address"):
        Client("ftp://x", "token")
    with pytest.raises(ValueError, match="one printable word") as told:
        Client("http://x", "two words")
    assert "two" not in str(told.value)


def test_a_client_shows_its_address_and_not_its_token(demo: World, token: str) -> None:
    client = Client(demo.server.url + "/", token)
    assert repr(client) == f"Client({demo.server.url!r})"
    client.close()


def test_a_citation_opens_the_owners_page_at_the_passage(client: Client) -> None:
    hit = next(iter(client.search("invoice 4471 adhesive")))
    [part] = hit.excerpts
    page = f"{client.url}/r/cin_home/messages/m-invoice-4471"
    assert (
        client.citation_url(hit) == f"{page}#field=body&chars={part.start_chars}-{part.end_chars}"
    )
    assert client.citation_url(client.record(hit.id)) == page
    window = client.window(hit.id, "body", offset_chars=3, limit_chars=10)
    assert client.citation_url(window) == f"{page}#field=body&chars=3-13"
