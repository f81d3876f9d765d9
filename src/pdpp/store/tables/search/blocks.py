"""Blocks: the words of some records, as arrays; made, packed, merged and cut.

A posting is 32 bits: the slot of the record in its block above, the impact in the lowest byte.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdpp.evidence.language.terms import terms_of
from pdpp.store.ranking.impact import impact_of, impacts_of
from pdpp.store.tables.search.analysis import Terms, analyse, are_few
from pdpp.store.tables.search.entry import Entry, Indexed

Longs = NDArray[np.int64]
Words = NDArray[np.uint32]

SLOT_SHIFT = 8
IMPACT_MASK = 0xFF
_ONE = np.ones(1, dtype=np.int64)
_MANY = 20_000
"""Fewer numbers are worked out in one step each sooner than in three steps."""


@dataclass(frozen=True, slots=True)
class PlacePostings:
    """The postings of one field: those of ``terms[i]`` are ``data[starts[i]:starts[i + 1]]``."""

    terms: Sequence[str]
    starts: Longs
    data: Words


@dataclass(frozen=True, slots=True)
class Block:
    """The words of some records in the order of their times."""

    times: Longs
    numbers: Longs
    places: Mapping[int, PlacePostings]

    @property
    def size(self) -> int:
        """Return how many records there are."""
        return len(self.times)


def build(entries: Sequence[Indexed], places: Sequence[int]) -> Block:
    """Return the block of some records, the texts of which stand at some places."""
    numbers, _, words = zip(*entries, strict=True)
    return build_from(numbers, words, places)


def build_from(numbers: Sequence[int], entries: Sequence[Entry], places: Sequence[int]) -> Block:
    """Return the same of records that are given by columns: their numbers and their words."""
    moments, _, _, texts = zip(*entries, strict=True)
    times, records = np.array(moments, dtype=np.int64), np.array(numbers, dtype=np.int64)
    order = np.lexsort((records, times))
    if len(order) > 1 and (np.diff(order) < 0).any():
        times, records = times[order], records[order]
        texts = tuple(texts[at] for at in order.tolist())
    fields = {
        place: field
        for place, column in sorted(zip(places, zip(*texts, strict=True), strict=False))
        if (field := _texts_of(column)).slots
    }
    return Block(times, records, _postings_of(fields))


class _FieldTexts(NamedTuple):
    """The texts of one field, and the slot of the record that each belongs to."""

    texts: Sequence[str]
    slots: Sequence[int]


def _texts_of(column: Sequence[Any]) -> _FieldTexts:
    """Return the texts among the values of a field."""
    if set(map(type, column)) == {str}:
        return _FieldTexts(column, range(len(column)))
    slots = [slot for slot, value in enumerate(column) if isinstance(value, str)]
    return _FieldTexts([column[slot] for slot in slots], slots)


def _postings_of(fields: Mapping[int, _FieldTexts]) -> dict[int, PlacePostings]:
    """Return the postings of some fields, of those that have words."""
    if are_few([*chain.from_iterable(field.texts for field in fields.values())]):
        inverted = ((place, _inverted_few(field)) for place, field in fields.items())
        return {place: postings for place, postings in inverted if postings.terms}
    analysed = zip(fields, analyse([field.texts for field in fields.values()]), strict=True)
    return {
        place: _inverted(terms, fields[place].slots) for place, terms in analysed if terms.names
    }


def _inverted_few(field: _FieldTexts) -> PlacePostings:
    """Return the postings of a field of few texts: arrays take longer to begin with."""
    found: dict[str, list[int]] = {}
    for text, slot in zip(field.texts, field.slots, strict=True):
        terms = terms_of(text)
        for term, count in Counter(terms).items():
            found.setdefault(term, []).append(slot << SLOT_SHIFT | impact_of(count, len(terms)))
    names = sorted(found)
    starts = [0, *accumulate(len(found[name]) for name in names)]
    data = [posting for name in names for posting in found[name]]
    return PlacePostings(names, np.array(starts, np.int64), np.array(data, np.uint32))


def _inverted(terms: Terms, slots: Sequence[int]) -> PlacePostings:
    """Return the postings of a field, of which there is a text for each of some slots."""
    names, ranks, owners = terms
    lengths = np.bincount(owners, minlength=len(slots))
    # Equal terms of one record come to stand side by side, and their number is how often it is.
    bits = len(slots).bit_length()
    joined = ranks << bits | owners
    # Half as many bytes are sorted in half the time.
    joined = np.sort(joined.astype(np.uint32) if len(names) << bits <= 1 << 32 else joined)
    firsts = np.flatnonzero(np.concatenate(([True], joined[1:] != joined[:-1])))
    counts = np.diff(firsts, append=len(joined))
    joined = joined.take(firsts).astype(np.int64)
    holders = joined & (1 << bits) - 1
    impacts = _impacts(counts, holders, lengths)
    data = np.array(slots, dtype=np.int64).take(holders) << SLOT_SHIFT | impacts
    return PlacePostings(names, _starts(joined >> bits, len(names)), data.astype(np.uint32))


def _impacts(counts: Longs, holders: Longs, lengths: Longs) -> Longs:
    """Return the impacts of terms by how often each stands in the text that holds it."""
    if len(counts) < _MANY:
        return impacts_of(counts, lengths[holders])
    # What a text holds once has the same impact there: worked out once for each text.
    impacts = impacts_of(_ONE, lengths).take(holders)
    often = np.flatnonzero(counts > 1)
    impacts[often] = impacts_of(counts[often], lengths[holders[often]])
    return impacts


def _starts(ranks: Longs, count: int) -> Longs:
    """Return where the postings of each term begin, and after them the end of all."""
    starts = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(ranks, minlength=count), out=starts[1:])
    return starts


def _grouped(names: Sequence[str], ranks: Longs, data: Words) -> PlacePostings:
    """Return postings put together by their terms; ``ranks`` say which of the sorted names."""
    # One sort of the term and the posting together: the slot is the posting's upper part.
    joined = np.sort(ranks << 32 | data.astype(np.int64))
    return PlacePostings(names, _starts(ranks, len(names)), joined.astype(np.uint32))


def merge(parts: Sequence[tuple[Block, Words]]) -> Block:
    """Return one block of all records of some blocks, without the slots that are gone."""
    times = np.concatenate([block.times for block, _ in parts])
    numbers = np.concatenate([block.numbers for block, _ in parts])
    alive = np.ones(len(times), dtype=bool)
    bases = np.cumsum([0, *(block.size for block, _ in parts)])
    for base, (_, gone) in zip(bases, parts, strict=False):
        alive[base + gone.astype(np.int64)] = False
    order = np.lexsort((numbers, times))
    order = order[alive[order]]
    slot_of = np.full(len(times), -1, dtype=np.int64)
    slot_of[order] = np.arange(len(order))
    places = {}
    for place in sorted({place for block, _ in parts for place in block.places}):
        to_merge = [
            (base, block.places[place])
            for base, (block, _) in zip(bases, parts, strict=False)
            if place in block.places
        ]
        merged = _merge_place(to_merge, slot_of)
        if len(merged.data):
            places[place] = merged
    return Block(times[order], numbers[order], places)


def _merge_place(to_merge: Sequence[tuple[Any, PlacePostings]], slot_of: Longs) -> PlacePostings:
    names = sorted(set(chain.from_iterable(postings.terms for _, postings in to_merge)))
    rank_of = dict(zip(names, range(len(names)), strict=True))
    ranks, data = [], []
    for base, postings in to_merge:
        own = np.fromiter(map(rank_of.__getitem__, postings.terms), np.int64, len(postings.terms))
        slots = slot_of[base + (postings.data >> SLOT_SHIFT).astype(np.int64)]
        kept = slots >= 0
        ranks.append(np.repeat(own, np.diff(postings.starts))[kept])
        data.append(
            slots[kept].astype(np.uint32) << SLOT_SHIFT | (postings.data[kept] & IMPACT_MASK)
        )
    every = np.concatenate(ranks)
    used = np.flatnonzero(np.bincount(every, minlength=len(names)))
    if len(used) < len(names):
        # A term leaves no trace when every record with it is gone.
        every = np.searchsorted(used, every)
        names = [names[at] for at in used.tolist()]
    return _grouped(names, every, np.concatenate(data).astype(np.uint32))


def cut(block: Block, size: int) -> Iterable[Block]:
    """Yield a block in pieces of at most so many records, as even as they come."""
    count = max(1, -(-block.size // size))
    edges = [round(block.size * piece / count) for piece in range(count + 1)]
    for first, last in pairwise(edges):
        yield block if count == 1 else _slice(block, first, last)


def _slice(block: Block, first: int, last: int) -> Block:
    places = {}
    for place, postings in block.places.items():
        slots = postings.data >> SLOT_SHIFT
        kept = (slots >= first) & (slots < last)
        counts = np.add.reduceat(np.append(kept, False).astype(np.int64), postings.starts[:-1])
        filled = np.flatnonzero(counts)
        starts = np.zeros(len(filled) + 1, dtype=np.int64)
        np.cumsum(counts[filled], out=starts[1:])
        data = postings.data[kept] - np.uint32(first << SLOT_SHIFT)
        if len(data):
            places[place] = PlacePostings(
                [postings.terms[at] for at in filled.tolist()], starts, data
            )
    return Block(block.times[first:last], block.numbers[first:last], places)
