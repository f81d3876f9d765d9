"""What is remembered of common words is what was offered, and takes no more than its room."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from pdpp.store.ranking.postings import FieldPostings, Impacts
from pdpp.store.tables.search import block_cache, common_postings
from pdpp.store.tables.search.block_cache import BlockCache
from pdpp.store.tables.search.common_postings import CommonPostings, FieldOfTurn
from pdpp.store.tables.search.lists import Turn

BODY, TITLE = Turn(False, 1), Turn(False, 0)
SIZE = 200
IMPACTS = arrays(np.uint8, SIZE, elements=st.sampled_from([0, 0, 0, 7, 7, 7, 9]))


def everywhere(impacts: Impacts) -> list[FieldOfTurn]:
    return [FieldOfTurn(BODY, FieldPostings(None, impacts))]


def bases(_: Turn) -> Impacts:
    return np.full(SIZE, 7, dtype=np.uint8)


def size_of(word: str) -> int:
    """Return how many bytes it takes to remember a word that stands everywhere."""
    common = CommonPostings()
    remember(common, word, np.full(SIZE, 7, dtype=np.uint8))
    return common.bytes


def remember(common: CommonPostings, word: str, impacts: Impacts) -> bool:
    return common.offer((word,), everywhere(impacts), bases)


@given(impacts=IMPACTS, known=st.integers(0, SIZE))
def test_postings_come_back_as_they_were_also_when_more_bases_are_known(
    impacts: Impacts, known: int
) -> None:
    filled = bases(BODY)
    filled[known:] = 0
    common = CommonPostings()
    few = FieldPostings(np.array([3, 5]), np.array([1, 2], dtype=np.uint8))
    fields = [FieldOfTurn(TITLE, few), *everywhere(impacts)]
    common.offer(("word",), fields, lambda _: filled)
    kept = common.find(("word",), bases)
    assert kept is not None
    assert kept[0] == fields[0]
    assert kept[1].turn == BODY
    assert kept[1].postings.rows is None
    assert kept[1].postings.impacts.tolist() == impacts.tolist()


def test_a_word_is_remembered_when_it_is_common() -> None:
    common, impacts = CommonPostings(), np.full(SIZE, 7, dtype=np.uint8)
    assert common.find(("common",), bases) is None
    assert common.offer(("common",), everywhere(impacts), bases)
    assert common.find(("common",), bases) is not None
    size = common.bytes
    rare = [FieldOfTurn(BODY, FieldPostings(np.array([3]), np.array([1], dtype=np.uint8)))]
    assert not any(common.offer(("rare",), rare, bases) for _ in range(3))
    assert common.find(("rare",), bases) is None
    assert common.bytes == size


def test_the_words_asked_for_longest_ago_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    impacts = np.full(SIZE, 7, dtype=np.uint8)
    room = 2 * size_of("first") + 2
    monkeypatch.setattr(common_postings, "MOST_BYTES", room)
    common = CommonPostings()
    assert all(remember(common, word, impacts) for word in ("first", "second"))
    assert common.find(("first",), bases) is not None
    assert remember(common, "third", impacts)
    kept = [word for word in ("first", "second", "third") if common.find((word,), bases)]
    assert kept == ["first", "third"]
    assert room - 2 <= common.bytes <= room


def test_the_terms_of_a_prefix_take_room_as_well() -> None:
    impacts = np.full(SIZE, 7, dtype=np.uint8)
    common = CommonPostings()
    prefix = tuple(f"word{number}" for number in range(200))
    common.offer(prefix, everywhere(impacts), bases)
    assert common.bytes > sum(map(sys.getsizeof, prefix))
    assert common.bytes > 5 * size_of("word")


def test_placements_share_one_room(monkeypatch: pytest.MonkeyPatch) -> None:
    impacts = np.full(SIZE, 7, dtype=np.uint8)
    monkeypatch.setattr(block_cache, "_MOST_COMMON_BYTES", 2 * size_of("word"))
    cache, placements = BlockCache(), [CommonPostings() for _ in range(3)]
    for common in placements:
        remember(common, "word", impacts)
        cache.note_use(common)
    assert [common.bytes for common in placements] == [0, size_of("word"), size_of("word")]
    cache.note_use(placements[1])
    remember(placements[0], "word", impacts)
    cache.note_use(placements[0])
    assert [bool(common.bytes) for common in placements] == [True, True, False]
