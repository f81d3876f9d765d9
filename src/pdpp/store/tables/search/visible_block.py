"""The words of the visible records of a small block, made from their texts.

A small block is one row: whoever wants a word of it unpacks the words of all its records. Where a
grant shows few of them, or hidden texts are long, that costs more than to analyse what is visible.
"""

from collections.abc import Callable, Iterator

import numpy as np

from pdpp.store.ranking.postings import Longs
from pdpp.store.tables.positions import actor_positions, searched_positions
from pdpp.store.tables.search import blocks
from pdpp.store.tables.search.blocks import Block, PlacePostings
from pdpp.store.tables.search.entry import Entry, Indexed
from pdpp.store.tables.search.parts import Part
from pdpp.store.tables.search.record_data import MOST_CHARS, RecordsRead

FREE_BYTES = 1 << 16
"""So many bytes of a block are unpacked whatever is visible: half a millisecond."""
BYTES_A_RECORD = 1 << 13
"""How many more bytes are unpacked for each visible record, in about the time in which its texts
are analysed: 40 µs. The words of a mail take about 150 bytes."""
_AT_ONCE = 128
"""How many records are read at once: each may be large."""
_NONE_GONE = np.zeros(0, dtype=np.uint32)


def visible_places(
    part: Part, block: Block, read: RecordsRead, check: Callable[[], None]
) -> dict[int, PlacePostings]:
    """Return the postings of the visible records of a block in visible fields, by place."""
    slots = np.arange(part.low, part.high) if part.slots is None else part.slots
    made = blocks.merge([(one, _NONE_GONE) for one in _built(part, block, slots, read, check)])
    return {place: _moved(postings, slots) for place, postings in made.places.items()}


def _built(
    part: Part, block: Block, slots: Longs, read: RecordsRead, check: Callable[[], None]
) -> Iterator[Block]:
    """Yield blocks of the visible records in their order."""
    # Names of actors are looked up even where their field is not searched otherwise.
    fields = {**searched_positions(part.reach), **actor_positions(part.reach)}
    places, names = list(fields), list(fields.values())
    for start in range(0, len(slots), _AT_ONCE):
        check()
        some = slots[start : start + _AT_ONCE]
        numbers: list[int] = block.numbers[some].tolist()
        records = read.of(numbers)
        entries: list[Indexed] = []
        size = 0
        for time, number in zip(block.times[some].tolist(), numbers, strict=True):
            # A record that is gone since has no words; its row is hidden.
            record = records.get(number)
            texts = [None] * len(names) if record is None else [record.get(name) for name in names]
            entries.append(Indexed(number, 0, Entry(time, None, 0, tuple(texts))))
            size += sum(len(text) for text in texts if isinstance(text, str))
            if size > MOST_CHARS:
                read.forget_long()
                yield blocks.build(entries, places)
                entries, size = [], 0
        if entries:
            yield blocks.build(entries, places)
        read.forget()


def _moved(postings: PlacePostings, slots: Longs) -> PlacePostings:
    """Return postings with the slots that their records have in the whole block."""
    own = slots[(postings.data >> blocks.SLOT_SHIFT).astype(np.int64)]
    data = own << blocks.SLOT_SHIFT | (postings.data & blocks.IMPACT_MASK)
    return PlacePostings(postings.terms, postings.starts, data.astype(np.uint32))
