"""Many owners behind one port: each is alone there, whatever the others do."""

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from tests.cli.shell import DECLARATION, pdpp_here, serving
from tests.postgres_server import server_url
from tests.serving import (
    UNENCRYPTED,
    UNLIMITED,
    Running,
    approve,
    keep,
    owner,
    plant,
    put,
    running,
)

from pdpp.configuration.database import DatabaseAddress
from pdpp.serving.data_folder import open_store
from pdpp.serving.database import open_owners
from pdpp.serving.owners import OwnerApplications, origin_of, owner_in
from pdpp.store.jobs import JobOrder
from pdpp.store.postgres.database import PostgresDatabase
from pdpp.store.postgres.fleet import PostgresFleet
from pdpp.store.postgres.opening import worker_connections
from pdpp.store.postgres.schema import SCHEMA
from pdpp.store.query import PageQuery, RecordPage
from pdpp.store.tables.store import TableStore
from pdpp.store.vault import Token

ORIGIN = "https://data.example"
CHANGING = re.compile(r'"next_changes_since":"[^"]*"|"request_id":"[^"]*"')
PATHS = (
    "/v1/streams",
    "/v1/schema",
    "/v1/streams/entries/records?limit=100",
    "/v1/streams/entries/records?changes_since=beginning",
    "/v1/search?q=rain",
    "/v1/search?q=secret",
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-authorization-server",
    "/login",
    "/v1/streams/entries/records/hidden",
    "/v1/streams/entries/records/a",
    "/v1/streams/entries/records/a/field-window?field=text&q=rain",
    "/v1/streams/entries/aggregate?metric=count",
    "/v1/streams/entries/aggregate?metric=count&group_by=title",
    "/v1/search?q=rian",
    "/v1/search?q=mor*",
    "/v1/search/hybrid?q=secret+rain&limit=1",
    "/v1/streams/moods/records",
    "/v1/blobs/" + "0" * 64,
    "/v1/jobs",
    "/metrics",
    "/agents",
    "/r/cin_diary/entries/hidden",
    "/v1/openapi.json",
)


class Owners:
    """Owners in the database, each with a diary, and tokens for them."""

    def __init__(self, folder: Path, server: Running) -> None:
        self._folder = folder
        self._server = server
        self._prefix = f"t{abs(hash(str(folder))):x}"

    def name(self, name: str) -> str:
        return f"{self._prefix}-{name}"

    def add(self, name: str, **texts: str) -> str:
        """Add an owner with entries by key; return a token that reads everything of theirs."""
        database = DatabaseAddress(server_url(), self.name(name))
        entries = [{"id": key, "title": text, "text": text} for key, text in texts.items()]
        with open_store(self._folder, create=True, database=database) as store:
            plant(store, DECLARATION, {"cin_diary": "Days"}, {("cin_diary", "entries"): entries})
            owner(store)
            return approve(store).token

    def client(self, name: str, token: str | None = None) -> httpx.Client:
        host = f"{self.name(name)}.data.example"
        return self._server.client(token, Host=host)

    def answers(self, name: str, token: str) -> list[Any]:
        """Return all that a client reads from an owner, byte for byte."""
        client = self.client(name, token)
        read = [client.get(path) for path in PATHS]
        return [(got.status_code, CHANGING.sub("", got.text)) for got in read]


@pytest.fixture
def owners(tmp_path: Path) -> Iterator[Owners]:
    database = DatabaseAddress(server_url(), "nobody")
    settings = replace(UNLIMITED, origin=ORIGIN, public=True)
    with open_owners(database, tmp_path) as open_owner:
        app = OwnerApplications(open_owner, settings, tmp_path, most=2)
        with running(app) as server:
            yield Owners(tmp_path, server)


