"""The cache of blocks: what it keeps of a small one."""

from array import array

import numpy as np
import pytest

from pdpp.store.tables.search.block_cache import BlockCache
from pdpp.store.tables.search.blocks import PlacePostings


def postings(counts: dict[str, int]) -> PlacePostings:
    """Return a field in which terms stand so often."""
    starts = np.cumsum([0, *counts.values()])
    return PlacePostings(list(counts), starts, np.arange(starts[-1], dtype=np.uint32))


@pytest.mark.parametrize(("often", "size"), [(65_530, 4), (65_531, 8), (200_000, 8)])
def test_terms_are_found_in_their_fields_whatever_a_block_holds(often: int, size: int) -> None:
    places = {1: postings({"ash": 2, "oak": often, "yew": 3}), 4: postings({"elm": 1, "oak": 2})}
    block = BlockCache()._numbered(places)
    found = {
        (field.place, term): list(field.postings[span >> field.bits : span & (1 << field.bits) - 1])
        for field in block.fields
        for term, number in block.terms.items()
        if (span := field.spans[number])
    }
    assert found == {
        (place, term): list(field.data[start:end])
        for place, field in places.items()
        for term, start, end in zip(field.terms, field.starts, field.starts[1:], strict=False)
    }
    assert [block.terms_of(place) for place in (1, 4, 5)] == [
        ["ash", "oak", "yew"],
        ["elm", "oak"],
        [],
    ]
    spans = block.fields[0].spans
    assert isinstance(spans, array)
    assert spans.itemsize == size
