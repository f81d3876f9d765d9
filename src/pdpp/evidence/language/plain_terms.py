"""Plain terms: where the words of a question stand in texts of plain letters, in many at once.

To look through a text takes less time than to begin and to end that, so that the texts of a page of
hits are looked through as one.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from pdpp.evidence.analyse import ASCII_FOLDS, Match
from pdpp.evidence.language.stems import Stems, every_stem, irregular_forms, stems_of
from pdpp.evidence.language.terms import language_of, pieces

_SHORT_STEM = 3
_LONGEST_BEGINNING = 4
_UMLAUTS = "aou"
_SAMPLE_CHARS = 1_000
"""Characters of a text that hold as many words as tell its language."""

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
        self._beginnings = [
            f" {text}".encode()
            for text in sorted(beginnings)
            if not any(text[:size] in beginnings for size in range(1, len(text)))
        ]
        self._sure: dict[bytes, int] = {}
        """The asked words that mean the same in a text of any language."""
        for form, at in as_asked.items():
            indexes = {terms.get(stem, at) for stem in every_stem(form)}
            if len(indexes) == 1:
                self._sure[form.encode()] = indexes.pop()
        self._by_language: dict[int, _PlainForms] = {}

    def find(self, blocks: Sequence[str], texts: Sequence[str]) -> list[list[Match]]:
        """Return where the terms stand in some blocks of plain letters, each of the text beside it.

        A place is counted from where its block begins.
        """
        # Every word stands between two spaces, and each character is one byte.
        folded = f" {' '.join(blocks)} ".encode().translate(ASCII_FOLDS)
        firsts = [0, *accumulate([len(block) + 1 for block in blocks])]
        found: list[list[Match]] = [[] for _ in blocks]
        forms_of: dict[int, _PlainForms] = {}
        sure = self._sure
        for beginning in self._beginnings:
            place = folded.find(beginning)
            while place >= 0:
                end = folded.index(b" ", place + 1)
                form = folded[place + 1 : end]
                at = bisect_right(firsts, place) - 1
                if form in sure:
                    index: int | None = sure[form]
                else:
                    # To tell the language of a text takes longer than all else here: most titles
                    # have no word that begins like one asked for, and a word that stands as it was
                    # asked for mostly means the same in every language.
                    if at not in forms_of:
                        forms_of[at] = self._forms_in(texts[at])
                    index = forms_of[at][form]
                if index is not None:
                    # A space stands before each block, so that a word begins where its space is.
                    first = firsts[at]
                    found[at].append(_new(Match, (place - first, end - 1 - first, index)))
                place = folded.find(beginning, end)
        for matches in found:
            if len(matches) > 1:
                matches.sort()
        return found

    def _forms_in(self, text: str) -> "_PlainForms":
        stems = stems_in(text)
        known = self._by_language.get(id(stems))
        if known is None:
            forms = Forms(self._terms, self._as_asked, stems)
            known = self._by_language[id(stems)] = _PlainForms(forms)
        return known


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
