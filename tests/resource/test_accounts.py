"""The owner renames, merges and removes accounts over /v1; a grant does none of it."""

import time
from pathlib import Path

import pytest
from tests.resource.library import library_store
from tests.serving import World, living

from pdpp.model import instant
from pdpp.service.accounts import merge_connections
from pdpp.sources.importing.positions import PartPosition
from pdpp.sources.importing.state import ImportState

ROUTES = [
    ("POST", "/v1/connections/home/rename?display_name=x"),
    ("GET", "/v1/connections/home/removal"),
    ("DELETE", "/v1/connections/home"),
    ("GET", "/v1/connections/home/merge?into=work"),
    ("POST", "/v1/connections/home/merge?into=work"),
]
DEADLINE_SECONDS = 60


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_a_grant_changes_no_account(shelf: World, method: str, path: str) -> None:
    refused = shelf.client().request(method, path)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "insufficient_scope")
    assert "home" in shelf.store.catalogue().connections


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_an_account_that_is_not_there_is_told(shelf: World, method: str, path: str) -> None:
    answer = shelf.owner().request(method, path.replace("home", "hom"))
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")
    assert "did you mean 'home'?" in answer.json()["error"]["message"]


def test_an_account_is_renamed_for_all_who_read_it(shelf: World) -> None:
    client = shelf.client(connections=("home",))
    renamed = shelf.owner().post("/v1/connections/home/rename", params={"display_name": "Attic"})
    assert renamed.json()["display_name"] == "Attic"
    rows = client.get("/v1/streams").json()["data"]
    assert {row["display_name"] for row in rows} == {"Attic"}


def test_a_removal_is_shown_first_and_then_nobody_reads_the_account(shelf: World) -> None:
    owner, client = shelf.owner(), shelf.client(connections=("home",))
    preview = owner.get("/v1/connections/home/removal").json()
    [account] = preview["connections"]
    assert account["record_counts"]["books"] > 0
    assert {change["effect"] for change in preview["grants"]} == {"revoked"}
    assert client.get("/v1/streams").status_code == 200
    removed = owner.delete("/v1/connections/home").json()
    assert (removed["status"], len(removed["grants"])) == ("removed", len(preview["grants"]))
    assert client.get("/v1/streams").json()["error"]["code"] == "grant_revoked"
    names = {row["connection_id"] for row in owner.get("/v1/streams").json()["data"]}
    assert names == {"work"}


def test_a_removal_forgets_the_imports_of_the_account_alone(tmp_path: Path) -> None:
    with living(library_store(tmp_path), data=tmp_path) as world:
        state = ImportState(tmp_path, world.store.files)
        for account in ("home", "work"):
            connection = {"connection_id": account, "identity": f"{account} at home"}
            state.keep_report(f"2026-{account}", {"connection": connection, "path": "zanzibarine"})
            log = state.journal(account, tmp_path / "zanzibarine.zip", "1")
            log.begin(anew=True)
            log.note({"zanzibarine.md": PartPosition("1", 7)})
            log.close()
        before = set((tmp_path / "imports").rglob("*.*json"))
        assert len(before) == 4
        assert world.owner().delete("/v1/connections/home").status_code == 200
        assert [name for name, _ in state.reports()] == ["2026-work"]
        assert len(set((tmp_path / "imports").rglob("*.*json"))) == 2
        assert state.journal("work", tmp_path / "zanzibarine.zip", "1").positions


def test_a_removal_forgets_the_imports_of_accounts_that_became_part_of_it(tmp_path: Path) -> None:
    with living(library_store(tmp_path), data=tmp_path) as world:
        state = ImportState(tmp_path, world.store.files)
        merge_connections(world.store, "home", "work", instant.now)
        state.keep_report("2026-home", {"connection": {"connection_id": "home"}, "path": "attic"})
        assert world.owner().delete("/v1/connections/work").status_code == 200
        assert list(state.reports()) == []


def test_a_merge_is_shown_first_and_done_as_a_job(shelf: World) -> None:
    owner, client = shelf.owner(), shelf.client(connections=("home",))
    shown = owner.get("/v1/connections/home/merge", params={"into": "work"}).json()
    assert (shown["status"], shown["into"]["connection_id"]) == ("preview", "work")
    before = {row["id"] for row in client.get("/v1/streams/books/records").json()["data"]}
    job = owner.post("/v1/connections/home/merge", params={"into": "work"}).json()
    deadline = time.monotonic() + DEADLINE_SECONDS
    while job["status"] in ("queued", "running") and time.monotonic() < deadline:
        job = owner.get(f"/v1/jobs/{job['id']}").json()
    assert (job["status"], job["kind"]) == ("succeeded", "merge")
    rows = client.get("/v1/streams/books/records").json()["data"]
    assert {row["connection_id"] for row in rows} == {"work"}
    assert before <= {row["id"] for row in rows}
    # What the owner cited before is found, and a client learns nothing of the old account.
    path = f"/v1/streams/books/records/{min(before)}?connection_id=home"
    assert owner.get(path).json()["connection_id"] == "work"
    assert client.get(path).json()["error"]["code"] == "grant_stream_not_allowed"


def test_the_owner_reads_on_changes_of_an_account_that_became_part_of_another(
    shelf: World,
) -> None:
    owner = shelf.owner()
    merge_connections(shelf.store, "home", "work", instant.now)
    asked = {"changes_since": "beginning", "connection_id": "home", "limit": "2"}
    page = owner.get("/v1/streams/books/records", params=asked).json()
    rows = list(page["data"])
    while page["has_more"]:
        answer = owner.get(page["links"]["next"])
        assert answer.status_code == 200, answer.text
        page = answer.json()
        rows += page["data"]
    assert len(rows) == shelf.store.connection_contents("work").records["books"]
