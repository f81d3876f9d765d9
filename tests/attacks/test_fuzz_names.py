"""Cursors, handles and addresses, changed a little: refused with a code, or the thing itself."""

import base64
import json
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import quote

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.attacks.contract import CODES, check_refusal
from tests.attacks.dose import dose
from tests.attacks.mutation import Cut, cuts, spoilt
from tests.mcp.client import Failure, HttpWire
from tests.mcp.host import Host, Inside
from tests.serving import World, grant, living, seeded_store

from pdpp import demo
from pdpp.evidence.handle import (
    Handle,
    WindowHandle,
    blob_uri,
    parse_handle,
    record_uri,
    stream_uri,
    window_uri,
)
from pdpp.service.cursor import Signer

LETTER = Handle("cin_home", "messages", "m-invoice-4471")
BLOB = next(iter(demo.blobs())).blob_id
PAGES: list[tuple[str, dict[str, str]]] = [
    ("/v1/streams/messages/records", {"limit": "2"}),
    ("/v1/streams/messages/records", {"limit": "2", "order": "asc"}),
    ("/v1/streams/messages/records", {"limit": "2", "connection_id": "cin_work"}),
    ("/v1/streams/documents/records", {"limit": "2"}),
    ("/v1/search", {"q": "invoice", "limit": "2"}),
]


class Given(NamedTuple):
    """A cursor with the request it was made for, and who made it."""

    client: httpx.Client
    path: str
    params: dict[str, str]
    cursor: str
    name: str = "cursor"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with living(seeded_store(tmp_path_factory.mktemp("names"))) as served:
        yield served


@pytest.fixture(scope="module")
def cursors(world: World) -> list[Given]:
    """Cursors of several requests under two grants, and bookmarks."""
    made = []
    for client in (world.client(), world.client(streams=("messages", "documents"))):
        for path, params in PAGES:
            body = client.get(path, params=params).json()
            made.append(Given(client, path, params, body["next_cursor"]))
        path, params = PAGES[2]
        asked = {**params, "changes_since": "beginning", "limit": "100"}
        body = client.get(path, params=asked).json()
        made.append(Given(client, path, asked, body["next_cursor"]))
        while body["has_more"]:
            body = client.get(path, params={**asked, "cursor": body["next_cursor"]}).json()
        made.append(Given(client, path, params, body["next_changes_since"], "changes_since"))
    return made


def forged(given_cursor: str, change: Any, other: str) -> str:
    """Return a cursor with something wrong: bits, ends, pieces of another, or another key."""
    raw = base64.urlsafe_b64decode(given_cursor + "==")
    strange = base64.urlsafe_b64decode(other + "==")
    if isinstance(change, list):
        made = spoilt(raw, change, strange)
    elif change == "their tag":
        made = strange[:16] + raw[16:]
    elif change == "my tag":
        made = raw[:16] + strange[16:]
    elif change == "signed by another":
        return Signer(b"x" * 32).seal("page", ["a"], ["2026-03-01T00:00:00Z", "cin_home", "m-1"])
    else:
        return spoilt(given_cursor.encode(), [Cut(999, "insert", change)]).decode("latin-1")
    return base64.urlsafe_b64encode(made).rstrip(b"=").decode()


CHANGES = st.one_of(
    cuts,
    st.sampled_from(["their tag", "my tag", "signed by another"]),
    st.sampled_from([b"=", b"A", b"\xe9", b" ", b"+", b"/", b"%00", b"," * 3]),
)


def test_a_cursor_that_was_touched_is_no_cursor(cursors: list[Given]) -> None:
    @settings(max_examples=dose(150))
    @given(st.sampled_from(cursors), st.sampled_from(cursors), CHANGES)
    def ask(held: Given, other: Given, change: Any) -> None:
        made = forged(held.cursor, change, other.cursor)
        if made == held.cursor or len(made) > 50_000:
            return
        answer = held.client.get(held.path, params={**held.params, held.name: made})
        error = check_refusal(answer.status_code, answer.content)
        assert error["code"] in ("invalid_cursor", "invalid_request"), error

    ask()


def _continues(held: Given, other: Given) -> bool:
    """Tell whether a cursor of changes is given alone or beside less than what was asked first."""
    return (
        (held.path, held.client, held.name) == (other.path, other.client, "cursor")
        and "changes_since" in other.params
        and {**other.params, **held.params, "limit": other.params["limit"]} == other.params
    )


