from typing import Any

import httpx
import pytest
from bench.demo_records import AWKWARD
from tests.resource.library import HOME_BOOKS, WORK_BOOKS
from tests.serving import World, all_rows, pages, refused

from pdpp.authz.selection import Selection

BOOKS = "/v1/streams/books/records"
HELD = [("home", dict(row)) for row in HOME_BOOKS] + [("work", dict(row)) for row in WORK_BOOKS]


def ids(rows: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(row["connection_id"], row["id"]) for row in rows]


def in_order(field: str, *, descending: bool) -> list[tuple[str, str]]:
    """The order that is promised: by value, connection and key; records without a value last."""
    present = [
        (row[field], connection_id, row["id"])
        for connection_id, row in HELD
        if row.get(field) is not None
    ]
    absent = [(connection_id, row["id"]) for connection_id, row in HELD if row.get(field) is None]
    return [
        *(item[1:] for item in sorted(present, reverse=descending)),
        *sorted(absent, reverse=descending),
    ]


def test_a_page_is_a_list_of_records_with_their_source(reader: httpx.Client) -> None:
    body = reader.get(BOOKS, params={"connection_id": "home", "limit": 1}).json()
    assert body.keys() == {"object", "url", "data", "has_more", "next_cursor", "meta", "links"}
    assert body["object"] == "list"
    assert body["url"] == f"{BOOKS}?connection_id=home&limit=1"
    assert body["has_more"] is True
    assert body["meta"] == {"count": {"kind": "none"}, "warnings": []}
    assert body["links"].keys() == {"next"}
    record = body["data"][0]
    assert record.keys() == {
        "object",
        "id",
        "stream",
        "connection_id",
        "connector_key",
        "display_name",
        "data",
        "emitted_at",
        "version",
    }
    assert record["object"] == "record"
    assert (record["connector_key"], record["display_name"]) == ("library", "Home shelf")


def test_the_last_page_has_no_cursor(reader: httpx.Client) -> None:
    body = reader.get(BOOKS).json()
    assert body["has_more"] is False
    assert "next_cursor" not in body
    assert body["links"] == {}


def test_the_link_to_the_next_page_leads_there(reader: httpx.Client) -> None:
    first = reader.get(BOOKS, params={"limit": 3, "filter[pages][gte]": 1}).json()
    linked = reader.get(first["links"]["next"]).json()
    params = {"limit": 3, "filter[pages][gte]": 1, "cursor": first["next_cursor"]}
    assert ids(linked["data"]) == ids(reader.get(BOOKS, params=params).json()["data"])


def test_records_come_newest_first_unless_asked_otherwise(reader: httpx.Client) -> None:
    assert ids(all_rows(reader, BOOKS, limit=3)) == in_order("added_at", descending=True)
    assert ids(all_rows(reader, BOOKS, limit=3, order="asc")) == in_order(
        "added_at", descending=False
    )


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
@pytest.mark.parametrize("descending", [True, False])
@pytest.mark.parametrize("field", ["pages", "price", "published", "added_at", "author_id"])
def test_pages_over_several_connections_have_one_order_limit_and_cursor(
    reader: httpx.Client, field: str, descending: bool, limit: int
) -> None:
    sort = f"-{field}" if descending else field
    listed = list(pages(reader, BOOKS, sort=sort, limit=limit))
    assert all(len(page["data"]) == limit for page in listed[:-1])
    found = [pair for page in listed for pair in ids(page["data"])]
    assert found == in_order(field, descending=descending)


@pytest.mark.parametrize("descending", [True, False])
def test_a_filter_on_another_field_keeps_the_order(reader: httpx.Client, descending: bool) -> None:
    order = "desc" if descending else "asc"
    rows = all_rows(reader, BOOKS, sort="pages", order=order, limit=1, **{"filter[in_print]": True})
    kept = {(connection_id, row["id"]) for connection_id, row in HELD if row.get("in_print")}
    assert ids(rows) == [pair for pair in in_order("pages", descending=descending) if pair in kept]


@pytest.mark.parametrize("sort", ["pages", "-pages"])
def test_a_filter_pages_through_records_without_the_sorted_value(
    reader: httpx.Client, sort: str
) -> None:
    params = {"sort": sort, "limit": 1, "filter[added_at]": "2026-01-04T10:00:00Z"}
    rows = all_rows(reader, BOOKS, **params)
    kept = {("home", "b4"), ("home", "b5"), ("work", "w3")}
    order = in_order("pages", descending=sort.startswith("-"))
    assert ids(rows) == [pair for pair in order if pair in kept]


def test_a_stream_without_a_time_is_ordered_by_key(reader: httpx.Client) -> None:
    assert ids(all_rows(reader, "/v1/streams/shelves/records", limit=1)) == [
        ("home", "top"),
        ("home", "7"),
    ]
    rows = all_rows(reader, "/v1/streams/shelves/records", limit=1, order="asc")
    assert ids(rows) == [("home", "7"), ("home", "top")]


def test_a_sort_has_one_direction(reader: httpx.Client) -> None:
    error = refused(
        reader.get(BOOKS, params={"sort": "-pages", "order": "asc"}), 400, "invalid_request"
    )
    assert error["param"] == "order"


