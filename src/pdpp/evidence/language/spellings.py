"""Spellings: one word or two, one order of the parts or the other, an umlaut or two letters."""

import re
import unicodedata
from collections.abc import Iterator, Sequence

from pdpp.evidence.language.stems import stems_of
from pdpp.evidence.language.tables import frequencies
from pdpp.evidence.language.terms import distinct, pieces
from pdpp.evidence.language.translations import in_german

_LINKED = ("heit", "ion", "keit", "ling", "schaft", "tag", "tat", "tum", "ung")
"""How German words end that have an "s" before the next part of a word, as "Heizungsrechnung"."""
_ENGLISH_FREQUENCY = 3e-5
"""From which part of English text on a word is one of English too: "pro", "war", "men", "hat"."""
_UMLAUT = re.compile("[äöü]")
_UMLAUTS = {"ä": "ae", "ö": "oe", "ü": "ue"}
_TWO_LETTERS = re.compile("([aou])e")
_HYPHENATED = re.compile(r"\w+(?:[-\u2010\u2011]\w+)+")


def is_english(word: str) -> bool:
    """Tell whether a folded word is one of English."""
    return frequencies("en").get(stems_of("en")[word], 0) >= _ENGLISH_FREQUENCY


def hyphenated(text: str) -> set[str]:
    """Return the parts of words with hyphens: together even "in" tells something, as "check-in"."""
    return {piece for word in _HYPHENATED.findall(text) for piece in pieces(word)}


def joined_terms(one: str, other: str, languages: Sequence[str], *, keywords: bool) -> list[str]:
    """Return the stems of two neighbours as one word.

    Only those of ``keywords`` may be parts of one German word: in a sentence they stand side by
    side by chance.
    """
    forms = [one + other]
    if "de" in languages and one.endswith(_LINKED):
        forms.append(f"{one}s{other}")
    if keywords and _is_german(one) and _is_german(other):
        # In either order: "Vertrag Miete".
        forms += [*_german_compounds(one, other), *_german_compounds(other, one)]
    stems = [stems_of(language)[form] for form in forms for language in languages]
    if "en" in languages:
        stems += _german_for(one, other)
    return distinct(stems)


def _german_for(one: str, other: str) -> Iterator[str]:
    """Yield the stems of the German words that two English ones make: "Mieterhöhung"."""
    english, german = stems_of("en"), stems_of("de")
    for first in in_german(english[one]):
        for last in in_german(english[other]):
            yield from (german[form] for form in _german_compounds(first, last))


def _german_compounds(first: str, last: str) -> Iterator[str]:
    """Yield the words that two German words may make, the second at the end."""
    yield first + last
    yield f"{first}n{last}" if first.endswith("e") else f"{first}s{last}"
    if first.endswith("e"):
        yield first[:-1] + last


def _is_german(word: str) -> bool:
    return word.isalpha() and not is_english(word) and stems_of("de")[word] in frequencies("de")


def umlaut_terms(text: str) -> Iterator[tuple[str, str]]:
    """Yield the words of a text that have umlauts, or two letters instead, each the other way."""
    for word in distinct(unicodedata.normalize("NFC", text).lower().split()):
        if _UMLAUT.search(word):
            written = _UMLAUT.sub(lambda letter: _UMLAUTS[letter[0]], word)
            yield from zip(pieces(word), pieces(written), strict=False)
        elif _TWO_LETTERS.search(word):
            yield from ((p, _TWO_LETTERS.sub(r"\1", p)) for p in pieces(word) if not is_english(p))
