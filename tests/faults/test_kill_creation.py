"""Killing programs while they create one store leaves no store or a whole one."""

import multiprocessing
import random
import shutil
from pathlib import Path

from tests.engine import open_store
from tests.faults.killing import ROUNDS, Doom, Tell, count_writes, doom, killed
from tests.faults.soundness import check_sound
from tests.soak import SOAK

from pdpp.store.sqlite.store import FILE_NAME

STARTS = 1_000 if SOAK else 36
AT_ONCE = 12


def create(tell: Tell, folder: Path) -> None:
    """Open a store in an empty folder, which creates it."""
    store = open_store(folder)
    tell(store.secret())
    store.close()


def test_a_killed_creation_leaves_no_store_or_a_whole_one(ram_path: Path) -> None:
    writes = count_writes(create, ram_path / "counted")
    assert writes > 20
    chance = random.Random(1)
    created: set[bool] = set()
    for number in range(ROUNDS):
        here = ram_path / str(number)
        # The last write is any of them, from the first to the last; or the process ends between.
        write = 1 + number * writes // ROUNDS
        end = Doom(write=write) if number % 5 else doom(chance, writes, 1, 0.03)
        secrets = killed(end, create, here)
        created.add((here / FILE_NAME).exists())
        store = open_store(here)
        assert secrets in ([], [store.secret()])
        store.close()
        check_sound(here)
        shutil.rmtree(here)
    assert created == {False, True}


def begin(folder: Path, barrier: "multiprocessing.synchronize.Barrier", rounds: int) -> None:
    """Open one new store after another, each at the same moment as the other processes do."""
    for number in range(rounds):
        barrier.wait(60)
        store = open_store(folder / str(number))
        secret = store.secret()
        store.close()
        with (folder / f"{number}.secrets").open("ab") as secrets:
            secrets.write(secret)


def test_programs_that_begin_one_store_at_the_same_moment_all_use_the_same_one(
    ram_path: Path,
) -> None:
    context = multiprocessing.get_context("forkserver")
    barrier = context.Barrier(AT_ONCE)
    rounds = -(-STARTS // AT_ONCE)
    processes = [
        context.Process(target=begin, args=(ram_path, barrier, rounds)) for _ in range(AT_ONCE)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * AT_ONCE
    for number in range(rounds):
        secrets = (ram_path / f"{number}.secrets").read_bytes()
        assert secrets == secrets[:32] * AT_ONCE
        left = {path.name for path in (ram_path / str(number)).iterdir()}
        assert left == {FILE_NAME, "revocations"}