def test_a_field_without_an_index_cannot_be_sorted_by(reader: httpx.Client) -> None:
    error = refused(reader.get(BOOKS, params={"sort": "title"}), 400, "invalid_request")
    assert error["param"] == "sort"
    assert "pages" in error["message"]


def test_a_hidden_field_cannot_be_sorted_by(library: World) -> None:
    client = library.client(fields=("id", "title", "added_at"))
    hidden = refused(client.get(BOOKS, params={"sort": "pages"}), 403, "field_not_granted")
    absent = refused(client.get(BOOKS, params={"sort": "weight"}), 403, "field_not_granted")
    assert hidden["message"].replace("pages", "weight") == absent["message"]


def test_an_order_that_is_hidden_gives_way_to_the_key(library: World) -> None:
    rows = all_rows(library.client(fields=("id", "title")), BOOKS, connection_id="home", limit=2)
    assert [row["id"] for row in rows] == ["b5", "b4", "b3", "b2", "b1"]


@pytest.mark.scenario("S030")
def test_pages_and_counts_are_told(reader: httpx.Client) -> None:
    body = reader.get(BOOKS, params={"count": "exact", "limit": 2}).json()
    assert body["meta"]["count"] == {"kind": "exact", "value": 8}
    assert body["next_cursor"]
    changes = reader.get(BOOKS, params={"changes_since": "beginning", "connection_id": "home"})
    assert changes.json()["next_changes_since"]


@pytest.mark.parametrize("kind", ["exact", "estimated"])
def test_a_count_is_of_what_matches_the_filter(reader: httpx.Client, kind: str) -> None:
    params = {"count": kind, "filter[pages][gt]": "120", "limit": "1"}
    count = reader.get(BOOKS, params=params).json()["meta"]["count"]
    assert count["value"] == 3
    assert count["kind"] in (kind, "exact")


def test_a_limit_above_the_most_is_clamped_and_told(everything: httpx.Client) -> None:
    params = {"limit": "1000", "connection_id": "cin_home"}
    body = everything.get("/v1/streams/messages/records", params=params).json()
    assert len(body["data"]) == 100
    assert [warning["code"] for warning in body["meta"]["warnings"]] == ["limit_clamped"]
    assert body["meta"]["warnings"][0]["param"] == "limit"


def test_a_page_has_25_records_unless_asked_otherwise(everything: httpx.Client) -> None:
    assert len(everything.get("/v1/streams/messages/records").json()["data"]) == 25


@pytest.mark.scenario("S035")
@pytest.mark.parametrize(
    "written", ["fields=id,title", "fields=id&fields=title", "fields[]=id,title"]
)
def test_fields_narrow_each_record(reader: httpx.Client, written: str) -> None:
    rows = reader.get(f"{BOOKS}?{written}").json()["data"]
    assert all(row["data"].keys() <= {"id", "title"} for row in rows)
    assert {"Harbour lights", "Ledger"} <= {row["data"].get("title") for row in rows}


def test_a_view_narrows_each_record(reader: httpx.Client) -> None:
    rows = reader.get(BOOKS, params={"view": "card"}).json()["data"]
    shown = reader.get(BOOKS, params={"fields": "id,title,added_at"}).json()["data"]
    assert rows == shown
    assert set().union(*(row["data"] for row in rows)) == {"id", "title", "added_at"}


def test_a_view_and_fields_exclude_each_other(reader: httpx.Client) -> None:
    answer = reader.get(BOOKS, params={"view": "card", "fields": "id"})
    assert refused(answer, 400, "invalid_request")["param"] == "view"


def test_a_view_that_does_not_exist_is_refused_with_those_that_do(reader: httpx.Client) -> None:
    error = refused(reader.get(BOOKS, params={"view": "cards"}), 400, "invalid_request")
    assert "card, words" in error["message"]


def test_a_view_of_hidden_fields_is_as_if_it_did_not_exist(library: World) -> None:
    client = library.client(fields=("id", "title"))
    hidden = refused(client.get(BOOKS, params={"view": "words"}), 400, "invalid_request")
    absent = refused(client.get(BOOKS, params={"view": "wards"}), 400, "invalid_request")
    assert hidden["message"].replace("words", "wards") == absent["message"]


def test_a_view_shows_only_granted_fields(library: World) -> None:
    rows = library.client(fields=("id", "title", "pages")).get(BOOKS, params={"view": "card"})
    assert set().union(*(row["data"] for row in rows.json()["data"])) == {"id", "title"}


def test_an_unknown_field_is_refused(reader: httpx.Client) -> None:
    error = refused(reader.get(BOOKS, params={"fields": "id,wait"}), 400, "unknown_field")
    assert error["param"] == "fields"
    assert "title" in error["message"]


def test_a_field_outside_the_grant_is_refused_like_one_that_does_not_exist(
    library: World,
) -> None:
    client = library.client(fields=("id", "title"))
    hidden = refused(client.get(BOOKS, params={"fields": "remark"}), 403, "field_not_granted")
    absent = refused(client.get(BOOKS, params={"fields": "remerk"}), 403, "field_not_granted")
    assert hidden["message"].replace("remark", "remerk") == absent["message"]