def test_no_cursor_works_where_it_was_not_made(cursors: list[Given]) -> None:
    for held in cursors:
        for other in cursors:
            same = (held.path, held.client, held.name) == (other.path, other.client, other.name)
            if same and held.params.keys() == other.params.keys():
                continue
            params = {**held.params, held.name: other.cursor}
            answer = held.client.get(held.path, params=params)
            if _continues(held, other):
                beside = {**other.params, **held.params, "cursor": other.cursor}
                first = held.client.get(other.path, params=beside).json()
                assert answer.json()["data"] == first["data"]
                continue
            error = check_refusal(answer.status_code, answer.content)
            assert error["code"] in ("invalid_cursor", "invalid_request"), error


def test_the_cursors_that_are_spoilt_are_good(cursors: list[Given]) -> None:
    for held in cursors:
        answer = held.client.get(held.path, params={**held.params, held.name: held.cursor})
        assert answer.status_code == 200, answer.text


def _segment(data: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(data).encode()).decode().rstrip("=")


NAMED = {"connection_id": "cin_home", "stream": "messages", "record_id": "m-invoice-4471"}
FORMS = [
    LETTER.id,
    Handle(None, LETTER.stream, LETTER.record_id).id,
    record_uri(LETTER),
    "pdpp://record/" + _segment(NAMED),
    window_uri(WindowHandle(LETTER, "body", 3, 9)),
    window_uri(WindowHandle(LETTER, "body", query="invoice")),
    f"pdpp://field-window/{quote(LETTER.id, safe='')}?field=body&offset_chars=3&limit_chars=9",
    "pdpp://field-window/" + _segment({**NAMED, "field": "body", "offset_chars": 10**400}),
    "pdpp://field-window/" + _segment({**NAMED, "field": "body", "limit_chars": 10**17}),
    blob_uri(BLOB),
    stream_uri("messages"),
]
_AFTER = [
    b"%2F",
    b"%00",
    b"%252e%252e",
    b"/..",
    b":",
    b"::",
    b"?",
    b"#",
    b"&field=x",
    b"\xe2\x80\xae",
]
name_changes = st.one_of(
    cuts,
    st.lists(
        st.builds(
            Cut,
            st.integers(0, 1_000),
            st.sampled_from(["insert", "replace"]),
            st.sampled_from(_AFTER),
        ),
        min_size=1,
        max_size=3,
    ),
)


@pytest.fixture(scope="module")
def host(world: World) -> Iterator[Host]:
    made = Inside(world.store).host(grant(world.store))
    yield made
    made.wire.close()


def test_the_forms_that_are_spoilt_are_good(host: Host) -> None:
    for form in FORMS[:4]:
        assert host.good("fetch", {"id": form}).structured["id"] == LETTER.id
    for form in FORMS[4:7]:
        assert host.good("read_record_field", {"id": form}).structured["id"] == LETTER.id


def test_a_spoilt_handle_is_refused_or_names_what_it_says(host: Host) -> None:
    @settings(max_examples=dose(120))
    @given(st.sampled_from(FORMS), name_changes, st.sampled_from(FORMS))
    def ask(form: str, changes: list[Cut], other: str) -> None:
        made = spoilt(form.encode(), changes, other.encode()).decode("utf-8", "surrogateescape")
        fetched = host.call("fetch", {"id": made})
        assert fetched.code is None or fetched.code in CODES, fetched.text
        if fetched.code is None and not made.startswith("pdpp://"):
            assert fetched.structured["id"].endswith(parse_handle(made).record_id)
        field = {} if made.startswith("pdpp://f") else {"field_path": "body"}
        read = host.call("read_record_field", {"id": made, **field})
        assert read.code is None or read.code in CODES, read.text

    ask()


def read_or_refused(wire: HttpWire, uri: str) -> str | int:
    """Return the address of what was read, or the code of the refusal."""
    try:
        found = wire.request("resources/read", {"uri": uri})
    except Failure as refusal:
        return int(refusal.code)
    return str(found["contents"][0]["uri"])


def test_a_spoilt_address_is_no_resource_or_the_one_it_says(world: World) -> None:
    wire = HttpWire(world.client(), "2025-06-18")

    @settings(max_examples=dose(60))
    @given(st.sampled_from(FORMS[2:]), name_changes, st.sampled_from(FORMS))
    def ask(form: str, changes: list[Cut], other: str) -> None:
        made = spoilt(form.encode(), changes, other.encode()).decode("utf-8", "replace")
        assert read_or_refused(wire, made) in (made, -32002, -32602)

    ask()


def test_a_spoilt_address_of_a_record_leads_to_the_door_or_nowhere(world: World) -> None:
    stranger = world.server.client()

    @settings(max_examples=dose(40))
    @given(st.sampled_from(FORMS), name_changes)
    def visit(form: str, changes: list[Cut]) -> None:
        path = quote(spoilt(form.encode(), changes)[:2_000], safe="/")
        answer = stranger.get(f"/r/cin_home/messages/{path}")
        assert answer.status_code in (303, 401, 404), (path, answer.status_code)

    visit()
