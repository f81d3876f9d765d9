"""Terms: the words of a text as the index is kept by them.

A text is folded and split by the analyser, endings after an apostrophe are dropped, and each word
is stemmed in the language of its text. Scripts without spaces become single characters and pairs;
Thai becomes runs of three characters.
"""

import re
from collections.abc import Container, Iterable, Sequence
from itertools import pairwise

from pdpp.evidence.analyse import PlacedWords, indexed_text, tokens
from pdpp.evidence.language.stems import stems_of
from pdpp.evidence.language.tables import ENGLISH, WORDS_PER_VOTE, common_words

ANALYSER = 2
"""The version of the terms; an index of another version is made again."""

_CLITICS = ("s", "m", "re", "ve", "ll", "d", "t")
_CLITIC = re.compile(rf"(?<=\w)['’](?:{'|'.join(_CLITICS)})\b", re.IGNORECASE)
_PAIRED = re.compile(
    "[\u1100-\u11ff\u3005-\u3007\u3021-\u312f\u31a0-\u31ff\u3400-\u9fff\uac00-\ud7ff"
    "\uf900-\ufaff\U00020000-\U0003ffff]"
)
_RUN = re.compile("[\u0e00-\u109f\u1780-\u17ff]")
"""Scripts that are written without spaces and whose letters are no words: Thai, Lao and others."""

_RUN_CHARS = 3

LANGUAGE_SAMPLE = 80
"""How many words of a text tell its language."""

_SCRIPTS = (
    (re.compile("[\u0400-\u04ff]"), ("ru", "uk", "sr")),
    (re.compile("[\u0370-\u03ff\u1f00-\u1fff]"), ("el",)),
    (re.compile("[\u0600-\u06ff]"), ("ar", "fa")),
    (re.compile("[\u0900-\u097f]"), ("hi",)),
    (re.compile("[\u0590-\u05ff]"), ("he",)),
    (re.compile("[\u0b80-\u0bff]"), ("ta",)),
)
_LETTER_CHARS = 1_000
_LETTER_VOTES = 2
_LETTERS = """
    cs: ěřůď; da: æø; de: ßä; es: ñ¿¡; fr: œêèù; hu: őű; lt: ėįųū; nb: æøå; pl: łąęźżń; pt: ãõ;
    ro: ăâîșțţ; sv: å; tr: ğıİ; vi: đơưạảấầậắặẹếềểệỉịọốồổộớờợụủứừửự
"""
_TELLING: dict[str, tuple[str, ...]] = {}
"""The languages that a letter tells of: accents are folded away before words are compared."""
for _line in _LETTERS.split(";"):
    _name, _, _written = _line.strip().partition(":")
    for _letter in _written.strip():
        _TELLING[_letter] = (*_TELLING.get(_letter, ()), _name)


def without_clitics(text: str) -> str:
    """Return a text without the endings that follow an apostrophe."""
    return _CLITIC.sub(" ", text) if "'" in text or "’" in text else text


def without_words(text: str, words: Container[str]) -> str:
    """Return a text without some folded words, and nothing where no other word is left."""
    kept: list[str] = []
    at = others = 0
    for token in tokens(text):
        if token.word not in words:
            others += token.start >= at
            continue
        kept.append(text[at : token.start])
        ending = _CLITIC.match(text, token.end)
        at = token.end if ending is None else ending.end()
    return " ".join("".join([*kept, text[at:]]).split()) if others else ""


def pieces(text: str) -> list[str]:
    """Return the folded words of a text before they are stemmed."""
    folded = indexed_text(without_clitics(text))
    if not folded:
        return []
    words = folded.split(" ")
    # Most other letters were folded to plain ones: such a text has no word of those scripts.
    return words if folded.isascii() else _spaced(words)


def _spaced(words: Sequence[str]) -> list[str]:
    """Return words with what stands for scripts that have no spaces between them."""
    if not any(map(_is_unspaced, words)):
        return list(words)
    return ["".join(words[start:end]) for start, end in _joined(words)]


