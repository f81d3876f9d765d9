"""Small blocks as searches remember them: which terms each has, and where their postings are.

A worker remembers hundreds of these blocks, and most of their words are the same. A table of terms
for each block took more than half of what all of them took; here the terms of all blocks are
numbered, and a block has the numbers of its own.
"""

from array import array
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import count, groupby
from operator import itemgetter
from threading import Lock
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from pdpp.store.ranking.distinct import each_once
from pdpp.store.tables.search.blocks import Longs, PlacePostings, Words

Key = TypeVar("Key", bound=Hashable)

_BUCKET_BITS = 2
"""A bucket has so many terms on an average that their number takes as many bits, or one more."""
_UNKNOWN = (1 << 32) - 1
"""The number of a term that no block has."""
_START_KINDS = ((16, "H"), (32, "I"))
"""How many bits a start takes at most, and the kind of the array that has room for it."""


class SmallField(NamedTuple):
    """The postings of one field of a small block.

    Those of the block's nth term begin at ``starts[n]`` and end at ``starts[n + 1]``; there are
    none where the term does not stand in this field.
    """

    place: int
    starts: Sequence[int]
    postings: Words


class SmallBlock(NamedTuple):
    """A block: what it shares its terms with, the place it has there, and its fields."""

    shared: "SharedTerms"
    place: int
    fields: Sequence[SmallField]

    def terms_of(self, place: int) -> list[str]:
        """Return the terms that stand in the field of a place, sorted."""
        starts = next((field.starts for field in self.fields if field.place == place), None)
        if starts is None:
            return []
        held = np.flatnonzero(np.diff(np.array(starts)))
        return sorted(self.shared.names_of(self.place, held))


class _Terms(NamedTuple):
    """The terms of some blocks, one block after the other, each by its number.

    Those of a block stand in buckets, by the lower bits of their numbers. ``heads`` says where each
    bucket begins, and after the last one of a block where that ends. The rest is by block: where
    its terms and its heads begin, and the bits that choose a bucket.
    """

    numbers: NDArray[np.uint32]
    heads: NDArray[np.uint32]
    firsts: Longs
    first_heads: Longs
    masks: Longs


