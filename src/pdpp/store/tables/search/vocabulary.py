"""The vocabulary: the words that were met, numbered, so that each is looked up and stemmed once.

A batch is analysed as arrays of word numbers and term numbers; only a word that was never met takes
steps of the interpreter. The numbers mean nothing outside the process and are never stored.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdpp.evidence.language.stems import stems_of
from pdpp.evidence.language.tables import common_words
from pdpp.store.ranking.distinct import each_once
from pdpp.store.ranking.postings import Longs

Keys = NDArray[np.uint64]

KEY_BYTES = 8
MOST_WORDS = 65_536
"""How many words are remembered. Rare ones push common ones out, which are soon met again."""

_ROOM = 1 << 12
_NONE = -1
_GOLDEN = 0x9E3779B97F4A7C15
"""2^64 by the golden ratio: the upper bits of a product with it are spread evenly."""


class KeyTable:
    """Numbers for keys of 64 bits: a hash table in which whole arrays are looked up.

    It is at most half full, and a key stands in the first free slot from its own on.
    """

    def __init__(self, room: int = _ROOM) -> None:
        self._count = 0
        self._shift = 65 - room.bit_length()
        self._keys: Keys = np.zeros(room, dtype=np.uint64)
        self._numbers = np.full(room, _NONE, dtype=np.int64)

    def find(self, keys: Keys) -> Longs:
        """Return the number of each key, -1 where it has none."""
        slots = (keys * np.uint64(_GOLDEN) >> np.uint64(self._shift)).view(np.int64)
        numbers: Longs = self._numbers.take(slots)
        # Only the few keys that met another one in their slot go on to the next slot.
        clashes = np.flatnonzero(self._keys.take(slots) != keys)
        clashes = clashes[numbers[clashes] != _NONE]
        slots = slots[clashes]
        while len(clashes):
            slots = slots + 1 & len(self._keys) - 1
            numbers[clashes] = self._numbers[slots]
            again = (self._keys[slots] != keys[clashes]) & (numbers[clashes] != _NONE)
            clashes, slots = clashes[again], slots[again]
        return numbers

    def add(self, keys: Keys, first: int) -> None:
        """Give numbers from ``first`` on to distinct keys that have none."""
        while 2 * (self._count + len(keys)) > len(self._keys):
            self._grow()
        self._place(keys, np.arange(first, first + len(keys), dtype=np.int64))

    def _place(self, keys: Keys, numbers: Longs) -> None:
        self._count += len(keys)
        slots = (keys * np.uint64(_GOLDEN) >> np.uint64(self._shift)).astype(np.int64)
        while len(keys):
            free = self._numbers[slots] == _NONE
            # Of several keys that met in a free slot the last one written has it; the others see
            # that and go on to the next slot, with those that found it taken.
            self._keys[slots[free]] = keys[free]
            self._numbers[slots[free]] = numbers[free]
            left = self._numbers[slots] != numbers
            keys, numbers, slots = keys[left], numbers[left], slots[left] + 1 & len(self._keys) - 1

    def _grow(self) -> None:
        used = np.flatnonzero(self._numbers != _NONE)
        keys, numbers = self._keys[used], self._numbers[used]
        room = 2 * len(self._keys)
        self._count, self._shift = 0, 65 - room.bit_length()
        self._keys = np.zeros(room, dtype=np.uint64)
        self._numbers = np.full(room, _NONE, dtype=np.int64)
        self._place(keys, numbers)


class Vocabulary:
    """Words and terms, each by a number; ``full`` tells that it is time for a new one.

    ``votes`` has a row of lanes, a byte for each language, for each word that is among the
    commonest of one; the first row is that of all others.
    """

    def __init__(self) -> None:
        common = common_words()
        self._common = common
        self._lane_bytes = -(-len(common.languages) // KEY_BYTES) * KEY_BYTES
        self._keys = KeyTable()
        self._words: list[str] = []
        self._long: dict[str, int] = {}
        self._row_of_word: Longs = np.zeros(_ROOM, dtype=np.int64)
        self.votes: Keys = np.zeros((1, self._lane_bytes // KEY_BYTES), dtype=np.uint64)
        # Term numbers begin with 1 here: memory that is zero is not taken until it is used.
        self._term_of = np.zeros((len(common.languages), _ROOM), dtype=np.int32)
        self.names: list[str] = []
        self._term_of_name: dict[str, int] = {}
        self._prefixes: Keys = np.zeros(_ROOM, dtype=np.uint64)

    @property
    def full(self) -> bool:
        """Tell whether enough is remembered."""
        return max(len(self._words), len(self.names)) >= MOST_WORDS

    # Words

    def short_words(self, keys: Keys) -> Longs:
        """Return the numbers of words of up to eight letters, the first one in the lowest byte."""
        numbers = self._keys.find(keys)
        missing = np.flatnonzero(numbers == _NONE)
        if len(missing):
            met = each_once(keys[missing])
            words: list[str] = met.astype("<u8").view("S8").astype("U8").tolist()
            self._keys.add(met, len(self._words))
            self._words += words
            self._learn(words)
            numbers[missing] = self._keys.find(keys[missing])
        return numbers

    def long_words(self, words: Sequence[str]) -> Longs:
        """Return the numbers of words that may be longer."""
        met = list(dict.fromkeys(word for word in words if word not in self._long))
        for word in met:
            self._long[word] = len(self._words)
            self._words.append(word)
        self._learn(met)
        return np.fromiter(map(self._long.__getitem__, words), np.int64, len(words))

    def _learn(self, words: Sequence[str]) -> None:
        """Note in which languages the words that were added last are common."""
        self._row_of_word = _with_room(self._row_of_word, len(self._words))
        self._term_of = _with_room(self._term_of, len(self._words))
        first = len(self._words) - len(words)
        rows: list[Keys] = []
        for at, lanes in enumerate(self._common.lanes(words)):
            if lanes:
                self._row_of_word[first + at] = len(self.votes) + len(rows)
                rows.append(np.frombuffer(lanes.to_bytes(self._lane_bytes, "little"), "<u8"))
        if rows:
            self.votes = np.vstack((self.votes, *rows))

    def rows_of(self, words: Longs) -> Longs:
        """Return the row of votes of each word, 0 where no language has it among its commonest."""
        rows: Longs = self._row_of_word.take(words)
        return rows

    # Terms

    def stemmed(self, words: Longs, languages: Longs, counts: Longs) -> Longs:
        """Return the term of each word in the language of its text.

        Each text has its language, and so many of the words as its count says.
        """
        room = self._term_of.shape[1]
        if len(languages) and (languages == languages[0]).all():
            # Mostly all texts of one person: then there is one table to look in.
            terms: Longs = self._term_of[languages[0]].take(words).astype(np.int64)
        else:
            # As one row of numbers, which takes a third of the time that rows and columns take.
            places = np.repeat(languages * room, counts) + words
            terms = self._term_of.reshape(-1).take(places).astype(np.int64)
        missing = np.flatnonzero(terms == 0)
        if len(missing):
            spoken = np.repeat(languages, counts)[missing]
            pairs = each_once(spoken << 32 | words[missing])
            edges = np.flatnonzero(np.diff(pairs >> 32)) + 1
            for group in np.split(pairs, edges):
                language, own = int(group[0] >> 32), group & 0xFFFFFFFF
                stems = stems_of(self._common.languages[language])
                new = stems.of_new(list(map(self._words.__getitem__, own.tolist())))
                self._term_of[language, own] = self.numbered(new) + 1
            terms[missing] = self._term_of[spoken, words[missing]]
        return terms - 1

    def numbered(self, names: Sequence[str]) -> Longs:
        """Return the numbers of terms by their names."""
        known = self._term_of_name
        met = [name for name in dict.fromkeys(names) if name not in known]
        if met:
            known.update(zip(met, range(len(self.names), len(self.names) + len(met)), strict=True))
            self._prefixes = _with_room(self._prefixes, len(known))
            starts = b"".join(name.encode()[:KEY_BYTES].ljust(KEY_BYTES, b"\0") for name in met)
            self._prefixes[len(self.names) : len(known)] = np.frombuffer(starts, ">u8")
            self.names += met
        return np.fromiter(map(known.__getitem__, names), np.int64, len(names))

    def in_order(self, terms: Longs) -> Longs:
        """Return some terms in the order of their names."""
        prefixes = self._prefixes[terms]
        order = np.argsort(prefixes)
        terms, prefixes = terms[order], prefixes[order]
        alike = prefixes[1:] == prefixes[:-1]
        # UTF-8 sorts like the characters it stands for; what begins alike is compared whole.
        edges = np.flatnonzero(np.diff(alike, prepend=False, append=False))
        for start, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            group = terms[start : end + 1].tolist()
            terms[start : end + 1] = sorted(group, key=self.names.__getitem__)
        return terms


def _with_room(values: NDArray[Any], count: int) -> NDArray[Any]:
    """Return an array whose last axis has room for so many, with what there was."""
    room = values.shape[-1]
    if count <= room:
        return values
    while room < count:
        room *= 2
    larger = np.zeros((*values.shape[:-1], room), dtype=values.dtype)
    larger[..., : values.shape[-1]] = values
    return larger
