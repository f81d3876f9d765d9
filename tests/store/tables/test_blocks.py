"""The block of a few short texts against the one that arrays make of them, to the byte."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.store.tables.test_analysis import WORDS

from pdpp.store.ranking.impact import impact_of, impacts_of
from pdpp.store.tables.search import blocks, packing
from pdpp.store.tables.search.entry import Entry, Indexed

TEXT = st.none() | st.integers() | st.lists(WORDS, max_size=20).map(" ".join)
ENTRIES = st.lists(st.tuples(st.integers(0, 3), TEXT, TEXT), min_size=1, max_size=15)
PLACES = (4, 2)


@given(ENTRIES)
def test_few_texts_make_the_block_that_arrays_make_of_them(
    rows: list[tuple[int, str, str]],
) -> None:
    entries = [
        Indexed(number, number, Entry(time, None, 0, tuple(texts)))
        for number, (time, *texts) in enumerate(rows)
    ]
    packed = []
    for are_few in (True, False):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(blocks, "are_few", lambda _, few=are_few: few)
            block = blocks.build(entries, PLACES)
        kinds = [(one.starts.dtype, one.data.dtype) for one in block.places.values()]
        packed.append((block.times.tolist(), block.numbers.tolist(), packing.pack(block), kinds))
    assert packed[0] == packed[1]


def test_one_term_has_the_impact_that_it_has_among_many() -> None:
    counts, lengths = (grid.ravel() for grid in np.meshgrid(np.arange(1, 60), np.arange(1, 900)))
    each = [*map(impact_of, counts.tolist(), lengths.tolist())]
    assert each == impacts_of(counts, lengths).tolist()
