"""Where an export goes, what is registered, and how an import ends."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.engine import open_store
from tests.sources.kit import Home
from tests.sources.word_lists import WordLists, Words

from pdpp.model.errors import ImportRefused
from pdpp.sources.importing import task as task_module
from pdpp.sources.importing.destination import Destination
from pdpp.sources.importing.report import ImportReport
from pdpp.sources.importing.task import ImportCallbacks, ImportTask
from pdpp.sources.importing.watching import watch
from pdpp.sources.source import OwnerChoices


def test_an_account_gets_a_connection_of_its_own_and_finds_it_again(word_lists: WordLists) -> None:
    word_lists.put("a", "one")
    first = word_lists.bring()
    assert first.destination.is_new
    assert first.destination.display_name == "Nora"
    again = word_lists.task()
    assert again.destination == replace(first.destination, is_new=False)
    other = word_lists.task(account="Ida")
    assert other.destination.is_new
    assert other.destination.connection_id != first.destination.connection_id


def test_a_connection_that_was_renamed_keeps_its_name(word_lists: WordLists) -> None:
    word_lists.put("a", "one")
    number = word_lists.bring().destination.connection_id
    word_lists.store.connect(number, "words", "My words")
    assert word_lists.task().destination == Destination(number, "My words", is_new=False)


def test_where_the_owner_sent_an_account_before_it_goes_again(word_lists: WordLists) -> None:
    word_lists.put("a", "one")
    word_lists.bring("cin_mine")
    assert word_lists.task().destination.connection_id == "cin_mine"
    assert word_lists.task("cin_new").destination == Destination("cin_new", "Nora", is_new=True)


def test_a_connection_of_another_source_is_refused(word_lists: WordLists) -> None:
    word_lists.put("a", "one")
    word_lists.bring("cin_mine")
    word_lists.source = Words()
    word_lists.source.connector_key = "others"
    with pytest.raises(ImportRefused, match="cin_mine holds words, not others"):
        word_lists.task("cin_mine")


def test_a_newer_declaration_takes_the_place_of_the_older_one(word_lists: WordLists) -> None:
    word_lists.put("a", "one")
    word_lists.bring()
    before = word_lists.store.catalogue().sources["words"].revision
    word_lists.source = Words("2")
    word_lists.bring()
    assert word_lists.store.catalogue().sources["words"].revision != before
    assert len(word_lists.store.catalogue().connections) == 1


def test_progress_is_told_in_bytes(word_lists: WordLists) -> None:
    word_lists.put("a", *(f"w{number}" for number in range(100)))
    seen: list[tuple[int, int]] = []

    def tell(report: ImportReport, done: int, total: int) -> None:
        assert report.counts["read"] <= 100
        seen.append((done, total))

    word_lists.bring(callbacks=ImportCallbacks(tell=tell))
    size = (word_lists.export / "a").stat().st_size
    assert seen[-1] == (size, size)


def test_an_import_that_was_stopped_is_gone_on_with_by_the_same_one(word_lists: WordLists) -> None:
    word_lists.put("a", "one", "two")
    word_lists.put("b", "three", "four")
    steps = iter([False, False, True])
    first = word_lists.bring(callbacks=ImportCallbacks(stop=lambda: next(steps)))
    assert first.report.status == "interrupted"
    assert word_lists.keys() == ["one", "three", "two"]
    second = word_lists.bring()
    assert second.report.status == "complete"
    assert second.document()["files"]["read_earlier"] == 1
    assert second.report.counts["new"] == 1
    third = word_lists.bring()
    assert third.report.counts["unchanged"] == 4


def test_a_connection_that_is_new_is_never_gone_on_with(
    word_lists: WordLists, tmp_path: Path
) -> None:
    word_lists.put("a", "one", "two")
    steps = iter([False, True])
    word_lists.bring(callbacks=ImportCallbacks(stop=lambda: next(steps)))
    word_lists.store.close()
    for path in (tmp_path / "data").glob("pdpp.sqlite3*"):
        path.unlink()
    word_lists.store = open_store(tmp_path / "data")
    word_lists.bring()
    assert word_lists.keys() == ["one", "two"]


def test_an_export_that_is_torn_is_incomplete(word_lists: WordLists) -> None:
    word_lists.put("a", "one", "torn", "two")
    assert word_lists.bring().report.status == "incomplete"


@pytest.mark.parametrize("grows", [False, True])
def test_an_import_of_which_the_store_refused_records_is_incomplete(
    word_lists: WordLists, monkeypatch: pytest.MonkeyPatch, *, grows: bool
) -> None:
    source = word_lists.source = Words(grows=grows)
    declared: Any = source.declaration()
    declared["streams"][0]["schema"]["properties"]["line"]["type"] = "boolean"
    monkeypatch.setattr(source, "declaration", lambda: declared)
    word_lists.put("a", "one", "two")
    report = word_lists.bring().report
    assert report.status == "incomplete"
    assert (report.counts["skipped"], report.unaccounted()) == (2, 0)


def test_what_was_left_out_before_a_kill_stands_in_the_history(word_lists: WordLists) -> None:
    word_lists.put("a", "torn")
    word_lists.put("b", *(f"w{number}" for number in range(200)))

    def tell(report: ImportReport, done: int, total: int) -> None:
        assert done <= total
        word_lists.clock.advance(2)
        if report.counts["read"] > 150:
            raise SystemExit

    with pytest.raises(SystemExit):
        word_lists.bring(callbacks=ImportCallbacks(tell=tell))
    ((_, kept),) = word_lists.state.reports()
    assert kept["status"] == "begun"
    assert [case["reason"] for case in kept["skipped"]] == ["torn"]


@pytest.mark.parametrize("left", [0, 60])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_file_that_becomes_shorter_while_it_is_read_is_not_complete(
    left: int, encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, home, run = tmp_path / "book.vcf", Home(tmp_path / "data"), ImportTask.run
    cards = [f"BEGIN:VCARD\nVERSION:3.0\nFN:Person {at}\nEND:VCARD\n" for at in range(99)]

    def run_late(task: ImportTask, *told: Any, **more: Any) -> ImportReport:
        path.write_text("".join(cards[:left]), encoding)
        return run(task, *told, **more)

    monkeypatch.setattr(ImportTask, "run", run_late)
    path.write_text("".join(cards), encoding)
    report = home.bring(path)
    assert report["status"] == "incomplete"
    assert "became shorter" in report["skipped"][0]["examples"][0]


def test_a_large_export_is_written_by_a_process_of_its_own_and_one_that_is_followed_is_not(
    word_lists: WordLists, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []

    @contextmanager
    def writing_beside() -> Iterator[None]:
        told.append("begins")
        yield
        told.append("ends")

    monkeypatch.setattr(word_lists.store, "writing_beside", writing_beside)
    monkeypatch.setattr(task_module, "_MANY_BYTES", 20)
    word_lists.put("a", "one", "two")
    word_lists.bring()
    assert told == []
    word_lists.put("b", "three", "four", "five")
    word_lists.bring()
    assert told == ["begins", "ends"]
    word_lists.source = Words(grows=True)
    task = word_lists.task()
    watch(task, task.settle(), OwnerChoices(), ImportCallbacks(), lambda: True)
    assert told == ["begins", "ends"]
