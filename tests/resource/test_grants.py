from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.engine import revoke_grant, revoke_package
from tests.resource.library import HOME_BOOKS, LIBRARY, book, library_store
from tests.serving import (
    Approval,
    SetClock,
    World,
    all_rows,
    approve,
    living,
    plant,
    planted_store,
    refused,
)

from pdpp.authz.principal import Gate
from pdpp.authz.selection import Selection, make_grant, make_package, resolve
from pdpp.authz.token import TokenKind, hash_token, mint
from pdpp.model import instant
from pdpp.model.errors import AuthenticationError, GrantInvalid, InvalidRequest
from pdpp.model.grant import Interval

BOOKS = "/v1/streams/books/records"
ROUTES = [
    "/v1/schema",
    "/v1/streams",
    BOOKS,
    f"{BOOKS}/b2",
    f"{BOOKS}/b2/field-window?field=title",
    "/v1/streams/books/aggregate",
    "/v1/search?q=lantern",
]


def ids(client: httpx.Client) -> set[str]:
    return {f"{row['connection_id']}/{row['id']}" for row in all_rows(client, BOOKS)}


def test_the_owner_reads_everything(library: World) -> None:
    owner = library.owner()
    assert len(ids(owner)) == 8
    assert owner.get("/v1/streams").json()["meta"]["count"]["value"] == 10
    for path in ROUTES:
        assert owner.get(path).status_code == 200


@pytest.mark.parametrize("path", ROUTES)
def test_a_revoked_grant_is_refused_by_the_very_next_request(
    revocable: tuple[World, Approval], path: str
) -> None:
    world, approval = revocable
    client = world.server.client(approval.token)
    assert client.get(path).status_code == 200
    revoke_grant(world.store, approval.grant_id)
    refused(client.get(path), 403, "grant_revoked")


@pytest.fixture
def revocable(library: World) -> tuple[World, Approval]:
    return library, approve(library.store)


def test_a_cursor_does_not_outlive_its_grant(revocable: tuple[World, Approval]) -> None:
    world, approval = revocable
    client = world.server.client(approval.token)
    cursor = client.get(BOOKS, params={"limit": 1}).json()["next_cursor"]
    revoke_grant(world.store, approval.grant_id)
    refused(client.get(BOOKS, params={"limit": 1, "cursor": cursor}), 403, "grant_revoked")


@pytest.fixture
def timed(tmp_path: Path) -> Iterator[tuple[World, SetClock]]:
    clock = SetClock()
    with living(library_store(tmp_path, clock), clock=clock) as world:
        yield world, clock


def test_a_grant_expires_at_its_time(timed: tuple[World, SetClock]) -> None:
    world, clock = timed
    approval = approve(world.store, expires_at=clock.now + 60 * instant.SECOND, now=clock.now)
    client = world.server.client(approval.token)
    clock.advance(59)
    assert client.get(BOOKS).status_code == 200
    clock.advance(1)
    refused(client.get(BOOKS), 403, "grant_expired")


def test_a_token_expires_and_is_revoked_by_itself(timed: tuple[World, SetClock]) -> None:
    world, clock = timed
    secret, token = mint(TokenKind.OWNER, "o", clock.now, expires_at=clock.now + instant.SECOND)
    world.store.vault.keep_token(token)
    gone, revoked = mint(TokenKind.OWNER, "o", clock.now)
    world.store.vault.keep_token(replace(revoked, revoked_at=clock.now))
    client = world.server.client(secret)
    assert client.get(BOOKS).status_code == 200
    clock.advance(1)
    refused(client.get(BOOKS), 401, "authentication_error")
    refused(world.server.client(gone).get(BOOKS), 401, "authentication_error")


def test_a_token_without_its_grant_is_invalid(library: World) -> None:
    for grant_id in ("grt_none", None):
        secret, token = mint(TokenKind.CLIENT, "c", instant.now(), grant_id=grant_id)
        library.store.vault.keep_token(token)
        refused(library.server.client(secret).get(BOOKS), 403, "grant_invalid")


