"""Marks: where the words of a question stand in a text, by their stems.

"invoices" marks "invoice". A long text is looked through a block at a time, and no further than
the first matches that a passage is chosen from.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import cached_property
from itertools import chain, islice, pairwise
from typing import NamedTuple

from pdpp.evidence.analyse import ASCII_FOLDS, Match, Phrase, find
from pdpp.evidence.language.order_words import PLACE_WORDS
from pdpp.evidence.language.question import Question
from pdpp.evidence.language.stems import Stems, every_stems, irregular_forms, stems_of
from pdpp.evidence.language.terms import language_of, pieces, spaced_tokens
from pdpp.evidence.language.word_parts import part_terms

MOST_MATCHES = 400
_BLOCK = 16_384
_LONGEST_WORD = 256
_SHORT_STEM = 3
_LONGEST_BEGINNING = 4
_UMLAUTS = "aou"
_SAMPLE_CHARS = 1_000
"""Characters of a text that hold as many words as tell its language."""
_MOST_PHRASES = 50
_LONGEST_PHRASE = 2_000
"""Characters of a phrase that may stand across the end of a block."""
_UNCHECKED = 4_096
"""Characters of short texts between two looks at the clock, which take as long as a title."""

_NO_WORDS: Set[str] = frozenset()

Check = Callable[[], None]

_new = tuple.__new__
"""Makes a match in half the time of a call of its class: there are many on a page."""


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
        self._plain: dict[bool, _PlainTerms] = {}
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
        words = self._placed(text, self._own, own=True)
        if not self._prefixes and not self._phrases:
            return words
        words += self._begun(text)
        words.sort()
        return sorted(words[:MOST_MATCHES] + self._phrased(text))

    def find_any_form(self, text: str) -> list[Match]:
        """Return the first places of the question's words, also those that begin differently.

        It stems each word of a text's first block: for a record in which the quick way found
        nothing.
        """
        if not text or not self._own:
            return []
        self._check()
        _, block = next(iter(_blocks(text)))
        places = _in_any(block, 0, _Forms(self._own, self._as_asked, _stems_in(text)))
        return list(islice(places, MOST_MATCHES))

    def find_related(self, text: str) -> list[Match]:
        """Return the first places of words that are only near in meaning to the question's."""
        return self._placed(text, self._related, own=False)

    def _placed(self, text: str, terms: Mapping[str, int], *, own: bool) -> list[Match]:
        if not terms or not text:
            return []
        if len(text) <= _BLOCK and text.isascii():
            self._unchecked += len(text)
            if self._unchecked > _UNCHECKED:
                self._unchecked = 0
                self._check()
            plain = self._plain.get(own) or self._plain_terms(terms, own=own)
            matches = plain.find(text, 0, text)
            return matches if len(matches) <= MOST_MATCHES else matches[:MOST_MATCHES]
        matches = []
        for start, block in _blocks(text):
            self._check()
            if block.isascii():
                matches += self._plain_terms(terms, own=own).find(block, start, text)
            else:
                forms = _Forms(terms, self._as_asked if own else {}, _stems_in(text))
                matches += _in_any(block, start, forms)
            if len(matches) >= MOST_MATCHES:
                break
        return matches[:MOST_MATCHES]

    def _plain_terms(self, terms: Mapping[str, int], *, own: bool) -> "_PlainTerms":
        if own not in self._plain:
            self._plain[own] = _PlainTerms(terms, self._as_asked if own else {})
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
                stems, (prefix,) = _stems_in(text), phrase.words
                _, block = next(iter(_blocks(text)))
                every = spaced_tokens(block)
                begun = (token for token in every if stems[token.word].startswith(prefix))
                places = [Match(start, end, index) for _, start, end in islice(begun, MOST_MATCHES)]
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


def _stems_in(text: str) -> Stems:
    """Return the stems of the language that a text is indexed in, by the words it begins with."""
    sample = text[:_SAMPLE_CHARS]
    return stems_of(language_of(pieces(sample), sample))


class _PlainTerms:
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
        every = tuple(every_stems())
        for form, at in as_asked.items():
            indexes = {terms.get(of[form], at) for of in every}
            if len(indexes) == 1:
                self._sure[form.encode()] = indexes.pop()
        self._by_language: dict[int, _PlainForms] = {}

    def find(self, block: str, start: int, text: str) -> list[Match]:
        """Return where the terms stand in a block of plain letters of a text."""
        # Every word stands between two spaces, and each character is one byte.
        folded = b" %b " % block.encode().translate(ASCII_FOLDS)
        matches = []
        sure, forms = self._sure, None
        for beginning in self._beginnings:
            at = folded.find(beginning)
            while at >= 0:
                end = folded.index(b" ", at + 1)
                form = folded[at + 1 : end]
                if form in sure:
                    index: int | None = sure[form]
                else:
                    # To tell the language of a text takes longer than all else here: most titles
                    # have no word that begins like one asked for, and a word that stands as it was
                    # asked for mostly means the same in every language.
                    forms = self._forms_in(text) if forms is None else forms
                    index = forms[form]
                if index is not None:
                    # A space was put before the text, so that a word begins where its space is.
                    matches.append(_new(Match, (start + at, start + end - 1, index)))
                at = folded.find(beginning, end)
        if len(matches) > 1:
            matches.sort()
        return matches

    def _forms_in(self, text: str) -> "_PlainForms":
        stems = _stems_in(text)
        known = self._by_language.get(id(stems))
        if known is None:
            forms = _Forms(self._terms, self._as_asked, stems)
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


class _Forms(NamedTuple):
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

    def __init__(self, forms: _Forms) -> None:
        super().__init__()
        self._of = forms

    def __missing__(self, form: bytes) -> int | None:
        index = self[form] = self._of.index_of(form.decode())
        return index


def _in_any(block: str, start: int, forms: _Forms) -> Iterable[Match]:
    for word, first, last in spaced_tokens(block):
        index = forms.index_of(word)
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
