"""Plain terms: where the words of a question stand in texts of plain letters, in many at once.

To look through a text takes less time than to begin and to end that, so that the texts of a page of
hits are looked through as one.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdpp.evidence.analyse import ASCII_FOLDS, Match
from pdpp.evidence.language.stems import Stems, every_stem, irregular_forms, stems_of
from pdpp.evidence.language.terms import language_of, pieces

_SHORT_STEM = 3
_LONGEST_BEGINNING = 4
_UMLAUTS = "aou"
_SAMPLE_CHARS = 1_000
"""Characters of a text that hold as many words as tell its language."""

_SPACE = 32
_END = "    "
"""Spaces behind all texts: of the last word as many letters are looked at as of others."""
_FEW_BEGINNINGS = 3
_LETTER_BITS = 0x1F
_PAIR_BITS = _LETTER_BITS | _LETTER_BITS << 8
"""The bits that tell letters apart; a digit has those of a letter, which only means more work."""
_BY_LANGUAGE = -1

_new = tuple.__new__
"""Makes a match in half the time of a call of its class: there are many on a page."""


class PlainTerms:
    """The terms of a question as they may begin in plain text, so that few words are stemmed.

    A stem and its word begin alike, but for irregular forms, which are named one by one, and for
    the few languages whose words lose a beginning ("gewerkt" becomes "werk"), for which there is
    ``find_any_form``. Of a very short stem only the first letter is sure: "dying" becomes "die".
    """

    def __init__(self, terms: Mapping[str, int], as_asked: Mapping[str, int]) -> None:
        self._terms = terms
        self._as_asked = as_asked
        wanted = {term for term in (*terms, *as_asked) if term.isascii()}
        beginnings = {beginning for term in wanted for beginning in _beginnings(term)}
        beginnings |= {form for term in wanted for form in irregular_forms().get(term, ())}
        self._beginnings = _Beginnings([text.encode() for text in sorted(beginnings)])
        self._meanings = _Meanings(self._beginnings)
        for form, at in as_asked.items():
            # A word that stands as it was asked for mostly means the same in every language.
            indexes = {terms.get(stem, at) for stem in every_stem(form)}
            if len(indexes) == 1:
                self._meanings[form.encode()] = indexes.pop()
        self._by_language: dict[int, _PlainForms] = {}

    def find(self, blocks: Sequence[str], texts: Sequence[str]) -> list[list[Match]]:
        """Return where the terms stand in some blocks of plain letters, each of the text beside it.

        A place is counted from where its block begins.
        """
        # Every word stands between two spaces, and each character is one byte.
        folded = f" {' '.join(blocks)}{_END}".encode().translate(ASCII_FOLDS)
        ends_of = iter(accumulate([len(block) + 1 for block in blocks]))
        found: list[list[Match]] = []
        meanings = self._meanings
        forms: _PlainForms | None = None
        first = following = 0
        for before, after in self._beginnings.places_in(folded):
            index = meanings[folded[before + 1 : after]]
            if index is None:
                continue
            while before >= following:
                # A space stands before each block, so that a word begins where its space is.
                first, following = following, next(ends_of)
                matches: list[Match] = []
                found.append(matches)
                forms = None
            if index == _BY_LANGUAGE:
                # To tell the language of a text takes longer than all else here, and most titles
                # have no word that begins like one asked for.
                if forms is None:
                    forms = self._forms_in(texts[len(found) - 1])
                index = forms[folded[before + 1 : after]]
            if index is not None:
                matches.append(_new(Match, (before - first, after - 1 - first, index)))
        found += [[] for _ in range(len(blocks) - len(found))]
        return found

    def _forms_in(self, text: str) -> "_PlainForms":
        stems = stems_in(text)
        known = self._by_language.get(id(stems))
        if known is None:
            forms = Forms(self._terms, self._as_asked, stems)
            known = self._by_language[id(stems)] = _PlainForms(forms)
        return known


class _Beginnings:
    """Some beginnings of words: few are looked for one by one, a dozen in a third of that time."""

    def __init__(self, beginnings: Sequence[bytes]) -> None:
        self._beginnings = tuple(beginnings)
        many = len(beginnings) > _FEW_BEGINNINGS
        self._allowed = [
            (skipped, _allowing([beginning[skipped - 1 : skipped + 1] for beginning in beginnings]))
            for skipped in ((1, 3) if many else ())
        ]
        """After how many characters two letters of a word are, and which these may be."""

    def begin(self, form: bytes) -> bool:
        """Tell whether a word begins in one of the ways."""
        return form.startswith(self._beginnings)

    def places_in(self, folded: bytes) -> Iterable[tuple[int, int]]:
        """Return the spaces around each word that may begin so, in order."""
        if len(self._beginnings) <= _FEW_BEGINNINGS:
            return sorted(set(self._each_in(folded)))
        spaces = np.flatnonzero(np.frombuffer(folded, np.uint8) == _SPACE)
        starts, ends = spaces[: -len(_END)], spaces[1 : 1 - len(_END)]
        # The letters after each place as one number, wherever it is.
        size = len(folded) - len(_END)
        for skipped, allowed in self._allowed:
            letters = np.ndarray((size,), "<u2", folded, skipped, (1,))
            places = np.flatnonzero(allowed[letters[starts] & _PAIR_BITS])
            starts, ends = starts[places], ends[places]
        return zip(starts.tolist(), ends.tolist(), strict=True)

    def _each_in(self, folded: bytes) -> Iterator[tuple[int, int]]:
        for beginning in self._beginnings:
            spaced = b" " + beginning
            before = folded.find(spaced)
            while before >= 0:
                after = folded.index(b" ", before + 1)
                yield before, after
                before = folded.find(spaced, after)


def _allowing(beginnings: Sequence[bytes]) -> NDArray[np.bool_]:
    """Return which two letters begin in one of some ways, of two letters, of one or of none."""
    allowed = np.zeros(_PAIR_BITS + 1, dtype=bool)
    for letters in beginnings:
        if len(letters) == 2:
            allowed[(letters[0] | letters[1] << 8) & _PAIR_BITS] = True
        elif letters:
            allowed[letters[0] & _LETTER_BITS :: 256] = True
        else:
            allowed[:] = True
    return allowed


class _Meanings(dict[bytes, int | None]):
    """The index of each word that is the same whatever language a text is in, as they are met.

    ``_BY_LANGUAGE`` stands for others, None for what does not begin as an asked word may.
    """

    def __init__(self, beginnings: _Beginnings) -> None:
        super().__init__()
        self._beginnings = beginnings

    def __missing__(self, form: bytes) -> int | None:
        meaning = self[form] = _BY_LANGUAGE if self._beginnings.begin(form) else None
        return meaning


def _beginnings(term: str) -> Iterable[str]:
    """Yield how a word may begin whose stem is a term.

    The longer a stem is, the more of its beginning is that of the word. German writes umlauts with
    an "e" too, and their stems are without it.
    """
    sure = 1 if len(term) <= _SHORT_STEM else min(len(term) - 1, _LONGEST_BEGINNING)
    yield term[:sure]
    for at, letter in enumerate(term[: sure - 1], start=1):
        if letter in _UMLAUTS:
            yield f"{term[:at]}e"


class Forms(NamedTuple):
    """What the forms of words mean in a text of one language."""

    terms: Mapping[str, int]
    as_asked: Mapping[str, int]
    stems: Stems

    def index_of(self, form: str) -> int | None:
        """Return the index of the asked word that a form means, None where it is none."""
        index = self.terms.get(self.stems[form])
        return self.as_asked.get(form) if index is None else index

    def indexes_of(self, words: Iterable[str]) -> dict[str, int]:
        """Return the index of each of some words that means an asked one."""
        terms, as_asked, stems = self
        distinct = dict.fromkeys(words)
        indexes = {form: at for form, at in as_asked.items() if form in distinct}
        for word in distinct:
            index = terms.get(stems[word])
            if index is not None:
                indexes[word] = index
        return indexes


class _PlainForms(dict[bytes, int | None]):
    """The same for forms in plain letters, remembered as they are met."""

    def __init__(self, forms: Forms) -> None:
        super().__init__()
        self._of = forms

    def __missing__(self, form: bytes) -> int | None:
        index = self[form] = self._of.index_of(form.decode())
        return index


def stems_in(text: str) -> Stems:
    """Return the stems of the language that a text is indexed in, by the words it begins with."""
    sample = text[:_SAMPLE_CHARS]
    return stems_of(language_of(pieces(sample), sample))
