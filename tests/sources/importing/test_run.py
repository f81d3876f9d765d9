"""Journeys: reading and writing in batches, stopping, going on, and damage."""

import pytest
from tests.sources.harness import Harness, counts, words
from tests.sources.kit import stored

from pdpp.sources.importing import writer as writer_module


def test_everything_that_was_read_is_counted_once(harness: Harness) -> None:
    harness.put("a.txt", "one\nskip\ntwo\nodd\nskip\n")
    assert harness.read_parts(words)
    assert counts(harness.report) == {"read": 5, "new": 2, "skipped": 2, "unknown": 1}
    document = harness.report.document()
    assert document["skipped"] == [
        {"reason": "a word to skip", "count": 2, "examples": ["a.txt 2", "a.txt 5"]}
    ]
    assert document["unknown"][0]["examples"] == ["a.txt 4"]
    assert document["streams"] == {"notes": {"new": 2, "changed": 0, "unchanged": 0, "deleted": 0}}


def test_records_are_written_in_batches_across_files(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "BATCH_ITEMS", 4)
    for name in "abc":
        harness.put(f"{name}.txt", "".join(f"{name}{number}\n" for number in range(3)))
    assert harness.read_parts(words)
    assert [size for _, size in harness.batches] == [4, 4, 1]
    assert len(harness.keys()) == 9


def test_large_records_are_written_in_smaller_batches(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "BATCH_BYTES", 60)
    harness.put("a.txt", "\n".join("abcdef"))
    assert harness.read_parts(words)
    assert [size for _, size in harness.batches] == [3, 3]


def test_damage_in_one_file_loses_its_tail_and_nothing_of_the_next(harness: Harness) -> None:
    harness.put("a.txt", "one\ndamage\nlost\n")
    harness.put("b.txt", "two\n")
    assert harness.read_parts(words)
    assert harness.keys() == ["one", "two"]
    assert harness.report.cut
    [case] = harness.report.document()["skipped"]
    assert case["reason"] == "the rest of a file that is damaged"
    assert case["examples"] == ["a.txt: it is torn here"]


def test_a_surprise_in_one_file_is_told_by_its_kind_and_loses_nothing_of_the_next(
    harness: Harness,
) -> None:
    harness.put("a.txt", "one\nsurprise\nlost\n")
    harness.put("b.txt", "two\n")
    assert harness.read_parts(words)
    assert harness.keys() == ["one", "two"]
    assert harness.report.cut
    assert harness.report.document()["unknown"][0]["examples"] == ["a.txt (KeyError)"]


class AfterItems:
    """Wants to stop after some items."""

    def __init__(self, count: int) -> None:
        self.left = count

    def __call__(self) -> bool:
        self.left -= 1
        return self.left < 0


@pytest.mark.parametrize("grows", [True, False])
@pytest.mark.parametrize("batch", [2, 100])
@pytest.mark.parametrize("steps", range(0, 18, 3))
def test_a_journey_that_was_stopped_goes_on_where_it_was(
    steps: int, batch: int, grows: bool, harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "BATCH_ITEMS", batch)
    harness.put("a.txt", "a1\na2\nskip\na3\n")
    harness.put("b.txt", "b1\nodd\nb2\n")
    stopped = not harness.read_parts(words, grows=grows, stop=AfterItems(steps))
    harness.new_report()
    written = len(harness.keys())
    if stopped:
        assert harness.journal().interrupted == bool(harness.journal().positions)
        assert harness.read_parts(words, grows=grows, anew=False)
        assert counts(harness.report).get("new", 0) == 5 - written
        assert counts(harness.report).get("unchanged", 0) == 0
    assert harness.keys() == ["a1", "a2", "a3", "b1", "b2"]
    assert stored(harness.store)[("notes", "a3")]["text"] == "4"


def test_a_file_that_was_finished_is_not_read_again_when_going_on(harness: Harness) -> None:
    harness.put("a.txt", "a1\n")
    harness.put("b.txt", "b1\nb2\n")
    assert not harness.read_parts(words, stop=AfterItems(1))
    harness.new_report()
    assert harness.read_parts(words, anew=False)
    files = harness.report.document()["files"]
    assert (files["read"], files["read_earlier"], files["kept"]) == (1, 1, 0)


def test_a_file_that_became_another_is_read_from_its_start(harness: Harness) -> None:
    harness.put("a.txt", "a1\na2\n")
    assert harness.read_parts(words, grows=True)
    harness.put("a.txt", "z1\nz2\nz3\n")
    assert harness.read_parts(words, grows=True, anew=False)
    assert harness.keys() == ["a1", "a2", "z1", "z2", "z3"]
    assert stored(harness.store)[("notes", "z3")]["text"] == "3"


def test_only_what_was_added_is_read_of_a_file_that_grew(harness: Harness) -> None:
    harness.put("a.txt", "a1\na2\n")
    assert harness.read_parts(words, grows=True)
    harness.put("a.txt", "a1\na2\na3\n")
    harness.new_report()
    assert harness.read_parts(words, grows=True, anew=False)
    assert counts(harness.report) == {"read": 1, "new": 1}
    assert stored(harness.store)[("notes", "a3")]["text"] == "3"


def test_a_tail_still_being_written_is_told_unless_the_run_is_patient(
    harness: Harness,
) -> None:
    harness.put("a.txt", "a1\ntail\n")
    assert harness.read_parts(words, grows=True)
    assert counts(harness.report)["skipped"] == 1
    assert not harness.report.cut
    harness.new_report()
    assert harness.read_parts(words, grows=True, patient=True)
    assert "skipped" not in counts(harness.report)
    harness.new_report()
    assert harness.read_parts(words, grows=False, patient=True)
    assert counts(harness.report)["skipped"] == 1
    assert harness.report.cut


def test_progress_is_told_as_things_are_read(harness: Harness) -> None:
    harness.put("a.txt", "".join(f"w{number}\n" for number in range(200)))
    seen: list[int] = []
    assert harness.read_parts(words, tell=lambda: seen.append(harness.report.counts["read"]))
    assert seen[0] == 64
    assert seen[-1] == 200
