"""Packing: blocks and postings as bytes.

The impact of a term that stands once in a field follows from the field's length, so that most terms
of a record have the same: its *base*, one byte for each record and field. Only other impacts are
written beside the postings they belong to.
"""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import orjson
from numpy.typing import NDArray

from pdpp.store.ranking.postings import Impacts, Longs
from pdpp.store.tables.search.block_row import LONGS_HEAD
from pdpp.store.tables.search.blocks import IMPACT_MASK, SLOT_SHIFT, Block, PlacePostings

_SOME, _ALL, _DENSE, _BITS, APART = 1, 2, 3, 4, 5
"""How a piece is written: slots, and some impacts with their places, or all; or the impact in every
slot; or a bit for every slot, and some impacts with their slots; or in `long_postings.py`."""
DENSE_PART = 4
"""From which part of a block's records on a term has one byte for each slot, 0 where it does not
stand. A search copies such a piece as it is; slots of two bytes are shorter below a half only."""
_BITS_PART = 32
"""From which part of a block's records on slots are bits, which a search unpacks sixteen at a time.
They are shorter from a sixteenth on; the few terms below add a byte or two to a record."""
_HEAD = 3
_BITS_HEAD = 5
_FAST = 1


class Pieces(NamedTuple):
    """Postings joined: their slots, how many each piece has, and impacts other than the base.

    ``changed`` are the places of such impacts among all postings.
    """

    slots: Longs
    counts: list[int]
    changed: Longs
    impacts: Impacts


class BitPieces(NamedTuple):
    """Pieces of bits joined: 1 where the term stands, for each slot of each piece.

    Those of a piece begin at its ``firsts``. ``changed`` are the slots with impacts other than the
    base, of which each piece has as many as its ``counts`` say.
    """

    flags: Impacts
    firsts: list[int]
    changed: Longs
    counts: list[int]
    impacts: Impacts


def bases_of(postings: PlacePostings, size: int) -> Impacts:
    """Return the least impact of each record of a block in one field, 0 where it has no text."""
    bases = np.full(size, IMPACT_MASK, dtype=np.uint8)
    slots = postings.data >> SLOT_SHIFT
    # A posting is 32 bits: the slot in the upper 24, the impact in the lower 8, which the cast
    # keeps.
    np.minimum.at(bases, slots, postings.data.astype(np.uint8))
    absent = np.ones(size, dtype=bool)
    absent[slots] = False
    bases[absent] = 0
    return bases


def _changed(postings: PlacePostings, bases: Impacts) -> tuple[Longs, Impacts, Longs]:
    """Return the slots and impacts of postings, and the places of impacts other than the base."""
    slots: Longs = (postings.data >> SLOT_SHIFT).astype(np.int64)
    impacts = postings.data.astype(np.uint8)
    return slots, impacts, np.flatnonzero(impacts != bases[slots]).astype(np.int64)


# Postings by term


def spread_pieces(postings: PlacePostings, bases: Impacts) -> Iterator[bytes]:
    """Yield the postings of each term of a field as one piece.

    A piece of even length is slots of two bytes. One of odd length begins with how its impacts are
    written and how many slots there are; the impacts come after the slots. A dense one has no
    slots, but the impact in each record of the block. One of bits has the number of records too.
    """
    slots, impacts, changed = _changed(postings, bases)
    size = len(bases)
    written, values = slots.astype("<u2").tobytes(), impacts.tobytes()
    edges = np.searchsorted(changed, postings.starts).tolist()
    spans = zip(pairwise(postings.starts.tolist()), pairwise(edges), strict=True)
    for (start, end), (first, last) in spans:
        count = end - start
        if count * DENSE_PART >= size:
            yield _dense_piece(slots[start:end], impacts[start:end], size)
            continue
        if count * _BITS_PART >= size and _HEAD * (last - first) < count:
            places = changed[first:last]
            yield _bits_piece(slots[start:end], slots[places], impacts[places], size)
            continue
        piece = written[2 * start : 2 * end]
        if first == last:
            yield piece
            continue
        if _HEAD * (last - first) < count:
            places = changed[first:last]
            deviations = (places - start).astype("<u2").tobytes() + impacts[places].tobytes()
            way = _SOME
        else:
            deviations, way = values[start:end], _ALL
        yield _headed(way, count, piece + deviations)