def test_one_record_is_read_by_its_key(reader: httpx.Client) -> None:
    body = reader.get(f"{BOOKS}/b4").json()
    assert body["id"] == "b4"
    assert body["data"] == dict(HOME_BOOKS[3])
    assert body["connection_id"] == "home"


def test_one_record_is_narrowed_by_fields_or_view(reader: httpx.Client) -> None:
    assert reader.get(f"{BOOKS}/b4?fields=id,pages").json()["data"] == {"id": "b4", "pages": 120}
    assert reader.get(f"{BOOKS}/b4?view=card").json()["data"].keys() == {"id", "title", "added_at"}


def test_a_record_in_a_page_equals_the_record_alone(reader: httpx.Client) -> None:
    rows = reader.get(BOOKS).json()["data"]
    assert rows
    for row in rows:
        params = {"connection_id": row["connection_id"]}
        assert reader.get(f"{BOOKS}/{row['id']}", params=params).json() == row


def test_a_record_that_does_not_exist_is_not_found(reader: httpx.Client) -> None:
    refused(reader.get(f"{BOOKS}/nothing"), 404, "not_found")
    refused(reader.get(f"{BOOKS}/nothing?connection_id=home"), 404, "not_found")


@pytest.mark.scenario("S098")
def test_a_key_that_two_connections_hold_is_ambiguous_without_one(library: World) -> None:
    client = library.client()
    error = refused(client.get(f"{BOOKS}/b1"), 409, "ambiguous_connection")
    assert error["retry_with"] == "connection_id"
    assert error["total"] == 2
    assert error["truncated"] is False
    grant_id = client.get("/v1/schema").json()["bearer"]["grant_id"]
    assert error["available_connections"] == [
        {
            "connection_id": connection_id,
            "connector_key": "library",
            "display_name": name,
            "grant_id": grant_id,
        }
        for connection_id, name in (("home", "Home shelf"), ("work", "Work shelf"))
    ]
    for candidate in error["available_connections"]:
        params = {"connection_id": candidate["connection_id"]}
        assert client.get(f"{BOOKS}/b1", params=params).status_code == 200


@pytest.mark.scenario("S098")
def test_a_key_that_one_connection_holds_needs_no_connection(reader: httpx.Client) -> None:
    assert reader.get(f"{BOOKS}/w2").json()["connection_id"] == "work"
    window = reader.get(f"{BOOKS}/w2/field-window", params={"field": "text"}).json()
    assert window["connection_id"] == "work"


def test_more_than_twelve_candidates_are_cut_and_counted(shelf: World) -> None:
    for number in range(13):
        shelf.store.connect(f"more-{number:02}", "library", f"More {number}")
        shelf.put(f"more-{number:02}", "books", HOME_BOOKS[0])
    error = refused(shelf.client().get(f"{BOOKS}/b1"), 409, "ambiguous_connection")
    assert len(error["available_connections"]) == 12
    assert error["total"] == 15
    assert error["truncated"] is True


def test_an_owner_is_offered_connections_without_a_grant(library: World) -> None:
    error = refused(library.owner().get(f"{BOOKS}/b1"), 409, "ambiguous_connection")
    assert {item["grant_id"] for item in error["available_connections"]} == {None}


@pytest.mark.parametrize("name", ["key_with_colon", "key_with_spaces", "key_with_unicode"])
def test_awkward_keys_are_read_by_the_address_a_search_gives(
    demo: World, everything: httpx.Client, name: str
) -> None:
    connection_id, stream, key = AWKWARD[name]
    path = f"/v1/streams/{stream}/records/{key}"
    assert everything.get(path, params={"connection_id": connection_id}).json()["id"] == key


@pytest.mark.scenario("S051")
def test_every_argument_of_a_record_query_works_together(reader: httpx.Client) -> None:
    params = {
        "limit": "1",
        "sort": "added_at",
        "order": "desc",
        "fields": "id,title",
        "filter[pages]": "300",
        "filter[price][gte]": "1",
        "expand": "author",
        "connection_id": "home",
        "count": "exact",
    }
    body = reader.get(BOOKS, params=params).json()
    assert [row["data"] for row in body["data"]] == [{"id": "b1", "title": "Harbour lights"}]
    assert body["meta"]["count"]["value"] == 1
    refused(reader.get(BOOKS, params={**params, "where": "1"}), 400, "invalid_request")


@pytest.mark.scenario("S060")
@pytest.mark.scenario("S051")
def test_a_client_reads_nothing_but_what_its_token_opens(library: World) -> None:
    client = library.granted(
        Selection(connections=("home",), streams=("books",), fields=("id", "title"))
    )
    rows = all_rows(client, BOOKS)
    assert {row["connection_id"] for row in rows} == {"home"}
    assert all(row["data"].keys() <= {"id", "title"} for row in rows)
    refused(client.get(f"{BOOKS}?connection_id=work"), 403, "grant_stream_not_allowed")
    refused(client.get("/v1/streams/authors/records"), 403, "grant_stream_not_allowed")
