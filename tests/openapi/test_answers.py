"""Real answers, compared with the schemas of the document, nothing missing and nothing more."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import jsonschema_rs
import orjson
import pytest
from tests.serving import SetClock, World, living, seeded_store

from pdpp import demo
from pdpp.authz.selection import Selection, make_package, resolve
from pdpp.model import instant
from pdpp.model.grant import Interval
from pdpp.service.settings import Settings

Json = dict[str, Any]

NOTES = "/v1/streams/documents/records"
MAIL = "/v1/streams/messages/records"
DIARY = f"{NOTES}/renovation-diary/field-window"
BLOB = next(blob for blob in demo.blobs() if blob.media_type.startswith("image/"))

READS = [
    "/v1/schema",
    "/v1/schema?view=compact&connection_id=cin_work",
    "/v1/schema?stream=messages",
    "/v1/schema?stream=documents&detail=full",
    "/v1/schema?stream=photos&detail=full",
    "/v1/streams",
    "/v1/streams/messages",
    NOTES,
    f"{MAIL}?limit=1000&count=exact",
    f"{MAIL}?limit=2&expand=thread,attachments,channel&expand_limit[attachments]=1",
    "/v1/streams/threads/records?expand=messages&expand_limit[messages]=999&limit=3",
    f"{MAIL}?filter[unread]=true",
    f"{NOTES}?changes_since=beginning&limit=100",
    f"{NOTES}/renovation-diary?fields=id,title&expand=notebook",
    f"{NOTES}/{quote('Às terças 🎶 – coro')}",
    f"{DIARY}?field=body",
    f"{DIARY}?field=words",
    f"{NOTES}/note-130/field-window?field=tags&offset_chars=2&limit_chars=3",
    f"{DIARY}?field=body&q=kitchen",
    "/v1/streams/messages/aggregate",
    "/v1/streams/messages/aggregate?group_by=from&limit=5000&connection_id=cin_work",
    "/v1/streams/messages/aggregate?metric=max&field=sent_at&filter[unread]=false",
    "/v1/streams/transactions/aggregate?metric=sum&field=amount&group_by=category&limit=2",
    "/v1/streams/transactions/aggregate?group_by=pending",
    "/v1/streams/messages/aggregate?group_by_time=sent_at&granularity=month&time_zone=Asia/Tokyo",
    "/v1/search?q=invoice",
    "/v1/search?q=invoice&limit=1",
    "/v1/search?q=invoice&streams[]=messages&filter[unread]=true",
    "/v1/search?q=zzzznothing",
    "/v1/search/hybrid?q=invoice",
    "/v1/search/semantic?q=invoice",
]
REFUSALS = {
    "/v1/streams?nothing=1": (400, "invalid_request"),
    "/v1/streams/messages/records?cursor=x": (400, "invalid_cursor"),
    f"{MAIL}?filter[id][gte]=1": (400, "invalid_filter"),
    f"{MAIL}?expand=nothing": (400, "invalid_expand"),
    f"{MAIL}?fields=nothing": (400, "unknown_field"),
    f"{DIARY}?field=body&limit_chars=0": (400, "invalid_window"),
    "/v1/search/semantic": (400, "invalid_request"),
    "/v1/streams/nothing/records": (403, "grant_stream_not_allowed"),
    f"{NOTES}/nothing": (404, "not_found"),
    "/v1/nothing": (404, "not_found"),
    f"/v1/blobs/{'0' * 64}": (404, "blob_not_found"),
    "/v1/schema?stream=messages&detail=full": (409, "ambiguous_schema_detail"),
    f"{MAIL}?changes_since=beginning": (409, "ambiguous_connection"),
}


def closed(node: Any) -> Any:
    """Return a schema that allows only the members it names."""
    if isinstance(node, list):
        return [closed(item) for item in node]
    if not isinstance(node, dict):
        return node
    shut = {name: closed(value) for name, value in node.items()}
    if "properties" in node and node.get("type") == "object":
        shut.setdefault("additionalProperties", False)
    return shut


def template_of(document: Json, url: str) -> str:
    """Return the path of the document that an address belongs to."""
    parts = url.partition("?")[0].split("/")
    for template in document["paths"]:
        names = template.split("/")
        if len(names) == len(parts) and all(
            name == part or name.startswith("{") for name, part in zip(names, parts, strict=True)
        ):
            return str(template)
    raise LookupError(url)


def problems(document: Json, answer: httpx.Response) -> list[str]:
    """Return where an answer departs from what the document says of its operation."""
    request = answer.request
    item = document["paths"][template_of(document, request.url.raw_path.decode())]
    response = item[request.method.lower()]["responses"][str(answer.status_code)]
    if "$ref" in response:
        response = document["components"]["responses"][response["$ref"].rsplit("/", 1)[1]]
    missing = [name for name in response["headers"] if name not in answer.headers]
    if "application/json" not in response.get("content", {}):
        return missing
    root = closed({**response["content"]["application/json"]["schema"]})
    root["components"] = {"schemas": closed(document["components"]["schemas"])}
    validator = jsonschema_rs.validator_for(root, validate_formats=True)
    found = validator.iter_errors(answer.json())
    return missing + [f"{error.instance_path}: {error.message}"[:300] for error in found]


@pytest.fixture(params=["owner", "client"])
def caller(request: pytest.FixtureRequest, demo_world: World) -> httpx.Client:
    return demo_world.owner() if request.param == "owner" else demo_world.client()


@pytest.mark.parametrize("url", READS)
def test_an_answer_has_the_members_the_document_names_and_no_others(
    document: Json, caller: httpx.Client, url: str
) -> None:
    answer = caller.get(url)
    assert answer.status_code == 200, answer.text
    assert problems(document, answer) == []


def test_a_search_answers_with_evidence(document: Json, caller: httpx.Client) -> None:
    answer = caller.get("/v1/search", params={"q": "invoice", "limit": 100})
    assert any(hit["evidence_excerpts"] for hit in answer.json()["data"])
    assert problems(document, answer) == []


def test_a_grant_limited_in_time_and_fields_answers_as_documented(
    document: Json, demo_world: World
) -> None:
    since = instant.parse("2026-01-01")
    client = demo_world.client(
        streams=("messages",), fields=("id", "subject", "sent_at"), time=Interval(since, None)
    )
    for url in ("/v1/schema?stream=messages", "/v1/streams", MAIL, "/v1/search?q=invoice"):
        assert problems(document, client.get(url)) == []
    full = client.get("/v1/schema?stream=messages&detail=full&connection_id=cin_work")
    assert full.json()["connectors"][0]["streams"][0]["time_range"]["until"] is None
    assert problems(document, full) == []
    hidden = client.get(MAIL, params={"fields": "body"})
    assert (hidden.status_code, hidden.json()["error"]["code"]) == (403, "field_not_granted")
    early = client.get(MAIL, params={"filter[sent_at][lt]": "2025-01-01"})
    assert early.json()["error"]["code"] == "grant_time_range_exceeded"
    assert problems(document, early) == []


def package_token(world: World) -> tuple[str, str]:
    """Return the token of a package of everything, and one of its grants."""
    allowances = resolve(Selection(), world.store.catalogue())
    package, grants, secret, token = make_package(
        allowances, client_id="test-client", purpose="a test", now=instant.now()
    )
    world.store.vault.keep_package(package, grants, [token])
    return secret, next(g.id for g in grants if g.allowances[0].connection_id == "cin_notes")


def test_a_package_answers_as_documented(document: Json, demo_world: World) -> None:
    secret, grant_id = package_token(demo_world)
    client = demo_world.server.client(secret)
    for url in ("/v1/schema", "/v1/streams", "/v1/search?q=invoice"):
        answer = client.get(url)
        assert answer.status_code == 200
        assert problems(document, answer) == []
    for url in (NOTES, "/v1/streams/documents", "/v1/streams/documents/aggregate"):
        unclear = client.get(url)
        assert (unclear.status_code, unclear.json()["error"]["code"]) == (
            409,
            "ambiguous_connection",
        )
        chosen = client.get(url, headers={"PDPP-Grant": grant_id})
        named = client.get(url, params={"connection_id": "cin_notes"})
        assert (chosen.status_code, named.status_code) == (200, 200)
        assert problems(document, unclear) == problems(document, chosen) == []
    other = client.get("/v1/streams", headers={"PDPP-Grant": "nothing"})
    assert (other.status_code, other.json()["error"]["code"]) == (403, "grant_invalid")
    assert problems(document, other) == []


@pytest.mark.parametrize(("url", "refusal"), REFUSALS.items(), ids=list(REFUSALS))
def test_a_refusal_has_the_documented_code(
    document: Json, caller: httpx.Client, url: str, refusal: tuple[int, str]
) -> None:
    answer = caller.get(url)
    assert (answer.status_code, answer.json()["error"]["code"]) == refusal
    if url != "/v1/nothing":
        assert problems(document, answer) == []


def test_a_refusal_of_the_token_is_as_documented(document: Json, demo_world: World) -> None:
    answer = demo_world.server.client().get("/v1/streams")
    assert answer.status_code == 401
    assert problems(document, answer) == []


def test_another_version_is_refused_with_the_one_that_is_spoken(
    document: Json, caller: httpx.Client
) -> None:
    answer = caller.get("/v1/streams", headers={"PDPP-Version": "1999-01-01"})
    assert answer.json()["error"]["code"] == "unsupported_version"
    assert problems(document, answer) == []


def test_bytes_are_answered_whole_and_in_part(document: Json, caller: httpx.Client) -> None:
    url = f"/v1/blobs/{BLOB.blob_id}"
    for method in ("GET", "HEAD"):
        whole = caller.request(method, url)
        assert whole.headers["content-length"] == str(len(BLOB.content))
        part = caller.request(method, url, headers={"Range": "bytes=1-4"})
        assert (whole.status_code, part.status_code) == (200, 206)
        assert whole.content == (BLOB.content if method == "GET" else b"")
        assert part.content == (BLOB.content[1:5] if method == "GET" else b"")
        assert problems(document, whole) == problems(document, part) == []
    outside = caller.get(url, headers={"Range": "bytes=999999999-"})
    assert outside.status_code == 416
    assert problems(document, outside) == []


def test_a_field_that_is_no_text_is_refused_with_where_its_bytes_are(
    document: Json, caller: httpx.Client
) -> None:
    photo = caller.get("/v1/streams/photos/records?limit=1").json()["data"][0]
    answer = caller.get(f"/v1/streams/photos/records/{photo['id']}/field-window?field=image")
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "field_not_text")
    assert problems(document, answer) == []


def test_a_client_may_not_write(document: Json, demo_world: World) -> None:
    client = demo_world.client()
    answers = [
        client.delete(f"{NOTES}/renovation-diary"),
        client.post("/v1/ingest/documents", content=b""),
        client.post("/v1/blobs", content=b"x"),
    ]
    for answer in answers:
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "insufficient_scope")
        assert problems(document, answer) == []


def test_what_the_owner_writes_is_answered_as_documented(
    document: Json, fresh_world: World
) -> None:
    owner = fresh_world.owner()
    line = orjson.dumps({"key": "n1", "data": {"id": "n1", "name": "New"}})
    answer = owner.post("/v1/ingest/notebooks", content=line + b"\n{}\nnonsense\n")
    assert (answer.status_code, answer.json()["records_rejected"]) == (200, 3), answer.text
    assert problems(document, answer) == []


def test_a_stored_blob_is_answered_as_documented(document: Json, fresh_world: World) -> None:
    owner = fresh_world.owner()
    stored = owner.post("/v1/blobs", content=b"hello", headers={"Content-Type": "text/plain"})
    assert stored.status_code == 201
    assert problems(document, stored) == []
    wrong = owner.post("/v1/blobs", params={"sha256": "0" * 64}, content=b"hello")
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (422, "unprocessable")
    assert problems(document, wrong) == []
    right = owner.post(
        "/v1/blobs", params={"sha256": hashlib.sha256(b"hello").hexdigest()}, content=b"hello"
    )
    assert right.json()["blob_id"] == stored.json()["blob_id"]


def test_a_deletion_is_told_as_a_tombstone(document: Json, fresh_world: World) -> None:
    owner = fresh_world.owner()
    bookmark = owner.get(f"{NOTES}?changes_since=beginning&limit=100").json()
    while "next_cursor" in bookmark:
        bookmark = owner.get(bookmark["links"]["next"]).json()
    gone = owner.delete(f"{NOTES}/renovation-diary")
    assert (gone.status_code, gone.content) == (204, b"")
    assert problems(document, gone) == []
    changes = owner.get(NOTES, params={"changes_since": bookmark["next_changes_since"]})
    assert [change["deleted"] for change in changes.json()["data"]] == [True]
    assert problems(document, changes) == []


@contextmanager
def strict_world(folder: Path, clock: SetClock, **limits: Any) -> Iterator[World]:
    with living(seeded_store(folder), Settings(**limits), clock) as world:
        yield world


def test_an_old_bookmark_and_too_much_haste_are_refused_as_documented(
    document: Json, tmp_path: Path
) -> None:
    clock = SetClock("2030-01-01T00:00:00Z")
    with strict_world(
        tmp_path, clock, requests_per_second=0.001, request_burst=3, bookmark_life=instant.SECOND
    ) as world:
        owner = world.owner()
        url = "/v1/streams/notebooks/records"
        bookmark = owner.get(url, params={"changes_since": "beginning"}).json()
        clock.advance(2)
        old = owner.get(url, params={"changes_since": bookmark["next_changes_since"]})
        assert (old.status_code, old.json()["error"]["code"]) == (410, "cursor_expired")
        assert problems(document, old) == []
        answers = [owner.get(url) for _ in range(3)]
        assert (answers[-1].status_code, "retry-after" in answers[-1].headers) == (429, True)
        assert problems(document, answers[-1]) == []


def test_a_body_that_is_too_large_is_refused_as_documented(document: Json, tmp_path: Path) -> None:
    with strict_world(
        tmp_path, SetClock(), body_bytes=100, blob_bytes=100, requests_per_second=0
    ) as world:
        owner = world.owner()
        for url in ("/v1/ingest/notebooks", "/v1/blobs"):
            answer = owner.post(url, content=b"x" * 101)
            assert (answer.status_code, answer.json()["error"]["code"]) == (
                413,
                "payload_too_large",
            )
            assert problems(document, answer) == []