def _headed(way: int, count: int, rest: bytes) -> bytes:
    """Return a piece of odd length."""
    # The length alone tells the kinds apart, so that the common piece, slots without a head, costs
    # no byte more than its slots.
    piece = bytes((way, count & 0xFF, count >> 8)) + rest
    return piece if len(piece) & 1 else piece + b"\0"


def _dense_piece(slots: Longs, impacts: Impacts, size: int) -> bytes:
    by_slot = np.zeros(size, dtype=np.uint8)
    by_slot[slots] = impacts
    return _headed(_DENSE, len(slots), by_slot.tobytes())


def _bits_piece(slots: Longs, changed: Longs, impacts: Impacts, size: int) -> bytes:
    by_slot = np.zeros(size, dtype=np.uint8)
    by_slot[slots] = 1
    bits = np.packbits(by_slot, bitorder="little").tobytes()
    changes = changed.astype("<u2").tobytes() + impacts.tobytes()
    return _headed(_BITS, len(slots), bytes((size & 0xFF, size >> 8)) + bits + changes)


def is_bits(piece: bytes) -> bool:
    """Tell whether a piece has a bit for each record of its block."""
    return len(piece) & 1 == 1 and piece[0] == _BITS


def is_dense(piece: bytes) -> bool:
    """Tell whether a piece has a byte for each record of its block."""
    return len(piece) & 1 == 1 and piece[0] == _DENSE


def dense_bytes(piece: bytes, size: int) -> bytes:
    """Return the impact of a dense piece in each record of a block."""
    return piece[_HEAD : _HEAD + size]


def dense_impacts(piece: bytes, size: int) -> Impacts:
    """Return the same as numbers."""
    return np.frombuffer(piece, np.uint8, size, _HEAD)


def count_of(piece: bytes) -> int:
    """Return how many records of a block hold the term of a piece."""
    return piece[1] | piece[2] << 8 if len(piece) & 1 else len(piece) >> 1


def impacts_at(piece: bytes, wanted: Longs, bases: Impacts) -> Impacts:
    """Return the impact of a piece with slots in some wanted slots, 0 where the term is not.

    ``bases`` are those of the wanted slots, which are in order.
    """
    if is_bits(piece):
        return _bits_at(piece, wanted, bases)
    count = count_of(piece)
    slots = np.frombuffer(piece, "<u2", count, _HEAD if len(piece) & 1 else 0)
    impacts = np.zeros(len(wanted), dtype=np.uint8)
    present, places = _places_of(wanted, slots)
    impacts[present] = bases[present]
    if not len(piece) & 1:
        return impacts
    end = _HEAD + 2 * count
    if piece[0] == _ALL:
        impacts[present] = np.frombuffer(piece, np.uint8, count, end)[places]
        return impacts
    some = (len(piece) - end) // _HEAD
    changed, at = _places_of(places, np.frombuffer(piece, "<u2", some, end))
    impacts[present[changed]] = np.frombuffer(piece, np.uint8, some, end + 2 * some)[at]
    return impacts


def _places_of(wanted: Longs, among: NDArray[np.uint16]) -> tuple[Longs, Longs]:
    """Return which of some numbers are among others in order, and where each of them is."""
    if not len(among):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    # The same width on both sides: otherwise all of the others would be widened first.
    keys = wanted.astype("<u2")
    places = np.minimum(np.searchsorted(among, keys), len(among) - 1)
    present = np.flatnonzero(among[places] == keys)
    return present, places[present]


