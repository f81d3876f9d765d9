"""Packing: what is packed comes back as it was."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pdpp.store.ranking.postings import Longs
from pdpp.store.sqlite.search import blocks, packing
from pdpp.store.sqlite.search.entry import NO_TIME, Entry, Indexed

WORDS = st.sampled_from(["kelp", "tide", "harbour", "lamp", "é", "東京"])
TEXTS = st.lists(WORDS, max_size=12).map(" ".join)
LONGS = st.integers(-(1 << 63), (1 << 63) - 1) | st.sampled_from([NO_TIME, 0, 3_000_000, 9_000_000])


def block_of(texts: list[dict[int, str]]) -> blocks.Block:
    """Return a block of records with some text at each place."""
    return blocks.build(
        [
            Indexed(number, number, Entry(7 * number, None, tuple(held)))
            for number, held in enumerate(sorted(record.items()) for record in texts)
        ]
    )


def same(one: blocks.PlacePostings, other: blocks.PlacePostings) -> bool:
    """Tell whether two fields have the same postings."""
    return (
        list(one.terms) == list(other.terms)
        and np.array_equal(one.starts, other.starts)
        and np.array_equal(one.data, other.data)
    )


@given(st.lists(st.dictionaries(st.integers(0, 2), TEXTS), min_size=1, max_size=40))
def test_a_block_and_its_pieces_come_back_as_they_were(texts: list[dict[int, str]]) -> None:
    block = block_of(texts)
    times, numbers = packing.long_bytes(block.times), packing.long_bytes(block.numbers)
    back = packing.unpack(times, numbers, packing.pack(block))
    assert np.array_equal(back.times, block.times)
    assert np.array_equal(back.numbers, block.numbers)
    assert back.places.keys() == block.places.keys()
    for place, held in block.places.items():
        assert same(back.places[place], held)
        bases = packing.bases_of(held, block.size)
        pieces = [*packing.spread_pieces(held, bases)]
        slots, counts, changed, values = packing.joined_pieces(pieces)
        impacts = bases[slots]
        impacts[changed] = values
        assert counts == np.diff(held.starts).tolist()
        assert np.array_equal(slots << blocks.SLOT_SHIFT | impacts, held.data)


@given(st.lists(LONGS))
def test_numbers_of_any_size_come_back_as_they_were(values: list[int]) -> None:
    written: Longs = np.array(values, dtype=np.int64)
    assert packing.longs(packing.long_bytes(written)).tolist() == values


def test_numbers_near_each_other_take_few_bytes() -> None:
    seconds = np.arange(1_000, dtype=np.int64) * 86_400_000_000 + 1_700_000_000_000_000
    assert len(packing.long_bytes(seconds)) < 2_100
