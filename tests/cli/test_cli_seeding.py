import json
import os
import shutil
from copy import deepcopy
from pathlib import Path

import pytest
from tests.cli.shell import (
    DECLARATION,
    Served,
    copy_served,
    pdpp,
    pdpp_here,
    serving,
    started,
    wait_for,
)
from tests.engine import is_stored, open_store

from pdpp import demo
from pdpp.cli.seeding import seed
from pdpp.model.validation import parse_declaration
from pdpp.service.settings import Settings
from pdpp.store.scope import owner_reaches


def records(data: Path) -> int:
    """Return how many records a folder holds that a server may be about to make."""
    if not is_stored(data):
        return 0
    store = open_store(data)
    try:
        return sum(store.counts(owner_reaches(store.catalogue())).values())
    finally:
        store.close()


def versions(data: Path) -> dict[tuple[str, str], int]:
    store = open_store(data)
    try:
        return {
            (reach.connection_id, reach.stream.name): store.latest_version(reach)
            for reach in owner_reaches(store.catalogue())
        }
    finally:
        store.close()


def test_a_second_start_changes_nothing_but_the_token(
    demo_server: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # To the machine the copy is the same store: what it revokes must not be revoked in the first.
    state = shutil.copytree(os.environ["XDG_STATE_HOME"], tmp_path / "state")
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    data = tmp_path / "data"
    copy_served(demo_server, data)
    key = next(b.lines[0]["key"] for b in demo.batches() if b.stream == "albums")
    gone = json.dumps({"key": key, "op": "delete"}).encode()
    where = ("--connection", "cin_photos", "--stream", "albums")
    removed = pdpp("ingest", "-", *where, data=data, stdin=gone)
    assert removed.out.endswith("1 deleted\n")
    renamed = ("demo_photos", "--name", "My photos", "--id", "cin_photos")
    assert pdpp_here("connection", "add", *renamed, data=data).code == 0
    before = versions(data)
    with serving(data, tmp_path / "notes", "--demo") as served:
        assert served.get("/v1/streams").status_code == 200
        refused = served.get("/v1/streams", demo_server.ready["client_token"])
        assert refused.json()["error"]["code"] == "grant_revoked"
    assert versions(data) == before
    assert "My photos (cin_photos, demo_photos)" in pdpp_here("connection", "list", data=data).out


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


def test_a_source_of_the_owners_that_has_a_demo_name_is_left_alone(tmp_path: Path) -> None:
    mine = deepcopy(DECLARATION)
    mine["connector_key"] = "demo_mail"
    added = pdpp("source", "add", "-", data=tmp_path, stdin=json.dumps(mine).encode())
    assert added.code == 0
    told = pdpp("serve", "--demo", "--port", "0", data=tmp_path).failed()
    assert "'demo_mail' already names another source" in told


def test_the_demo_stands_beside_the_owners_data_and_brings_an_older_demo_up_to_date(
    diary: Path,
) -> None:
    source = demo.sources()[-1]
    older = deepcopy(source.declaration)
    older["declaration_version"] = "0"
    store = open_store(diary)
    try:
        store.register(parse_declaration(older))
        tokens = seed(store, Settings())
        assert tokens.client.startswith("pdpp_client_")
        assert tokens.package.startswith("pdpp_package_")
        catalogue = store.catalogue()
        (grant,) = [held for held in store.vault.grants() if held.package_id is None]
        children = [held for held in store.vault.grants() if held.package_id is not None]
    finally:
        store.close()
    held = catalogue.sources[older["connector_key"]]
    assert held.declaration_version == source.declaration["declaration_version"]
    assert "cin_diary" in catalogue.connections
    opened = {allowance.connection_id for allowance in grant.allowances}
    assert opened == catalogue.connections.keys() - {"cin_diary"}
    assert len(children) == len(opened)