def test_another_owner_changes_no_byte(owners: Owners) -> None:
    anna = owners.add("anna", a="Rain in the morning")
    before = owners.answers("anna", anna)
    assert before[0][0] == 200
    bert = owners.add("bert", hidden="secret rain", other="more rain")
    assert "hidden" in owners.client("bert", bert).get(PATHS[2]).text
    assert owners.answers("anna", anna) == before
    # Nor do ten thousand who have nothing.
    with psycopg.connect(server_url(), autocommit=True) as session:
        session.execute(
            f"WITH added AS (INSERT INTO {SCHEMA}.owner_name (name)"
            f" SELECT '{owners.name('many')}-' || n FROM generate_series(1, 10000) AS n"
            f" RETURNING id) INSERT INTO {SCHEMA}.owner (id) SELECT id FROM added"
        )
    assert owners.answers("anna", anna) == before
    assert owners.client("many-9999").get("/v1/streams").status_code == 401


def test_whatever_another_owner_does_changes_no_byte(owners: Owners) -> None:
    """Two worlds of one owner: in the second, another owner keeps, changes and removes things."""
    anna = owners.add("anna", a="Rain in the morning", b="Snow")
    before = owners.answers("anna", anna)
    bert = owners.add("bert", a="Rain of another", hidden="secret rain")
    deeds = (
        lambda store: put(store, "cin_diary", "entries", {"id": "a", "title": "Rain changed"}),
        lambda store: put(store, "cin_diary", "moods", {"id": "m", "mood": "rian"}),
        lambda store: store.connect("cin_diary", "diary", "Another name"),
        lambda store: store.connect("cin_more", "diary", "More"),
        lambda store: keep(store, b"secret bytes", "text/plain"),
        lambda store: store.jobs.add(JobOrder("import")),
        lambda store: store.remove_connection("cin_diary"),
        lambda store: store.vault.keep_token(Token("0" * 64, "owner", "more", 1)),
    )
    database = DatabaseAddress(server_url(), owners.name("bert"))
    with open_store(owners._folder, database=database) as store:
        for deed in deeds:
            deed(store)
            owners.answers("bert", bert)
            assert owners.answers("anna", anna) == before


