"""Postings and matches: few are kept by their numbers, many by row, and both say the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp.store.ranking import matches
from pdpp.store.ranking.leaders import SCALE
from pdpp.store.ranking.matches import Matches
from pdpp.store.ranking.postings import FieldPostings, Longs, joined_rows

SIZE = 40
BY_ROW = st.lists(st.integers(0, 255), min_size=SIZE, max_size=SIZE)
CHOSEN = st.sets(st.integers(0, SIZE - 1)).map(sorted)
SCORES = st.lists(st.integers(0, 5), min_size=SIZE, max_size=SIZE)


def longs(values: list[int]) -> Longs:
    return np.array(values, dtype=np.int64)


def both(by_row: list[int]) -> tuple[FieldPostings, FieldPostings]:
    """Return the same postings kept in either way."""
    impacts = np.array(by_row, dtype=np.uint8)
    rows = np.flatnonzero(impacts)
    return FieldPostings(rows, impacts[rows]), FieldPostings(None, impacts)


@given(BY_ROW, CHOSEN, st.integers(0, SIZE), st.integers(0, SIZE))
def test_postings_say_the_same_by_number_and_by_row(
    by_row: list[int], chosen: list[int], one: int, other: int
) -> None:
    low, high = sorted((one, other))
    for postings in both(by_row):
        assert postings.at(longs(chosen)).tolist() == [by_row[row] for row in chosen]
        assert postings.between(low, high).tolist() == by_row[low:high]
        assert postings.held().tolist() == [row for row, impact in enumerate(by_row) if impact]
        flags = np.zeros(SIZE, dtype=bool)
        postings.mark(flags)
        assert flags.tolist() == [impact > 0 for impact in by_row]


def matching(scores: list[int]) -> tuple[Matches, Matches]:
    """Return the same matches kept in either way; a row that scores 0 does not match."""
    values = np.array(scores) / SCALE
    flags = values > 0
    rows = np.flatnonzero(flags)
    none = np.zeros(0, dtype=np.int64)
    return Matches(rows, values[rows]), Matches(none, values.copy(), flags)


@given(SCORES, CHOSEN, st.integers(1, 6))
def test_matches_say_the_same_by_number_and_by_row(
    scores: list[int], raised: list[int], count: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matches, "_SAMPLE", 8)
        for kept in matching(scores):
            assert kept.count == sum(score > 0 for score in scores)
            assert kept.holds(longs(raised)).tolist() == [scores[row] > 0 for row in raised]
            kept.put(longs(raised), np.full(len(raised), 9 / SCALE))
            after = [9 if row in raised else score for row, score in enumerate(scores)]
            rows, values = kept.every()
            assert rows.tolist() == [row for row, score in enumerate(after) if score]
            assert np.rint(values * SCALE).tolist() == [score for score in after if score]
            assert np.rint(kept.at(rows) * SCALE).tolist() == np.rint(values * SCALE).tolist()
            best, scored = kept.best(count)
            ranked = sorted((score for score in after if score), reverse=True)[:count]
            assert sorted(np.rint(scored * SCALE), reverse=True)[:count] == ranked
            # What is left out is worse than the worst of the best, so that no tie is torn.
            least = min(ranked, default=0)
            left = set(rows.tolist()) - set(best.tolist())
            assert all(after[row] < least for row in left)


def test_the_rows_of_a_word_that_one_field_holds_are_not_looked_for() -> None:
    held, _ = both([0, 3, 0, 0, 9])
    assert held.rows is not None
    rows = joined_rows([held.rows])
    assert rows is held.rows
    assert held.at(rows) is held.impacts