def _bits_at(piece: bytes, wanted: Longs, bases: Impacts) -> Impacts:
    """Return the impact of a piece of bits in some wanted slots, 0 where the term is not."""
    end = _BITS_HEAD + ((piece[3] | piece[4] << 8) + 7 >> 3)
    some = (len(piece) - end) // _HEAD
    bits = np.frombuffer(piece, np.uint8, end - _BITS_HEAD, _BITS_HEAD)
    impacts: Impacts = (bits[wanted >> 3] >> (wanted & 7).astype(np.uint8)) & 1
    impacts *= bases
    if some:
        changed, at = _places_of(wanted, np.frombuffer(piece, "<u2", some, end))
        impacts[changed] = np.frombuffer(piece, np.uint8, some, end + 2 * some)[at]
    return impacts


def _with_slots(piece: bytes) -> bytes:
    """Return a dense piece or one of bits as one with slots."""
    if piece[0] == _BITS:
        flags, _, changed, _, values = joined_bits([piece])
        slots = np.flatnonzero(flags)
        places = np.searchsorted(slots, changed).astype("<u2")
        written = slots.astype("<u2").tobytes() + places.tobytes() + values.tobytes()
        return _headed(_SOME, len(slots), written)
    by_slot = np.frombuffer(piece, np.uint8, offset=_HEAD)
    slots = np.flatnonzero(by_slot)
    return _headed(_ALL, len(slots), slots.astype("<u2").tobytes() + by_slot[slots].tobytes())


def joined_bits(some: Sequence[bytes]) -> BitPieces:
    """Return some pieces of bits."""
    bits: list[bytes] = []
    firsts: list[int] = []
    places: list[bytes] = []
    values: list[bytes] = []
    counts: list[int] = []
    first = 0
    for piece in some:
        end = _BITS_HEAD + ((piece[3] | piece[4] << 8) + 7 >> 3)
        count = (len(piece) - end) // _HEAD
        middle = end + 2 * count
        bits.append(piece[_BITS_HEAD:end])
        places.append(piece[end:middle])
        values.append(piece[middle : middle + count])
        counts.append(count)
        firsts.append(first)
        first += 8 * (end - _BITS_HEAD)
    return BitPieces(
        np.unpackbits(np.frombuffer(b"".join(bits), np.uint8), bitorder="little"),
        firsts,
        np.frombuffer(b"".join(places), "<u2").astype(np.int64),
        counts,
        np.frombuffer(b"".join(values), np.uint8),
    )


def joined_pieces(some: Iterable[bytes]) -> Pieces:
    """Return the postings of some pieces."""
    counts: list[int] = []
    slots: list[bytes] = []
    places: list[bytes] = []
    values: list[bytes] = []
    sizes: list[int] = []
    begins: list[int] = []
    total = 0
    # Hundreds of pieces for each word of a question: no call for a piece that is slots alone.
    for piece in some:
        if not len(piece) & 1:
            slots.append(piece)
            count = len(piece) >> 1
        else:
            if piece[0] >= _DENSE:
                piece = _with_slots(piece)
            count = piece[1] | piece[2] << 8
            end = _HEAD + 2 * count
            slots.append(piece[_HEAD:end])
            begins.append(total)
            if piece[0] == _ALL:
                places.append(_COUNTING[: 2 * count])
                values.append(piece[end : end + count])
                sizes.append(count)
            else:
                changes = (len(piece) - end) // _HEAD
                middle = end + 2 * changes
                places.append(piece[end:middle])
                values.append(piece[middle : middle + changes])
                sizes.append(changes)
        counts.append(count)
        total += count
    changed = np.frombuffer(b"".join(places), "<u2").astype(np.int64)
    if begins:
        changed += np.repeat(np.array(begins, dtype=np.int64), sizes)
    every = np.frombuffer(b"".join(slots), "<u2").astype(np.int64)
    return Pieces(every, counts, changed, np.frombuffer(b"".join(values), np.uint8))


