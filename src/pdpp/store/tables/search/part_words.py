"""The words of parts of blocks: what stands in visible texts, and in no others.

The list of the words of a block names those of all its records. Where a grant hides some of them,
that list must not be gone through: the time would tell how many hidden words begin or are spelled
like one that was asked for. The visible texts are analysed instead, which costs what is visible,
and what they hold is remembered, because a block never changes.
"""

import hashlib
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from threading import Lock
from typing import NamedTuple

import numpy as np

from pdpp.store.ranking.postings import Bools, Longs, TermLines
from pdpp.store.scope import Reach
from pdpp.store.tables.positions import actor_positions, searched_positions
from pdpp.store.tables.search.analysis import analyse
from pdpp.store.tables.search.blocks import Block
from pdpp.store.tables.search.parts import Part
from pdpp.store.tables.search.record_data import MOST_CHARS, RecordData, RecordsRead

_STRETCH = 1_024
"""How many slots are remembered together. Cuts of a block at several times share stretches, and a
search that runs out of time has got so much further for the next one."""
_AT_ONCE = 128
"""How many records are read at once: each may be large."""
_MOST_BYTES = 16 << 20
_FAST = 1


class _Stretch(NamedTuple):
    """Some slots of a block and some fields, as a key; slots that are no run by their digest."""

    block: int
    fields: tuple[int, ...]
    slots: tuple[int, int] | bytes


class PartWords:
    """Words of stretches of blocks that were analysed lately, compressed."""

    def __init__(self) -> None:
        self._known: OrderedDict[_Stretch, bytes] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def lines(
        self,
        part: Part,
        block: Block,
        hidden: Bools | None,
        read: RecordsRead,
        check: Callable[[], None],
    ) -> Iterator[TermLines]:
        """Yield the terms that the visible texts of a part hold; ``hidden`` rows are gone."""
        slots = np.arange(part.low, part.high) if part.slots is None else part.slots
        if hidden is not None:
            slots = slots[~hidden[part.base : part.end]]
        fields = part.reach.once(_text_fields)
        places = tuple(sorted(fields))
        edges = np.flatnonzero(np.diff(slots // _STRETCH)) + 1
        for some in np.split(slots, edges):
            check()
            key = _Stretch(part.id, places, slots_key(some))
            packed = self._known.get(key)
            if packed is None:
                names = [fields[place] for place in places]
                terms = _terms(block.numbers[some], names, read, check)
                packed = zlib.compress("\n".join(sorted(terms)).encode(), _FAST)
            self._remember(key, packed)
            yield TermLines(zlib.decompress(packed), certain=True)

    def _remember(self, key: _Stretch, packed: bytes) -> None:
        with self._lock:
            if key not in self._known:
                self._known[key] = packed
                self._bytes += len(packed)
            self._known.move_to_end(key)
            while self._bytes > _MOST_BYTES and len(self._known) > 1:
                _, oldest = self._known.popitem(last=False)
                self._bytes -= len(oldest)


def _text_fields(reach: Reach) -> dict[int, str]:
    """Return the fields whose words are named to a caller, by their position: no actors' names."""
    actors = actor_positions(reach)
    return {at: name for at, name in searched_positions(reach).items() if at not in actors}


def slots_key(slots: Longs) -> tuple[int, int] | bytes:
    """Return what tells some slots of a block from others: the ends of a run, or a digest."""
    if not len(slots):
        return 0, 0
    first, last = int(slots[0]), int(slots[-1])
    if last - first + 1 == len(slots):
        return first, last
    return hashlib.blake2b(slots.astype("<i8").tobytes(), digest_size=16).digest()


def _terms(
    numbers: Longs, names: Sequence[str], read: RecordsRead, check: Callable[[], None]
) -> set[str]:
    """Return the terms of some fields of some records."""
    terms: set[str] = set()
    for start in range(0, len(numbers), _AT_ONCE):
        check()
        records = read.of(numbers[start : start + _AT_ONCE].tolist()).values()
        for texts in _bounded(records, names, read):
            terms.update(analyse([texts])[0].names)
        read.forget()
    return terms


def _bounded(
    records: Iterable[RecordData], names: Sequence[str], read: RecordsRead
) -> Iterator[list[str]]:
    """Yield the texts of records some at once: many short ones, or one that is long."""
    texts: list[str] = []
    size = 0
    for record in records:
        some = [text for text in map(record.get, names) if isinstance(text, str)]
        texts, size = texts + some, size + sum(map(len, some))
        if size > MOST_CHARS:
            read.forget_long()
            yield texts
            texts, size = [], 0
    if texts:
        yield texts
