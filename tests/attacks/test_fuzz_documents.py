"""Declarations, lines of ingest, and requests of the authorization server, all spoilt."""

import json
import logging
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.attacks.contract import CODES, OAUTH_CODES, TRACES, check_refusal
from tests.attacks.corpus import DECLARATION
from tests.attacks.dose import dose
from tests.attacks.mutation import ODD, Cut, Edit, cuts, edited, edits, encoded, spoilt
from tests.cli.shell import pdpp_here
from tests.engine import open_store
from tests.mcp.post import CARDS, FOLDERS, LETTERS, PAGES, declaration
from tests.oauth.dance import DEVICE, Dance, Party, dancing, details
from tests.pages.house import MAIL
from tests.serving import World, living, owner, seeded_store

from pdpp import demo
from pdpp.authz.detail import parse_details
from pdpp.model.declaration import Declaration
from pdpp.model.errors import InvalidDeclaration, InvalidRequest, OAuthError
from pdpp.model.instant import now
from pdpp.model.validation import parse_declaration
from pdpp.store.intake import write_lines
from pdpp.store.port import Store

# Declarations

DECLARED = [
    DECLARATION,
    declaration("post", LETTERS, FOLDERS, CARDS, PAGES),
    *(source.declaration for source in demo.sources()),
]


def test_a_spoilt_declaration_is_refused_with_a_pointer_or_served(tmp_path: Path) -> None:
    store = open_store(tmp_path)

    @settings(max_examples=dose(150))
    @given(st.sampled_from(DECLARED), edits)
    def declare(document: Any, changes: list[Edit]) -> None:
        found = _declared(edited(document, changes))
        if isinstance(found, Declaration):
            _serve(store, found)
            return
        assert found.param is not None
        assert found.param == "" or found.param.startswith("/")
        assert len(found.message) < 2_000

    try:
        declare()
    finally:
        store.close()


def _declared(document: Any) -> Declaration | InvalidDeclaration:
    try:
        return parse_declaration(document)
    except InvalidDeclaration as refusal:
        return refusal


def _serve(store: Store, declared: Declaration) -> None:
    """Register a declaration that was taken, and write to it, as its owner would."""
    try:
        store.register(declared)
    except InvalidRequest:
        return
    account = f"c_{declared.connector_key}"
    if account not in store.catalogue().connections:
        store.connect(account, declared.connector_key, "Account")
    for name in declared.streams:
        feed = store.catalogue().feeds[(account, name)]
        line = encoded({"key": "k", "data": {"id": "k"}})
        answer = write_lines(store, feed, [line], now=now(), line_bytes=10_000)
        assert answer["records_attempted"] == 1


def test_a_spoilt_file_of_a_declaration_is_one_line_on_stderr(tmp_path: Path) -> None:
    content = encoded(DECLARED[1])
    path = tmp_path / "declaration.json"

    @settings(max_examples=dose(25))
    @given(cuts)
    def add(changes: list[Cut]) -> None:
        path.write_bytes(spoilt(content, changes))
        ended = pdpp_here("source", "add", path, data=tmp_path / "data")
        assert ended.code == 0 or ended.failed(code=ended.code)
        assert ended.code in (0, 1, 64)
        assert "Traceback" not in ended.err

    add()


# Lines of ingest


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with living(seeded_store(tmp_path_factory.mktemp("lines"))) as served:
        yield served


@pytest.fixture(scope="module")
def person(world: World) -> httpx.Client:
    return world.server.client(owner(world.store))


LINE: dict[str, Any] = next(
    dict(line)
    for batch in demo.batches()
    if (batch.connection_id, batch.stream) == ("cin_work", "messages")
    for line in batch.lines
) | {"op": "upsert"}


def test_spoilt_lines_are_counted_and_told_one_by_one(
    person: httpx.Client, caplog: pytest.LogCaptureFixture
) -> None:
    one = st.one_of(edits, cuts, st.just([]))

    @settings(max_examples=dose(100))
    @given(st.lists(one, min_size=1, max_size=5), st.sampled_from([b"\n", b"\r\n", b"\n\n"]))
    def ingest(changes: list[Any], ending: bytes) -> None:
        lines = [_line(change) for change in changes]
        params = {"connection_id": "cin_work"}
        answer = person.post("/v1/ingest/messages", params=params, content=ending.join(lines))
        if answer.status_code != 200:
            check_refusal(answer.status_code, answer.content)
            return
        told = answer.json()
        assert told["records_accepted"] + told["records_rejected"] == told["records_attempted"]
        assert len(told["rejections"]) == told["records_rejected"]
        for rejection in told["rejections"]:
            assert rejection["input_index"] >= 0
            assert rejection["code"]
            assert len(rejection["message"]) < 2_000
            assert not any(trace in json.dumps(rejection) for trace in TRACES)

    with caplog.at_level(logging.ERROR, logger="pdpp"):
        ingest()
    assert [r for r in caplog.records if r.name.startswith("pdpp")] == []
    found = person.get("/v1/streams/messages/records", params={"limit": 100, "count": "exact"})
    assert found.status_code == 200


def _line(change: Any) -> bytes:
    if change and isinstance(change[0], Cut):
        return spoilt(encoded(LINE), change)
    return encoded(edited(LINE, change)) if change else encoded(LINE)