def test_a_token_is_kept_only_as_its_hash(library: World) -> None:
    secret, token = mint(TokenKind.CLIENT, "c", 0)
    assert token.hash == hash_token(secret)
    assert secret not in repr(token)
    assert secret.startswith("pdpp_client_")


def test_a_grant_limited_in_time_shows_nothing_outside(library: World) -> None:
    time = Interval(instant.parse("2026-01-02"), instant.parse("2026-01-04T10:00:00Z"))
    client = library.client(time=time)
    assert ids(client) == {"home/b2", "home/b3"}
    refused(client.get(f"{BOOKS}/b1?connection_id=home"), 404, "not_found")
    refused(client.get(f"{BOOKS}/b4"), 404, "not_found")
    assert client.get("/v1/streams/books/aggregate").json()["value"] == 2


def test_a_grant_limited_in_time_opens_no_stream_without_a_time(library: World) -> None:
    client = library.client(time=Interval(0, None))
    names = {row["name"] for row in client.get("/v1/streams").json()["data"]}
    assert names == {"books", "reviews"}


def test_a_record_without_a_time_is_outside_every_time(shelf: World) -> None:
    shelf.put("home", "books", {"id": "timeless", "title": "No date"})
    assert "home/timeless" in ids(shelf.client())
    assert "home/timeless" not in ids(shelf.client(time=Interval(None, 2**60)))


def test_a_grant_limited_to_records_shows_only_these(library: World) -> None:
    client = library.client(streams=("books",), keys=("b1", "w2"))
    assert ids(client) == {"home/b1", "work/b1", "work/w2"}
    refused(client.get(f"{BOOKS}/b3"), 404, "not_found")
    assert client.get(BOOKS, params={"count": "exact"}).json()["meta"]["count"]["value"] == 3


def test_a_grant_limited_to_a_view_shows_only_its_fields(library: World) -> None:
    client = library.client(view="card")
    rows = all_rows(client, BOOKS)
    assert all(row["data"].keys() <= {"id", "title", "added_at"} for row in rows)
    assert {row["name"] for row in client.get("/v1/streams").json()["data"]} == {"books"}


def test_a_later_declaration_never_widens_a_grant(shelf: World) -> None:
    client = shelf.client(streams=("books",))
    later = _with_field(LIBRARY, "isbn")
    plant(shelf.store, later, {})
    shelf.put("home", "books", {**HOME_BOOKS[3], "isbn": "978"})
    assert "isbn" not in client.get(f"{BOOKS}/b4").json()["data"]
    refused(client.get(BOOKS, params={"fields": "isbn"}), 400, "unknown_field")
    refused(client.get(BOOKS, params={"filter[isbn]": "978"}), 400, "unknown_field")
    assert client.get("/v1/search", params={"q": "978"}).json()["data"] == []
    fresh = shelf.client(streams=("books",))
    assert fresh.get(f"{BOOKS}/b4").json()["data"]["isbn"] == "978"
    assert len(fresh.get("/v1/search", params={"q": "978"}).json()["data"]) == 1
    shelf.store.connect("third", "library", "Third")
    assert {row["connection_id"] for row in client.get("/v1/streams").json()["data"]} == {
        "home",
        "work",
    }


def _with_field(declaration: dict[str, Any], name: str) -> dict[str, Any]:
    books, *others = declaration["streams"]
    schema = books["schema"]
    properties = {**schema["properties"], name: {"type": "string"}}
    search = {"lexical_fields": ["title", "text", "remark", name]}
    wider = {
        **books,
        "schema": {**schema, "properties": properties},
        "query": {**books["query"], "search": search},
    }
    return {**declaration, "declaration_version": "2", "streams": [wider, *others]}


