"""Killing an import at any moment leaves whole batches, and the next import goes on from there."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.faults.importer import BATCH, EXPORTS, bring
from tests.faults.killing import ROUNDS, count_writes, doom, killed
from tests.faults.soundness import check_sound
from tests.sources.kit import Home

pytestmark = pytest.mark.embedded("dies in a write to a file; PostgreSQL writes its own")


@pytest.mark.parametrize("make", EXPORTS)
def test_a_killed_import_keeps_whole_batches_and_is_completed_by_the_next(
    ram_path: Path, make: Callable[[Path], Path]
) -> None:
    export = make(ram_path)
    whole = Home(ram_path / "whole")
    whole.bring(export)
    expected = whole.records()
    writes = count_writes(bring, export, ram_path / "counted")
    chance = random.Random(make.__name__)
    for number in range(ROUNDS // len(EXPORTS)):
        home = Home(ram_path / str(number))
        home.seal_like(whole)
        written = set()
        for _ in range(chance.randint(1, 3)):
            end = doom(chance, writes, steps=len(expected) // BATCH, seconds=0.03)
            for batch in killed(end, bring, export, home.data):
                written |= set(batch)
        if written:
            held = home.records()
            assert written <= held.keys()
            assert held.items() <= expected.items()
        assert home.bring(export)["status"] == "complete"
        assert home.records() == expected
        check_sound(home.data)
        again = home.bring(export)["counts"]
        assert (again["new"], again["changed"]) == (0, 0)
