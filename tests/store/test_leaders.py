"""Scores and leaders: every way to work out a score gives the same, and the best are the best."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp.evidence.language.asked_word import Word
from pdpp.store.ranking import leaders, matches, score, unit_score
from pdpp.store.ranking.impact import LARGEST
from pdpp.store.ranking.leaders import SCALE
from pdpp.store.ranking.matches import Matches
from pdpp.store.ranking.postings import FieldPostings, Postings, TermGroup
from pdpp.store.ranking.score import ACTOR_BONUS, Bonus, Scores
from pdpp.store.ranking.unit_score import UnitScore

SIZE = 24
CHUNK = 7
FURTHER_FIELD = 0.25
SLACK = 0.05

IMPACTS = st.lists(st.one_of(st.just(0), st.integers(0, LARGEST)), min_size=SIZE, max_size=SIZE)
FIELDS = st.lists(st.tuples(IMPACTS, st.booleans()), min_size=1, max_size=3)
TERMS = st.lists(
    st.tuples(FIELDS, st.floats(0.5, 12), st.booleans()),
    min_size=1,
    max_size=3,
    # Terms of one weight are one group of an index, which joins their postings.
    unique_by=lambda term: term[1],
)
UNITS = st.lists(TERMS, min_size=1, max_size=4)


@pytest.fixture(autouse=True)
def small_sizes() -> Iterator[None]:
    """Let few rows go through all that many do."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (score, unit_score):
            patch.setattr(module, "CHUNK", CHUNK)
        for module in (leaders, matches):
            patch.setattr(module, "_SAMPLE", 8)
        patch.setattr(leaders, "_MOST", 1)
        patch.setattr(matches, "FEW", SIZE + 1)
        patch.setattr(matches, "_SCORED_EACH", 0)
        yield


def kept(by_row: list[int], many: bool) -> FieldPostings:
    impacts = np.array(by_row, dtype=np.uint8)
    rows = np.flatnonzero(impacts)
    return FieldPostings(None, impacts) if many else FieldPostings(rows, impacts[rows])


def unit_of(terms: Any, number: int) -> UnitScore:
    names = [f"t{number}.{at}" for at in range(len(terms))]
    own = tuple((n, w) for n, (_, w, itself) in zip(names, terms, strict=True) if itself)
    near = tuple((n, w) for n, (_, w, itself) in zip(names, terms, strict=True) if not itself)
    postings: dict[TermGroup, Postings] = {
        (name,): Postings([kept(*field) for field in fields], [])
        for name, (fields, _, _) in zip(names, terms, strict=True)
    }
    return UnitScore((Word(f"w{number}", own, near),), postings, 1.0)


def plain(terms: Any, row: int) -> float:
    """Return what a row gets for a word, by the definition alone."""
    own = [weight for _, weight, itself in terms if itself]
    best = 0.0
    for fields, weight, itself in terms:
        impacts = [by_row[row] for by_row, _ in fields]
        strength: float = impacts[0]
        for impact in impacts[1:]:
            further = FURTHER_FIELD * min(strength, impact) if itself else 0
            strength = max(strength, impact) + further
        best = max(best, strength * weight / LARGEST)
    return min(best, max(own, default=6.0))


@given(TERMS)
def test_a_word_gives_the_same_by_rows_and_by_stretches(terms: Any) -> None:
    unit = unit_of(terms, 0)
    every = np.arange(SIZE, dtype=np.int64)
    by_rows = unit.at(every)
    by_stretches = np.zeros(SIZE)
    for low in range(0, SIZE, CHUNK):
        high = min(low + CHUNK, SIZE)
        unit.add(by_stretches[low:high], low, high)
    assert by_rows.tolist() == by_stretches.tolist()
    assert by_rows.tolist() == pytest.approx([plain(terms, row) for row in range(SIZE)])
    odd = every[1::2]
    assert unit.at(odd).tolist() == by_rows[1::2].tolist()


@given(UNITS)
def test_few_matches_are_the_same_rows_by_number(units: Any) -> None:
    made = [unit_of(terms, number) for number, terms in enumerate(units)]
    scores = Scores(SIZE, made, 1.0, Bonus(SIZE), lambda: None)
    many = any(by_row is None for unit in made for by_row in unit.row_lists())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(score, "FEW", 0.01)
        rows = scores.few_candidates()
    assert (rows is None) == many
    if rows is not None:
        assert rows.tolist() == np.flatnonzero(scores.candidates()).tolist()
    assert scores.few_candidates() is None or len(np.flatnonzero(scores.candidates())) < SIZE / 16


@given(UNITS)
def test_of_a_few_hundred_matches_no_bounds_are_asked_for(units: Any) -> None:
    made = [unit_of(terms, number) for number, terms in enumerate(units)]
    scores = Scores(SIZE, made, 1.0, Bonus(SIZE), lambda: None)
    flags = scores.candidates()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matches, "_SCORED_EACH", SIZE)
        patch.setattr(Scores, "word_bounds", None)
        rows, values = matches.Matches.of(flags, scores, 1, 0.0).every()
    assert rows.tolist() == np.flatnonzero(flags).tolist()
    assert values.tolist() == scores.all()[rows].tolist()


