from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.resource.library import HOME_BOOKS, book, library_store
from tests.serving import SetClock, World, living, refused

from pdpp.authz.selection import Selection
from pdpp.model import instant
from pdpp.model.grant import Interval

BOOKS = "/v1/streams/books/records"
HOME = ("home",)


def changes(client: httpx.Client, since: str, **params: Any) -> tuple[list[dict[str, Any]], str]:
    """Return every change after a bookmark and the bookmark that follows them."""
    params = {"changes_since": since, "connection_id": "home", **params}
    found: list[dict[str, Any]] = []
    while True:
        answer = client.get(BOOKS, params=params)
        assert answer.status_code == 200, answer.text
        body = answer.json()
        found += body["data"]
        if not body["has_more"]:
            return found, body["next_changes_since"]
        assert "next_changes_since" not in body
        params["cursor"] = body["next_cursor"]


def until(day: int) -> Interval:
    return Interval(None, instant.parse(f"2026-01-{day:02}"))


def since(day: int) -> Interval:
    return Interval(instant.parse(f"2026-01-{day:02}"), None)


@pytest.mark.parametrize("limit", [1, 2, 5, 100])
def test_the_beginning_gives_every_record_once(shelf: World, limit: int) -> None:
    found, _ = changes(shelf.client(), "beginning", limit=limit)
    assert sorted(row["id"] for row in found) == ["b1", "b2", "b3", "b4", "b5"]


def test_nothing_follows_a_bookmark_until_something_changes(shelf: World) -> None:
    client = shelf.client()
    _, bookmark = changes(client, "beginning")
    for _ in range(3):
        found, bookmark = changes(client, bookmark)
        assert found == []


def test_a_new_and_an_edited_record_follow_the_bookmark(shelf: World) -> None:
    client = shelf.client()
    _, bookmark = changes(client, "beginning")
    shelf.put("home", "books", book("b6", 6, title="New"))
    shelf.put("home", "books", {**HOME_BOOKS[3], "title": "High tides"})
    found, bookmark = changes(client, bookmark)
    assert [(row["id"], row["data"]["title"]) for row in found] == [
        ("b6", "New"),
        ("b4", "High tides"),
    ]
    assert changes(client, bookmark)[0] == []


def test_a_record_edited_often_comes_once_as_it_is_now(shelf: World) -> None:
    client = shelf.client()
    _, bookmark = changes(client, "beginning")
    for pages in range(3):
        shelf.put("home", "books", {**HOME_BOOKS[3], "pages": pages})
    found, _ = changes(client, bookmark)
    assert [row["data"]["pages"] for row in found] == [2]


def test_an_edit_of_a_hidden_field_changes_nothing_that_is_shown(shelf: World) -> None:
    client = shelf.client(connections=HOME, fields=("id", "title", "added_at"))
    before = client.get(f"{BOOKS}/b4").json()
    _, bookmark = changes(client, "beginning")
    shelf.put("home", "books", {**HOME_BOOKS[3], "remark": "a secret", "pages": 121})
    assert changes(client, bookmark)[0] == []
    assert client.get(f"{BOOKS}/b4").json() == before
    whole = shelf.client().get(f"{BOOKS}/b4").json()
    assert whole["version"] != before["version"]
    assert whole["emitted_at"] != before["emitted_at"]


def test_an_edit_of_a_shown_field_changes_version_and_emission(shelf: World) -> None:
    client = shelf.client(connections=HOME, fields=("id", "title", "added_at"))
    before = client.get(f"{BOOKS}/b4").json()
    shelf.put("home", "books", {**HOME_BOOKS[3], "title": "Other"})
    after = client.get(f"{BOOKS}/b4").json()
    assert after["version"] != before["version"]
    assert after["emitted_at"] > before["emitted_at"]


