"""Marks: where the words of a question stand in a text, by their stems.

"invoices" marks "invoice". A long text is looked through a block at a time, and no further than
the first matches that a passage is chosen from.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from pdpp.evidence.analyse import Match, Phrase, find, tokens
from pdpp.evidence.language.irregular import BASES
from pdpp.evidence.language.question import Question
from pdpp.evidence.language.stems import Stems, stems_of
from pdpp.evidence.language.terms import language_of

MOST_MATCHES = 400
_BLOCK = 16_384
_LONGEST_WORD = 256
_SHORT_STEM = 3
_SAMPLE_CHARS = 2_000

Check = Callable[[], None]


def _no_check() -> None:
    """Let a reader go on."""


class Marker:
    """Finds the words of one question in texts. A match's ``phrase`` is the index of its word."""

    def __init__(
        self,
        question: Question,
        repaired: Mapping[str, Iterable[str]] | None = None,
        check: Check = _no_check,
    ) -> None:
        self.words = [word.text for word in question.words]
        self._check = check
        self._own: dict[str, int] = {}
        self._related: dict[str, int] = {}
        prefixes: list[tuple[Phrase, int]] = []
        for at, word in enumerate(question.words):
            terms = [term for term, _ in word.terms]
            terms += (repaired or {}).get(word.text, ())
            for term in terms:
                self._own.setdefault(term, at)
            for term, _ in word.related:
                self._related.setdefault(term, at)
            if word.prefix is not None:
                prefixes.append((Phrase((word.prefix,), True), at))
        self._phrases = [*prefixes, *((phrase, -1) for phrase in question.phrases)]
        self._patterns: dict[bool, re.Pattern[str]] = {}

    def find(self, text: str) -> list[Match]:
        """Return the first places where a word of the question stands, in order of start."""
        matches = self._placed(text, self._own, own=True) + self._phrased(text)
        matches.sort()
        return matches[:MOST_MATCHES]

    def find_related(self, text: str) -> list[Match]:
        """Return the first places of words that are only near in meaning to the question's."""
        return self._placed(text, self._related, own=False)

    def _placed(self, text: str, terms: Mapping[str, int], *, own: bool) -> list[Match]:
        if not terms or not text:
            return []
        sample = text[:_SAMPLE_CHARS]
        words = [token.word for token in tokens(sample)] if not sample.isascii() else None
        stems = stems_of(language_of(words or sample.lower().split(), sample))
        matches: list[Match] = []
        for start, block in _blocks(text):
            self._check()
            if block.isascii():
                matches += self._in_ascii(block, start, terms, stems, own=own)
            else:
                matches += _in_any(block, start, terms, stems)
            if len(matches) >= MOST_MATCHES:
                break
        return matches[:MOST_MATCHES]

    def _in_ascii(
        self, block: str, start: int, terms: Mapping[str, int], stems: Stems, *, own: bool
    ) -> Iterable[Match]:
        pattern = self._patterns.get(own)
        if pattern is None:
            pattern = self._patterns[own] = _pattern(terms)
        for place in pattern.finditer(block.lower()):
            index = terms.get(stems[place[0]])
            if index is not None:
                yield Match(start + place.start(), start + place.end(), index)

    def _phrased(self, text: str) -> list[Match]:
        """Return where phrases and prefixes stand; these are looked for as they were written."""
        matches: list[Match] = []
        for phrase, at in self._phrases:
            for start, block in _blocks(text):
                self._check()
                found = find(block, (phrase,))
                index = len(self.words) if at < 0 else at
                matches += [Match(start + m.start, start + m.end, index) for m in found]
                if len(matches) >= MOST_MATCHES:
                    break
        return matches

    def split(self, held: Iterable[int]) -> tuple[list[str], list[str]]:
        """Return the asked words that a record holds and those it does not, by match indexes."""
        indexes = set(held)
        matched = [word for at, word in enumerate(self.words) if at in indexes]
        return matched, [word for at, word in enumerate(self.words) if at not in indexes]


def _pattern(terms: Iterable[str]) -> re.Pattern[str]:
    """Return what finds words of plain text that may have one of some stems.

    A stem and its word begin alike, but for irregular forms, which are named one by one. Of a very
    short stem only the first letter is sure: "dying" becomes "die".
    """
    wanted = {term for term in terms if term.isascii()}
    beginnings = {term[: 1 if len(term) <= _SHORT_STEM else 2] for term in wanted}
    english = stems_of("en")
    beginnings |= {form for form, base in BASES.items() if english[base] in wanted}
    if not beginnings:
        return re.compile(r"(?!)")
    body = "|".join(sorted(map(re.escape, beginnings)))
    return re.compile(f"(?<![0-9a-z])(?:{body})[0-9a-z]*")


def _in_any(block: str, start: int, terms: Mapping[str, int], stems: Stems) -> Iterable[Match]:
    for word, first, last in tokens(block):
        index = terms.get(stems[word])
        if index is not None:
            yield Match(start + first, start + last, index)


def _blocks(text: str) -> Sequence[tuple[int, str]] | Iterable[tuple[int, str]]:
    """Yield a text in pieces that end between words, each with where it begins."""
    if len(text) <= _BLOCK:
        return ((0, text),)
    return _pieces(text)


def _pieces(text: str) -> Iterable[tuple[int, str]]:
    start = 0
    while start < len(text):
        end = start + _BLOCK
        if end < len(text):
            near = max(text.rfind(" ", end - _LONGEST_WORD, end), text.rfind("\n", start, end))
            end = near + 1 if near > start else end
        yield start, text[start:end]
        start = end
