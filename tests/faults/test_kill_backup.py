"""Killing a backup leaves none or a whole one, and the next removes what it left."""

import io
import random
from contextlib import closing, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from tests.cli.shell import DECLARATION
from tests.engine import blob_content, open_store
from tests.faults.killing import ROUNDS, Doom, Tell, count_writes, doom, finished, killed
from tests.faults.soundness import check_sound
from tests.serving import grant, keep, plant, put

from pdpp.cli.program import run
from pdpp.jobs.backup import copies_itself, make_backup
from pdpp.model import instant
from pdpp.store.receipt_batch import ReceiptBatch
from pdpp.store.receipts import Receipt, ReceiptQuery
from pdpp.store.scope import owner_reaches

pytestmark = pytest.mark.embedded("a PostgreSQL database is copied by its own tools")


def fill(folder: Path) -> None:
    """Make a store with something of everything that a backup has to hold."""
    with closing(open_store(folder)) as store:
        plant(store, DECLARATION, {"cin_diary": "Days"})
        rows = ({"id": f"e{number}", "title": "Rain " * 50} for number in range(60))
        put(store, "cin_diary", "entries", *rows)
        grant(store)
        keep(store, b"a large file " * 20_000, "text/plain")
        store.receipts.begin()
        store.receipts.write([ReceiptBatch([Receipt(1, "listRecords", "client")])])
        store.receipts.finish()


def held(folder: Path) -> dict[str, Any]:
    """Return what a store holds that a backup has to hold."""
    with closing(open_store(folder)) as store:
        assert store.check() == []
        return {
            "records": sorted(store.counts(owner_reaches(store.catalogue())).items()),
            # In a folder that is new to this machine they wait for the owner.
            "grants": [(grant.id, grant.allowances) for grant in store.vault.grants()],
            "files": [blob_content(store, blob) for blob in store.blobs()],
            "receipts": list(store.receipts.receipts(ReceiptQuery())),
        }


def back_up(tell: Tell, data: Path, target: Path) -> None:
    """Back a store up as the program does."""
    with redirect_stdout(io.StringIO()):
        assert run(["backup", str(target), "--json", "--data", str(data)]) == 0
    tell("done")


def test_a_killed_backup_leaves_none_or_a_whole_one_and_the_next_removes_the_rest(
    ram_path: Path,
) -> None:
    data = ram_path / "data"
    fill(data)
    expected = held(data)
    writes = count_writes(back_up, data, ram_path / "counted")
    chance = random.Random(1)
    left = set()
    rounds = ROUNDS // 2
    for number in range(rounds):
        place = ram_path / f"backups {number}"
        write = 1 + number * writes // rounds
        end = Doom(write=write) if number % 5 else doom(chance, writes, 1, 0.03)
        killed(end, back_up, data, place / "monday")
        is_whole = (place / "monday").exists()
        left.add(place.exists() and len(list(place.iterdir())) > is_whole)
        finished(back_up, data, place / ("tuesday" if is_whole else "monday"))
        names = {path.name for path in place.iterdir()}
        assert names == ({"monday", "tuesday"} if is_whole else {"monday"})
        for name in names:
            assert held(place / name) == expected
            check_sound(place / name)
        assert held(data) == expected
    assert True in left, "nothing was left that had to be removed"


def test_a_backup_leaves_another_that_is_being_made_alone(ram_path: Path) -> None:
    data, place = ram_path / "data", ram_path / "backups"
    fill(data)
    seen: list[int] = []

    def back_up_meanwhile(*_: object) -> None:
        if not seen:
            seen.append(1)
            finished(back_up, data, place / "tuesday")

    with closing(open_store(data)) as store:
        assert copies_itself(store)
        make_backup(store, data, place / "monday", instant.now, back_up_meanwhile)
    assert seen
    assert {path.name for path in place.iterdir()} == {"monday", "tuesday"}
    assert held(place / "monday") == held(place / "tuesday") == held(data)