def test_the_comparison_of_two_worlds_sees_a_reader_of_the_wrong_owner(
    owners: Owners, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Row security is told the wrong owner, and so are the statements: both walls have to fall."""
    anna = owners.add("anna", a="Rain in the morning")
    before = owners.answers("anna", anna)
    owners.add("bert", hidden="secret rain")
    with psycopg.connect(server_url()) as session:
        asked = f"SELECT id FROM {SCHEMA}.owner_name WHERE name = %s"
        numbers = [
            row[0]
            for name in ("anna", "bert")
            for row in session.execute(asked, (owners.name(name),))
        ]
    page = TableStore.page

    def of_another(self: TableStore, query: PageQuery) -> RecordPage:
        """Read a page on a session of the other owner."""
        database = self._db
        assert isinstance(database, PostgresDatabase)
        snapshot = database._thread.snapshot
        assert snapshot is not None
        assert snapshot.owner == numbers[0]
        snapshot.set_owner(numbers[1])
        try:
            return page(self, query)
        finally:
            snapshot.set_owner(numbers[0])

    monkeypatch.setattr(TableStore, "page", of_another)
    after = owners.answers("anna", anna)
    assert after != before
    assert any("hidden" in text for _, text in after)


def test_a_token_of_one_owner_opens_nothing_of_another(owners: Owners) -> None:
    anna, bert = owners.add("anna", a="Rain"), owners.add("bert", b="Rain")
    for name, token in (("anna", bert), ("bert", anna)):
        assert {status for status, _ in owners.answers(name, token)[:3]} == {401}


def test_each_owner_has_an_issuer_of_their_own(owners: Owners) -> None:
    owners.add("anna", a="Rain")
    document = owners.client("anna").get("/.well-known/oauth-authorization-server").json()
    assert document["issuer"] == f"https://{owners.name('anna')}.data.example"


@pytest.mark.parametrize("host", ["data.example", "nobody-there.data.example", "a.b.data.example"])
def test_a_host_that_is_nobodys_is_unknown_and_makes_no_owner(owners: Owners, host: str) -> None:
    client = owners._server.client(Host=host)
    assert client.get("/v1/streams").json()["error"]["code"] == "not_found"
    assert client.get("/login").status_code == 404
    assert client.get("/healthz").status_code == client.get("/readyz").status_code == 200
    with psycopg.connect(server_url()) as session:
        asked = f"SELECT 1 FROM {SCHEMA}.owner_name WHERE name = 'nobody-there'"
        assert session.execute(asked).fetchone() is None


@pytest.mark.parametrize("by_path", [False, True])
def test_a_balancer_hears_at_the_address_of_nobody_whether_a_worker_is_ready(
    tmp_path: Path, by_path: bool
) -> None:
    settings = replace(UNLIMITED, origin=ORIGIN, public=True)
    unreachable = worker_connections("postgresql://nobody@127.0.0.1:1/none")
    with (
        open_owners(DatabaseAddress(server_url(), "nobody"), tmp_path) as stores,
        closing(unreachable),
    ):
        ready = {}
        for name, fleet in (("there", stores.fleet), ("gone", PostgresFleet(unreachable))):
            app = OwnerApplications(stores, settings, tmp_path, by_path=by_path, ask=fleet.now)
            with running(app) as server:
                client = server.client(Host="data.example")
                answers = [client.get(path) for path in ("/healthz", "/readyz")]
                ready[name] = [(answer.status_code, answer.json()) for answer in answers]
    alive = (200, {"status": "ok"})
    assert ready["there"] == [alive, (200, {"status": "ready"})]
    assert ready["gone"] == [alive, (503, {"status": "not ready", "failing": ["store"]})]


def test_more_owners_than_there_is_room_for_are_served_in_turn(owners: Owners) -> None:
    tokens = {name: owners.add(name, a=f"Rain for {name}") for name in ("anna", "bert", "carl")}
    for _ in range(2):
        for name, token in tokens.items():
            text = owners.client(name, token).get(PATHS[2]).text
            assert f"Rain for {name}" in text


def test_a_host_names_an_owner_only_below_the_address_of_the_server() -> None:
    assert owner_in("anna.data.example", ORIGIN) == "anna"
    assert owner_in("ANNA.data.example", ORIGIN) == "anna"
    for host in ("anna.data.example.evil", "data.example", "-a.data.example", "a_b.data.example"):
        assert owner_in(host, ORIGIN) is None
    assert origin_of("anna", "http://localhost:80") == "http://anna.localhost:80"


def test_the_program_serves_every_owner_with_several_workers(tmp_path: Path) -> None:
    name = f"p{abs(hash(str(tmp_path))):x}"
    database = {"PDPP_DATABASE": server_url(), "PDPP_OWNER": name}
    with open_store(tmp_path, create=True, database=DatabaseAddress(server_url(), name)) as store:
        plant(store, DECLARATION, {"cin_diary": "Days"})
        token = approve(store).token
    options = ("--owners", "--workers", "2")
    with serving(tmp_path, tmp_path / "notes", *options, env=database) as served:
        assert served.url.startswith("http://localhost:")
        base = served.url.replace("localhost", "127.0.0.1")
        host = served.url.replace("http://", f"{name}.")
        for headers, status in (({"Host": host}, 200), ({}, 404)):
            headers["Authorization"] = f"Bearer {token}"
            answer = httpx.get(
                f"{base}/v1/streams", headers=headers, trust_env=False, verify=UNENCRYPTED
            )
            assert answer.status_code == status, answer.text
        assert served.stop() == 0
    assert "for each owner NAME" in (tmp_path / "notes" / "out").read_text()


@pytest.mark.embedded("asks for a server without a database")
def test_several_owners_need_a_database(tmp_path: Path) -> None:
    ended = pdpp_here("serve", "--owners", "--port", "0", data=tmp_path)
    assert "Several owners need a database" in ended.failed(code=64)
