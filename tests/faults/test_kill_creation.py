"""Killing programs while they create one store leaves no store or a whole one."""

import multiprocessing
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.engine import open_store
from tests.faults.killing import ROUNDS, Doom, Tell, count_writes, doom, forking, killed
from tests.faults.soundness import check_sound
from tests.soak import SOAK

from pdpp.store.sqlite.store import FILE_NAME

pytestmark = pytest.mark.embedded("dies in a write to a file; PostgreSQL writes its own")

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
        write = 1 + number * (writes - 1) // (ROUNDS - 1)
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
        start(folder, str(number))


def begin_one(folder: Path, barrier: "multiprocessing.synchronize.Barrier", rounds: int) -> None:
    """Open one new store at the same moment as the other processes do, and again and again."""
    barrier.wait(60)
    for _ in range(rounds):
        start(folder, "one")


def start(folder: Path, name: str) -> None:
    """Open a store and note its secret, which only one creation can have given it."""
    store = open_store(folder / name)
    secret = store.secret()
    store.close()
    with (folder / f"{name}.secrets").open("ab") as secrets:
        secrets.write(secret)


def run_at_once(count: int, target: Callable[..., None], folder: Path, rounds: int) -> None:
    """Let some processes work at the same moment, and check that none of them failed."""
    context = forking()
    barrier = context.Barrier(count)
    processes = [
        context.Process(target=target, args=(folder, barrier, rounds)) for _ in range(count)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * count


def check_begun(folder: Path, name: str, starts: int) -> None:
    """Check that all starts met the same store, that it is whole, and that nothing else is left."""
    secrets = (folder / f"{name}.secrets").read_bytes()
    assert secrets == secrets[:32] * starts
    left = {path.name for path in (folder / name).iterdir()}
    # Where two programs close at the same moment, neither may take the log of writes away.
    assert left - {f"{FILE_NAME}-wal", f"{FILE_NAME}-shm"} == {FILE_NAME, "revocations"}
    check_sound(folder / name)


def test_programs_that_begin_one_store_at_the_same_moment_all_use_the_same_one(
    ram_path: Path,
) -> None:
    rounds = -(-STARTS // AT_ONCE)
    run_at_once(AT_ONCE, begin, ram_path, rounds)
    for number in range(rounds):
        check_begun(ram_path, str(number), AT_ONCE)


def test_many_programs_start_on_one_new_store_at_the_same_moment(ram_path: Path) -> None:
    at_once, rounds = (100, 10) if SOAK else (AT_ONCE, 2)
    run_at_once(at_once, begin_one, ram_path, rounds)
    check_begun(ram_path, "one", at_once * rounds)
