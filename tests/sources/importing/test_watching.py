"""Folders that grow."""

from pathlib import Path
from typing import Any

import pytest
from tests.sources.kit import stored
from tests.sources.word_lists import WordLists, Words

from pdpp.model.errors import ImportRefused
from pdpp.service.accounts import merge_connections
from pdpp.sources.formats.whatsapp.source import WhatsApp
from pdpp.sources.importing.task import ImportCallbacks
from pdpp.sources.importing.watching import watch
from pdpp.sources.reading.tree import Tree
from pdpp.sources.source import OwnerChoices


def test_a_watch_reads_only_what_is_added_until_it_is_enough(word_lists: WordLists) -> None:
    word_lists.source = Words(grows=True)
    word_lists.put("a", "one")
    rounds: list[dict[str, int]] = []

    def wait() -> bool:
        rounds.append(dict(task.document()["counts"]))
        if len(rounds) == 1:
            word_lists.put("a", "one", "two")
        elif len(rounds) == 2:
            word_lists.put("b", "three")
        elif len(rounds) == 3:
            (word_lists.export / "a").unlink()
            (word_lists.export / "b").unlink()
        elif len(rounds) == 4:
            word_lists.put("a", "one", "two", "four")
        return len(rounds) > 5

    task = word_lists.task()
    watch(task, task.settle(), OwnerChoices(), ImportCallbacks(), wait)
    assert [counts["read"] for counts in rounds] == [1, 2, 3, 3, 4, 4]
    assert [counts["new"] for counts in rounds] == [1, 2, 3, 3, 4, 4]
    assert word_lists.keys() == ["four", "one", "three", "two"]
    assert task.report.status == "complete"


def test_what_a_watch_reads_later_may_be_of_records_that_are_there_by_then(
    word_lists: WordLists,
) -> None:
    """An account that was new when the watch began holds what came in since."""
    word_lists.source = WhatsApp()
    word_lists.put("WhatsApp Chat - Ana.txt", "[18/03/2022, 09:52:10] Ana: Ahoy")
    rounds = iter([False, True])

    def wait() -> bool:
        word_lists.put("WhatsApp Chat with Ana.txt", "18/3/22, 09:52 - Ana: Ahoy")
        return next(rounds)

    task = word_lists.task()
    watch(task, task.settle(), OwnerChoices(), ImportCallbacks(), wait)
    assert task.document()["counts"]["read"] > 2
    records = stored(word_lists.store).items()
    assert {data["sent_at"] for (name, _), data in records if name == "messages"} == {
        "2022-03-18T09:52:10"
    }


def test_a_watch_that_begins_again_goes_on_from_the_offsets_it_remembers(
    word_lists: WordLists,
) -> None:
    word_lists.source = Words(grows=True)
    word_lists.put("a", "one", "two")
    first = word_lists.task()
    watch(first, first.settle(), OwnerChoices(), ImportCallbacks(), lambda: True)
    word_lists.put("a", "one", "two", "three")
    second = word_lists.task()
    watch(second, second.settle(), OwnerChoices(), ImportCallbacks(), lambda: True)
    assert second.document()["counts"]["read"] == 1
    assert stored(word_lists.store)[("words", "three")]["line"] == 3


def test_a_watch_goes_on_in_the_account_that_its_own_became_part_of(word_lists: WordLists) -> None:
    word_lists.source = Words(grows=True)
    word_lists.put("a", "one")
    rounds = 0

    def wait() -> bool:
        nonlocal rounds
        rounds += 1
        if rounds == 1:
            word_lists.store.connect("other", "words", "Other")
            merge_connections(
                word_lists.store, task.destination.connection_id, "other", word_lists.clock
            )
            word_lists.put("a", "one", "two")
        return rounds > 1

    task = word_lists.task()
    watch(task, task.settle(), OwnerChoices(), ImportCallbacks(), wait)
    assert word_lists.keys() == ["one", "two"]
    assert word_lists.store.catalogue().connections.keys() == {"other"}
    assert word_lists.bring().document()["counts"]["unchanged"] == 2


def test_a_watch_of_an_account_that_was_removed_says_so(word_lists: WordLists) -> None:
    word_lists.put("a", "one")

    def wait() -> bool:
        word_lists.store.remove_connection(task.destination.connection_id)
        word_lists.put("a", "one", "two")
        return False

    task = word_lists.task()
    with pytest.raises(ImportRefused, match="the account it goes into, was removed meanwhile"):
        watch(task, task.settle(), OwnerChoices(), ImportCallbacks(), wait)


def test_a_watch_outlives_the_folder_it_watches(word_lists: WordLists, tmp_path: Path) -> None:
    word_lists.put("a", "one")
    rounds = 0

    def wait() -> bool:
        nonlocal rounds
        rounds += 1
        if rounds == 1:
            word_lists.export.rename(tmp_path / "away")
        if rounds == 2:
            (tmp_path / "away").rename(word_lists.export)
            word_lists.put("b", "two")
        return rounds > 3

    task = word_lists.task()
    watch(task, task.settle(), OwnerChoices(), ImportCallbacks(), wait)
    assert word_lists.keys() == ["one", "two"]


def test_a_watch_ends_when_its_escort_wants_to_stop(word_lists: WordLists) -> None:
    word_lists.put("a", "one")
    task = word_lists.task()
    watch(
        task,
        task.settle(),
        OwnerChoices(),
        ImportCallbacks(stop=lambda: True),
        lambda: pytest.fail("waited"),
    )
    assert task.report.status == "interrupted"


@pytest.mark.parametrize(("mended", "status"), [(False, "incomplete"), (True, "complete")])
def test_a_watch_is_complete_only_if_everything_is_whole_in_the_end(
    mended: bool, status: str, word_lists: WordLists
) -> None:
    word_lists.put("a", "one", "torn")
    rounds = iter([False, True])

    def wait() -> bool:
        if mended:
            word_lists.put("a", "one", "two", "three")
        return next(rounds)

    task = word_lists.task()
    watch(task, task.settle(), OwnerChoices(), ImportCallbacks(), wait)
    assert task.report.status == status


def test_a_watch_writes_nothing_while_nothing_changes(
    word_lists: WordLists, monkeypatch: pytest.MonkeyPatch
) -> None:
    word_lists.put("a", "one")
    kept: list[str] = []
    rounds = iter([False, False, True])
    task = word_lists.task()
    declaration = task.settle()
    monkeypatch.setattr(word_lists.state, "keep_report", lambda name, _: kept.append(name))
    watch(task, declaration, OwnerChoices(), ImportCallbacks(), lambda: next(rounds))
    assert len(kept) == 2


def test_a_watch_outlives_what_its_source_does_not_understand_for_a_moment(
    word_lists: WordLists, monkeypatch: pytest.MonkeyPatch
) -> None:
    word_lists.put("a", "one")
    rounds = 0
    recognise = Words.recognise

    def stumbling(self: Words, tree: Tree, choices: OwnerChoices) -> Any:
        if rounds == 1:
            raise KeyError("half of a file")
        return recognise(self, tree, choices)

    def wait() -> bool:
        nonlocal rounds
        rounds += 1
        word_lists.put("b", *["two", "three"][:rounds])
        return rounds > 2

    task = word_lists.task()
    declaration = task.settle()
    monkeypatch.setattr(Words, "recognise", stumbling)
    watch(task, declaration, OwnerChoices(), ImportCallbacks(), wait)
    assert word_lists.keys() == ["one", "three", "two"]
