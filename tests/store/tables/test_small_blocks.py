"""Small blocks: what is kept of each, and what is found in them."""

import sys
from array import array

import numpy as np
import pytest

from pdpp.store.tables.search.blocks import PlacePostings
from pdpp.store.tables.search.small_blocks import (
    BlocksTogether,
    SharedTerms,
    SmallBlock,
    SmallBlocks,
)


def postings(counts: dict[str, int]) -> PlacePostings:
    """Return a field in which terms stand so often."""
    starts = np.cumsum([0, *counts.values()])
    return PlacePostings(list(counts), starts, np.arange(starts[-1], dtype=np.uint32))


def found(blocks: list[SmallBlock], terms: list[str]) -> dict[tuple[int, int, str], list[int]]:
    """Return the postings of some terms by the block, the place of the field, and the term."""
    return {
        (at, field.place, terms[term]): field.postings[start:end].tolist()
        for at, ranks in BlocksTogether(blocks).having(terms)
        for field in blocks[at].fields
        for term, rank in ranks
        if (start := field.starts[rank]) < (end := field.starts[rank + 1])
    }


def as_given(
    places: dict[int, PlacePostings], at: int = 0
) -> dict[tuple[int, int, str], list[int]]:
    return {
        (at, place, term): field.data[start:end].tolist()
        for place, field in places.items()
        for term, start, end in zip(field.terms, field.starts, field.starts[1:], strict=False)
    }


@pytest.mark.parametrize(("often", "size"), [(65_530, 2), (65_531, 4), (200_000, 4)])
def test_terms_are_found_in_their_fields_whatever_a_block_holds(often: int, size: int) -> None:
    places = {1: postings({"ash": 2, "oak": often, "yew": 3}), 4: postings({"elm": 1, "oak": 2})}
    block = SharedTerms().add(places)
    assert found([block], ["yew", "elm", "fir", "oak", "ash"]) == as_given(places)
    assert [block.terms_of(place) for place in (1, 4, 5)] == [
        ["ash", "oak", "yew"],
        ["elm", "oak"],
        [],
    ]
    starts = block.fields[0].starts
    assert isinstance(starts, array)
    assert starts.itemsize == size


def test_blocks_that_share_with_others_are_searched_together_and_each_has_its_own_terms() -> None:
    one, other = SharedTerms(), SharedTerms()
    every = [
        {1: postings({"ash": 1, "oak": 2})},
        {1: postings({"yew": 3, "zoo": 1}), 2: postings({"ash": 2})},
        {},
        {2: postings({"oak": 1, "pine": 4})},
    ]
    blocks = [
        shared.add(places) for shared, places in zip((one, other, one, one), every, strict=True)
    ]
    terms = ["zoo", "pine", "oak", "none", "ash", "yew"]
    given = {
        key: data for at, places in enumerate(every) for key, data in as_given(places, at).items()
    }
    assert found(blocks, terms) == given
    # A block that comes later is found beside those that were searched before.
    later = {1: postings({"beech": 1, "oak": 5})}
    blocks.append(one.add(later))
    assert found(blocks, [*terms, "beech"]) == {**given, **as_given(later, 4)}
    assert found(blocks[2:3], terms) == {}
    assert found(blocks, ["none"]) == {}


def test_a_term_that_many_blocks_have_is_in_memory_once() -> None:
    """A table of terms for each block took more than all postings: 112 kB of 4,000 terms."""
    shared = SharedTerms()
    terms = [f"term{number:05}" for number in range(4_000)]
    shared.add({1: postings(dict.fromkeys(terms, 1))})
    before = sys.getallocatedblocks()
    blocks = [shared.add({1: postings({f"{term}": 1 for term in terms})}) for _ in range(10)]
    assert len(list(BlocksTogether(blocks).having(terms[:1]))) == 10
    assert sys.getallocatedblocks() - before < 1_000


def test_a_block_that_two_threads_read_is_kept_once_and_the_oldest_make_room_together() -> None:
    known = SmallBlocks[int](2)
    first = known.add(1, lambda: {1: postings({"ash": 1})})
    assert known.add(1, lambda: pytest.fail("unpacked again")) is first is known.get(1)
    second = known.add(2, lambda: {1: postings({"oak": 1})})
    third = known.add(3, lambda: {1: postings({"oak": 2})})
    assert (known.get(1), known.get(2), known.get(3)) == (None, None, third)
    # What is still in somebody's hands is found as before.
    terms = ["ash", "oak"]
    assert found([first, second, third], terms) == {
        (0, 1, "ash"): [0],
        (1, 1, "oak"): [0],
        (2, 1, "oak"): [0, 1],
    }
