"""Nearest terms: what a misspelt word may have meant, in bounded time."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest

from pdpp.store.ranking import nearest
from pdpp.store.ranking.postings import Bools, Postings, TermGroup, TermLines


class _Words:
    """Visible terms, each of which some record holds."""

    size = 0

    def __init__(self, *terms: str) -> None:
        self._lines = "\n".join(sorted(terms)).encode()

    @property
    def hidden(self) -> Bools | None:
        return np.zeros(0, dtype=bool)

    def vocabulary(self) -> Iterator[TermLines]:
        yield TermLines(self._lines, certain=True)

    def postings(self, groups: Sequence[TermGroup]) -> dict[TermGroup, Postings]:
        return {group: Postings([], []) for group in groups}

    def called(self, term: str) -> Sequence[tuple[int, int]]:
        return [(0, len(term))]


def near(words: _Words, word: str, check: Callable[[], None] = lambda: None) -> list[str]:
    return nearest.nearest_terms(words, [word], check, word)


def test_a_misspelt_word_is_compared_with_those_that_have_its_letters_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files = [f"app{number:06}x" for number in range(5_000)]
    compared: list[str] = []
    distance = nearest.distance

    def counted(one: str, other: str, most: int) -> int:
        compared.append(other)
        return distance(one, other, most)

    monkeypatch.setattr(nearest, "distance", counted)
    assert near(_Words("appoint", *files), "appointmnet") == ["appoint"]
    assert near(_Words(*files), "appointmnet") == []
    assert set(compared) <= {"appoint" + ending for ending in nearest.ENDINGS}


def test_a_search_for_near_words_ends_at_its_deadline() -> None:
    def passed() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        near(_Words("appoint"), "appointmnet", passed)
