"""Packing: what is packed comes back as it was."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pdpp.store.ranking.postings import Longs
from pdpp.store.tables.search import blocks, packing, parts
from pdpp.store.tables.search.entry import NO_TIME, Entry, Indexed

WORDS = st.sampled_from(["kelp", "tide", "harbour", "lamp", "é", "東京"])
TEXTS = st.lists(WORDS, max_size=12).map(" ".join)
PLACES = (2, 0, 1)
LONGS = st.integers(-(1 << 63), (1 << 63) - 1) | st.sampled_from([NO_TIME, 0, 3_000_000, 9_000_000])


def block_of(texts: list[dict[int, str]]) -> blocks.Block:
    """Return a block of records with some text at each place."""
    return blocks.build(
        [
            Indexed(number, number, Entry(7 * number, None, 0, tuple(map(record.get, PLACES))))
            for number, record in enumerate(texts)
        ],
        PLACES,
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


@given(
    st.lists(st.dictionaries(st.integers(0, 1), TEXTS), min_size=1, max_size=40),
    st.sets(st.integers(0, 39)),
)
def test_a_piece_tells_the_impact_in_some_records_without_the_others(
    texts: list[dict[int, str]], chosen: set[int]
) -> None:
    block = block_of(texts)
    wanted = np.array(sorted(slot for slot in chosen if slot < block.size), dtype=np.int64)
    for held in block.places.values():
        bases = packing.bases_of(held, block.size)
        for at, piece in enumerate(packing.spread_pieces(held, bases)):
            data = held.data[held.starts[at] : held.starts[at + 1]]
            impact_of = dict(
                zip(
                    (data >> blocks.SLOT_SHIFT).tolist(),
                    data.astype(np.uint8).tolist(),
                    strict=True,
                )
            )
            impacts = (
                packing.dense_impacts(piece, block.size)[wanted]
                if packing.is_dense(piece)
                else packing.impacts_at(piece, wanted, bases[wanted])
            )
            assert packing.count_of(piece) == len(data)
            assert impacts.tolist() == [impact_of.get(slot, 0) for slot in wanted.tolist()]


TIMES = st.lists(st.sampled_from([NO_TIME, 0, 5, 5, 9]), min_size=1, max_size=20)


@given(TIMES, st.sets(st.integers(0, 25)))
def test_listed_records_are_found_in_a_block_by_their_time_and_number(
    times: list[int], chosen: set[int]
) -> None:
    entries = [Indexed(n, n, Entry(time, None, 0, ())) for n, time in enumerate(times)]
    block = blocks.build(entries, ())
    numbers = sorted(chosen)
    told = [times[number] if number < len(times) else 5 for number in numbers]
    slots = parts.listed_slots(block, list(zip(told, numbers, strict=True)))
    assert sorted(block.numbers[slots].tolist()) == [n for n in numbers if n < len(times)]
    assert slots.tolist() == sorted(slots.tolist())


@given(st.lists(st.booleans(), min_size=1, max_size=80), st.integers(0, 3))
def test_pieces_of_bits_come_back_together(holding: list[bool], changes: int) -> None:
    """Blocks end anywhere in a byte, and what is joined must not run into the next piece."""
    rows = [{0: "kelp lamp" + " kelp" * (at < changes)} if has else {0: "tide"}
            for at, has in enumerate([True, *holding, *([False] * 3 * len(holding))])]  # fmt: skip
    block = block_of(rows)
    held = block.places[0]
    bases = packing.bases_of(held, block.size)
    pieces = [*packing.spread_pieces(held, bases)]
    bits = [piece for piece in pieces if packing.is_bits(piece)]
    flags, firsts, changed, counts, values = packing.joined_bits(bits * 2)
    at = 0
    for piece, first, count in zip(bits * 2, firsts, counts, strict=True):
        impacts = flags[first : first + block.size] * bases
        impacts[changed[at : at + count]] = values[at : at + count]
        at += count
        every = np.arange(block.size, dtype=np.int64)
        assert impacts.tolist() == packing.impacts_at(piece, every, bases).tolist()
        slots, _, places, own = packing.joined_pieces([piece])
        listed = bases[slots]
        listed[places] = own
        assert impacts[slots].tolist() == listed.tolist()
        assert np.count_nonzero(impacts) == len(slots) == packing.count_of(piece)
