"""A store into which a killed restore wrote is not taken for a whole one; the next completes it."""

import io
import random
from contextlib import closing, redirect_stdout
from pathlib import Path

import pytest
from tests.cli.exporting.test_restore import everything
from tests.cli.shell import DECLARATION, pdpp_here
from tests.engine import open_store
from tests.faults.killing import ROUNDS, Doom, Tell, count_writes, doom, finished, killed
from tests.faults.soundness import check_sound
from tests.faults.test_kill_backup import fill
from tests.serving import plant

from pdpp.cli import ingest
from pdpp.cli.program import run
from pdpp.model.errors import StoreError
from pdpp.serving import data_folder
from pdpp.store.sqlite.store import FILE_NAME

pytestmark = pytest.mark.embedded("dies in a write to a file; PostgreSQL writes its own")


def restore(tell: Tell, export: Path, data: Path) -> None:
    """Restore an export in small batches as the program does."""
    ingest.BATCH_LINES = 10
    with redirect_stdout(io.StringIO()):
        assert run(["restore", str(export), "--json", "--data", str(data)]) == 0
    tell("done")


@pytest.fixture
def export(ram_path: Path) -> Path:
    """What a store with records and files was exported as."""
    fill(ram_path / "origin")
    out = ram_path / "export"
    assert pdpp_here("export", "--all", "-o", out, data=ram_path / "origin").code == 0
    return out


def outcome(folder: Path) -> str:
    """Return what a command says of a store."""
    if not (folder / FILE_NAME).exists():
        return "no store"
    try:
        with data_folder.open_store(folder) as store:
            return "whole" if store.catalogue().connections else "empty"
    except StoreError as problem:
        return problem.message


def test_a_killed_restore_is_told_of_and_completed_by_the_next(
    ram_path: Path, export: Path
) -> None:
    expected = everything(ram_path / "origin")
    writes = count_writes(restore, export, ram_path / "counted")
    assert everything(ram_path / "counted") == expected
    names = {path.name for path in (ram_path / "counted").iterdir()}
    chance = random.Random(1)
    told = set()
    rounds = ROUNDS // 2
    for number in range(rounds):
        folder = ram_path / str(number)
        write = 1 + number * writes // rounds
        end = Doom(write=write) if number % 5 else doom(chance, writes, 1, 0.03)
        killed(end, restore, export, folder)
        told.add(outcome(folder))
        if "whole" in told:
            assert everything(folder) == expected
            told.discard("whole")
        finished(restore, export, folder)
        assert outcome(folder) == "whole"
        assert everything(folder) == expected
        left = {path.name for path in folder.iterdir()} - names
        # A store that was not even there yet goes when it is old.
        assert not [name for name in left if not name.startswith(f".{FILE_NAME}.")]
        check_sound(folder)
    interrupted = "a restore into this store was interrupted; run the same pdpp restore again"
    assert interrupted in told
    assert told <= {interrupted, "no store", "empty"}


def test_a_store_that_is_in_use_stays_so_where_a_restore_into_it_is_killed(
    ram_path: Path, export: Path
) -> None:
    folder = ram_path / "used"
    with closing(open_store(folder)) as store:
        plant(store, DECLARATION, {"cin_mine": "My days"})
    writes = count_writes(restore, export, ram_path / "counted")
    killed(Doom(write=writes // 2), restore, export, folder)
    with data_folder.open_store(folder) as opened:
        assert "cin_mine" in opened.catalogue().connections
    finished(restore, export, folder)
    assert {"cin_mine", "cin_diary"} == set(everything(folder)["connections"])
