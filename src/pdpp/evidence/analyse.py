"""The analyser: how text becomes words, for the index, for queries and for finding matches alike.

Text is folded one code point at a time, so that folding is a single ``str.translate``. What depends
on neighbours is left in the folded text as two signs that no folded text holds otherwise: ``_STOP``
after a character that no letter may join, and ``_JOIN`` before one that joins what stands before it
even past a stop. ``か`` and its voicing mark are one word, ``か`` and ``tower`` are two.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from pdpp.model.errors import InvalidRequest

MAX_QUERY_CHARS = 512
MAX_PHRASES = 16
MAX_PHRASE_WORDS = 32

_STOP = "\x00"
_JOIN = "\x01"
_BLOCK = 1024

# Scripts that put no spaces between words, from Thai to Han: each letter there is a word of its
# own, so that any part of a sentence is found.
_UNSPACED = (
    (0x0E00, 0x109F),
    (0x1100, 0x11FF),
    (0x1780, 0x17FF),
    (0x3005, 0x3007),
    (0x3021, 0x312F),
    (0x31A0, 0x31FF),
    (0x3400, 0x9FFF),
    (0xA960, 0xA97F),
    (0xA9E0, 0xA9FF),
    (0xAA60, 0xAA7F),
    (0xD7B0, 0xD7FF),
    (0xF900, 0xFAFF),
    (0x16FE0, 0x18CFF),
    (0x1AFF0, 0x1B16F),
    (0x20000, 0x3FFFF),
)
# The later letters of a Hangul syllable that is written in parts.
_CONJOINING = ((0x1161, 0x11FF), (0xD7B0, 0xD7FF))
_INVISIBLE = (
    (0x034F, 0x034F),
    (0x115F, 0x1160),
    (0x180B, 0x180F),
    (0xFE00, 0xFE0F),
    (0xE0100, 0xE01EF),
)
_DEVANAGARI = str.maketrans(
    "\u0901\u0945\u0949\u0911\u090d", "\u0902\u0947\u094b\u0913\u090f", "\u093c"
)
"""Ways to write one Hindi word: with or without the dot of a borrowed sound, with the moon or the
dot of a nasal, with the vowel of English words or the nearest own one."""
_DRAWING = ((0x2500, 0x259F), (0x2800, 0x28FF), (0xFFFC, 0xFFFD))

_TOKEN = re.compile("\x01?[^ \x00\x01]+(?:\x00?\x01[^ \x00\x01]+)*")
_QUOTES = '"“”„‟＂'
_TERM = re.compile(rf"[{_QUOTES}]([^{_QUOTES}]*)(?:[{_QUOTES}](\**)|\Z)|([^\s{_QUOTES}]+)")


class TextToken(NamedTuple):
    """A folded word and where it stands in the original text, in code points."""

    word: str
    start: int
    end: int


class _Words(NamedTuple):
    words: tuple[str, ...]
    prefix: bool = False


class Phrase(_Words):
    """Words that must stand side by side; with ``prefix`` the last may go on.

    Its patterns are made when a text is first looked through and live as long as the phrase does.
    """

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Return what finds the phrase in folded text."""
        return _pattern(self)

    @cached_property
    def ascii_pattern(self) -> re.Pattern[str] | None:
        """Return what finds the phrase in lower-case ASCII text, None where that cannot hold it."""
        return _ascii_pattern(self) if all(map(str.isascii, self.words)) else None


class Match(NamedTuple):
    """Where a phrase, named by its index, stands in a text."""

    start: int
    end: int
    phrase: int


def _within(code: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= code <= last for first, last in ranges)


def _is_accent(char: str) -> bool:
    weight = unicodedata.combining(char)
    # Classes 10 to 35 are the points of Hebrew and Arabic, from 200 on the marks above and below a
    # letter. What lies between (viramas, vowel signs) makes another word and stays.
    return weight >= 200 or 10 <= weight <= 35


def _decompose(char: str) -> str:
    """Return the case-folded compatibility decomposition of a character, without its accents."""
    # Decomposed before and after the case is folded: folding makes new composed characters, such as
    # those of the Turkish dotted I.
    bare = "".join(c for c in unicodedata.normalize("NFKD", char) if not _is_accent(c))
    folded = unicodedata.normalize("NFKD", bare.casefold())
    return "".join(c for c in folded if not _is_accent(c)).translate(_DEVANAGARI)