def test_a_hidden_edit_in_the_batch_of_a_shown_one_is_not_told(shelf: World) -> None:
    client = shelf.client(connections=HOME, fields=("id", "title"))
    _, bookmark = changes(client, "beginning")
    shelf.put("home", "books", {**HOME_BOOKS[3], "pages": 1}, {**HOME_BOOKS[2], "title": "Retold"})
    assert [row["id"] for row in changes(client, bookmark)[0]] == ["b3"]


def test_a_deleted_record_leaves_a_tombstone_without_data(shelf: World) -> None:
    client, owner = shelf.client(), shelf.owner()
    _, bookmark = changes(client, "beginning")
    assert owner.delete(f"{BOOKS}/b2").status_code == 204
    found, bookmark = changes(client, bookmark)
    assert len(found) == 1
    assert found[0].keys() == {
        "object",
        "id",
        "stream",
        "connection_id",
        "connector_key",
        "display_name",
        "emitted_at",
        "version",
        "deleted",
        "deleted_at",
    }
    assert (found[0]["id"], found[0]["deleted"]) == ("b2", True)
    assert instant.parse(found[0]["deleted_at"]) is not None
    assert changes(client, bookmark)[0] == []


def test_the_beginning_tells_of_no_record_that_is_gone(shelf: World) -> None:
    assert shelf.owner().delete(f"{BOOKS}/b2").status_code == 204
    found, _ = changes(shelf.client(connections=HOME), "beginning", limit=2)
    assert [row["id"] for row in found] == ["b1", "b3", "b4", "b5"]


def test_a_bookmark_from_the_beginning_tells_of_nothing_that_was_gone_before(
    shelf: World,
) -> None:
    client = shelf.client(connections=HOME)
    assert shelf.owner().delete(f"{BOOKS}/b2").status_code == 204
    _, bookmark = changes(client, "beginning", limit=2)
    assert changes(client, bookmark)[0] == []


def test_a_record_deleted_and_made_again_is_a_change_and_no_tombstone(shelf: World) -> None:
    client, owner = shelf.client(), shelf.owner()
    _, bookmark = changes(client, "beginning")
    owner.delete(f"{BOOKS}/b2")
    shelf.put("home", "books", HOME_BOOKS[1])
    found, _ = changes(client, bookmark)
    assert [(row["id"], "deleted" in row) for row in found] == [("b2", False)]


def test_a_deleted_record_outside_the_grant_leaves_nothing(shelf: World) -> None:
    owner = shelf.owner()
    limited = shelf.client(connections=HOME, keys=("b1", "b3"))
    early = shelf.client(connections=HOME, streams=("books",), time=until(2))
    bookmarks = [changes(client, "beginning")[1] for client in (limited, early)]
    owner.delete(f"{BOOKS}/b2")
    for client, bookmark in zip((limited, early), bookmarks, strict=True):
        assert changes(client, bookmark)[0] == []


def test_a_record_that_moves_out_of_the_granted_time_leaves_a_tombstone(shelf: World) -> None:
    client = shelf.client(connections=HOME, streams=("books",), time=until(3))
    found, bookmark = changes(client, "beginning")
    assert [row["id"] for row in found] == ["b1", "b2"]
    shelf.put("home", "books", {**HOME_BOOKS[1], "added_at": "2026-01-09T00:00:00Z"})
    found, bookmark = changes(client, bookmark)
    assert [(row["id"], row["deleted"]) for row in found] == [("b2", True)]
    assert changes(client, bookmark)[0] == []


def test_a_record_that_moves_into_the_granted_time_is_a_change(shelf: World) -> None:
    client = shelf.client(connections=HOME, streams=("books",), time=until(3))
    _, bookmark = changes(client, "beginning")
    shelf.put("home", "books", {**HOME_BOOKS[4], "added_at": "2026-01-01T00:00:00Z"})
    found, _ = changes(client, bookmark)
    assert [(row["id"], "deleted" in row) for row in found] == [("b5", False)]