@given(TERMS, st.floats(10, 1e6))
def test_a_bound_is_never_below_what_a_row_gets(terms: Any, scale: float) -> None:
    unit = unit_of(terms, 0)
    bounds = np.full(SIZE, 7, dtype=np.uint32)
    unit.add_bounds(bounds, scale)
    gets = unit.at(np.arange(SIZE, dtype=np.int64)) * scale
    assert all(bounds.astype(np.float64) - 7 >= gets - 1e-6)
    assert bounds.max() - 7 <= unit.highest_bound(scale)


@given(TERMS)
def test_what_few_rows_get_is_not_looked_for_again_after_the_bounds(terms: Any) -> None:
    unit, other = unit_of(terms, 0), unit_of(terms, 0)
    unit.add_bounds(np.zeros(SIZE, dtype=np.uint32), 100.0)
    every = np.arange(SIZE, dtype=np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.delattr(FieldPostings, "at")
        known = unit.at(every)
    assert known.tolist() == other.at(every).tolist()


@given(UNITS)
def test_bounds_of_few_bits_hold_all_words_together(units: Any) -> None:
    made = [unit_of(terms, number) for number, terms in enumerate(units)]
    scores = Scores(SIZE, made, 1.0, Bonus(SIZE), lambda: None)
    bounds, scale = scores.word_bounds()
    wide = np.zeros(SIZE, dtype=np.uint32)
    for unit in made:
        unit.add_bounds(wide, scale)
    assert bounds.tolist() == wide.tolist()


@given(UNITS)
def test_bounds_say_which_rows_hold_a_word(units: Any) -> None:
    made = [unit_of(terms, number) for number, terms in enumerate(units)]
    scores = Scores(SIZE, made, 1.0, Bonus(SIZE), lambda: None)
    held = [
        any(by_row[row] for terms in units for fields, _, _ in terms for by_row, _ in fields)
        for row in range(SIZE)
    ]
    assert scores.candidates().tolist() == scores.candidates(ranked=False).tolist() == held
    assert (scores.word_bounds().steps > 0).tolist() == held


def test_rows_that_hold_a_word_which_weighs_nothing_answer_too() -> None:
    field = kept([9] * SIZE, True)
    unit = UnitScore((Word("w", (("t", 0.0),)),), {("t",): Postings([field], [])}, 1.0)
    scores = Scores(SIZE, [unit, unit], 1.0, Bonus(SIZE), lambda: None)
    assert scores.candidates().all()


@given(
    UNITS,
    st.sets(st.integers(0, SIZE - 1), max_size=4),
    st.lists(st.booleans(), min_size=SIZE, max_size=SIZE),
    st.integers(1, 12),
    st.dictionaries(st.integers(0, SIZE - 1), st.floats(-SLACK, 0.3), max_size=6),
)
def test_the_best_are_those_of_all_scores(
    units: Any, named: set[int], seen: list[bool], count: int, changes: dict[int, float]
) -> None:
    made = [unit_of(terms, number) for number, terms in enumerate(units)]
    bonus = Bonus(SIZE)
    if named:
        rows = np.array(sorted(named), dtype=np.int64)
        borne = FieldPostings(rows, np.full(len(rows), 9, np.uint8))
        postings: dict[TermGroup, Postings] = {("name",): Postings([], [borne])}
        bonus.add_actors((Word("name", (("name", 1.0),)),), postings)
    norm = sum(unit.most for unit in made)
    scores = Scores(SIZE, made, norm, bonus, lambda: None)
    flags = scores.candidates() & np.array(seen)
    values = [
        sum(plain(terms, row) for terms in units) / norm + ACTOR_BONUS * (row in named)
        for row in range(SIZE)
    ]
    assert scores.all().tolist() == pytest.approx(values)
    found = Matches.of(flags.copy(), scores, count, SLACK)
    _check_best(found, scores.all(), flags, count)
    # Afterwards some of the best lose a little or win, and others come in.
    changed, rows = scores.all(), np.array(sorted(changes), dtype=np.int64)
    changed[rows] += [changes[row] for row in sorted(changes)]
    flags[rows] = True
    found.put(rows, changed[rows])
    _check_best(found, changed, flags, max(1, count // 3))
    fewer = np.array(seen[::-1])
    _check_best(found.among(fewer), changed, flags & fewer, max(1, count // 3))
    assert found.among(fewer).every()[1].tolist() == changed[flags & fewer].tolist()
    assert found.every()[1].tolist() == changed[flags].tolist()


def _check_best(found: Matches, values: Any, flags: Any, count: int) -> None:
    rows, scored = found.best(count)
    assert scored.tolist() == values[rows].tolist()
    assert found.count == int(flags.sum())
    left = np.setdiff1d(np.flatnonzero(flags), rows)
    if len(left):
        # None that was left out could be among the best, nor equal the last of them.
        assert len(rows) >= count
        last = np.sort(np.rint(scored * SCALE))[-count]
        assert np.rint(values[left] * SCALE).max() < last