def _emit(char: str) -> str:
    """Return what one decomposed character adds to the folded text."""
    code = ord(char)
    category = unicodedata.category(char)
    if category in ("Cf", "Me") or _within(code, _INVISIBLE):
        return ""
    stop = _STOP if _within(code, _UNSPACED) and category != "Nd" else ""
    if category[0] == "M" or _within(code, _CONJOINING):
        return _JOIN + char + stop
    if category[0] in "LN":
        return f" {char}{stop}" if stop else char
    if category == "So" and not _within(code, _DRAWING):
        return f" {char}{_STOP}"
    return " "


def _fold(char: str) -> str:
    decomposed = _decompose(char)
    folded = "".join(map(_emit, decomposed))
    symbol = unicodedata.category(char) == "So" and decomposed != char
    return f" {folded} " if symbol else folded


class _Folds(dict[int, str]):
    """The fold of each code point, worked out when it is first met."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        # Not remembered: there are a million of these code points, and a text full of them would
        # fill the memory.
        if unicodedata.category(char) in ("Cn", "Co", "Cs"):
            return " "
        fold = self[code] = _fold(char)
        return fold


class _FoldLengths(dict[int, str]):
    """How long the fold of each code point is, as a character of that number."""

    def __missing__(self, code: int) -> str:
        length = chr(len(_FOLDS[code]))
        if code in _FOLDS:
            self[code] = length
        return length


_FOLDS = _Folds()
_FOLD_LENGTHS = _FoldLengths()
ASCII_FOLDS = (
    bytes(range(256))
    .lower()
    .translate(bytes(code if code < 128 and chr(code).isalnum() else 32 for code in range(256)))
)
"""The same for plain text: letters and digits stay, in lower case."""


def indexed_text(text: str) -> str:
    """Return the folded words of a text, joined by single spaces: what the index is fed."""
    return indexed_bytes(text).decode()


def indexed_bytes(text: str) -> bytes:
    """Return the same as UTF-8."""
    if text.isascii():
        plain = text.encode().translate(ASCII_FOLDS).strip()
        return b" ".join(plain.split()) if b"  " in plain else plain
    return " ".join(_words_of(text.translate(_FOLDS))).encode()


def _words_of(folded: str) -> list[str]:
    """Return the words of folded text."""
    return folded.replace("\x00\x01", "").replace(_STOP, " ").replace(_JOIN, "").split()


class _Folded:
    """Folded text and the way back to the original, worked out only for the blocks asked about."""

    def __init__(self, text: str) -> None:
        self._original = text
        # A fold can be longer or shorter than its character, so offsets do not carry over. Only the
        # blocks in which a match stands are mapped back, one character at a time.
        blocks = [text[i : i + _BLOCK].translate(_FOLDS) for i in range(0, len(text), _BLOCK)]
        self.text = "".join(blocks)
        self._block_starts = list(accumulate(map(len, blocks), initial=0))
        self._char_starts: dict[int, list[int]] = {}

    def _index(self, position: int) -> int:
        """Return the index of the original character that a folded position comes from."""
        block = bisect_right(self._block_starts, position) - 1
        if block not in self._char_starts:
            chars = self._original[block * _BLOCK : (block + 1) * _BLOCK]
            lengths = chars.translate(_FOLD_LENGTHS).encode("latin-1")
            starts = accumulate(lengths, initial=self._block_starts[block])
            self._char_starts[block] = list(starts)
        return block * _BLOCK + bisect_right(self._char_starts[block], position) - 1

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return the original stretch of a folded one, with the accents that follow it."""
        last = self._index(end - 1) + 1
        text = self._original
        # An accent that folding dropped belongs to the letter before it, and a mark must not end
        # between the two.
        while last < len(text) and _is_dropped_mark(text[last]):
            last += 1
        return self._index(start), last


def _is_dropped_mark(char: str) -> bool:
    return not char.isascii() and not _FOLDS[ord(char)] and unicodedata.category(char)[0] == "M"