class SharedTerms:
    """The terms of some blocks, numbered.

    No block is taken out: when there are enough of them, others share theirs anew.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._number_of: dict[str, int] = {}
        self._names: list[str] = []
        none, nothing = np.zeros(0, dtype=np.uint32), np.zeros(0, dtype=np.int64)
        self._joined = _Terms(none, none, nothing, nothing, nothing)
        self._waiting: list[_Terms] = []
        self._size = self._terms = self._heads = 0

    def add(self, fields: Mapping[int, PlacePostings]) -> SmallBlock:
        """Add the terms of a block; return the block."""
        with self._lock:
            numbers = {place: self._numbers(field.terms) for place, field in fields.items()}
            distinct = each_once(np.concatenate([*numbers.values(), np.zeros(0, dtype=np.int64)]))
            buckets = 1 << max(0, len(distinct).bit_length() - _BUCKET_BITS)
            order = np.argsort(distinct & buckets - 1, kind="stable")
            own = distinct[order]
            heads = np.searchsorted(own & buckets - 1, np.arange(buckets + 1)) + self._terms
            place, first = self._size, self._terms
            self._waiting.append(
                _Terms(
                    own.astype(np.uint32),
                    heads.astype(np.uint32),
                    *(np.array([value]) for value in (first, self._heads, buckets - 1)),
                )
            )
            self._size += 1
            self._terms += len(own)
            self._heads += len(heads)
        rank_of = np.empty(len(own), dtype=np.int64)
        rank_of[order] = np.arange(len(own))
        return SmallBlock(
            self,
            place,
            tuple(
                _small_field(at, field, rank_of[np.searchsorted(distinct, numbers[at])], len(own))
                for at, field in fields.items()
            ),
        )

    def _numbers(self, terms: Sequence[str]) -> Longs:
        known = self._number_of
        new = [term for term in terms if term not in known]
        known.update(zip(new, count(len(known))))
        self._names += new
        return np.fromiter(map(known.__getitem__, terms), np.int64, len(terms))

    def find(self, blocks: Longs, terms: Sequence[str]) -> Iterator[tuple[int, int, int]]:
        """Yield which of some blocks has which of some terms, and which of its own that is.

        All are looked up at once, in less time than a look into a table of each block takes. No
        other block is looked at, and whether one has a term makes no difference: it may be hidden
        from whoever asks.
        """
        every = self._every()
        numbers = np.array([self._number_of.get(term, _UNKNOWN) for term in terms])
        buckets = (numbers & every.masks[blocks, None]) + every.first_heads[blocks, None]
        starts = every.heads[buckets.ravel()].astype(np.int64)
        sizes = every.heads[buckets.ravel() + 1] - starts
        looks = np.repeat(np.arange(len(sizes)), sizes)
        ends = np.cumsum(sizes)
        at = np.arange(len(looks)) + (starts - ends + sizes)[looks]
        of_blocks, of_terms = np.divmod(looks, len(terms))
        hits = np.flatnonzero(every.numbers[at] == numbers[of_terms])
        held = of_blocks[hits]
        ranks = at[hits] - every.firsts[blocks[held]]
        yield from zip(held.tolist(), of_terms[hits].tolist(), ranks.tolist(), strict=True)

    def _every(self) -> _Terms:
        """Return the terms of all blocks that were added by now."""
        if self._waiting:
            with self._lock:
                columns = zip(self._joined, *self._waiting, strict=True)
                self._joined = _Terms(*map(np.concatenate, columns))
                self._waiting = []
        return self._joined

    def names_of(self, place: int, ranks: Longs) -> list[str]:
        """Return the names of some of the terms of a block."""
        every = self._every()
        numbers = every.numbers[ranks + every.firsts[place]]
        return [self._names[number] for number in numbers.tolist()]


class SmallBlocks(Generic[Key]):
    """The small blocks that were read lately, at most so many."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = Lock()
        self._shared = SharedTerms()
        self._known: dict[Key, SmallBlock] = {}

    @property
    def shared(self) -> SharedTerms:
        """What the blocks share, which is another when they have been forgotten."""
        return self._shared

    def get(self, key: Key) -> SmallBlock | None:
        """Return a block, None where it is not remembered."""
        return self._known.get(key)

    def add(self, key: Key, unpack: Callable[[], Mapping[int, PlacePostings]]) -> SmallBlock:
        """Remember a block; where several threads have read the same one, the first unpacks it."""
        with self._lock:
            known = self._known.get(key)
            if known is None:
                if len(self._known) >= self._most:
                    self._known, self._shared = {}, SharedTerms()
                known = self._known[key] = self._shared.add(unpack())
            return known


class BlocksTogether:
    """Some blocks, in which terms are looked up together."""

    def __init__(self, blocks: Sequence[SmallBlock]) -> None:
        sharing: dict[SharedTerms, list[int]] = {}
        for at, block in enumerate(blocks):
            sharing.setdefault(block.shared, []).append(at)
        self._sharing = [
            (shared, np.array([blocks[at].place for at in held]), held)
            for shared, held in sharing.items()
        ]

    def having(self, terms: Sequence[str]) -> Iterator[tuple[int, list[tuple[int, int]]]]:
        """Yield which of the blocks have some terms: each term, and its rank in the block."""
        for shared, places, held in self._sharing:
            for of, some in groupby(shared.find(places, terms), itemgetter(0)):
                yield held[of], [(term, rank) for _, term, rank in some]


def _small_field(place: int, postings: PlacePostings, ranks: Longs, size: int) -> SmallField:
    """Return a field with the postings of its terms in the order of their ranks in the block."""
    order = np.argsort(ranks)
    sizes = np.diff(postings.starts)[order]
    starts = np.zeros(size + 1, dtype=np.int64)
    starts[ranks[order] + 1] = sizes
    np.cumsum(starts, out=starts)
    moved = np.repeat(postings.starts[:-1][order] - starts[ranks[order]], sizes)
    data = postings.data[moved + np.arange(len(moved))]
    kind = next(kind for bits, kind in _START_KINDS if int(starts[-1]) >> bits == 0)
    # Of the interpreter: a number out of an array of numpy takes as long as a whole search for it.
    return SmallField(place, array(kind, starts.astype(np.dtype(kind)).tobytes()), data)