def test_a_record_that_enters_is_a_change_even_where_its_time_is_hidden(shelf: World) -> None:
    client = shelf.client(
        connections=HOME, streams=("books",), fields=("id", "title"), time=since(4)
    )
    found, bookmark = changes(client, "beginning")
    assert [row["id"] for row in found] == ["b4", "b5"]
    shelf.put("home", "books", {**HOME_BOOKS[0], "added_at": "2026-01-20T00:00:00Z"})
    found, bookmark = changes(client, bookmark)
    assert [row["id"] for row in found] == ["b1"]
    shelf.put("home", "books", {**HOME_BOOKS[0], "added_at": "2026-01-21T00:00:00Z"})
    assert changes(client, bookmark)[0] == []


def test_pages_of_one_session_share_a_horizon(shelf: World) -> None:
    client = shelf.client()
    params = {"changes_since": "beginning", "connection_id": "home", "limit": "2"}
    first = client.get(BOOKS, params=params).json()
    shelf.put("home", "books", book("b9", 9, title="Meanwhile"))
    shelf.put("home", "books", {**HOME_BOOKS[4], "title": "Edited meanwhile"})
    rest, bookmark = changes(client, "beginning", limit="2", cursor=first["next_cursor"])
    seen = [row["id"] for row in (*first["data"], *rest)]
    assert "b9" not in seen
    assert len(seen) == len(set(seen))
    later = [row["id"] for row in changes(client, bookmark)[0]]
    assert {"b9", "b5"} <= set(later)


def test_changes_are_narrowed_by_fields_and_view(shelf: World) -> None:
    client = shelf.client()
    assert changes(client, "beginning", fields="title")[0][0]["data"].keys() == {"title"}
    assert changes(client, "beginning", view="card")[0][0]["data"].keys() == {
        "id",
        "title",
        "added_at",
    }


def test_changes_of_several_connections_are_ambiguous(shelf: World) -> None:
    answer = shelf.client().get(BOOKS, params={"changes_since": "beginning"})
    error = refused(answer, 409, "ambiguous_connection")
    assert error["retry_with"] == "connection_id"
    assert [item["connection_id"] for item in error["available_connections"]] == ["home", "work"]


def test_changes_of_a_single_granted_connection_need_no_name(shelf: World) -> None:
    client = shelf.client(connections=HOME)
    answer = client.get(BOOKS, params={"changes_since": "beginning"}).json()
    named = changes(client, "beginning")[0]
    assert answer["data"] == named != []


@pytest.mark.parametrize(
    "params",
    [
        {"filter[pages]": "300"},
        {"sort": "pages"},
        {"order": "asc"},
        {"expand": "author"},
    ],
)
def test_changes_take_no_filter_order_or_expansion(shelf: World, params: dict[str, str]) -> None:
    since = {"changes_since": "beginning", "connection_id": "home"}
    error = refused(shelf.client().get(BOOKS, params={**since, **params}), 400, "invalid_request")
    assert error["param"] in str(params)


def test_a_bookmark_belongs_to_its_grant_connection_and_stream(shelf: World) -> None:
    client = shelf.client()
    _, bookmark = changes(client, "beginning")
    for other, params in (
        (shelf.client(), {"connection_id": "home"}),
        (shelf.owner(), {"connection_id": "home"}),
        (client, {"connection_id": "work"}),
    ):
        answer = other.get(BOOKS, params={**params, "changes_since": bookmark})
        assert refused(answer, 400, "invalid_cursor")["param"] == "changes_since"
    foreign = {"connection_id": "home", "changes_since": bookmark}
    refused(client.get("/v1/streams/reviews/records", params=foreign), 400, "invalid_cursor")


def test_a_text_that_is_no_bookmark_is_refused(shelf: World) -> None:
    client = shelf.client()
    for text in ("yesterday", "AAAA", "2026-01-01"):
        params = {"connection_id": "home", "changes_since": text}
        refused(client.get(BOOKS, params=params), 400, "invalid_cursor")


