"""Asked words: the terms by which each word of a question is looked for, and what they weigh.

A word is stemmed by the language of the question. Where nothing tells that language, it is stemmed
by all that it may be in, and a word of another script by those that are written in it.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby, pairwise
from typing import NamedTuple

from pdpp.evidence.language.associations import associated_with
from pdpp.evidence.language.clock import clock_terms
from pdpp.evidence.language.members import members_of
from pdpp.evidence.language.spellings import (
    hyphenated,
    is_english,
    joined_terms,
    umlaut_terms,
)
from pdpp.evidence.language.stems import ALGORITHMS, every_stem, stems_of
from pdpp.evidence.language.stop_words import QUESTION_WORDS, STOP_WORDS
from pdpp.evidence.language.tables import (
    RARE,
    common_words,
    frequencies,
    number_frequency,
    related_to,
    weight,
)
from pdpp.evidence.language.terms import (
    distinct,
    is_spelled_as,
    language_of,
    languages_of_script,
    pieces,
)
from pdpp.evidence.language.translations import (
    AMBIGUOUS,
    TRANSLATED,
    in_english,
    in_other_languages,
)
from pdpp.evidence.language.variants import VARIANTS

_MOST_REMEMBERED = 1_024
_RELATED_PART = 0.8
_VARIANT_PART = 0.8
_MEMBER_PART = 0.45
"""What a thing counts for where the question names its kind. Measured."""
_ASSOCIATED_PART = 0.4
"""What a word counts for by which people talk of the asked one. Measured."""
_TRANSLATED_PART = 0.8
"""What a word counts for in another language than that of the question. Measured."""
_AMBIGUOUS_PART = 0.5
"""What such a word counts for that English texts hold for another thing."""
_SAME_PART = 0.7
"""From which part of its own weight on a related term names the same stream as the word."""
_STOP_FREQUENCY = 0.002
_SYLLABLE_FREQUENCY = 0.005
"""From which part of public text on a word of another language only holds a question together.
Where no ending is cut off words are short, as the syllables of Vietnamese, and common ones tell."""
_SHARED_BY = 5
"""By how many languages a common word is shared that holds a question together: "de", "la"."""
_LEAST_JOINED = 4
"""Letters of a word that two neighbours make together."""
_THOUSANDS = 3
"""Digits of the second of two numbers that are written as one: "1,200" and "1 200"."""
_LONG_NUMBER = range(7, 16)
"""Digits of a number of a phone or an account, which people write in groups."""
_HYPHENATING = ("de", "en")
"""Languages that make words with hyphens. In others these join what holds a question together."""
_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
PREFIX_WEIGHT = 6.0
_ELSEWHERE = ("de", "es", "fr", "it", "nl", "pt")
"""Languages in whose texts a word of another language is looked for too, by its stem there. Each
takes time, and the stems of others are mostly those of other words."""
_LATIN = tuple(
    sorted(set(ALGORITHMS) - {"ar", "el", "fa", "hi", "ru", "sr", "ta"}, key=lambda name: name)
)


class Word(NamedTuple):
    """One asked word: how it was written, and the terms that mean it, each with its weight.

    ``guesses`` may mean it: stems far shorter than the word, in languages that the question may be
    in, and the word joined with its neighbour, as "fusebox" where "fuse box" is asked for.
    ``related`` are terms near in meaning; those of them that are ``translated`` mean the word in
    another language. A ``prefix`` stands for every term that begins so.
    ``moment`` is the number, from 1, of the time expression that the word was written in: records
    of that time need not spell it out.
    """

    text: str
    terms: tuple[tuple[str, float], ...]
    related: tuple[tuple[str, float], ...] = ()
    prefix: str | None = None
    required: bool = False
    group: int = 0
    moment: int = 0
    guesses: tuple[tuple[str, float], ...] = ()
    translated: frozenset[str] = frozenset()

    @property
    def own(self) -> list[str]:
        """Return the terms that mean the word itself, in whatever language."""
        return [term for term, _ in (*self.terms, *self.guesses)]

    @property
    def has_meaning(self) -> bool:
        """Tell whether the word has a known meaning, so that it is not misspelt."""
        return bool(self.related)

    def is_meant_by(self, term: str) -> bool:
        """Tell whether a term surely means the word."""
        return any(own == term for own, _ in self.terms)

    @property
    def is_apart(self) -> bool:
        """Tell whether a text holds the word only in all its parts, as it does a date."""
        return bool(self.terms) and all(" " in term for term, _ in self.terms)

    @property
    def same(self) -> Iterator[str]:
        """Yield the terms that mean the word itself: its own and those as good as it."""
        yield from (term for term, _ in self.terms)
        least, meant = _SAME_PART * self.weight, self.translated
        yield from (term for term, value in self.related if value >= least or term in meant)

    @property
    def weight(self) -> float:
        """Return how much the word tells."""
        return max((weight for _, weight in self.terms), default=PREFIX_WEIGHT)


def asked_words(
    context: Sequence[str],
    written: Sequence[str],
    *,
    required: bool = False,
    joined: bool = False,
) -> list[Word]:
    """Return the words of a question that are written in some context, none of them twice.

    ``joined`` words are also looked for as one with their neighbours, and in the ways that others
    write them.
    """
    text = " ".join(context)
    around = pieces(text)
    languages = _languages(around, text)
    guessed = _guessed(around, text, languages[0])
    kept = written
    if not required and (guessed or languages[0] != "en"):
        common = _holds_together if not guessed else _may_hold_together
        kept = [word for word in written if not common(word, languages[0])] or written
    words = [_word(piece, languages, guessed, required) for piece in distinct(kept)]
    alike = {(word.terms, word.guesses): word for word in reversed(words)}
    asked = list(alike.values())[::-1]
    if not joined:
        return asked
    # Where nothing tells the language, a word that was left out may be half of one: "wi-fi".
    telling = {word for word in around if word not in STOP_WORDS} if guessed else set(kept)
    if languages[0] in _HYPHENATING or guessed:
        telling |= hyphenated(text)
    terms = _joined(around, telling, languages, keywords=bool(guessed))
    for word, term in (*clock_terms(text), *umlaut_terms(text)):
        terms.setdefault(word, []).append(term)
    return [_looked_for_as(word, terms.get(word.text, ())) for word in asked]


def _joined(
    around: Sequence[str], telling: set[str], languages: Sequence[str], *, keywords: bool
) -> dict[str, list[str]]:
    """Return for words the terms that they are as one with their telling neighbours.

    Nothing tells the language of ``keywords``: they may be English or German.
    """
    languages = ("en", "de") if keywords else languages
    terms: dict[str, list[str]] = {}
    for one, other in pairwise(around):
        if one in telling and other in telling and _may_be_one(one, other):
            as_one = joined_terms(one, other, languages, keywords=keywords)
            terms.setdefault(one, []).extend(as_one)
            terms.setdefault(other, []).extend(as_one)
    for group, number in _long_numbers(around):
        terms.setdefault(group, []).append(number)
    return terms


def _long_numbers(around: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield three groups of digits or more, each with the number they make, as "912 345 678".

    The first group may be the code of a country, without which people write the number too.
    """
    for digits, run in groupby(around, str.isdecimal):
        groups = list(run)
        for some in (groups, groups[1:]):
            number = "".join(some)
            if digits and len(groups) > 2 and len(number) in _LONG_NUMBER:
                yield from ((group, number) for group in some)


