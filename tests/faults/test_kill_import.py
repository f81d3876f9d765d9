"""Killing an import at any moment leaves whole batches, and the next import goes on from there."""

import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.faults.importer import BATCH, EXPORTS, bring, bring_beside, let_scribe_write, log
from tests.faults.killing import ROUNDS, Work, count_writes, doom, killed
from tests.faults.soundness import check_sound
from tests.sources.kit import Home

from pdpp.sources.importing import writer
from pdpp.store.sqlite import scribe

pytestmark = pytest.mark.embedded("dies in a write to a file; PostgreSQL writes its own")


@pytest.mark.parametrize("work", [bring, bring_beside])
@pytest.mark.parametrize("make", EXPORTS)
def test_a_killed_import_keeps_whole_batches_and_is_completed_by_the_next(
    ram_path: Path, make: Callable[[Path], Path], work: Work
) -> None:
    export = make(ram_path)
    whole = Home(ram_path / "whole")
    whole.bring(export)
    expected = whole.records()
    writes = count_writes(work, export, ram_path / "counted")
    chance = random.Random(make.__name__)
    for number in range(ROUNDS // len(EXPORTS) // 2):
        home = Home(ram_path / str(number))
        home.seal_like(whole)
        written = set()
        for _ in range(chance.randint(1, 3)):
            end = doom(chance, writes, steps=len(expected) // BATCH, seconds=0.03)
            for batch in killed(end, work, export, home.data):
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


def test_whoever_writes_beside_an_import_may_be_killed_at_any_moment(
    ram_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export = log(ram_path)
    whole = Home(ram_path / "whole")
    whole.bring(export)
    expected = whole.records()
    for part in ((scribe, "can_write_beside"), (scribe, "Scribe")):
        monkeypatch.setattr(*part, getattr(*part))
    for part in ((scribe, "_LEAST_RECORDS"), (writer, "_MANY_ITEMS"), (writer, "BATCH_ITEMS")):
        monkeypatch.setattr(*part, BATCH)
    chance = random.Random(1)
    asked = scribe.Scribe._asked
    deaths = []

    def die_meanwhile(self: scribe.Scribe, question: object) -> Any:
        process = self._process
        assert process is not None
        if isinstance(question, scribe.Errand) and chance.random() < 0.3:
            deaths.append(threading.Timer(chance.random() * 0.006, process.kill))
            deaths[-1].start()
        return asked(self, question)

    monkeypatch.setattr(scribe.Scribe, "__init__", scribe.Scribe.__init__)
    monkeypatch.setattr(scribe.Scribe, "_asked", die_meanwhile)
    let_scribe_write()
    for number in range(ROUNDS):
        home = Home(ram_path / str(number))
        home.seal_like(whole)
        report = home.bring(export)
        assert report["status"] == "complete"
        counts = report["counts"]
        # Who died between the deed and the answer let it be done again.
        assert counts["new"] + counts["unchanged"] == len(expected)
        assert home.records() == expected
        check_sound(home.data)
    assert deaths