def test_a_cursor_of_a_page_is_no_cursor_of_changes(shelf: World) -> None:
    client = shelf.client(connections=HOME)
    cursor = client.get(BOOKS, params={"limit": 1}).json()["next_cursor"]
    params = {"changes_since": "beginning", "cursor": cursor}
    refused(client.get(BOOKS, params=params), 400, "invalid_cursor")


def test_owners_follow_changes_too(shelf: World) -> None:
    owner = shelf.owner()
    _, bookmark = changes(owner, "beginning")
    shelf.put("home", "books", {**HOME_BOOKS[3], "remark": "seen by its owner"})
    assert [row["id"] for row in changes(owner, bookmark)[0]] == ["b4"]


@pytest.fixture
def timed(tmp_path: Path) -> Iterator[tuple[World, SetClock]]:
    """A library whose clock a test can move."""
    clock = SetClock()
    with living(library_store(tmp_path, clock), clock=clock) as world:
        yield world, clock


def test_a_bookmark_expires_after_its_life(timed: tuple[World, SetClock]) -> None:
    world, clock = timed
    client = world.client()
    _, bookmark = changes(client, "beginning")
    clock.advance(89 * 86_400)
    assert changes(client, bookmark)[0] == []
    clock.advance(2 * 86_400)
    params = {"connection_id": "home", "changes_since": bookmark}
    error = refused(client.get(BOOKS, params=params), 410, "cursor_expired")
    assert error["param"] == "changes_since"
    assert "beginning" in error["message"]


def test_changes_are_found_even_when_the_clock_stands_still(
    timed: tuple[World, SetClock],
) -> None:
    world, _ = timed
    client = world.client()
    _, bookmark = changes(client, "beginning")
    for number in range(3):
        world.put("home", "books", book(f"n{number}", 10, title="Same moment"))
        found, bookmark = changes(client, bookmark)
        assert [row["id"] for row in found] == [f"n{number}"]


def test_a_grant_over_two_streams_keeps_their_changes_apart(shelf: World) -> None:
    client = shelf.granted(Selection(connections=HOME, streams=("books", "authors")))
    _, bookmark = changes(client, "beginning")
    shelf.put("home", "authors", {"id": "a3", "name": "Cai"})
    assert changes(client, bookmark)[0] == []


@pytest.mark.parametrize("asked", [{}, {"fields": "id,title"}, {"view": "card"}])
def test_a_cursor_of_changes_goes_on_alone(shelf: World, asked: dict[str, str]) -> None:
    client = shelf.client()
    beside, _ = changes(client, "beginning", limit=2, **asked)
    first: dict[str, Any] = {"changes_since": "beginning", "connection_id": "home", "limit": 2}
    first |= asked
    alone: list[Any] = []
    body = client.get(BOOKS, params=first).json()
    while True:
        alone += body["data"]
        if not body["has_more"]:
            break
        body = client.get(BOOKS, params={"cursor": body["next_cursor"], "limit": 2}).json()
    assert alone == beside
    assert "next_changes_since" in body


def test_what_is_repeated_beside_a_cursor_of_changes_is_what_it_was(shelf: World) -> None:
    client = shelf.client()
    first: dict[str, Any] = {"changes_since": "beginning", "connection_id": "home", "limit": 1}
    first["fields"] = "id"
    cursor = client.get(BOOKS, params=first).json()["next_cursor"]
    assert len(cursor) <= 500
    for other in ({"fields": "id,title"}, {"connection_id": "work"}):
        refused(client.get(BOOKS, params={"cursor": cursor, **other}), 400, "invalid_cursor")
    other_stream = client.get("/v1/streams/authors/records", params={"cursor": cursor})
    refused(other_stream, 400, "invalid_cursor")
    refused(shelf.client().get(BOOKS, params={"cursor": cursor}), 400, "invalid_cursor")
    refused(client.get(BOOKS, params={"cursor": cursor, "sort": "title"}), 400, "invalid_request")
