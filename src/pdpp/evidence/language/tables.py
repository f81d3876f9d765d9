"""Tables: how common words are in public text, and which English words are near in meaning.

Made once by ``bench/word_tables.py`` and shipped packed; each is read when it is first needed.
Nothing in them comes from a store, so that they say nothing about one.
"""

import json
import lzma
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from importlib import resources
from itertools import filterfalse, repeat

RARE = 1e-8
"""The frequency of a word that no table knows."""

ENGLISH = "en"
_TEXT_WORDS = 12
"""How many words of public text make up the text whose chance to hold a word counts."""
WORDS_PER_VOTE = 20
"""In a text of a language at least one word in so many is among the commonest of that language.
Where fewer are, as among names and codes, they are of any language by chance; such a text counts as
English, in whose forms every question is looked for."""
_FLOOR = 1e-5
_YEAR_DIGITS = 4


def _read(name: str) -> str | None:
    file = resources.files("pdpp.evidence.language") / "data" / f"{name}.xz"
    return lzma.decompress(file.read_bytes()).decode() if file.is_file() else None


@lru_cache(maxsize=64)
def frequencies(language: str) -> Mapping[str, float]:
    """Return how large a part of public text each stem of a language is."""
    shares: dict[str, float] = {}
    for line in (_read(f"frequency-{language}") or "").splitlines():
        step, *stems = line.split(" ")
        shares.update(dict.fromkeys(stems, 10 ** (-int(step) / 100)))
    return shares


def number_frequency(digits: str) -> float:
    """Return how large a part of public text a number is, by how many digits it has.

    The tables count numbers of one length together; half of those with four digits are years.
    """
    length = len(digits)
    table = frequencies("en")
    if length == 1 and digits in table:
        return table[digits]
    together = table.get("0" * length)
    if together is None:
        return RARE
    if length == _YEAR_DIGITS:
        of_years = digits.startswith(("19", "20"))
        return together / 2 / (200 if of_years else 8_800)
    return max(RARE, together / (9.0 * 10.0 ** (length - 1)))


class CommonWords:
    """The commonest words of each language, by which the language of a text is found."""

    def __init__(self, words: Mapping[str, Sequence[str]]) -> None:
        self.languages = tuple(sorted(words))
        self.english = self.languages.index(ENGLISH)
        # A word is one number with a byte for each language, so that votes are added up at once.
        lanes: dict[str, int] = {}
        for at, language in enumerate(self.languages):
            # A number is common in every language, and listed for some.
            for word in filterfalse(str.isdecimal, words[language]):
                lanes[word] = lanes.get(word, 0) + (1 << 8 * at)
        self._lanes = lanes
        self._words = frozenset(lanes)

    def __contains__(self, word: object) -> bool:
        return word in self._words

    def language(self, words: Sequence[str]) -> str:
        """Return the language that has most of some words, or English where none has enough."""
        counts = self._counts(words)
        best = max(counts)
        if counts[self.english] == best or best * WORDS_PER_VOTE < len(words):
            return ENGLISH
        pairs = zip(self.languages, counts, strict=True)
        return min(name for name, count in pairs if count == best)

    def lanes(self, words: Iterable[str]) -> Iterable[int]:
        """Return the languages that have each word among their commonest, a byte for each."""
        return map(self._lanes.get, words, repeat(0))

    def votes(self, words: Sequence[str]) -> dict[str, int]:
        """Return how many of some different words, fewer than 256, each language has."""
        counts = self._counts(words)
        return {name: count for name, count in zip(self.languages, counts, strict=True) if count}

    def _counts(self, words: Sequence[str]) -> bytes:
        total = sum(map(self._lanes.__getitem__, self._words.intersection(words)))
        return total.to_bytes(len(self.languages), "little")


@lru_cache(maxsize=1)
def common_words() -> CommonWords:
    """Return the commonest words of each language."""
    return CommonWords(json.loads(_read("common") or "{}"))


@lru_cache(maxsize=1)
def related_words() -> Mapping[str, str]:
    """Return the English stems near in meaning to a stem, as the table has them."""
    # Of 9,000 stems a question looks at a few. Read in advance all of them took 5 MB, three times
    # as much as they take so.
    lines = (_read("related-en") or "").splitlines()
    return dict(line.split(" ", 1) for line in lines)


def related_to(stem: str) -> list[tuple[str, float]]:
    """Return the English stems near in meaning to a stem, each with how near it is."""
    pairs = (other.rsplit(":", 1) for other in related_words().get(stem, "").split())
    return [(other, int(cosine) / 100) for other, cosine in pairs]


def weight(frequency: float) -> float:
    """Return how much a word of this frequency tells: its inverse document frequency."""
    chance = 1 - (1 - min(frequency, 0.9999)) ** _TEXT_WORDS
    return math.log(1 + (1 - chance) / (chance + _FLOOR))
