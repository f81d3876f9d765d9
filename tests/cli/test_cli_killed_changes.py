"""A merge or a removal that is killed loses nothing and is finished by doing it again."""

import threading
import time
from pathlib import Path

import pytest
from tests.cli.shell import DEADLINE_SECONDS, entry, pdpp, started
from tests.engine import open_store

from pdpp.model import instant
from pdpp.service.accounts import merge_connections
from pdpp.store.port import Store
from pdpp.store.scope import owner_reaches

COUNT = 2_600
WHERE = ("--stream", "entries")


@pytest.fixture
def two(diary: Path) -> Path:
    """The diary with a second account that holds a few hundred of the same records."""
    added = ("connection", "add", "diary", "--name", "Old days", "--id", "cin_old")
    assert pdpp(*added, data=diary).code == 0
    for account, first, last in (("cin_old", 0, COUNT), ("cin_diary", COUNT - 300, COUNT + 100)):
        lines = b"".join(entry(f"e{number}") for number in range(first, last))
        done = pdpp("ingest", "-", "--connection", account, *WHERE, data=diary, stdin=lines)
        assert done.code == 0
    return diary


def counts(store: Store) -> dict[str, int]:
    reaches = owner_reaches(store.catalogue())
    numbers = store.counts(reaches)
    totals: dict[str, int] = {}
    for reach in reaches:
        totals[reach.connection_id] = totals.get(reach.connection_id, 0) + numbers[reach.feed.id]
    return totals


def kill_when(store: Store, arguments: tuple[str, ...], condition: str, data: Path) -> None:
    """Start the program and kill it as soon as some records of an account are gone."""
    before = counts(store)[condition]
    with started("connection", *arguments, "--data", data) as process:
        deadline = time.monotonic() + DEADLINE_SECONDS
        while process.poll() is None and counts(store).get(condition, 0) == before:
            assert time.monotonic() < deadline
        process.kill()


def test_a_merge_that_is_killed_loses_nothing(two: Path) -> None:
    store = open_store(two)
    kill_when(store, ("merge", "cin_old", "cin_diary", "--yes"), "cin_old", two)
    left = counts(store)
    assert COUNT + 100 <= sum(left.values()) <= COUNT + 400
    assert store.check() == []
    if "cin_old" in left:
        pdpp("connection", "merge", "cin_old", "cin_diary", "--yes", data=two)
    assert counts(store) == {"cin_diary": COUNT + 100}
    while store.delete_removed():
        pass
    assert store.check() == []
    store.close()


def test_a_removal_that_is_killed_is_finished_by_the_house(two: Path) -> None:
    store = open_store(two)
    kill_when(store, ("remove", "cin_old", "--yes"), "cin_old", two)
    assert counts(store) == {"cin_diary": 400}
    while store.delete_removed():
        pass
    assert store.check() == []
    store.close()


def test_a_removal_that_is_killed_is_finished_by_the_same_command(two: Path) -> None:
    store = open_store(two)
    store.remove_connection("cin_old")  # where a killed one is at the latest when it is hidden
    assert pdpp("connection", "remove", "cin_old", "--dry-run", data=two).code == 1
    assert store.delete_removed(), "a look deletes nothing"
    assert "there is no account" in pdpp("connection", "remove", "cin_old", data=two).failed()
    assert not store.delete_removed()
    assert counts(store) == {"cin_diary": 400}
    assert store.check() == []
    store.close()


def test_two_merges_of_the_same_accounts_at_once_are_one(two: Path) -> None:
    stores = [open_store(two) for _ in range(2)]
    problems: list[Exception] = []

    def merge(store: Store) -> None:
        try:
            merge_connections(store, "cin_old", "cin_diary", instant.now)
        except Exception as problem:  # noqa: BLE001 - told at the end
            problems.append(problem)

    threads = [threading.Thread(target=merge, args=(store,)) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE_SECONDS)
    assert problems == []
    assert counts(stores[0]) == {"cin_diary": COUNT + 100}
    assert stores[1].check() == []
    for store in stores:
        store.close()
