"""Analysis of many texts at once against the analyser, text by text."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from pdpp.evidence.language.terms import terms_of
from pdpp.store.sqlite.search.analysis import analyse

PLAIN = ["the", "The", "invoices", "was", "dog's", "don't", "der", "und", "Haus", "le", "el", "12"]
LONG = ["internationalisation", "eightlet", "ninelette", "x" * 50, "2026-03-01", "", "...", "\n"]
OTHER = ["café", "東京都", "Straße", "y\tz", "\x00", "it’s"]
WORDS = st.sampled_from([*PLAIN, *LONG, *OTHER])
TEXTS = st.lists(st.lists(WORDS, max_size=100).map(" ".join), max_size=40) | st.lists(
    st.text("ab '.z9", max_size=30), min_size=16, max_size=40
)


@given(TEXTS)
def test_texts_have_the_same_terms_together_as_each_alone(texts: list[str]) -> None:
    names, ranks, owners = analyse(texts)
    held = [Counter[str]() for _ in texts]
    for rank, owner in zip(ranks.tolist(), owners.tolist(), strict=True):
        held[owner][names[rank]] += 1
    assert held == [Counter(terms_of(text)) for text in texts]
    assert names == sorted(set(names))