_COUNTING = np.arange(1 << 16).astype("<u2").tobytes()


# Whole blocks


def pack(block: Block, *, squeeze: bool = True) -> bytes:
    """Return the postings of a block as bytes.

    Squeezing the terms takes as long as all the rest: not worth it for a block that is soon spread.
    """
    head, parts = [], []
    for place, postings in block.places.items():
        bases = bases_of(postings, block.size)
        slots, impacts, changed = _changed(postings, bases)
        arrays = (np.diff(postings.starts), slots, changed)
        packed = [_narrow(array) for array in arrays]
        terms = "\n".join(postings.terms).encode()
        if squeeze:
            terms = zlib.compress(terms, _FAST)
        pieces = [
            *(data for _, data in packed),
            bases.tobytes(),
            impacts[changed].tobytes(),
            terms,
        ]
        widths = [width for width, _ in packed]
        head.append([place, widths, [len(piece) for piece in pieces], squeeze])
        parts += pieces
    return orjson.dumps(head) + b"\n" + b"".join(parts)


def unpack(times: bytes, numbers: bytes, postings: bytes) -> Block:
    """Return the block that was packed."""
    return Block(longs(times), longs(numbers), unpack_places(postings))


def unpack_places(postings: bytes) -> dict[int, PlacePostings]:
    """Return the postings of a small block by their places; a spread one has none in its row."""
    places = {}
    if postings:
        at = postings.index(b"\n") + 1
        for place, widths, sizes, squeezed in orjson.loads(postings[: at - 1]):
            pieces = []
            for size in sizes:
                pieces.append(postings[at : at + size])
                at += size
            if squeezed:
                pieces[-1] = zlib.decompress(pieces[-1])
            places[place] = _place(widths, pieces)
    return places


def _place(widths: Sequence[int], pieces: Sequence[bytes]) -> PlacePostings:
    counts, slots, changed = (
        np.frombuffer(piece, f"<u{width}").astype(np.int64)
        for width, piece in zip(widths, pieces, strict=False)
    )
    bases, values, terms = pieces[len(widths) :]
    impacts = np.frombuffer(bases, np.uint8)[slots].astype(np.int64)
    impacts[changed] = np.frombuffer(values, np.uint8)
    starts = np.concatenate(([0], np.cumsum(counts)))
    data = (slots << SLOT_SHIFT | impacts).astype(np.uint32)
    return PlacePostings(terms.decode().split("\n"), starts, data)


def _narrow(values: NDArray[np.integer]) -> tuple[int, bytes]:
    """Return how many bytes each of some numbers takes, and all of them."""
    largest = int(values.max(initial=0))
    width = 1 if largest < 1 << 8 else 2 if largest < 1 << 16 else 4
    return width, values.astype(f"<u{width}").tobytes()


def longs(data: bytes) -> Longs:
    """Return numbers of 64 bits that were packed."""
    width, least, step = LONGS_HEAD.unpack_from(data)
    if width == 8:
        return np.frombuffer(data, "<i8", offset=LONGS_HEAD.size).astype(np.int64, copy=False)
    steps: Longs = np.frombuffer(data, f"<u{width}", offset=LONGS_HEAD.size).astype(np.int64)
    steps *= step
    steps += least
    return steps


def long_bytes(values: Longs) -> bytes:
    """Return numbers of 64 bits, by their distance from the least where that is shorter."""
    least, most = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    step = int(np.gcd.reduce(values - least)) or 1 if most - least < 1 << 62 else 1
    widths = (width for width in (1, 2, 4) if (most - least) // step < 1 << 8 * width)
    width = next(widths, 8)
    head = LONGS_HEAD.pack(width, least, step)
    kept = values if width == 8 else (values - least) // step
    return head + kept.astype(f"<{'i' if width == 8 else 'u'}{width}").tobytes()
