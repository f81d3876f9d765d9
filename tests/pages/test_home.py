"""The home page and the frame around all pages."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engine import ENGINE, open_store
from tests.pages.house import MAIL, House, Reader, housed
from tests.serving import SetClock

from pdpp.jobs.backup_note import BackupNote, note_backup
from pdpp.jobs.importing import import_order
from pdpp.model.instant import DAY
from pdpp.store.jobs import JobLease, JobProgress, JobStatus
from pdpp.store.port import Store

HTML = {"Accept": "text/html,application/xhtml+xml"}


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A server with an owner and nothing else."""
    folder = Path(tmp_path_factory.mktemp("empty")) / "store"
    folder.mkdir(mode=0o700)
    with housed(folder, store=open_store(folder)) as made:
        yield made


def fail_import(store: Store, path: Path, message: str) -> str:
    """Leave an import behind that failed; return its id."""
    job = store.jobs.begin(import_order(path), JobLease("test", 1 << 60))
    error = {"code": "import_refused", "message": message}
    store.jobs.finish(job.id, "test", JobStatus.FAILED, JobProgress(), error)
    return job.id


def test_an_empty_server_says_how_to_begin(empty: House) -> None:
    home = empty.owner().get("/")
    assert "Nothing here yet" in home.text
    assert "How to begin" in home.text
    links = {node.attributes["href"] for node in home.tree.css("main a")}
    assert {"/import", "/search", "/agents"} <= links
    assert "backup" not in home.text


def test_every_page_of_an_empty_server_is_there(empty: House) -> None:
    reader = empty.owner()
    for path in ("/search", "/accounts", "/import", "/agents", "/activity", "/settings"):
        assert reader.get(path).status == 200, path


def test_home_tells_what_there_is(owner: Reader) -> None:
    home = owner.get("/")
    assert "4,937 records in 8 accounts" in home.text
    assert "Home mail Mail newest from 29 October 2026" in home.text
    link = home.tree.css_first('main a[href="/accounts/cin_home"]')
    assert link is not None


def test_home_tells_what_needs_the_owner(tmp_path: Path) -> None:
    clock = SetClock("2026-11-02T12:00:00Z")
    with housed(tmp_path / "store", clock=clock) as house:
        path = house.ask(MAIL, name="Closed Tab")
        job = fail_import(house.store, tmp_path / "broken.zip", "It is no zip.")
        reader = house.owner()
        home = reader.get("/")
        assert "calls itself “Closed Tab”, asks to read" in home.text
        assert "The import of broken.zip failed: It is no zip." in home.text
        copies_itself = ENGINE != "postgres"
        assert ("There is no backup yet." in home.text) == copies_itself
        assert home.tree.css_first(f'main a[href="/import/{job}"]') is not None
        waiting = home.tree.css_first('main a[href^="/consent/waiting_"]')
        assert waiting is not None
        consent = reader.get(str(waiting.attributes["href"]))
        assert consent.text == reader.get(path).text
        done = consent.send(action="approve")
        assert "code=" in done.location
        assert "Closed Tab” may read until" not in reader.get("/").text
        clock.advance(40 * DAY / 1_000_000)
        note_backup(house.store.vault, BackupNote(clock.now - 31 * DAY, "/backups"))
        late = house.owner().get("/").text
        assert ("The last backup is 31 days old." in late) == copies_itself


def test_one_export_of_an_archive_hides_no_failure_of_another(tmp_path: Path) -> None:
    with housed(tmp_path / "store") as house:
        jobs, archive = house.store.jobs, tmp_path / "takeout.zip"
        for title, end in (("Mail", JobStatus.FAILED), ("Contacts", JobStatus.CANCELLED)):
            order = import_order(archive, title=f"{title} from takeout.zip")
            job = jobs.begin(order, JobLease("test", 1 << 60))
            error = {"code": "import_refused", "message": "It is cut off."}
            outcome = error if end == JobStatus.FAILED else None
            jobs.finish(job.id, "test", end, JobProgress(), outcome)
        home = house.owner().get("/")
    assert "The import of Mail from takeout.zip failed: It is cut off." in home.text


def test_a_waiting_request_is_nothing_to_a_stranger(house: House) -> None:
    house.ask(MAIL)
    link = house.owner().get("/agents").tree.css_first('main a[href^="/consent/waiting_"]')
    assert link is not None
    address = str(link.attributes["href"])
    assert house.stranger().get(address).status == 401
    assert house.owner().get("/consent/waiting_" + "0" * 64).status == 404


# The frame


def test_every_page_has_the_search_and_says_where_it_is(owner: Reader) -> None:
    for path, label in (("/", "Home"), ("/accounts", "Accounts"), ("/search?q=x", "Search")):
        tree = owner.get(path).tree
        current = tree.css('nav a[aria-current="page"]')
        assert [node.text() for node in current] == [label]
        assert tree.css_first('form[role=search] input[name="q"]') is not None


def test_a_mistyped_address_is_a_page_for_a_person_and_json_for_a_program(
    house: House, owner: Reader
) -> None:
    page = owner.http.get("/acounts", headers=HTML)
    assert page.status_code == 404
    assert page.headers["content-type"].startswith("text/html")
    assert "There is no page at this address" in page.text
    assert 'href="/accounts"' in page.text
    stranger = house.stranger().http.get("/acounts", headers=HTML)
    assert stranger.status_code == 404
    assert 'href="/accounts"' not in stranger.text
    program = owner.http.get("/acounts")
    assert program.json()["error"]["code"] == "not_found"
    assert owner.http.get("/v1/nothing", headers=HTML).json()["error"]["code"] == "not_found"


# A session that ends in the middle of something


def test_what_was_typed_is_kept_when_the_session_has_ended(house: House) -> None:
    reader = house.owner()
    page = reader.get("/accounts/cin_notes")
    reader.get("/").send(form="nav form")
    kept = page.send(form="main form", action="rename", name="My notebooks")
    assert kept.status == 401
    assert dict(kept.fields())["name"] == "My notebooks"
    assert "confirm" not in dict(kept.fields())
    again = kept.send(passphrase="four plain words here")
    assert again.status == 200
    assert "Nothing has changed yet" in again.text
    assert again.send().location == "/accounts/cin_notes"
    assert "My notebooks" in reader.get("/accounts").text
    reader.get("/accounts/cin_notes").send(action="rename", name="Notes")
