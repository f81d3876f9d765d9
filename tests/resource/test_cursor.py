import base64

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.serving import World, refused

from pdpp.model.errors import InvalidCursor
from pdpp.service.cursor import Signer

BOOKS = "/v1/streams/books/records"
SIGNER = Signer(b"a secret")


def cursor_of(client: httpx.Client, path: str = BOOKS, **params: str) -> str:
    cursor: str = client.get(path, params={"limit": 1, **params}).json()["next_cursor"]
    return cursor


@given(st.lists(st.integers(-(2**53), 2**53) | st.text() | st.none()), st.lists(st.text()))
def test_a_position_comes_back_from_its_cursor(position: list[object], binding: list[str]) -> None:
    cursor = SIGNER.seal("page", binding, position)
    assert SIGNER.open("page", binding, cursor) == position


@given(st.text(), st.lists(st.text()))
def test_any_other_text_is_no_cursor(text: str, binding: list[str]) -> None:
    with pytest.raises(InvalidCursor):
        SIGNER.open("page", binding, text)


@given(st.integers(0, 10**9), st.data())
def test_an_edited_cursor_is_refused(number: int, data: st.DataObject) -> None:
    cursor = SIGNER.seal("page", ["grant"], [number])
    place = data.draw(st.integers(0, len(cursor) - 1))
    other = data.draw(st.characters(codec="ascii").filter(lambda char: char != cursor[place]))
    with pytest.raises(InvalidCursor):
        SIGNER.open("page", ["grant"], cursor[:place] + other + cursor[place + 1 :])


@pytest.mark.parametrize(
    ("kind", "binding", "secret"),
    [
        ("search", ["a", "b"], b"a secret"),
        ("page", ["ab"], b"a secret"),
        ("page", ["a", "b", ""], b"a secret"),
        ("page", ["a", "b"], b"another"),
    ],
)
def test_a_cursor_is_bound_to_its_kind_its_request_and_its_server(
    kind: str, binding: list[str], secret: bytes
) -> None:
    cursor = SIGNER.seal("page", ["a", "b"], [1])
    with pytest.raises(InvalidCursor):
        Signer(secret).open(kind, binding, cursor)


def test_a_cursor_shows_nothing_of_its_position() -> None:
    position = [1772366400123456, "a moment, and a word"]
    cursor = SIGNER.seal("changes", ["grant"], position)
    held = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    assert b"1772366400" not in held
    assert b"word" not in held
    assert cursor == SIGNER.seal("changes", ["grant"], position)


def test_a_cursor_with_padding_or_great_length_is_refused() -> None:
    padded = SIGNER.seal("page", [], [1]) + "="
    for cursor in (padded, "A" * 5_000, "é"):
        with pytest.raises(InvalidCursor):
            SIGNER.open("page", [], cursor)


@pytest.mark.parametrize(
    "params",
    [
        {"sort": "pages"},
        {"order": "asc"},
        {"filter[pages]": "300"},
        {"fields": "id"},
        {"connection_id": "home"},
        {"expand": "author"},
    ],
)
def test_a_cursor_of_another_request_is_refused(
    reader: httpx.Client, params: dict[str, str]
) -> None:
    answer = reader.get(BOOKS, params={**params, "cursor": cursor_of(reader)})
    assert refused(answer, 400, "invalid_cursor")["param"] == "cursor"


def test_a_cursor_of_the_other_direction_is_refused(reader: httpx.Client) -> None:
    cursor = cursor_of(reader, sort="pages")
    refused(reader.get(BOOKS, params={"sort": "-pages", "cursor": cursor}), 400, "invalid_cursor")


def test_a_cursor_of_another_stream_is_refused(reader: httpx.Client) -> None:
    cursor = cursor_of(reader)
    refused(reader.get(f"/v1/streams/reviews/records?cursor={cursor}"), 400, "invalid_cursor")


@pytest.mark.parametrize(
    ("path", "params"),
    [
        (BOOKS, {}),
        (BOOKS, {"changes_since": "beginning", "connection_id": "home"}),
        ("/v1/search", {"q": "lantern"}),
    ],
    ids=["page", "changes", "search"],
)
def test_a_cursor_of_another_grant_is_refused(
    library: World, reader: httpx.Client, path: str, params: dict[str, str]
) -> None:
    cursor = cursor_of(reader, path, **params)
    for other in (library.client(), library.owner()):
        refused(other.get(path, params={**params, "cursor": cursor}), 400, "invalid_cursor")


def test_a_cursor_of_a_search_is_no_cursor_of_a_page(reader: httpx.Client) -> None:
    cursor = cursor_of(reader, "/v1/search", q="lantern")
    refused(reader.get(BOOKS, params={"cursor": cursor}), 400, "invalid_cursor")
    other = reader.get("/v1/search", params={"q": "harbour", "cursor": cursor})
    refused(other, 400, "invalid_cursor")


def test_a_page_may_change_its_size_on_the_way(reader: httpx.Client) -> None:
    first = reader.get(BOOKS, params={"limit": 1}).json()
    rest = reader.get(BOOKS, params={"limit": 50, "cursor": first["next_cursor"]}).json()
    assert len(rest["data"]) == 7


@pytest.mark.parametrize("params", [{"fields": "id"}, {"view": "card"}])
def test_a_cursor_of_changes_is_bound_to_its_request(
    reader: httpx.Client, params: dict[str, str]
) -> None:
    since = {"changes_since": "beginning", "connection_id": "home"}
    cursor = cursor_of(reader, **since)
    refused(reader.get(BOOKS, params={**since, **params, "cursor": cursor}), 400, "invalid_cursor")
