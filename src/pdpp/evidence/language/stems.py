"""Stems: the form of a word that the index is kept by, so that "invoices" finds "invoice"."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from pdpp.evidence.language.irregular import BASES

ALGORITHMS = {
    "ar": "arabic",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "hi": "hindi",
    "hu": "hungarian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "nb": "norwegian",
    "nl": "dutch",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
}
"""The Snowball algorithm of each language that has one."""

_OTHER_SCRIPTS = frozenset({"ar", "el", "fa", "he", "hi", "ru", "ta", "uk"})
"""Languages whose texts hold Latin letters only in words of other languages, mostly of English."""

LONGEST_TERM = 40
"""Characters of a term; what is longer is cut, so that a word of a megabyte is no key."""

_MOST_REMEMBERED = 30_000
"""In each language. A word of a question may be asked for in all of them: many that nobody has
would otherwise fill 200 MB."""


class Stems(dict[str, str]):
    """The stem of each word of one language, remembered as it is met."""

    def __init__(self, language: str | None) -> None:
        super().__init__()
        self._bases = BASES if language == "en" else {}
        self._latin = stems_of("en") if language in _OTHER_SCRIPTS else None
        self._stemmer = None
        if language in ALGORITHMS:
            from Stemmer import Stemmer

            self._stemmer = Stemmer(ALGORITHMS[language], 0)

    def of(self, words: Sequence[str]) -> list[str]:
        """Return the stems of some words."""
        return list(map(self.__getitem__, words))

    def of_new(self, words: Sequence[str]) -> list[str]:
        """Return the stems of words that the caller will remember."""
        forms = [word[:LONGEST_TERM] for word in words]
        if self._latin is not None and any(map(str.isascii, forms)):
            return [
                (self._latin if form.isascii() else self)._of_forms([form])[0] for form in forms
            ]
        return self._of_forms(forms)

    def _of_forms(self, forms: list[str]) -> list[str]:
        if self._stemmer is None:
            return forms
        bases = self._bases
        stems = self._stemmer.stemWords([bases.get(form, form) for form in forms])
        return [
            form if not stem or form[0].isdecimal() else stem
            for form, stem in zip(forms, stems, strict=True)
        ]

    def __missing__(self, word: str) -> str:
        stem = self._of_word(word[:LONGEST_TERM])
        if len(word) <= LONGEST_TERM:
            if len(self) >= _MOST_REMEMBERED:
                self.clear()
            self[word] = stem
        return stem

    def _of_word(self, form: str) -> str:
        """Return the stem of one word, as ``of_new`` does of many, in half the time."""
        if self._latin is not None and form.isascii():
            return self._latin[form]
        if self._stemmer is None:
            return form
        stem: str = self._stemmer.stemWord(self._bases.get(form, form))
        return form if not stem or form[0].isdecimal() else stem


@lru_cache(maxsize=1)
def irregular_forms() -> Mapping[str, Sequence[str]]:
    """Return the irregular English forms of each stem that has some."""
    stems = stems_of("en")
    forms: dict[str, list[str]] = {}
    for form, base in BASES.items():
        forms.setdefault(stems[base], []).append(form)
    return forms


@lru_cache(maxsize=64)
def stems_of(language: str | None) -> Stems:
    """Return the stems of a language; of one without an algorithm words stay as they are."""
    return Stems(language)


@lru_cache(maxsize=1_024)
def every_stem(word: str) -> tuple[str, ...]:
    """Return the stems of a word in any language: what texts of whatever language keep of it."""
    return tuple(dict.fromkeys([stems[word] for stems in _every_stems(plain=word.isascii())]))


@lru_cache(maxsize=2)
def _every_stems(*, plain: bool) -> tuple[Stems, ...]:
    """Return the stems of every language, or of those that have their own of plain letters.

    A plain word has its English stem in the languages of other scripts.
    """
    if not plain:
        return *map(stems_of, ALGORITHMS), stems_of(None)
    own = [language for language in ALGORITHMS if language not in _OTHER_SCRIPTS]
    return stems_of("en"), *map(stems_of, own), stems_of(None)