@pytest.mark.parametrize("value", ODD, ids=lambda value: json.dumps(value)[:30])
def test_a_record_of_odd_values_comes_back_as_it_went_in(person: httpx.Client, value: Any) -> None:
    line = {"key": "odd", "data": {**LINE["data"], "id": "odd", "to": value, "body": value}}
    params = {"connection_id": "cin_work"}
    answer = person.post("/v1/ingest/messages", params=params, content=encoded(line)).json()
    if answer["records_accepted"]:
        found = person.get("/v1/streams/messages/records/odd", params=params).json()
        assert (found["data"]["body"], found["data"]["to"]) == (value, value)
    else:
        assert answer["rejections"][0]["code"]


# The authorization server


@pytest.fixture(scope="module")
def dance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dance]:
    with dancing(tmp_path_factory.mktemp("oauth") / "data") as made:
        yield made


@pytest.fixture(scope="module")
def party(dance: Dance) -> Party:
    return dance.register()


def forms(dance: Dance, party: Party) -> list[tuple[str, dict[str, str]]]:
    """Return good requests of every endpoint."""
    client = {"client_id": party.client_id}
    asked = dance.request(party, authorization_details=details(), resource=f"{dance.url}/mcp")
    code = {
        "grant_type": "authorization_code",
        "code": "x",
        "redirect_uri": party.redirect_uri,
        "code_verifier": party.verifier,
    }
    return [
        ("/oauth/authorize", asked),
        ("/oauth/par", asked),
        ("/oauth/device_authorization", {**client, "scope": "pdpp:read"}),
        ("/oauth/token", {**client, **code}),
        ("/oauth/token", {**client, "grant_type": "refresh_token", "refresh_token": "x"}),
        ("/oauth/token", {**client, "grant_type": DEVICE, "device_code": "x"}),
        ("/oauth/revoke", {**client, "token": "x", "token_type_hint": "refresh_token"}),
        ("/oauth/introspect", {"token": "x"}),
    ]


def check_oauth(answer: httpx.Response) -> None:
    """Check an answer of the authorization server."""
    assert answer.status_code < 500, answer.text
    assert not any(trace in answer.text for trace in TRACES[:3]), answer.text
    if answer.status_code >= 400 and answer.headers["content-type"] == "application/json":
        body = answer.json()
        code = body["error"] if isinstance(body["error"], str) else body["error"]["code"]
        assert code in OAUTH_CODES | CODES, body


def test_spoilt_requests_to_the_authorization_server_are_refused(
    dance: Dance, party: Party, caplog: pytest.LogCaptureFixture
) -> None:
    known = forms(dance, party)

    @settings(max_examples=dose(150))
    @given(st.sampled_from(known), st.one_of(edits, cuts))
    def ask(form: tuple[str, dict[str, str]], change: list[Any]) -> None:
        path, told = form
        content = _form(told, change)
        if path == "/oauth/authorize":
            address = f"{dance.url}{path}?".encode() + content
            check_oauth(dance.http.get(httpx.URL(_sendable(address))))
            return
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        check_oauth(dance.http.post(path, content=content, headers=headers))

    with caplog.at_level(logging.ERROR, logger="pdpp"):
        ask()
    assert [r for r in caplog.records if r.name.startswith("pdpp")] == []


def _form(told: dict[str, str], change: list[Any]) -> bytes:
    if isinstance(change[0], Cut):
        return spoilt(str(httpx.QueryParams(told)).encode(), change)
    changed = edited(told, change)
    if not isinstance(changed, dict):
        return encoded(changed)
    texts = {k: v if isinstance(v, str) else json.dumps(v) for k, v in changed.items()}
    sound = {
        k.encode("utf-8", "replace").decode(): v.encode("utf-8", "replace").decode()
        for k, v in texts.items()
    }
    return str(httpx.QueryParams(sound)).encode()


def _sendable(address: bytes) -> str:
    """Return an address as it can be sent: other bytes percent-encoded, and not too long."""
    shown = "".join(chr(b) if 33 <= b < 127 else f"%{b:02X}" for b in address)
    return shown[:30_000]


REGISTRATION = {
    "client_name": "Test app",
    "redirect_uris": ["https://client.example/callback"],
    "grant_types": ["authorization_code", "refresh_token"],
    "response_types": ["code"],
    "token_endpoint_auth_method": "none",
    "scope": "pdpp:read",
    "client_uri": "https://client.example/",
    "logo_uri": "https://client.example/logo.png",
    "contacts": ["a@client.example"],
}


def test_a_spoilt_registration_is_refused_or_taken(dance: Dance) -> None:
    @settings(max_examples=dose(60))
    @given(st.one_of(edits, cuts))
    def register(change: list[Any]) -> None:
        if isinstance(change[0], Cut):
            content = spoilt(encoded(REGISTRATION), change)
        else:
            content = encoded(edited(REGISTRATION, change))
        headers = {"Content-Type": "application/json"}
        check_oauth(dance.http.post("/oauth/register", content=content, headers=headers))

    register()


@settings(max_examples=dose(100))
@given(edits)
def test_spoilt_details_are_read_or_refused(changes: list[Edit]) -> None:
    with suppress(OAuthError, InvalidRequest):
        assert parse_details(edited([MAIL], changes)) is not None


def test_a_good_declaration_and_line_are_taken(person: httpx.Client) -> None:
    for document in DECLARED:
        assert parse_declaration(document).streams
    params = {"connection_id": "cin_work"}
    answer = person.post("/v1/ingest/messages", params=params, content=encoded(LINE))
    assert answer.json()["records_accepted"] == 1, answer.text
