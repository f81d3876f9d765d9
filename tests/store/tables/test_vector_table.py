"""Vectors that searches remember: of which placements, for how long, and how many."""

import weakref

import numpy as np
import pytest

from pdpp.store.tables.search import vector_table
from pdpp.store.tables.search.placement import Placement
from pdpp.store.tables.search.vector_table import VectorCache, VectorTable


def placement() -> Placement:
    return Placement((), None, ())


def table(size: int) -> VectorTable:
    return VectorTable(np.zeros(size, dtype=np.int64), np.zeros(8 * size, dtype=np.int8))


def test_vectors_are_forgotten_with_the_placement_that_they_are_of() -> None:
    """Each write makes another one: of streams without vectors none would ever make room."""
    cache, gone = VectorCache(), []
    for size in (0, 3):
        one = placement()
        cache.table(one, "state", lambda size=size: table(size))  # type: ignore[misc]
        gone.append(weakref.ref(one))
        del one
    assert [one() for one in gone] == [None, None]


def test_vectors_asked_for_longest_ago_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_table, "_MOST_BYTES", 2 * table(3).size)
    cache, read = VectorCache(), []
    first, second, third = placement(), placement(), placement()

    def ask(one: Placement) -> None:
        def reading() -> VectorTable:
            read.append(one)
            return table(3)

        cache.table(one, "state", reading)

    for one in (first, second, first, third, first, second):
        ask(one)
    assert read == [first, second, third, second]
