"""Folders of notes that came in before: a folder inside one, and a folder around some."""

from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.cli.shell import pdpp_here
from tests.engine import open_store
from tests.sources.kit import Home

from pdpp.cli.import_preparation import Choice, prepare
from pdpp.jobs.importing import import_kind, import_order
from pdpp.jobs.runner import JobRunner
from pdpp.model import instant
from pdpp.model.errors import ImportRefused
from pdpp.service.settings import Settings
from pdpp.sources.importing.state import ImportState
from pdpp.store.numbers import read_data
from pdpp.store.query import PageQuery
from pdpp.store.scope import owner_reaches


def put(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {name}\n\nThe words of {name}.\n")
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return put(tmp_path / "N", "a.md", "Notes/b.md", "Notes/deep/c.md", "Other/b.md")


def paths(home: Home) -> list[str]:
    """Return the places of all notes, also those that are there twice."""
    with closing(open_store(home.data)) as store:
        query = (
            PageQuery((reach,), 100)
            for reach in owner_reaches(store.catalogue())
            if reach.stream.name == "notes"
        )
        records = [record for one in query for record in store.page(one).records]
        return sorted(str(read_data(record.data)["path"]) for record in records)


def reports(home: Home, path: Path, *options: str) -> list[dict[str, Any]]:
    report = home.bring(path, *options)
    found: list[dict[str, Any]] = report.get("imports", [report])
    return found


def counts(home: Home, path: Path, *options: str) -> Counter[str]:
    found = Counter[str]()
    for report in reports(home, path, *options):
        found.update({kind: report["counts"][kind] for kind in ("new", "changed", "deleted")})
    return found


WHOLE = ["Notes/b.md", "Notes/deep/c.md", "Other/b.md", "a.md"]


def test_a_folder_inside_a_known_one_adds_nothing_and_its_changes_come_in(
    home: Home, folder: Path
) -> None:
    home.bring(folder)
    before = home.records()
    for inside in ("Notes", "Notes/deep", "Other"):
        assert not counts(home, folder / inside).total()
    assert not counts(home, folder / "Notes" / "b.md").total()
    assert home.records() == before
    put(folder, "Notes/new.md")
    assert counts(home, folder / "Notes") == {"new": 1, "changed": 0, "deleted": 0}
    assert paths(home) == sorted([*WHOLE, "Notes/new.md"])
    assert not counts(home, folder).total()
    assert len(home.accounts()) == 1


def test_a_folder_around_known_ones_leaves_each_to_its_own_account(
    home: Home, folder: Path
) -> None:
    home.bring(folder / "Notes")
    home.bring(folder / "Other")
    assert counts(home, folder)["new"] == 1
    assert paths(home) == ["a.md", "b.md", "b.md", "deep/c.md"]
    assert len(home.accounts()) == 3
    assert not counts(home, folder).total()
    for inside in ("Notes", "Notes/deep", "Other"):
        assert not counts(home, folder / inside).total()
    put(folder, "Notes/deep/new.md", "new.md")
    assert counts(home, folder)["new"] == 2
    assert paths(home) == ["a.md", "b.md", "b.md", "deep/c.md", "deep/new.md", "new.md"]
    assert len(home.accounts()) == 3


def test_folders_of_folders_in_any_order_hold_each_note_once(home: Home, folder: Path) -> None:
    for place in ("Notes/deep", "Notes", "", "Notes/deep", "", "Notes"):
        home.bring(folder / place)
    assert paths(home) == ["Other/b.md", "a.md", "b.md", "c.md"]
    assert len(home.accounts()) == 3


def test_a_folder_with_nothing_but_a_known_one_is_that_account(home: Home, tmp_path: Path) -> None:
    folder = put(tmp_path / "N", "Notes/a.md", "Notes/b.md")
    home.bring(folder / "Notes")
    assert not counts(home, folder).total()
    assert len(home.accounts()) == 1


def test_a_mirror_of_a_folder_inside_deletes_only_below_it(home: Home, folder: Path) -> None:
    home.bring(folder)
    for name in ("a.md", "Notes/b.md", "Notes/deep/c.md"):
        (folder / name).unlink()
    put(folder, "Notes/d.md")
    assert counts(home, folder / "Notes", "--mirror")["deleted"] == 2
    assert paths(home) == ["Notes/d.md", "Other/b.md", "a.md"]
    assert counts(home, folder, "--mirror")["deleted"] == 1
    assert paths(home) == ["Notes/d.md", "Other/b.md"]


def test_a_mirror_of_a_folder_around_leaves_known_ones_their_notes(
    home: Home, folder: Path
) -> None:
    home.bring(folder / "Notes")
    home.bring(folder)
    (folder / "Other" / "b.md").unlink()
    (folder / "Notes" / "b.md").unlink()
    assert counts(home, folder, "--mirror")["deleted"] == 2
    assert paths(home) == ["a.md", "deep/c.md"]


def test_the_owner_may_say_that_a_folder_inside_is_another_account(
    home: Home, folder: Path
) -> None:
    home.bring(folder)
    assert counts(home, folder / "Notes", "--account", "Ana")["new"] == 2
    assert len(home.accounts()) == 2
    assert not counts(home, folder / "Notes").total()


def test_a_folder_inside_goes_where_the_owner_sends_it_under_the_names_of_that_account(
    home: Home, folder: Path
) -> None:
    account = home.bring(folder)["connection"]["connection_id"]
    assert not counts(home, folder / "Notes", "--connection", account).total()


def test_files_that_notes_show_come_in_once_from_whichever_folder(home: Home, folder: Path) -> None:
    (folder / "Notes" / "boat.png").write_bytes(b"\x89PNG\r\n\x1a\n boat")
    (folder / "Notes" / "b.md").write_text("![boat](boat.png)\n")
    (folder / "a.md").write_text("![boat](Notes/boat.png)\n")
    home.bring(folder)
    assert not counts(home, folder / "Notes").total()
    other = Home(home.data.parent / "other")
    other.bring(folder / "Notes")
    other.bring(folder)
    shown = [data["path"] for (of, _), data in other.records().items() if of == "attachments"]
    assert sorted(shown) == ["Notes/boat.png", "boat.png"]


def test_an_account_that_is_gone_holds_no_folder(home: Home, folder: Path) -> None:
    account = home.bring(folder / "Notes")["connection"]["connection_id"]
    ended = pdpp_here("connection", "remove", account, "--yes", data=home.data)
    assert ended.code == 0, ended
    home.bring(folder)
    assert paths(home) == WHOLE
    assert len(home.accounts()) == 1


def test_a_vault_inside_a_known_folder_stays_by_itself(home: Home, folder: Path) -> None:
    put(folder, "Vault/v.md", "Vault/.obsidian/app.json")
    home.bring(folder)
    assert len(home.accounts()) == 2
    assert not counts(home, folder / "Vault").total()
    assert not counts(home, folder).total()
    assert len(home.accounts()) == 2


def test_a_folder_around_known_ones_is_not_watched_as_one(home: Home, folder: Path) -> None:
    home.bring(folder / "Notes")
    with closing(open_store(home.data)) as store:
        state = ImportState(home.data, store.files)
        with pytest.raises(ImportRefused, match="watch each of them: Notes"):
            prepare(store, state, folder, Choice())
        assert prepare(store, state, folder / "Notes", Choice())


def test_a_server_goes_on_with_the_rest_of_a_folder_and_with_a_known_one_in_it(
    home: Home, folder: Path
) -> None:
    home.bring(folder / "Notes")
    with closing(open_store(home.data)) as store:
        kind = import_kind(store, home.data, Settings())
        for place, number in (("Notes", 0), ("", 2)):
            order = import_order(folder / place, "markdown", within=folder)
            done = JobRunner(store, [kind], instant.now).run_now(order).result
            assert done is not None
            assert done["counts"]["new"] == number
    assert paths(home) == ["Other/b.md", "a.md", "b.md", "deep/c.md"]
