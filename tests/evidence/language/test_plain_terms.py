"""Plain terms: the words of many texts that begin like asked ones are found in one look."""

import re

from hypothesis import given
from hypothesis import strategies as st

from pdpp.evidence.language.plain_terms import _END, _FEW_BEGINNINGS, _Beginnings

_LETTERS = "ab1z"
_BEGINNINGS = st.lists(
    st.text(_LETTERS, min_size=1, max_size=6), min_size=1, max_size=9, unique=True
)


@given(st.text(f"{_LETTERS} ", max_size=40), _BEGINNINGS)
def test_words_that_begin_in_some_ways_are_found_however_many_ways_there_are(
    text: str, beginnings: list[str]
) -> None:
    sought = _Beginnings([beginning.encode() for beginning in beginnings])
    folded = f" {text}{_END}".encode()
    found = [
        (before, after)
        for before, after in sought.places_in(folded)
        if sought.begin(folded[before + 1 : after])
    ]
    words = re.finditer("(?<= )[^ ]+", folded.decode())
    assert found == [
        (word.start() - 1, word.end()) for word in words if word[0].startswith(tuple(beginnings))
    ]


def test_many_beginnings_are_looked_for_together() -> None:
    many = [f"{letter}xyz" for letter in "abcdefgh"]
    assert len(many) > _FEW_BEGINNINGS
    sought = _Beginnings([beginning.encode() for beginning in many])
    folded = f" axyz bxyzzy cx hxy gxyz{_END}".encode()
    assert list(sought.places_in(folded)) == [(0, 5), (5, 12), (19, 24)]
