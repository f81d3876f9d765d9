"""Small blocks under a grant: what is hidden is not unpacked, and what is visible is found."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pytest
from tests.engine import database_of
from tests.store.questions import ask
from tests.store.world import MESSAGE, Data, World, declare, stream

from pdpp.model import instant
from pdpp.model.grant import Interval
from pdpp.store.query import SearchQuery
from pdpp.store.scope import Reach
from pdpp.store.tables.numbering import PLACE_BITS
from pdpp.store.tables.search import blocks, packing, visible_block
from pdpp.store.tables.search.block_cache import BlockCache
from pdpp.store.tables.search.blocks import PlacePostings
from pdpp.store.tables.search.parts import Part
from pdpp.store.tables.search.placement import placed
from pdpp.store.tables.search.record_data import RecordsRead
from pdpp.store.tables.search.visible_block import visible_places

YEAR = Interval(instant.parse("2026-01-01"), instant.parse("2027-01-01"))
Postings = dict[tuple[int, str], list[tuple[int, int]]]


def nothing(*_: object) -> None:
    """Count nothing, check nothing."""


def text(number: int) -> str:
    return f"harbour {'garden ' * (number % 3)}word{number} Häuser and the lanterns of {number % 7}"


def data(number: int, year: int) -> Data:
    return {
        "subject": text(number),
        "body": f"{text(number + 1)} again",
        "at": f"{year}-05-01",
        "sender": f"Grace {number % 5}",
    }


def fill(world: World) -> None:
    """Write one block with records of three years, and take some out of it again."""
    sender = {"type": ["string", "null"], "x_pdpp_role": "actor"}
    world.settle(declare(stream(properties={**MESSAGE, "sender": sender}), version="2"))
    world.put({f"k{n:02d}": data(n, 2025 + n % 3) for n in range(60)} | {"none": {"subject": "x"}})
    world.put({"k01": None, "k04": data(99, 2026)})


def at_slots(places: dict[int, PlacePostings], slots: set[int]) -> Postings:
    """Return the postings of some slots, by place and term."""
    wanted: Postings = {}
    for place, postings in places.items():
        for at, term in enumerate(postings.terms):
            data = postings.data[postings.starts[at] : postings.starts[at + 1]]
            pairs = [(int(one) >> blocks.SLOT_SHIFT, int(one) & blocks.IMPACT_MASK) for one in data]
            if kept := [pair for pair in pairs if pair[0] in slots]:
                wanted[place, term] = kept
    return wanted


def visible_slots(part: Part, gone: np.ndarray | None) -> set[int]:
    rows = range(part.base, part.end)
    return {part.slot_of(row) for row in rows if gone is None or not gone[row]}


@pytest.mark.parametrize(
    "limits",
    [
        {"time": YEAR},
        {"keys": ["k03", "k07", "k10", "k58", "none"]},
        {"keys": ["k01", "k04", "k07"], "time": YEAR},
        {"time": YEAR, "fields": ["body", "at"]},
        {"time": YEAR, "fields": ["sender", "at"]},
    ],
)
def test_words_of_visible_texts_are_the_visible_words_of_a_block(
    world: World, limits: Data
) -> None:
    fill(world)
    reach, db, cache = world.reach(**limits), database_of(world.store).reader, BlockCache()
    with world.store.reading():
        placement = placed(db, cache, (reach,), object)
        assert placement.small
        for part in placement.small:
            slots = visible_slots(part, placement.hidden)
            read = RecordsRead(db, nothing)
            made = visible_places(part, cache.block(db, part.id), read, nothing)
            stored = "SELECT postings FROM word_block WHERE id = ?"
            whole = packing.unpack_places(db.execute(stored, (part.id,)).get)
            visible = {number & (1 << PLACE_BITS) - 1 for number in part.turns}
            shown = {place: whole[place] for place in visible if place in whole}
            assert shown
            assert at_slots(made, slots) == at_slots(shown, slots)


def hits(world: World, reach: Reach, q: str) -> list[str]:
    page = world.store.search(SearchQuery((reach,), ask(q), 100))
    return [world.key(hit.record) for hit in page.hits]


@contextmanager
def unpacked() -> Iterator[list[int]]:
    """Note how many bytes of words are unpacked."""
    sizes: list[int] = []
    usual = packing._place

    def noting(widths: Sequence[int], pieces: Sequence[bytes]) -> PlacePostings:
        sizes.append(sum(map(len, pieces)))
        return usual(widths, pieces)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing, "_place", noting)
        yield sizes


LONG = " ".join(f"hidden{number}" for number in range(900))


@pytest.mark.parametrize("limits", [{"time": YEAR}, {"keys": ["k03", "k04", "k07"]}])
def test_a_first_search_unpacks_no_more_than_what_is_visible_is_worth(
    world: World, limits: Data
) -> None:
    hidden = {f"h{n}": {"body": f"{LONG} harbour{n}", "at": "2025-05-01"} for n in range(200)}
    visible = {f"k{n:02d}": data(n, 2026) for n in range(3, 8)}
    world.put(hidden | visible)
    reach = world.reach(**limits)
    with unpacked() as sizes:
        assert sorted(hits(world, reach, "harbour")) == sorted(reach.keys or visible)
        assert hits(world, reach, "word4") == hits(world, world.reach(keys=["k03", "k04"]), "word4")
        assert hits(world, reach, "hidden7") == []
    assert sum(sizes) <= visible_block.FREE_BYTES + visible_block.BYTES_A_RECORD * len(visible)


def test_a_block_in_which_nothing_is_visible_is_not_unpacked(world: World) -> None:
    world.put({f"k{n}": data(n, 2026) for n in range(3)})
    world.put({f"h{n}": data(n, 2025 + 2 * (n % 2)) for n in range(20)})
    with unpacked() as some:
        assert len(hits(world, world.reach(time=YEAR), "harbour")) == 3
    with unpacked() as every:
        assert len(hits(world, world.reach(), "harbour")) == 23
    # The block of what is visible, then the other one; each has two fields.
    assert (len(some), len(every)) == (2, 2)
