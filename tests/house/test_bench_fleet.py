"""What a second worker adds to writes is compared in turns that follow each other."""

from bench.fleet_ingest import Comparison, Turn, compared


class Writer:
    """Takes down when it wrote."""

    def __init__(self, name: str, log: list[str]) -> None:
        self._name, self._log = name, log

    def write(self, batches: int) -> None:
        self._log.append(f"{self._name} {batches}")

    def cpu_seconds(self) -> float:
        return 0.0


class Database:
    """Takes down which cores it had."""

    def __init__(self, log: list[str]) -> None:
        self._log = log

    def keep_on(self, cores: object) -> None:
        self._log.append(f"on {cores}")


def test_each_worker_is_alone_on_its_core_in_turn_with_both() -> None:
    log: list[str] = []
    compared([Writer("a", log), Writer("b", log)], Database(log), [0, 1], 3)
    alone, both, other, again = log[:2], sorted(log[2:5]), log[5:7], sorted(log[7:10])
    assert alone == ["on [0]", "a 3"]
    assert other == ["on [1]", "b 3"]
    assert both == again == ["a 3", "b 3", "on [0, 1]"]


def test_the_ratio_is_that_of_neighbouring_turns() -> None:
    one = [Turn(rate, 1.0) for rate in (10.0, 20.0, 1.0)]
    two = [Turn(rate, 2.0) for rate in (18.0, 36.0, 1.9)]
    assert Comparison(one, two).ratio == 1.8
    assert str(Comparison(one, two)) == (
        "18,000 a second on 2.00 processors, one 10,000 a second on 1.00 processors"
    )
