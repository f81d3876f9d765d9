"""A replica lacks the last writes and takes over, or has writes of its own: no worker is misled."""

import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.cli.shell import DECLARATION, entry
from tests.engine import database_of, revoke_grant
from tests.faults.cluster import Cluster, new_cluster
from tests.faults.test_postgres_killed import kill
from tests.serving import UNLIMITED, approve, owner, plant, put, refused, running

from pdpp.app import make_app
from pdpp.authz.selection import Selection
from pdpp.store.postgres.opening import prepare, worker_connections
from pdpp.store.postgres.store import PostgresStore

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a server from a wheel")

INGEST = "/v1/ingest/entries?connection_id=cin_diary"
RECORDS = "/v1/streams/entries/records"


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with new_cluster() as cluster:
        yield cluster


def found(client: Any, word: str) -> list[str]:
    answer = client.get("/v1/search", params={"q": word})
    assert answer.status_code == 200, answer.text
    return sorted(hit["record_key"] for hit in answer.json()["data"])


def test_what_a_worker_remembers_of_lost_writes_answers_nothing(
    cluster: Cluster, tmp_path: Path
) -> None:
    name, url = str(tmp_path), cluster.url()
    store = PostgresStore(url, tmp_path, owner=name)
    plant(store, DECLARATION, {"cin_diary": "Days"})
    titles = Selection(streams=("entries",), fields=("id", "title"))
    granted, kept = approve(store, titles), approve(store, titles)
    with running(make_app(store, UNLIMITED)) as server:
        mine, client, reader = (server.client(t) for t in (owner(store), granted.token, kept.token))
        assert mine.post(INGEST, content=entry("a", text="Rain")).status_code == 200
        cluster.cut_off_replica()
        lost = {"key": "lost", "data": {"id": "lost", "title": "Day lost"}}
        assert mine.post(INGEST, content=orjson.dumps(lost)).status_code == 200
        assert found(reader, "lost") == ["lost"]
        assert len(client.get(RECORDS).json()["data"]) == 2
        state = database_of(store).state()
        kill(cluster.primary)
        cluster.promote()
        other = PostgresStore(url, tmp_path / "other", owner=name)
        revoke_grant(other, granted.grant_id)
        while database_of(other).state() < state:
            other.prune(0)
        refused(client.get(RECORDS), 403, "grant_revoked")
        assert found(reader, "lost") == []
        # The same numbers again, for other fields, words and records.
        assert mine.post(INGEST, content=entry("new")).status_code == 200
        rows = reader.get(RECORDS).json()["data"]
        assert [set(row["data"]) for row in rows] == [{"id", "title"}] * 2
        assert found(reader, "new") == ["new"]
        assert found(reader, "lost") == []
        assert store.check() == []
        other.close()
    store.close()


def test_a_replica_that_went_another_way_answers_nothing(cluster: Cluster, tmp_path: Path) -> None:
    name, url = str(tmp_path), cluster.primary.get_uri()
    prepare(url)
    with closing(worker_connections(url, cluster.replica_url(), most_lag=3_600.0)) as connections:
        store = PostgresStore(url, tmp_path, owner=name, connections=connections)
        plant(store, DECLARATION, {"cin_diary": "Days"})
        put(store, "cin_diary", "entries", {"id": "a", "title": "Day a"})
        token = approve(store).token
        cluster.cut_off_replica()
        cluster.promote()
        elsewhere = PostgresStore(cluster.replica_url(), tmp_path / "elsewhere", owner=name)
        put(elsewhere, "cin_diary", "entries", {"id": "elsewhere", "title": "Day b"})
        with running(make_app(store, replace(UNLIMITED, read_lag_seconds=3_600.0))) as server:
            client = server.client(token, **{"PDPP-Max-Lag": "3600"})
            # Its number is between two that the worker sees on the primary.
            here, there = database_of(store), database_of(elsewhere)
            while there.state() <= here.state():
                elsewhere.prune(0)
            while here.state() <= there.state():
                store.prune(0)
            assert [row["id"] for row in client.get(RECORDS).json()["data"]] == ["a"]
        elsewhere.close()
        store.close()
