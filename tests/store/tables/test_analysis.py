"""Analysis of many texts at once against the analyser, text by text."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pdpp.evidence.language.terms import terms_of
from pdpp.store.ranking.postings import Longs
from pdpp.store.tables.search import analysis
from pdpp.store.tables.search.analysis import _remembered, analyse
from pdpp.store.tables.search.vocabulary import MOST_WORDS, KeyTable, Vocabulary

PLAIN = ["the", "The", "invoices", "was", "dog's", "don't", "der", "und", "Haus", "le", "el", "12"]
LONG = ["internationalisation", "eightlet", "ninelette", "x" * 50, "2026-03-01", "", "...", "\n"]
OTHER = ["café", "東京都", "Straße", "y\tz", "\x00", "it’s"]
WORDS = st.sampled_from([*PLAIN, *LONG, *OTHER])
TEXTS = st.lists(st.lists(WORDS, max_size=100).map(" ".join), max_size=40) | st.lists(
    st.text("ab '.z9", max_size=30), min_size=16, max_size=40
)
NAMES = st.lists(st.sampled_from(["Nora Winter", "the dog", "Inês", "", "don't go"]), max_size=60)


@given(TEXTS | NAMES, st.integers(0, 40), st.booleans())
def test_texts_have_the_same_terms_together_as_each_alone(
    texts: list[str], middle: int, anew: bool
) -> None:
    if anew:
        _remembered.cache_clear()
    fields = [texts[:middle], texts[middle:]]
    for own, (names, ranks, owners) in zip(fields, analyse(fields), strict=True):
        held = [Counter[str]() for _ in own]
        for rank, owner in zip(ranks.tolist(), owners.tolist(), strict=True):
            held[owner][names[rank]] += 1
        assert held == [Counter(terms_of(text)) for text in own]
        assert names == sorted(set(names))


def test_of_short_texts_that_come_again_each_is_analysed_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    split: list[str] = []
    words = analysis._words

    def noted(vocabulary: Vocabulary, texts: Sequence[str]) -> tuple[Longs, Longs]:
        split.extend(texts)
        return words(vocabulary, texts)

    monkeypatch.setattr(analysis, "_words", noted)
    names = [f"member {number}" for number in range(20)]
    long = "a text of some length that is not looked at twice to tell it from all the others " * 2
    (terms, _) = analyse([names * 3, [long] * 20])
    assert len(terms.texts) == 120
    assert split == [*names, *[long] * 20]


@pytest.mark.parametrize("words", ["the lights went out", "internationalisation", "don't x" * 90])
def test_a_long_text_is_analysed_as_many_are(words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    one_by_one: list[str] = []
    terms = Counter(terms_of(text := f"{words} " * (20_000 // len(words))))

    def noted(text: str) -> list[str]:
        one_by_one.append(text)
        return terms_of(text)

    monkeypatch.setattr(analysis, "terms_of", noted)
    (found, _) = analyse([[text], ["Log"]])
    assert Counter(map(found.names.__getitem__, found.ranks.tolist())) == terms
    assert one_by_one == []
    analyse([["a short one"], ["Log"]])
    assert one_by_one == ["a short one", "Log"]


def test_a_full_vocabulary_is_begun_anew() -> None:
    _remembered.cache_clear()
    for start in range(0, 3 * MOST_WORDS // 2, MOST_WORDS // 2):
        texts = [f"number{number} n{number}" for number in range(start, start + MOST_WORDS // 2)]
        (terms,) = analyse([texts])
        assert terms.names == sorted(term for text in texts for term in terms_of(text))
    assert not _remembered().vocabulary().full
    _remembered.cache_clear()


@given(st.sets(st.integers(0, 2**64 - 1) | st.integers(0, 2**40), max_size=80), st.integers(1, 8))
def test_a_key_has_the_number_that_it_was_given(keys: set[int], step: int) -> None:
    table = KeyTable(4)
    every = sorted(keys)
    given = np.array(every[::step], dtype=np.uint64)
    for start in range(0, len(given), step):
        table.add(given[start : start + step], start)
    numbers = {key: number for number, key in enumerate(every[::step])}
    looked_up = table.find(np.array(every, dtype=np.uint64)).tolist()
    assert looked_up == [numbers.get(key, -1) for key in every]
