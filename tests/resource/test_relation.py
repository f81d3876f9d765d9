import httpx
import pytest
from tests.serving import World, refused

from pdpp.authz.selection import Selection

BOOK = "/v1/streams/books/records/b1"
HOME = {"connection_id": "home"}


def test_a_record_that_belongs_to_another_carries_it(reader: httpx.Client) -> None:
    body = reader.get(BOOK, params={**HOME, "expand": "author"}).json()
    author = body["expanded"]["author"]
    assert author["object"] == "record"
    assert author["stream"] == "authors"
    assert author["data"]["name"] == "Ana Reis"


def test_a_number_is_a_way_to_a_key(reader: httpx.Client) -> None:
    body = reader.get(BOOK, params={**HOME, "expand": "shelf"}).json()
    assert body["expanded"]["shelf"]["id"] == "7"


def test_nothing_to_belong_to_is_null(reader: httpx.Client) -> None:
    rows = "/v1/streams/books/records"
    assert reader.get(f"{rows}/b4?expand=author").json()["expanded"] == {"author": None}
    assert reader.get(f"{rows}/b2?expand=shelf").json()["expanded"] == {"shelf": None}
    missing = reader.get(BOOK, params={"connection_id": "work", "expand": "author"}).json()
    assert missing["expanded"] == {"author": None}


def test_a_record_that_has_one_carries_it(reader: httpx.Client) -> None:
    summary = reader.get(BOOK, params={**HOME, "expand": "summary"}).json()["expanded"]["summary"]
    assert summary["data"]["words"] == "Lights, a harbour."
    assert reader.get("/v1/streams/books/records/b2?expand=summary").json()["expanded"] == {
        "summary": None
    }


def test_many_related_records_come_in_order_of_time_up_to_the_declared_limit(
    reader: httpx.Client,
) -> None:
    reviews = reader.get(BOOK, params={**HOME, "expand": "reviews"}).json()["expanded"]["reviews"]
    assert [row["id"] for row in reviews["data"]] == ["r1", "r2"]
    assert (reviews["object"], reviews["has_more"], reviews["limit"]) == ("list", True, 2)


@pytest.mark.scenario("S077")
def test_an_expand_limit_on_one_record_is_kept(reader: httpx.Client) -> None:
    params = {**HOME, "expand": "reviews", "expand_limit[reviews]": "3"}
    reviews = reader.get(BOOK, params=params).json()["expanded"]["reviews"]
    assert [row["id"] for row in reviews["data"]] == ["r1", "r2", "r3"]
    error = refused(
        reader.get(BOOK, params={**HOME, "expand": "reviews", "expand_limit": '{"reviews":3}'}),
        400,
        "invalid_expand",
    )
    assert error["param"] == "expand_limit"


@pytest.mark.scenario("S076")
def test_an_expand_limit_on_a_page_is_kept_for_each_record(reader: httpx.Client) -> None:
    params = {**HOME, "expand": "reviews", "expand_limit[reviews]": "1", "sort": "added_at"}
    rows = reader.get("/v1/streams/books/records", params=params).json()["data"]
    first, second = (row["expanded"]["reviews"] for row in rows[:2])
    assert [row["id"] for row in first["data"]] == ["r1"]
    assert (first["has_more"], second["has_more"], second["data"]) == (True, False, [])
    refused(
        reader.get("/v1/streams/books/records?expand=reviews&expand_limit=3"),
        400,
        "invalid_expand",
    )


def test_an_expand_limit_above_the_most_is_clamped_and_told(reader: httpx.Client) -> None:
    params = {**HOME, "expand": "reviews", "expand_limit[reviews]": "50"}
    body = reader.get("/v1/streams/books/records", params=params).json()
    assert body["data"][-1]["expanded"]["reviews"]["limit"] == 3
    warning = body["meta"]["warnings"][0]
    assert (warning["code"], warning["param"]) == ("limit_clamped", "expand_limit[reviews]")


def test_several_relations_are_a_list_in_either_form(reader: httpx.Client) -> None:
    repeated = reader.get(f"{BOOK}?connection_id=home&expand=author&expand=summary").json()
    joined = reader.get(f"{BOOK}?connection_id=home&expand=author,summary").json()
    assert repeated == joined
    assert joined["expanded"].keys() == {"author", "summary"}


def test_an_expanded_record_is_still_narrowed_by_fields(reader: httpx.Client) -> None:
    params = {**HOME, "expand": "author", "fields": "title"}
    body = reader.get(BOOK, params=params).json()
    assert body["data"] == {"title": "Harbour lights"}
    assert body["expanded"]["author"]["id"] == "a1"