def test_a_time_limit_by_a_field_that_no_longer_tells_the_time_opens_nothing(
    shelf: World,
) -> None:
    client = shelf.client(streams=("books",), time=Interval(0, None))
    assert client.get(BOOKS).status_code == 200
    books, *others = LIBRARY["streams"]
    moved = {**books, "consent_time_field": "published"}
    plant(shelf.store, {**LIBRARY, "streams": [moved, *others]}, {})
    refused(client.get(BOOKS), 403, "grant_stream_not_allowed")


@pytest.mark.parametrize(
    ("selection", "param"),
    [
        (Selection(connections=("attic",)), "connection"),
        (Selection(streams=("films",)), "stream"),
        (Selection(fields=("isbn",)), "fields"),
        (Selection(view="poster"), "view"),
        (Selection(view="card", fields=("id",)), "view"),
        (Selection(streams=("authors",), time=Interval(0, None)), None),
    ],
)
def test_a_selection_that_opens_nothing_is_refused(
    library: World, selection: Selection, param: str | None
) -> None:
    with pytest.raises(InvalidRequest) as caught:
        resolve(selection, library.store.catalogue())
    assert caught.value.param == param


def test_a_selection_of_fields_opens_the_streams_that_have_one(library: World) -> None:
    allowances = resolve(Selection(fields=("stars",)), library.store.catalogue())
    assert {allowance.stream for allowance in allowances} == {"reviews"}
    assert not any(allowance.whole for allowance in allowances)


# Packages


@pytest.fixture
def package(tmp_path: Path) -> Iterator[tuple[World, str, dict[str, str]]]:
    """A world, a package token over both connections, and the grant of each connection."""
    with living(library_store(tmp_path)) as world:
        yield world, *_packed(world)


def _packed(world: World, *connections: str) -> tuple[str, dict[str, str]]:
    allowances = resolve(Selection(connections=connections), world.store.catalogue())
    made, grants, secret, token = make_package(
        allowances, client_id="agent", purpose="p", now=instant.now()
    )
    world.store.vault.keep_package(made, grants, [token])
    return secret, {grant.allowances[0].connection_id: grant.id for grant in grants}


Packed = tuple[World, str, dict[str, str]]


def test_a_package_searches_and_lists_through_all_its_grants(package: Packed) -> None:
    world, secret, grants = package
    client = world.server.client(secret)
    hits = client.get("/v1/search?q=lantern").json()["data"]
    assert {hit["connection_id"] for hit in hits} == {"home", "work"}
    body = client.get("/v1/schema").json()
    assert body["bearer"]["scope"] == "package"
    assert body["bearer"]["token_kind"] == "mcp_package"
    assert body["bearer"]["client_id"] == "agent"
    assert body["stream_count"] == 10
    assert len(grants) == 2


@pytest.mark.parametrize(
    "path",
    [
        BOOKS,
        f"{BOOKS}/w2",
        f"{BOOKS}/w2/field-window?field=text",
        "/v1/streams/books/aggregate",
        "/v1/schema?detail=full&stream=authors",
    ],
)
def test_a_package_of_several_sources_reads_from_one_that_is_named(
    package: Packed, path: str
) -> None:
    world, secret, grants = package
    client = world.server.client(secret)
    error = refused(client.get(path), 409, "ambiguous_connection")
    assert error["retry_with"] == "connection_id"
    assert {
        item["connection_id"]: item["grant_id"] for item in error["available_connections"]
    } == grants
    named = path + ("&" if "?" in path else "?") + "connection_id=work"
    assert client.get(named).status_code == 200


def test_a_package_of_one_source_needs_no_name(package: Packed) -> None:
    world, _, _ = package
    secret, _ = _packed(world, "work")
    assert ids(world.server.client(secret)) == {"work/b1", "work/w2", "work/w3"}


