"""A replica that lacks the last writes takes over: no worker goes on by what it knew of them."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.cli.shell import DECLARATION, entry
from tests.engine import database_of, revoke_grant
from tests.faults.cluster import Cluster, new_cluster
from tests.faults.test_postgres_killed import kill
from tests.serving import UNLIMITED, approve, owner, plant, refused, running

from pdpp.app import make_app
from pdpp.authz.selection import Selection
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