def test_a_key_that_is_no_number_has_nothing_by_a_number(reader: httpx.Client) -> None:
    shelves = "/v1/streams/shelves/records"
    books = reader.get(f"{shelves}/7?expand=books").json()["expanded"]["books"]
    assert [row["id"] for row in books["data"]] == ["b1", "b4"]
    assert reader.get(f"{shelves}/top?expand=books").json()["expanded"] == {"books": None}


@pytest.mark.parametrize("key", ["9" * 30, str(2**63), "007", "٧", "--7", "-"])
def test_a_key_that_no_number_is_written_as_has_nothing_by_a_number(shelf: World, key: str) -> None:
    shelf.put("home", "shelves", {"id": key})
    found = shelf.client().get(f"/v1/streams/shelves/records/{key}?expand=books")
    assert (found.status_code, found.json().get("expanded")) == (200, {"books": None})


@pytest.mark.parametrize("name", ["reviewers", "unlisted"])
def test_a_relation_that_is_not_offered_is_refused_with_those_that_are(
    reader: httpx.Client, name: str
) -> None:
    error = refused(reader.get(BOOK, params={**HOME, "expand": name}), 400, "invalid_expand")
    assert error["param"] == "expand"
    assert "author, reviews, shelf, summary" in error["message"]


def test_a_relation_to_a_hidden_stream_is_as_if_it_did_not_exist(library: World) -> None:
    client = library.client(connections=("home",), streams=("books",))
    hidden = refused(client.get(BOOK, params={"expand": "author"}), 400, "invalid_expand")
    absent = refused(client.get(BOOK, params={"expand": "auther"}), 400, "invalid_expand")
    assert hidden["message"].replace("author", "auther") == absent["message"]


def test_a_relation_by_a_hidden_key_is_as_if_it_did_not_exist(library: World) -> None:
    client = library.granted(
        Selection(connections=("home",), streams=("books",), fields=("id", "title")),
        Selection(connections=("home",), streams=("authors",)),
        Selection(connections=("home",), streams=("reviews",), fields=("id", "title")),
    )
    absent = refused(client.get(BOOK, params={"expand": "nothing"}), 400, "invalid_expand")
    for name in ("author", "reviews"):
        hidden = refused(client.get(BOOK, params={"expand": name}), 400, "invalid_expand")
        assert hidden["message"].replace(name, "nothing") == absent["message"]


def test_related_records_show_only_what_the_grant_shows_of_their_stream(library: World) -> None:
    client = library.granted(
        Selection(connections=("home",), streams=("books",)),
        Selection(streams=("reviews",), connections=("home",), fields=("book_id", "stars")),
        Selection(streams=("authors",), connections=("home",), fields=("id",)),
    )
    expanded = client.get(BOOK, params={"expand": "author,reviews"}).json()["expanded"]
    assert expanded["author"]["data"] == {"id": "a1"}
    assert expanded["reviews"]["data"][0]["data"] == {"book_id": "b1", "stars": 1}


def test_a_related_record_outside_the_grant_is_not_there(library: World) -> None:
    client = library.granted(
        Selection(connections=("home",), streams=("books",)),
        Selection(connections=("home",), streams=("authors",), keys=("a2",)),
        Selection(connections=("home",), streams=("reviews",), keys=("r4",)),
    )
    expanded = client.get(BOOK, params={"expand": "author,reviews"}).json()["expanded"]
    assert expanded["author"] is None
    assert [row["id"] for row in expanded["reviews"]["data"]] == ["r4"]
    assert expanded["reviews"]["has_more"] is False


@pytest.mark.parametrize(
    "query",
    [
        "expand=reviews&expand_limit[author]=1",
        "expand=reviews&expand_limit[reviews]=0",
        "expand=reviews&expand_limit[reviews]=many",
        "expand=reviews&expand_limit[reviews]=1&expand_limit[reviews]=2",
        "expand=reviews&expand_limit[]=1",
        "expand=reviews&expand_limit[a][b]=1",
        "expand_limit[reviews]=1",
    ],
)
def test_a_malformed_expand_limit_is_refused(reader: httpx.Client, query: str) -> None:
    refused(reader.get(f"{BOOK}?connection_id=home&{query}"), 400, "invalid_expand")


def test_an_expansion_that_only_some_connections_grant_is_given_where_it_is(
    library: World,
) -> None:
    client = library.granted(
        Selection(streams=("books",)), Selection(connections=("home",), streams=("authors",))
    )
    rows = client.get("/v1/streams/books/records", params={"expand": "author"}).json()["data"]
    expanded = {(row["connection_id"], row["id"]): row["expanded"] for row in rows}
    assert expanded[("home", "b1")]["author"]["id"] == "a1"
    assert expanded[("work", "b1")] == {}