def _may_be_one(one: str, other: str) -> bool:
    """Tell whether two neighbours may be written as one word or number."""
    if one.isdecimal():
        return not other.isdecimal() or len(other) == _THOUSANDS
    return len(one) + len(other) >= _LEAST_JOINED


def _looked_for_as(word: Word, terms: Sequence[str]) -> Word:
    """Return a word that these terms may mean as well."""
    if not terms:
        return word
    own, weighing = set(word.own), word.weight
    more = tuple([(term, weighing) for term in distinct(terms) if term not in own])
    return word._replace(guesses=word.guesses + more)


def _languages(words: Sequence[str], text: str) -> tuple[str, ...]:
    """Return the languages that a question is in: one of which it has words, and English."""
    language = language_of(words, text)
    return ("en",) if language == "en" else (language, "en")


def _guessed(words: Sequence[str], text: str, language: str) -> tuple[str, ...]:
    """Return the languages that a question may be in, none where common words tell its own."""
    if not words or not (language in _LATIN or all(map(str.isascii, words))):
        return ()
    votes = common_words().votes(words)
    own = votes.pop(language, 0)
    others = max(votes.values(), default=0)
    if language == "en":
        return () if own else _LATIN
    spelled = is_spelled_as(language, text)
    return () if _told(own, others, spelled=spelled) else _LATIN


def _told(own: int, others: int, *, spelled: bool) -> bool:
    """Tell whether so many words are enough to know a language that others have fewer of.

    One word tells nothing: "pro" is Czech, "plus" French, "men" Danish, "de" of twelve languages.
    Nor does a letter alone, which may be of somebody's name; but a letter and a word do, and of
    two languages with as many words the one is meant that has the letter too.
    """
    return own > max(1, others) or (spelled and (own > others or own == others > 1))


def _holds_together(word: str, language: str) -> bool:
    """Tell whether a word says nothing of what is asked for: it is common, or asks."""
    return word in QUESTION_WORDS.get(language, ()) or _is_common(word, language)


def _may_hold_together(word: str, language: str) -> bool:
    """Tell the same where the question may or may not be in that language.

    What asks in it may name something in English: "manga books", "Dove soap".
    """
    named = stems_of("en")[word] in frequencies("en")
    if language == "en":
        return not named and any(word in asking for asking in QUESTION_WORDS.values())
    shared = len(common_words().votes([word])) >= _SHARED_BY
    holds_together = _is_common if named else _holds_together
    return (shared or not is_english(word)) and holds_together(word, language)


