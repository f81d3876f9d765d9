"""Files that cannot be read, or are gone by the time they are: the others come in."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.engine import open_store
from tests.sources.kit import Home, stored
from tests.sources.samples import every_sample

from pdpp.cli import import_task
from pdpp.cli.import_preparation import Choice, prepare
from pdpp.encryption.files import data_files
from pdpp.sources.importing.state import ImportState
from pdpp.sources.importing.task import ImportCallbacks
from pdpp.sources.importing.watching import watch
from pdpp.sources.reading import folder
from pdpp.sources.source import OwnerChoices


def _notes(place: Path) -> Path:
    place.mkdir(parents=True)
    (place / "buoy.md").write_text("# Buoy\n")
    return place


@pytest.mark.parametrize("name", ["goodreads: a library", "google_keep: notes and lists"])
def test_an_export_that_is_gone_when_its_turn_comes_stops_no_other(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = every_sample()[name].folder(tmp_path / "in" / "a")
    _notes(tmp_path / "in" / "b")

    def ask(_question: str) -> None:
        for file in path.rglob("*.*"):
            file.unlink()

    monkeypatch.setattr(import_task, "_ask", ask)
    ended = Home(tmp_path / "home").run(tmp_path / "in", "--json")
    assert ended.code == 1
    reports = {
        report["source"]["connector_key"]: report for report in json.loads(ended.out)["imports"]
    }
    lost = reports.pop(name.partition(":")[0])
    assert lost["status"] == "incomplete"
    assert [case["reason"] for case in lost["skipped"]] == ["a file that cannot be read"]
    assert {report["status"] for report in reports.values()} == {"complete"}
    assert reports["markdown"]["counts"]["new"] == 1


@pytest.fixture
def locked(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Let nobody open files of these names: whoever runs the tests may open them all."""
    names: set[str] = set()
    opened = folder._open_file

    def open_file(place: Path) -> Any:
        if place.name in names:
            raise PermissionError(13, "Permission denied", str(place))
        return opened(place)

    monkeypatch.setattr(folder, "_open_file", open_file)
    return names


@pytest.mark.parametrize("from_the_start", [True, False])
def test_a_watch_reads_on_beside_a_file_that_cannot_be_read_and_tells_of_it(
    from_the_start: bool, tmp_path: Path, locked: set[str]
) -> None:
    path = _notes(tmp_path / "notes")
    locked.add("closed.md")
    if from_the_start:
        (path / "closed.md").write_text("# Closed\n")
    rounds = 0

    def wait() -> bool:
        nonlocal rounds
        rounds += 1
        (path / "closed.md").write_text("# Closed\n")
        (path / f"tide {rounds}.md").write_text("# Tide\n")
        (path / f"link {rounds}.md").symlink_to(path / "buoy.md")
        return rounds > 2

    data = tmp_path / "home"
    with closing(open_store(data)) as store:
        task = prepare(store, ImportState(data, data_files(None)), path, Choice()).task
        watch(task, task.settle(), OwnerChoices(), ImportCallbacks(), wait)
        assert len(stored(store)) == 3
    report = task.document()
    assert report["status"] == "incomplete"
    assert {case["reason"]: case["count"] for case in report["skipped"]} == {
        "a file that cannot be read": 1,
        "a link to another place": 2,
    }
    assert report["unaccounted"] == 0