def test_a_package_reads_through_its_good_grants_only(package: Packed) -> None:
    world, secret, grants = package
    client = world.server.client(secret)
    revoke_grant(world.store, grants["home"])
    hits = client.get("/v1/search?q=lantern").json()["data"]
    assert {hit["connection_id"] for hit in hits} == {"work"}
    refused(client.get(BOOKS, params={"connection_id": "home"}), 403, "grant_stream_not_allowed")


def test_a_request_may_choose_one_grant_of_a_package(package: Packed) -> None:
    world, secret, grants = package
    chosen = world.server.client(secret, **{"PDPP-Grant": grants["work"]})
    assert ids(chosen) == {"work/b1", "work/w2", "work/w3"}
    assert chosen.get("/v1/schema").json()["bearer"]["grant_id"] == grants["work"]
    revoke_grant(world.store, grants["work"])
    refused(chosen.get(BOOKS), 403, "grant_revoked")
    other = world.server.client(secret, **{"PDPP-Grant": "grt_other"})
    refused(other.get(BOOKS), 403, "grant_invalid")


def test_a_single_grant_may_name_itself_and_no_other(library: World) -> None:
    approval, other = approve(library.store), approve(library.store)
    itself = library.server.client(approval.token, **{"PDPP-Grant": approval.grant_id})
    assert itself.get(BOOKS).status_code == 200
    foreign = library.server.client(approval.token, **{"PDPP-Grant": other.grant_id})
    refused(foreign.get(BOOKS), 403, "grant_invalid")


def test_a_cursor_of_a_package_is_its_own(package: Packed) -> None:
    world, secret, _ = package
    client = world.server.client(secret)
    params = {"limit": "1", "connection_id": "home"}
    cursor = client.get(BOOKS, params=params).json()["next_cursor"]
    assert client.get(BOOKS, params={**params, "cursor": cursor}).status_code == 200
    other, _ = _packed(world)
    answer = world.server.client(other).get(BOOKS, params={**params, "cursor": cursor})
    refused(answer, 400, "invalid_cursor")


def test_a_revoked_package_is_refused_by_the_very_next_request(package: Packed) -> None:
    world, secret, grants = package
    client = world.server.client(secret)
    assert client.get("/v1/streams").status_code == 200
    kept = world.store.vault.grant(grants["home"])
    assert kept is not None
    assert kept.package_id is not None
    revoke_package(world.store, kept.package_id)
    refused(client.get("/v1/streams"), 403, "grant_revoked")


def test_a_package_token_without_its_package_is_invalid(library: World) -> None:
    for package_id in ("pkg_none", None):
        secret, token = mint(TokenKind.PACKAGE, "c", instant.now(), package_id=package_id)
        library.store.vault.keep_token(token)
        refused(library.server.client(secret).get(BOOKS), 403, "grant_invalid")


def test_the_gate_remembers_a_caller_until_it_is_told_to_forget(tmp_path: Path) -> None:
    store = planted_store(tmp_path, LIBRARY, {"only": "Only"}, {("only", "books"): [book("b", 1)]})
    try:
        allowances = resolve(Selection(), store.catalogue())
        secrets = []
        for _ in range(3):
            grant, secret, token = make_grant(allowances, client_id="c", purpose="p", now=0)
            store.vault.keep_grant(grant, [token])
            secrets.append(secret)
        gate = Gate(store, instant.now)
        first = gate.admit(f"Bearer {secrets[0]}")
        assert gate.admit(f"Bearer {secrets[0]}") is first
        store.vault.keep_token(mint(TokenKind.OWNER, "o", 0)[1])
        assert gate.admit(f"Bearer {secrets[0]}") is first
        gate.forget()
        assert gate.admit(f"Bearer {secrets[0]}") is not first
        with pytest.raises(AuthenticationError):
            gate.admit("Bearer unknown")
        with pytest.raises(GrantInvalid):
            gate.admit(f"Bearer {secrets[1]}", "grt_other")
    finally:
        store.close()
