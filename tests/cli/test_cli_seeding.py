import json
from copy import deepcopy
from pathlib import Path

import httpx
import pytest
from tests.cli.shell import DECLARATION, pdpp, serving, started, wait_for

from pdpp import demo
from pdpp.cli.seeding import seed
from pdpp.model.validation import parse_declaration
from pdpp.resource.settings import Settings
from pdpp.store.scope import owner_reaches
from pdpp.store.sqlite.store import FILE_NAME, SqliteStore


def records(data: Path) -> int:
    """Return how many records a folder holds that a server may be about to make."""
    if not (data / FILE_NAME).exists():
        return 0
    store = SqliteStore(data)
    try:
        return sum(store.counts(owner_reaches(store.catalogue())).values())
    finally:
        store.close()


def versions(data: Path) -> dict[tuple[str, str], int]:
    store = SqliteStore(data)
    try:
        return {
            (reach.connection_id, reach.stream.name): store.latest_version(reach)
            for reach in owner_reaches(store.catalogue())
        }
    finally:
        store.close()


def test_a_second_start_changes_nothing_but_the_token(tmp_path: Path) -> None:
    data, notes = tmp_path / "data", tmp_path / "notes"
    with serving(data, notes, "--demo") as served:
        first = served.ready["client_token"]
        owner = pdpp("owner", "token", "--json", data=data).document["owner_token"]
        path = f"{served.url}/v1/streams/albums/records?limit=1"
        headers = {"Authorization": f"Bearer {owner}"}
        row = httpx.get(path, headers=headers, trust_env=False).json()["data"][0]
        record = f"{served.url}/v1/streams/albums/records/{row['id'].rpartition(':')[2]}"
        gone = httpx.delete(record, headers=headers, trust_env=False)
        assert gone.status_code == 204, gone.text
        assert served.stop() == 0
    before = versions(data)
    pdpp("connection", "add", "photos", "--name", "My photos", "--id", "cin_photos", data=data)
    with serving(data, notes, "--demo") as served:
        assert served.ready["client_token"] != first
        assert served.get("/v1/streams").status_code == 200
        refused = served.get("/v1/streams", first)
        assert refused.json()["error"]["code"] == "grant_revoked"
    assert versions(data) == before
    listed = pdpp("connection", "list", data=data).out
    assert "My photos (cin_photos, photos)" in listed


def test_a_seeding_that_was_killed_is_completed_by_the_next_start(tmp_path: Path) -> None:
    data, notes = tmp_path / "data", tmp_path / "notes"
    with started("serve", "--demo", "--port", "0", "--data", data) as process:
        wait_for(lambda: records(data) > 0, process)
    total = len(
        {(b.connection_id, b.stream, line["key"]) for b in demo.batches() for line in b.lines}
    )
    assert 0 < records(data) <= total
    with serving(data, notes, "--demo") as served:
        assert served.get("/v1/streams").status_code == 200
    assert records(data) == total
    assert pdpp("check", data=data).code == 0


def test_a_stop_during_the_seeding_is_quiet(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with (tmp_path / "log").open("wb") as log:
        options = ("--demo", "--port", "0", "--data", data)
        with started("serve", *options, stdout=log, stderr=log) as process:
            wait_for(lambda: records(data) > 0, process)
            process.terminate()
            assert process.wait() == 0
    assert b"Traceback" not in (tmp_path / "log").read_bytes()
    assert pdpp("check", data=data).code == 0


def test_the_demo_stands_beside_the_owners_own_data_and_its_grant_does_not_reach_it(
    diary: Path, tmp_path: Path
) -> None:
    with serving(diary, tmp_path / "notes", "--demo") as served:
        rows = served.get("/v1/streams").json()["data"]
    assert "cin_diary" not in {row["connection_id"] for row in rows}
    assert "My days" in pdpp("connection", "list", data=diary).out


def test_a_source_of_the_owners_that_has_a_demo_name_is_left_alone(tmp_path: Path) -> None:
    mine = deepcopy(DECLARATION)
    mine["connector_key"] = "mail"
    added = pdpp("source", "add", "-", data=tmp_path, stdin=json.dumps(mine).encode())
    assert added.code == 0
    told = pdpp("serve", "--demo", "--port", "0", data=tmp_path).failed()
    assert "'mail' already names another source" in told


@pytest.mark.parametrize("seeded", [False, True])
def test_an_older_demo_is_brought_up_to_date(seeded: bool, tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    try:
        if seeded:
            seed(store, Settings())
        source = demo.sources()[-1]
        older = deepcopy(source.declaration)
        older["declaration_version"] = "0"
        store.register(parse_declaration(older))
        for grant in store.grants() if not seeded else ():
            store.revoke_grant(grant.id)
        token = seed(store, Settings())
        held = store.catalogue().sources[older["connector_key"]]
        assert token.startswith("pdpp_client_")
        expected = older if seeded else source.declaration
        assert held.declaration_version == expected["declaration_version"]
    finally:
        store.close()