def _is_unspaced(word: str) -> bool:
    """Tell whether a word is of a script that has no spaces."""
    return _PAIRED.match(word) is not None or _RUN.match(word) is not None


def surely_indexed(words: Sequence[str]) -> list[str]:
    """Return those words of a phrase that stand in the index wherever the phrase stands in a text.

    What follows an apostrophe is dropped there, and letters of Thai are kept in runs.
    """
    return [
        word
        for at, word in enumerate(words)
        if not (at and word in _CLITICS) and not _RUN.match(word)
    ]


class SpacedWords:
    """The words of a text as the index has them, in the order in which they begin."""

    def __init__(self, text: str) -> None:
        self._placed = PlacedWords(text)
        self.words = words = self._placed.words
        self._runs: list[tuple[int, int]] | None = None
        # Most other letters were folded to plain ones, as in ``pieces``.
        if not "".join(words).isascii() and any(map(_is_unspaced, words)):
            self._runs = sorted(_joined(words))
            self.words = ["".join(words[start:end]) for start, end in self._runs]

    def span(self, at: int) -> tuple[int, int]:
        """Return where a word stands in the text, by its number."""
        first, end = (at, at + 1) if self._runs is None else self._runs[at]
        return self._placed.span(first, end - 1)


def _joined(words: Sequence[str]) -> list[tuple[int, int]]:
    """Return which words, from and up to, are a term together: by themselves, in runs, in pairs."""
    terms: list[tuple[int, int]] = []
    run = 0
    for at, word in enumerate([*words, ""]):
        if word and _RUN.match(word):
            run += 1
            continue
        if run:
            first = at - run
            many = max(1, run + 1 - _RUN_CHARS)
            terms += [(i, min(i + _RUN_CHARS, at)) for i in range(first, first + many)]
            run = 0
        if word:
            terms.append((at, at + 1))
    paired = [_PAIRED.match(word) is not None for word in words]
    terms += [(at, at + 2) for at, both in enumerate(pairwise(paired)) if all(both)]
    return terms


def language_of(words: Sequence[str], text: str) -> str:
    """Return the language of a text, by its script and then by its commonest words."""
    first = words[:LANGUAGE_SAMPLE]
    if text.isascii():
        return common_words().language(first)
    sample = " ".join(first)
    scripts = () if sample.isascii() else _SCRIPTS
    allowed = next(
        (names for script, names in scripts if 2 * len(script.findall(sample)) > len(sample)), None
    )
    if allowed is not None and len(allowed) == 1:
        return allowed[0]
    votes = common_words().votes(first)
    if allowed is not None:
        return max(allowed, key=lambda language: (votes.get(language, 0), -allowed.index(language)))
    for letter in _TELLING.keys() & set(text[:_LETTER_CHARS].lower()):
        for language in _TELLING[letter]:
            votes[language] = votes.get(language, 0) + _LETTER_VOTES
    best = max(votes.values(), default=0)
    if votes.get(ENGLISH, 0) == best or best * WORDS_PER_VOTE < len(first):
        return ENGLISH
    return min(language for language, count in votes.items() if count == best)


def languages_of_script(word: str) -> tuple[str, ...]:
    """Return the languages that are written in the script of a word, none for Latin letters."""
    return next((names for script, names in _SCRIPTS if script.match(word)), ())


def is_spelled_as(language: str, text: str) -> bool:
    """Tell whether a text has a letter that tells of a language."""
    letters = set(text[:_LETTER_CHARS].lower())
    return any(language in _TELLING.get(letter, ()) for letter in letters)


def terms_of(text: str) -> list[str]:
    """Return the terms of a text, each as often as it stands there."""
    words = pieces(text)
    if not words:
        return []
    return stems_of(language_of(words, text)).of(words)


def distinct(terms: Iterable[str]) -> list[str]:
    """Return terms without repeats, in the order they first came."""
    return list(dict.fromkeys(terms))
