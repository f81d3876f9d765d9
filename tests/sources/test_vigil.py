"""Folders that grow."""

from pathlib import Path

import pytest
from tests.sources.kit import stored
from tests.sources.scene import Scene, Words

from pdpp.sources.arrival import Escort
from pdpp.sources.source import Wishes
from pdpp.sources.vigil import keep_watch


def test_a_watch_reads_only_what_is_added_until_it_is_enough(scene: Scene) -> None:
    scene.source = Words(grows=True)
    scene.put("a", "one")
    rounds: list[dict[str, int]] = []

    def wait() -> bool:
        rounds.append(dict(arrival.document()["counts"]))
        if len(rounds) == 1:
            scene.put("a", "one", "two")
        elif len(rounds) == 2:
            scene.put("b", "three")
        elif len(rounds) == 3:
            (scene.export / "a").unlink()
            (scene.export / "b").unlink()
        elif len(rounds) == 4:
            scene.put("a", "one", "two", "four")
        return len(rounds) > 5

    arrival = scene.arrival()
    keep_watch(arrival, arrival.settle(), Wishes(), Escort(), wait)
    assert [counts["read"] for counts in rounds] == [1, 2, 3, 3, 4, 4]
    assert [counts["new"] for counts in rounds] == [1, 2, 3, 3, 4, 4]
    assert scene.keys() == ["four", "one", "three", "two"]
    assert arrival.report.status == "complete"


def test_a_watch_that_begins_again_goes_on_from_the_offsets_it_remembers(scene: Scene) -> None:
    scene.source = Words(grows=True)
    scene.put("a", "one", "two")
    first = scene.arrival()
    keep_watch(first, first.settle(), Wishes(), Escort(), lambda: True)
    scene.put("a", "one", "two", "three")
    second = scene.arrival()
    keep_watch(second, second.settle(), Wishes(), Escort(), lambda: True)
    assert second.document()["counts"]["read"] == 1
    assert stored(scene.store)[("words", "three")]["line"] == 3


def test_a_watch_outlives_the_folder_it_watches(scene: Scene, tmp_path: Path) -> None:
    scene.put("a", "one")
    rounds = 0

    def wait() -> bool:
        nonlocal rounds
        rounds += 1
        if rounds == 1:
            scene.export.rename(tmp_path / "away")
        if rounds == 2:
            (tmp_path / "away").rename(scene.export)
            scene.put("b", "two")
        return rounds > 3

    arrival = scene.arrival()
    keep_watch(arrival, arrival.settle(), Wishes(), Escort(), wait)
    assert scene.keys() == ["one", "two"]


def test_a_watch_ends_when_its_escort_wants_to_stop(scene: Scene) -> None:
    scene.put("a", "one")
    arrival = scene.arrival()
    keep_watch(
        arrival,
        arrival.settle(),
        Wishes(),
        Escort(stop=lambda: True),
        lambda: pytest.fail("waited"),
    )
    assert arrival.report.status == "complete"


def test_a_watch_writes_nothing_while_nothing_changes(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.put("a", "one")
    kept: list[str] = []
    rounds = iter([False, False, True])
    arrival = scene.arrival()
    declaration = arrival.settle()
    monkeypatch.setattr(scene.drawer, "keep_report", lambda name, _: kept.append(name))
    keep_watch(arrival, declaration, Wishes(), Escort(), lambda: next(rounds))
    assert len(kept) == 2
