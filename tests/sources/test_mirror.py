"""Deletions, only where they are wanted."""

from tests.sources.scene import Scene

from pdpp.sources.arrival import Escort


def test_a_mirror_finds_what_is_no_longer_there_and_deletes_it(scene: Scene) -> None:
    scene.put("a", "one", "two", "three")
    scene.bring()
    scene.put("a", "two", "four")
    scene.bring()
    assert scene.keys() == ["four", "one", "three", "two"]
    arrival = scene.bring(mirror=True)
    absent = arrival.absent()
    assert absent.counts == {"words": 2}
    assert sorted(absent.examples) == ["words:one", "words:three"]
    assert scene.keys() == ["four", "one", "three", "two"]
    arrival.delete_absent()
    assert scene.keys() == ["four", "two"]
    [(_, kept), *_] = scene.drawer.reports()
    assert kept["counts"]["deleted"] == 2
    assert arrival.absent().counts.total() == 0


def test_a_mirror_leaves_other_connections_alone(scene: Scene) -> None:
    scene.put("a", "one")
    scene.bring("cin_other")
    scene.put("a", "two")
    arrival = scene.bring("cin_mine", mirror=True)
    arrival.delete_absent()
    assert scene.keys() == ["one", "two"]


def test_a_mirror_reads_everything_anew_after_an_interruption(scene: Scene) -> None:
    scene.put("a", "one", "two")
    steps = iter([False, True])
    scene.bring(escort=Escort(stop=lambda: next(steps)))
    arrival = scene.bring(mirror=True)
    assert arrival.absent().counts.total() == 0


def test_a_mirror_looks_through_more_records_than_a_page_holds(scene: Scene) -> None:
    words = [f"w{number:05}" for number in range(2_500)]
    scene.put("a", *words)
    scene.bring()
    scene.put("a", *words[::2])
    arrival = scene.bring(mirror=True)
    assert arrival.absent().counts == {"words": 1_250}
    arrival.delete_absent()
    assert scene.keys() == words[::2]
