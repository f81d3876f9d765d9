"""Where an export goes, what is registered, and how an import ends."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.engine import open_store
from tests.sources.scene import Scene, Words

from pdpp.model.errors import ImportRefused
from pdpp.sources.arrival import Destination, Escort
from pdpp.sources.report import Report


def test_an_account_gets_a_connection_of_its_own_and_finds_it_again(scene: Scene) -> None:
    scene.put("a", "one")
    first = scene.bring()
    assert first.goal.is_new
    assert first.goal.display_name == "Nora"
    again = scene.arrival()
    assert again.goal == replace(first.goal, is_new=False)
    other = scene.arrival(account="Ida")
    assert other.goal.is_new
    assert other.goal.connection_id != first.goal.connection_id


def test_a_connection_that_was_renamed_keeps_its_name(scene: Scene) -> None:
    scene.put("a", "one")
    number = scene.bring().goal.connection_id
    scene.store.connect(number, "words", "My words")
    assert scene.arrival().goal == Destination(number, "My words", is_new=False)


def test_where_the_owner_sent_an_account_before_it_goes_again(scene: Scene) -> None:
    scene.put("a", "one")
    scene.bring("cin_mine")
    assert scene.arrival().goal.connection_id == "cin_mine"
    assert scene.arrival("cin_new").goal == Destination("cin_new", "Nora", is_new=True)


def test_a_connection_of_another_source_is_refused(scene: Scene) -> None:
    scene.put("a", "one")
    scene.bring("cin_mine")
    scene.source = Words()
    scene.source.connector_key = "others"
    with pytest.raises(ImportRefused, match="cin_mine holds words, not others"):
        scene.arrival("cin_mine")


def test_a_newer_declaration_takes_the_place_of_the_older_one(scene: Scene) -> None:
    scene.put("a", "one")
    scene.bring()
    before = scene.store.catalogue().sources["words"].revision
    scene.source = Words("2")
    scene.bring()
    assert scene.store.catalogue().sources["words"].revision != before
    assert len(scene.store.catalogue().connections) == 1


def test_progress_is_told_in_bytes(scene: Scene) -> None:
    scene.put("a", *(f"w{number}" for number in range(100)))
    seen: list[tuple[int, int]] = []

    def tell(report: Report, done: int, total: int) -> None:
        assert report.counts["read"] <= 100
        seen.append((done, total))

    scene.bring(escort=Escort(tell=tell))
    size = (scene.export / "a").stat().st_size
    assert seen[-1] == (size, size)


def test_an_import_that_was_stopped_is_gone_on_with_by_the_same_one(scene: Scene) -> None:
    scene.put("a", "one", "two")
    scene.put("b", "three", "four")
    steps = iter([False, False, True])
    first = scene.bring(escort=Escort(stop=lambda: next(steps)))
    assert first.report.status == "interrupted"
    assert scene.keys() == ["one", "three", "two"]
    second = scene.bring()
    assert second.report.status == "complete"
    assert second.document()["files"]["read_earlier"] == 1
    assert second.report.counts["new"] == 1
    third = scene.bring()
    assert third.report.counts["unchanged"] == 4


def test_a_connection_that_is_new_is_never_gone_on_with(scene: Scene, tmp_path: Path) -> None:
    scene.put("a", "one", "two")
    steps = iter([False, True])
    scene.bring(escort=Escort(stop=lambda: next(steps)))
    scene.store.close()
    for path in (tmp_path / "data").glob("pdpp.sqlite3*"):
        path.unlink()
    scene.store = open_store(tmp_path / "data")
    scene.bring()
    assert scene.keys() == ["one", "two"]


def test_an_export_that_is_torn_is_incomplete(scene: Scene) -> None:
    scene.put("a", "one", "torn", "two")
    assert scene.bring().report.status == "incomplete"
