"""Deletions, only where they are wanted."""

from tests.sources.word_lists import WordLists

from pdpp.sources.importing.task import ImportCallbacks


def test_a_mirror_finds_what_is_no_longer_there_and_deletes_it(word_lists: WordLists) -> None:
    word_lists.put("a", "one", "two", "three")
    word_lists.bring()
    word_lists.put("a", "two", "four")
    word_lists.bring()
    assert word_lists.keys() == ["four", "one", "three", "two"]
    task = word_lists.bring(mirror=True)
    absent = task.absent()
    assert absent.counts == {"words": 2}
    assert sorted(absent.examples) == ["words:one", "words:three"]
    assert word_lists.keys() == ["four", "one", "three", "two"]
    task.delete_absent()
    assert word_lists.keys() == ["four", "two"]
    [(_, kept), *_] = word_lists.state.reports()
    assert kept["counts"]["deleted"] == 2
    assert task.absent().counts.total() == 0


def test_a_mirror_leaves_other_connections_alone(word_lists: WordLists) -> None:
    word_lists.put("a", "one")
    word_lists.bring("cin_other")
    word_lists.put("a", "two")
    task = word_lists.bring("cin_mine", mirror=True)
    task.delete_absent()
    assert word_lists.keys() == ["one", "two"]


def test_a_mirror_reads_everything_anew_after_an_interruption(word_lists: WordLists) -> None:
    word_lists.put("a", "one", "two")
    steps = iter([False, True])
    word_lists.bring(callbacks=ImportCallbacks(stop=lambda: next(steps)))
    task = word_lists.bring(mirror=True)
    assert task.absent().counts.total() == 0


def test_a_mirror_looks_through_more_records_than_a_page_holds(word_lists: WordLists) -> None:
    words = [f"w{number:05}" for number in range(2_500)]
    word_lists.put("a", *words)
    word_lists.bring()
    word_lists.put("a", *words[::2])
    task = word_lists.bring(mirror=True)
    assert task.absent().counts == {"words": 1_250}
    task.delete_absent()
    assert word_lists.keys() == words[::2]