class PlacedWords:
    """The words of ``indexed_text`` and their places in the original text.

    A place is worked out when it is asked for: of a hundred words a question has a few.
    """

    def __init__(self, text: str) -> None:
        self._folded = _Folded(text)
        self.words = _words_of(self._folded.text)

    @cached_property
    def _spans(self) -> list[tuple[int, int]]:
        return [match.span() for match in _TOKEN.finditer(self._folded.text)]

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Return where the words from one to another stand, by their numbers."""
        return self._folded.span(self._spans[first][0], self._spans[last][1])


def tokens(text: str) -> Iterator[TextToken]:
    """Yield the words of ``indexed_text`` with their places in the original text."""
    placed = PlacedWords(text)
    for at, word in enumerate(placed.words):
        yield TextToken(word, *placed.span(at, at))


def phrase_of(text: str, stars: str) -> Phrase | None:
    """Return the phrase of a text, None where it holds no word."""
    bare = text.rstrip("*")
    # The usual word, without a look into the tables of Unicode.
    if bare.isalnum() and bare.isascii():
        return Phrase((bare.lower(),), bool(stars) or len(bare) < len(text))
    words = list(tokens(bare))
    if not words:
        return None
    starred = bool(stars) or len(bare) < len(text)
    return Phrase(tuple(t.word for t in words), starred and words[-1].end == len(bare))


def _refuse(message: str) -> InvalidRequest:
    return InvalidRequest(message, param="q")


def parse_query(q: str) -> tuple[Phrase, ...]:
    """Return the phrases of a person's query, all of which must match."""
    if len(q) > MAX_QUERY_CHARS:
        raise _refuse(
            f"The query is {len(q)} characters long; send at most {MAX_QUERY_CHARS}, "
            "the few words that matter most."
        )
    if "\x00" in q:
        raise _refuse("The query holds a NUL character; remove it.")
    parts = (phrase_of(m[1] or m[3] or "", m[2] or "") for m in _TERM.finditer(q))
    phrases = tuple(dict.fromkeys(part for part in parts if part))
    if not phrases:
        raise _refuse(
            'The query holds no word to look for; send words, a "quoted phrase" or a prefix*.'
        )
    if len(phrases) > MAX_PHRASES:
        raise _refuse(
            f"The query has {len(phrases)} terms, which all must match; send at most {MAX_PHRASES}."
        )
    longest = max(len(phrase.words) for phrase in phrases)
    if longest > MAX_PHRASE_WORDS:
        raise _refuse(
            f"A phrase of the query has {longest} words; send at most {MAX_PHRASE_WORDS} in one."
        )
    return phrases


def _raw(word: str) -> str:
    return "".join(map(_emit, word)).strip(" ").removesuffix(_STOP)


def _pattern(phrase: Phrase) -> re.Pattern[str]:
    """Return what finds a phrase in folded text.

    The look behind comes after the first word, so that the search starts from a literal.
    """
    first, *rest = map(_raw, phrase.words)
    before = "[^ ]" if first.startswith(_JOIN) else "[^ \x00]"
    parts = [re.escape(first), f"(?<!{before}{re.escape(first)})"]
    for word in rest:
        gap = "[ \x00]+(?<= )" if word.startswith(_JOIN) else "[ \x00]+"
        parts.append(gap + re.escape(word))
    end = "(?:\x00?\x01|[^ \x00\x01])*" if phrase.prefix else "(?![^ \x00])(?!\x00\x01)"
    return re.compile("".join(parts) + end)


def _ascii_pattern(phrase: Phrase) -> re.Pattern[str]:
    """Return what finds a phrase in lower-case ASCII text; it too starts from a literal."""
    first, *rest = phrase.words
    body = "[^0-9a-z]+".join([f"{first}(?<![0-9a-z]{first})", *rest])
    return re.compile(body + ("[0-9a-z]*" if phrase.prefix else "(?![0-9a-z])"))


def find(text: str, phrases: Sequence[Phrase]) -> list[Match]:
    """Return every place in a text where one of the phrases stands, in order of start."""
    # Lower-casing ASCII moves nothing, so offsets are those of the text itself: ten times quicker
    # than the way through the folds.
    if text.isascii():
        lower = text.lower()
        matches = [
            Match(place.start(), place.end(), index)
            for index, phrase in enumerate(phrases)
            if phrase.words and (pattern := phrase.ascii_pattern) is not None
            for place in pattern.finditer(lower)
        ]
    else:
        folded = _Folded(text)
        matches = [
            Match(*folded.span(*place.span()), index)
            for index, phrase in enumerate(phrases)
            if phrase.words
            for place in phrase.pattern.finditer(folded.text)
        ]
    if len(matches) > 1:
        matches.sort()
    return matches


def holds(text: str, phrase: Phrase) -> bool:
    """Tell whether a phrase stands in a text, however often a long one repeats it."""
    if not phrase.words:
        return False
    if not text.isascii():
        return phrase.pattern.search(_Folded(text).text) is not None
    pattern = phrase.ascii_pattern
    return pattern is not None and pattern.search(text.lower()) is not None