def _is_common(word: str, language: str) -> bool:
    most = _STOP_FREQUENCY if language in ALGORITHMS else _SYLLABLE_FREQUENCY
    return frequencies(language).get(stems_of(language)[word], 0) >= most


@lru_cache(maxsize=_MOST_REMEMBERED)
def _word(piece: str, languages: tuple[str, ...], guessed: tuple[str, ...], required: bool) -> Word:
    """Return a word with the terms that mean it; questions have many of their words in common."""
    written_in = languages_of_script(piece)
    if written_in and languages[0] not in written_in:
        languages, guessed = written_in, ()
    sure = ("en",) if guessed else languages
    certain = distinct(stems_of(language)[piece] for language in sure)
    guesses = [
        stem
        for stem in distinct(stems_of(language)[piece] for language in guessed)
        if len(stem) > 1 and stem not in STOP_WORDS
    ]
    stems = distinct([*certain, *(stem for stem in guesses if _keeps_most(stem, piece))])
    own = weight(_frequency(piece, sure if is_english(piece) else languages))
    related: dict[str, float] = {}
    for other, part in _near(piece, stems[0]) if sure[0] == "en" else ():
        near = min(own, _english_weight(other))
        if other not in stems:
            related[other] = max(related.get(other, 0), part * near)
    translated = {
        other: value
        for other, value in _translated(piece, stems[0], languages, guessed, own)
        if other not in stems
    }
    for other, value in translated.items():
        related[other] = max(related.get(other, 0), value)
    likely = [(stem, min(own, _english_weight(stem))) for stem in guesses if stem not in stems]
    if own < weight(RARE) and not (guessed or written_in):
        likely = [(stem, _VARIANT_PART * own) for stem in _elsewhere(piece) if stem not in stems]
    return Word(
        piece,
        tuple((stem, own) for stem in stems),
        tuple(related.items()),
        required=required,
        guesses=tuple(likely),
        translated=frozenset(translated),
    )


def _translated(
    piece: str, stem: str, languages: Sequence[str], guessed: Sequence[str], own: float
) -> Iterator[tuple[str, float]]:
    """Yield the stems that mean a word in another language than that of the question, each with
    its weight; ``own`` is that of the word."""
    if guessed or languages[0] == "en":
        for other in in_other_languages(stem):
            yield other, own * (_AMBIGUOUS_PART if other in AMBIGUOUS else _TRANSLATED_PART)
    asked_in = languages[:1] if not guessed else () if is_english(piece) else TRANSLATED
    for language in asked_in:
        for other in in_english(piece, language):
            # A name is rare, and what it means elsewhere may be common: "Noel", "Nina".
            yield other, _TRANSLATED_PART * min(own, _english_weight(other))


def _elsewhere(piece: str) -> list[str]:
    """Return what texts of other languages keep of a known word: French ones "cod" of "code".

    A stem that is a word of English would mostly find that word: Italian makes "past" of "pasta".
    """
    stems = distinct(stems_of(language)[piece] for language in _ELSEWHERE)
    kept = [stem for stem in stems if piece.startswith(stem) and _keeps_most(stem, piece)]
    return [stem for stem in kept if not is_english(stem)]


def _frequency(piece: str, languages: Sequence[str]) -> float:
    """Return how large a part of public text a word is, in the language that has it most."""
    if piece.isdecimal():
        return number_frequency(piece)
    known = (frequencies(language).get(stems_of(language)[piece], 0) for language in languages)
    return max([RARE, *known])


def _keeps_most(stem: str, piece: str) -> bool:
    """Tell whether a stem has three quarters of the letters of its word.

    Others are mostly stems of other words: Hungarian makes "bo" of "boat", Dutch "out" of "outer".
    """
    return 4 * len(stem) >= 3 * len(piece)


def _english_weight(stem: str) -> float:
    return weight(frequencies("en").get(stem, RARE))


def _near(piece: str, stem: str) -> Iterator[tuple[str, float]]:
    """Yield the stems that mean about the same as an English word, and how much each counts."""
    for other, cosine in related_to(stem):
        yield other, _RELATED_PART * cosine
    stems = stems_of("en")
    for variant in VARIANTS.get(piece) or VARIANTS.get(piece.removesuffix("s"), ()):
        yield stems[variant], _VARIANT_PART
    for member in members_of(stem):
        yield member, _MEMBER_PART
    for told in associated_with(stem):
        yield told, _ASSOCIATED_PART
    counted = _ORDINAL.fullmatch(piece)
    if counted is not None:
        yield counted[1], _VARIANT_PART


def word_in_any_language(piece: str) -> Word:
    """Return a word that must be found whatever the language of the text it stands in."""
    return Word(piece, tuple((stem, 1.0) for stem in every_stem(piece)))
