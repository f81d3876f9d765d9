"""Journeys: reading and writing in batches, stopping, going on, and damage."""

import pytest
from tests.sources.desk import Desk, counts, words
from tests.sources.kit import stored

from pdpp.sources import sink as sink_module


def test_everything_that_was_read_is_counted_once(desk: Desk) -> None:
    desk.put("a.txt", "one\nskip\ntwo\nodd\nskip\n")
    assert desk.travel(words)
    assert counts(desk.report) == {"read": 5, "new": 2, "skipped": 2, "unknown": 1}
    document = desk.report.document()
    assert document["skipped"] == [
        {"reason": "a word to skip", "count": 2, "examples": ["a.txt 2", "a.txt 5"]}
    ]
    assert document["unknown"][0]["examples"] == ["a.txt 4"]
    assert document["streams"] == {"notes": {"new": 2, "changed": 0, "unchanged": 0, "deleted": 0}}


def test_records_are_written_in_batches_across_files(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sink_module, "BATCH_ITEMS", 4)
    for name in "abc":
        desk.put(f"{name}.txt", "".join(f"{name}{number}\n" for number in range(3)))
    assert desk.travel(words)
    assert [size for _, size in desk.batches] == [4, 4, 1]
    assert len(desk.keys()) == 9


def test_large_records_are_written_in_smaller_batches(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sink_module, "BATCH_BYTES", 60)
    desk.put("a.txt", "\n".join("abcdef"))
    assert desk.travel(words)
    assert [size for _, size in desk.batches] == [3, 3]


def test_damage_in_one_file_loses_its_tail_and_nothing_of_the_next(desk: Desk) -> None:
    desk.put("a.txt", "one\ndamage\nlost\n")
    desk.put("b.txt", "two\n")
    assert desk.travel(words)
    assert desk.keys() == ["one", "two"]
    assert desk.report.cut
    [case] = desk.report.document()["skipped"]
    assert case["reason"] == "the rest of a file that is damaged"
    assert case["examples"] == ["a.txt: it is torn here"]


def test_a_surprise_in_one_file_is_told_by_its_kind_and_loses_nothing_of_the_next(
    desk: Desk,
) -> None:
    desk.put("a.txt", "one\nsurprise\nlost\n")
    desk.put("b.txt", "two\n")
    assert desk.travel(words)
    assert desk.keys() == ["one", "two"]
    assert desk.report.cut
    assert desk.report.document()["unknown"][0]["examples"] == ["a.txt (KeyError)"]


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
    steps: int, batch: int, grows: bool, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sink_module, "BATCH_ITEMS", batch)
    desk.put("a.txt", "a1\na2\nskip\na3\n")
    desk.put("b.txt", "b1\nodd\nb2\n")
    stopped = not desk.travel(words, grows=grows, stop=AfterItems(steps))
    desk.new_report()
    written = len(desk.keys())
    if stopped:
        assert desk.journal().interrupted == bool(desk.journal().positions)
        assert desk.travel(words, grows=grows, anew=False)
        assert counts(desk.report).get("new", 0) == 5 - written
        assert counts(desk.report).get("unchanged", 0) == 0
    assert desk.keys() == ["a1", "a2", "a3", "b1", "b2"]
    assert stored(desk.store)[("notes", "a3")]["text"] == "4"


def test_a_file_that_was_finished_is_not_read_again_when_going_on(desk: Desk) -> None:
    desk.put("a.txt", "a1\n")
    desk.put("b.txt", "b1\nb2\n")
    assert not desk.travel(words, stop=AfterItems(1))
    desk.new_report()
    assert desk.travel(words, anew=False)
    assert desk.report.document()["files"] == {"read": 1, "read_earlier": 1, "kept": 0}


def test_a_file_that_became_another_is_read_from_its_start(desk: Desk) -> None:
    desk.put("a.txt", "a1\na2\n")
    assert desk.travel(words, grows=True)
    desk.put("a.txt", "z1\nz2\nz3\n")
    assert desk.travel(words, grows=True, anew=False)
    assert desk.keys() == ["a1", "a2", "z1", "z2", "z3"]
    assert stored(desk.store)[("notes", "z3")]["text"] == "3"


def test_only_what_was_added_is_read_of_a_file_that_grew(desk: Desk) -> None:
    desk.put("a.txt", "a1\na2\n")
    assert desk.travel(words, grows=True)
    desk.put("a.txt", "a1\na2\na3\n")
    desk.new_report()
    assert desk.travel(words, grows=True, anew=False)
    assert counts(desk.report) == {"read": 1, "new": 1}
    assert stored(desk.store)[("notes", "a3")]["text"] == "3"


def test_a_tail_still_being_written_is_told_unless_the_journey_is_patient(desk: Desk) -> None:
    desk.put("a.txt", "a1\ntail\n")
    assert desk.travel(words, grows=True)
    assert counts(desk.report)["skipped"] == 1
    assert not desk.report.cut
    desk.new_report()
    assert desk.travel(words, grows=True, patient=True)
    assert "skipped" not in counts(desk.report)
    desk.new_report()
    assert desk.travel(words, grows=False, patient=True)
    assert counts(desk.report)["skipped"] == 1
    assert desk.report.cut


def test_progress_is_told_as_things_are_read(desk: Desk) -> None:
    desk.put("a.txt", "".join(f"w{number}\n" for number in range(200)))
    seen: list[int] = []
    assert desk.travel(words, tell=lambda: seen.append(desk.report.counts["read"]))
    assert seen[0] == 64
    assert seen[-1] == 200
