"""Marks: where the words of a question stand in a text, by their stems.

"invoices" marks "invoice". A long text is looked through a block at a time, and no further than
the first matches that a passage is chosen from.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from itertools import chain, islice, pairwise

from pdpp.evidence.analyse import Match, Phrase, find
from pdpp.evidence.language.order_words import PLACE_WORDS
from pdpp.evidence.language.plain_terms import Forms, PlainTerms, stems_in
from pdpp.evidence.language.question import Question
from pdpp.evidence.language.terms import SpacedWords
from pdpp.evidence.language.word_parts import part_terms

MOST_MATCHES = 400
_BLOCK = 16_384
_LONGEST_WORD = 256
_MOST_PHRASES = 50
_LONGEST_PHRASE = 2_000
"""Characters of a phrase that may stand across the end of a block."""
_UNCHECKED = 4_096
"""Characters of short texts between two looks at the clock, which take as long as a title."""

_NO_WORDS: Set[str] = frozenset()

Check = Callable[[], None]


def _no_check() -> None:
    """Let a reader go on."""


class Marker:
    """Finds the words of one question in texts. A match's ``phrase`` is the index of its word.

    That of a quoted phrase, which a record must hold, is below zero; past those of the words are
    those of the parts of a word that is written apart, and of several words which have the stem in
    common, as "photo" and "photos".
    """

    def __init__(
        self,
        question: Question,
        repaired: Mapping[str, Iterable[str]] | None = None,
        check: Check = _no_check,
    ) -> None:
        self.words = [word.text for word in question.words]
        # Of a date that is lacking its words are told, and not the whole beside them.
        self._told = [not word.moment and not word.is_apart for word in question.words]
        self._check = check
        self._related: dict[str, int] = {}
        self._prefixes: list[tuple[Phrase, int]] = []
        self._parts: list[tuple[int, range]] = []
        """The ways in which words are written apart, each with the indexes of its parts."""
        self._count = len(self.words)
        holders: dict[str, list[int]] = {}
        for at, word in enumerate(question.words):
            terms = [*word.own, *(repaired or {}).get(word.text, ())]
            for term in dict.fromkeys(terms):
                if " " in term:
                    self._take_apart(at, term.split(), holders)
                else:
                    holders.setdefault(term, []).append(at)
            for term, _ in word.related:
                self._related.setdefault(term, at)
            if word.prefix is not None:
                self._prefixes.append((Phrase((word.prefix,), True), at))
        self._shared: dict[int, tuple[int, ...]] = {}
        """The words of each index that several have in common."""
        self._own = self._indexes(holders)
        self._as_asked = {
            word.text: at for at, word in enumerate(question.words) if word.prefix is None
        }
        """The words as they were asked for: a text holds them whatever its language is."""
        self._phrases = [(phrase, -1 - at) for at, phrase in enumerate(question.phrases)]
        self._plain: dict[bool, PlainTerms] = {}
        self._split: dict[frozenset[int], tuple[list[str], list[str]]] = {}
        self._asked = question.words
        self._naming: dict[frozenset[str], set[str]] = {}
        self._unchecked = 0

    def _take_apart(self, word: int, parts: Sequence[str], holders: dict[str, list[int]]) -> None:
        """Look for the parts of a word, which count only in a record that holds all of them."""
        indexes = range(self._count, self._count + len(parts))
        self._parts.append((word, indexes))
        self._count += len(parts)
        for index, part in zip(indexes, parts, strict=True):
            for term in part_terms(part):
                holders.setdefault(term, []).append(index)

    def _indexes(self, holders: Mapping[str, Sequence[int]]) -> dict[str, int]:
        """Return the index of each term: that of its word, or one of all words that have it."""
        own: dict[str, int] = {}
        classes: dict[tuple[int, ...], int] = {}
        for term, words in holders.items():
            index = words[0]
            if len(words) > 1:
                index = classes.setdefault(tuple(words), self._count + len(classes))
                self._shared[index] = tuple(words)
            own[term] = index
        return own

    def find(self, text: str) -> list[Match]:
        """Return the first places of the question's words and phrases, in order of start.

        However many words stand before a phrase, its own places are among them.
        """
        [matches] = self.find_each((text,))
        return matches

    def find_each(self, texts: Sequence[str]) -> list[list[Match]]:
        """Return the same for each of some texts."""
        words = self._placed(texts, self._own, own=True)
        if not self._prefixes and not self._phrases:
            return words
        return [
            sorted(sorted(places + self._begun(text))[:MOST_MATCHES] + self._phrased(text))
            for places, text in zip(words, texts, strict=True)
        ]

    def find_any_form(self, text: str) -> list[Match]:
        """Return the first places of the question's words, also those that begin differently.

        It stems each word of a text's first block: for a record in which the quick way found
        nothing.
        """
        if not text or not self._own:
            return []
        self._check()
        _, block = next(iter(_blocks(text)))
        places = _in_any(block, 0, Forms(self._own, self._as_asked, stems_in(text)))
        return list(islice(places, MOST_MATCHES))

    def find_related(self, text: str) -> list[Match]:
        """Return the first places of words that are only near in meaning to the question's."""
        [matches] = self._placed((text,), self._related, own=False)
        return matches

    def _placed(
        self, texts: Sequence[str], terms: Mapping[str, int], *, own: bool
    ) -> list[list[Match]]:
        """Return the first places of words in each of some texts, short plain ones at once."""
        if not terms:
            return [[] for _ in texts]
        short = [text for text in texts if len(text) <= _BLOCK and text.isascii()]
        if not short:
            return [self._placed_in(text, terms, own=own) for text in texts]
        self._unchecked += sum(map(len, short))
        if self._unchecked > _UNCHECKED:
            self._unchecked = 0
            self._check()
        found = self._plain_terms(terms, own=own).find(short, short)
        found = [matches[:MOST_MATCHES] for matches in found]
        if len(short) == len(texts):
            return found
        rest = iter(found)
        return [
            next(rest)
            if len(text) <= _BLOCK and text.isascii()
            else self._placed_in(text, terms, own=own)
            for text in texts
        ]

    def _placed_in(self, text: str, terms: Mapping[str, int], *, own: bool) -> list[Match]:
        """Return the first places of words in a text that is long or has other letters."""
        matches: list[Match] = []
        for start, block in _blocks(text):
            self._check()
            if block.isascii():
                [places] = self._plain_terms(terms, own=own).find((block,), (text,))
                matches += [Match(start + first, start + last, at) for first, last, at in places]
            else:
                forms = Forms(terms, self._as_asked if own else {}, stems_in(text))
                matches += _in_any(block, start, forms)
            if len(matches) >= MOST_MATCHES:
                break
        return matches[:MOST_MATCHES]

    def _plain_terms(self, terms: Mapping[str, int], *, own: bool) -> PlainTerms:
        if own not in self._plain:
            self._plain[own] = PlainTerms(terms, self._as_asked if own else {})
        return self._plain[own]

    def _begun(self, text: str) -> list[Match]:
        """Return the first places of words that begin with a prefix, or whose stems do.

        A prefix is looked for in the index among stems, where "is" stands as "be": a hit that was
        found by one must say so.
        """
        matches = []
        for phrase, index in self._prefixes:
            places = list(islice(self._places(text, phrase, index), MOST_MATCHES))
            if not places and text:
                stems, (prefix,) = stems_in(text), phrase.words
                _, block = next(iter(_blocks(text)))
                spaced = SpacedWords(block)
                begun = (
                    at for at, word in enumerate(spaced.words) if stems[word].startswith(prefix)
                )
                places = [Match(*spaced.span(at), index) for at in islice(begun, MOST_MATCHES)]
            matches += places
        return matches

    def _phrased(self, text: str) -> list[Match]:
        """Return the first places of quoted phrases, which are looked for as written."""
        return [
            match
            for phrase, index in self._phrases
            for match in islice(self._places(text, phrase, index), _MOST_PHRASES)
        ]

    def _places(self, text: str, phrase: Phrase, index: int) -> Iterable[Match]:
        for start, block in _blocks(text):
            self._check()
            # A phrase may begin in one block and end in the next.
            for match in find(text[start : start + len(block) + _LONGEST_PHRASE], (phrase,)):
                if match.start < len(block):
                    yield Match(start + match.start, start + match.end, index)

    def split(self, match_indexes: Iterable[int]) -> tuple[list[str], list[str]]:
        """Return the asked words that a record holds and those it does not, by match indexes."""
        indexes = frozenset(match_indexes)
        known = self._split.get(indexes)
        if known is None:
            # Most hits of a page hold the same words.
            held = self._held(indexes)
            words = list(enumerate(self.words))
            matched = [word for at, word in words if at in held]
            missing = [word for at, word in words if at not in held and self._told[at]]
            known = self._split[indexes] = matched, missing
        return known

    def naming(self, names: frozenset[str]) -> Set[str]:
        """Return the asked words that name a stream, which is called by some terms.

        "First" before such a word asks for an order and is one of them.
        """
        if self._meant_by.keys().isdisjoint(names):
            return _NO_WORDS
        known = self._naming.get(names)
        if known is None:
            naming = set(chain.from_iterable(self._meant_by.get(name, ()) for name in names))
            places = [
                word.text
                for word, next_word in pairwise(self._asked)
                if word.text in PLACE_WORDS and next_word.text in naming
            ]
            known = self._naming[names] = naming.union(places)
        return known

    @cached_property
    def _meant_by(self) -> dict[str, list[str]]:
        """Return the asked words that a term means, by term."""
        meant_by: dict[str, list[str]] = {}
        for word in self._asked:
            for term in word.same:
                meant_by.setdefault(term, []).append(word.text)
        return meant_by

    @property
    def looks_for_parts(self) -> bool:
        """Tell whether some word is looked for in its parts."""
        return bool(self._parts)

    def strays(self, match_indexes: Iterable[int]) -> frozenset[int]:
        """Return the indexes of parts alone, of words whose other parts a record does not hold."""
        indexes = frozenset(match_indexes)
        held = self._held(indexes)
        lone = {at for _, parts in self._parts if not held.issuperset(parts) for at in parts}
        return frozenset(at for at in indexes if lone.issuperset(self._shared.get(at, (at,))))

    def _held(self, indexes: Iterable[int]) -> set[int]:
        """Return the words, and the parts of words, that a record holds by match indexes."""
        held = {word for at in indexes for word in self._shared.get(at, (at,))}
        return held.union(word for word, parts in self._parts if held.issuperset(parts))


def _in_any(block: str, start: int, forms: Forms) -> Iterator[Match]:
    spaced = SpacedWords(block)
    indexes = forms.indexes_of(spaced.words)
    for at, word in enumerate(spaced.words) if indexes else ():
        if word in indexes:
            first, last = spaced.span(at)
            yield Match(start + first, start + last, indexes[word])


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
