"""Analysis: the terms of many texts at once, each the same as if it were analysed alone.

Words are told apart as numbers, eight letters in 64 bits, and looked up in a vocabulary that the
process remembers. Texts that are not plain ASCII, and a few short ones, which would not gain by it,
go through the analyser one by one.
"""

import threading
from bisect import bisect_left
from collections.abc import Iterator, Sequence, Set
from functools import lru_cache
from itertools import accumulate, chain, pairwise
from typing import NamedTuple

import numpy as np

from pdpp.evidence.analyse import ASCII_FOLDS
from pdpp.evidence.language.tables import WORDS_PER_VOTE, common_words
from pdpp.evidence.language.terms import LANGUAGE_SAMPLE, terms_of, without_clitics
from pdpp.store.ranking.distinct import each_once
from pdpp.store.ranking.postings import Longs
from pdpp.store.tables.search.vocabulary import KEY_BYTES, Vocabulary

_FEW = 16
_LONG = 1 << 14
"""From so many texts on, or from so many characters on in fewer of them, arrays are quicker."""
_SPARSE = 8
"""From how many times as many known terms on a field's own are sorted and not looked up."""
_MOST_CHARS = 1 << 18
"""How many characters are analysed at once: the arrays of so many stay near the processor."""
_SHORT = 64
"""Up to how many characters on average it is looked whether texts come again."""
_SPACE = 32
_MASKS = np.array([(1 << 8 * size) - 1 for size in range(KEY_BYTES + 1)], dtype=np.uint64)
"""What keeps the first letters of a key, which are its lower bytes."""


class Terms(NamedTuple):
    """The terms of some texts: which of the sorted ``names`` each is, and in which text."""

    names: list[str]
    ranks: Longs
    texts: Longs


class _DistinctTexts(NamedTuple):
    """The texts of a field that are analysed; which one each text is, None where all are."""

    texts: Sequence[str]
    numbers: Longs | None


class _TermsInTexts(NamedTuple):
    """Some terms by their numbers, and in which text each stands."""

    terms: Longs
    texts: Longs


class _Remembered:
    """The vocabulary of this process, which one thread at a time may use."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._vocabulary = Vocabulary()

    def vocabulary(self) -> Vocabulary:
        """Return the vocabulary, a new one when the last one is full."""
        if self._vocabulary.full:
            self._vocabulary = Vocabulary()
        return self._vocabulary


@lru_cache(maxsize=1)
def _remembered() -> _Remembered:
    return _Remembered()


def analyse(fields: Sequence[Sequence[str]]) -> list[Terms]:
    """Return the terms of the texts of each field, each as often as it stands there."""
    every = [*map(_distinct, fields)]
    texts = [*chain.from_iterable(distinct.texts for distinct in every)]
    ends = [0, *accumulate(len(distinct.texts) for distinct in every)]
    remembered = _remembered()
    with remembered.lock:
        vocabulary = remembered.vocabulary()
        groups = list(_terms_in_texts(vocabulary, texts))
        return [
            _repeated(_of_field(vocabulary, groups, *span), distinct)
            for span, distinct in zip(pairwise(ends), every, strict=True)
        ]


def are_few(texts: Sequence[str]) -> bool:
    """Tell whether some texts are so few and short that arrays take longer than each alone."""
    return len(texts) < 2 * _FEW and sum(map(len, texts)) < _LONG


def _distinct(texts: Sequence[str]) -> _DistinctTexts:
    """Return the texts of a field that are analysed: short ones, such as names, come again."""
    if sum(map(len, texts)) > _SHORT * len(texts):
        return _DistinctTexts(texts, None)
    number_of = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    if 2 * len(number_of) > len(texts):
        return _DistinctTexts(texts, None)
    numbers = np.fromiter(map(number_of.__getitem__, texts), np.int64, len(texts))
    return _DistinctTexts([*number_of], numbers)


def _repeated(terms: Terms, distinct: _DistinctTexts) -> Terms:
    """Return the terms of all texts of a field from those of the distinct ones."""
    numbers = distinct.numbers
    if numbers is None:
        return terms
    counts = np.bincount(terms.texts, minlength=len(distinct.texts))
    firsts, sizes = np.cumsum(counts) - counts, counts[numbers]
    ends = np.cumsum(sizes)
    places = np.arange(sizes.sum()) + np.repeat(firsts[numbers] - ends + sizes, sizes)
    ranks = terms.ranks[np.argsort(terms.texts, kind="stable")]
    return Terms(terms.names, ranks[places], np.repeat(np.arange(len(numbers)), sizes))


def _of_field(
    vocabulary: Vocabulary, groups: Sequence[_TermsInTexts], first: int, end: int
) -> Terms:
    """Return the terms of some of the texts, which come in their order wherever they come."""
    spans = [np.searchsorted(some.texts, (first, end)).tolist() for some in groups]
    parts = [(some, *span) for some, span in zip(groups, spans, strict=True) if span[0] < span[1]]
    terms = _joined([some.terms[low:high] for some, low, high in parts])
    texts = _joined([some.texts[low:high] for some, low, high in parts])
    ordered, ranks = _ranked(vocabulary, terms)
    names = list(map(vocabulary.names.__getitem__, ordered.tolist()))
    return Terms(names, ranks, texts - first)


def _joined(parts: Sequence[Longs]) -> Longs:
    """Return arrays as one; most texts are of one part, which is not copied."""
    return parts[0] if len(parts) == 1 else np.concatenate((*parts, _longs(())))


def _ranked(vocabulary: Vocabulary, terms: Longs) -> tuple[Longs, Longs]:
    """Return the distinct ones of some terms in the order of their names, and the rank of each."""
    known = len(vocabulary.names)
    if len(terms) * _SPARSE < known:
        # A table of the whole vocabulary takes longer to fill than a few terms to sort.
        distinct, places = np.unique(terms, return_inverse=True)
        ordered = vocabulary.in_order(distinct)
        rank_of = np.empty(len(distinct), dtype=np.int64)
        rank_of[np.searchsorted(distinct, ordered)] = np.arange(len(ordered))
        return ordered, rank_of[places]
    used = np.zeros(known, dtype=bool)
    used[terms] = True
    ordered = vocabulary.in_order(np.flatnonzero(used))
    rank_of = np.empty(known, dtype=np.int64)
    rank_of[ordered] = np.arange(len(ordered))
    return ordered, rank_of.take(terms)


def _terms_in_texts(vocabulary: Vocabulary, texts: Sequence[str]) -> Iterator[_TermsInTexts]:
    """Yield the terms of some of the texts after another."""
    plain = _plain(texts)
    if len(plain) < len(texts):
        yield _terms_one_by_one(vocabulary, texts, set(plain))
    for some in _some_at_once(texts, plain):
        whole = len(some) == len(texts)
        words, sizes = _words(vocabulary, texts if whole else [texts[at] for at in some])
        owners = np.repeat(np.arange(len(some)), sizes)
        languages = _languages(vocabulary, words, owners, sizes)
        terms = vocabulary.stemmed(words, languages, sizes)
        yield _TermsInTexts(terms, owners if whole else np.repeat(_longs(some), sizes))


def _terms_one_by_one(
    vocabulary: Vocabulary, texts: Sequence[str], known: Set[int]
) -> _TermsInTexts:
    """Return the terms of the texts that are not known yet."""
    others = [(at, terms_of(text)) for at, text in enumerate(texts) if at not in known]
    counts = [len(terms) for _, terms in others]
    return _TermsInTexts(
        vocabulary.numbered([term for _, terms in others for term in terms]),
        np.repeat(_longs([at for at, _ in others]), _longs(counts)),
    )


def _plain(texts: Sequence[str]) -> Sequence[int]:
    """Return which texts are analysed as arrays."""
    if all(map(str.isascii, texts)):
        plain: Sequence[int] = range(len(texts))
    else:
        plain = [at for at, text in enumerate(texts) if text.isascii()]
    if len(plain) >= _FEW or sum(len(texts[at]) for at in plain) >= _LONG:
        return plain
    return ()


def _some_at_once(texts: Sequence[str], plain: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield runs of the plain texts, each of about as many characters as are analysed at once."""
    chosen = texts if len(plain) == len(texts) else map(texts.__getitem__, plain)
    ends = [*accumulate(map(len, chosen))]
    start = 0
    while start < len(plain):
        full = (ends[start - 1] if start else 0) + _MOST_CHARS
        end = max(start + 1, bisect_left(ends, full) + 1)
        yield plain[start:end]
        start = end


def _longs(values: Sequence[int]) -> Longs:
    return np.array(values, dtype=np.int64)


def _words(vocabulary: Vocabulary, texts: Sequence[str]) -> tuple[Longs, Longs]:
    """Return the folded words of plain texts, and how many each text has."""
    joined = " ".join(texts)
    if "'" in joined:
        texts = [without_clitics(text) for text in texts]
        joined = " ".join(texts)
    lines = joined.encode().translate(ASCII_FOLDS)
    padded = np.frombuffer(b" %b%b" % (lines, b" " * (KEY_BYTES + 1)), dtype=np.uint8)
    spaces = np.flatnonzero(padded == _SPACE)
    sizes = np.diff(spaces) - 1
    # Two spaces have no word between them.
    filled = np.flatnonzero(sizes)
    starts, sizes = spaces.take(filled) + 1, sizes.take(filled)
    begins = np.arange(1, len(texts) + 2)
    begins[1:] += np.fromiter(accumulate(map(len, texts)), np.int64, len(texts))
    counts = np.diff(np.searchsorted(starts, begins))
    # A window on eight bytes begins at every byte.
    windows = np.ndarray(len(padded) - KEY_BYTES + 1, "<u8", padded, strides=(1,))
    long = np.flatnonzero(sizes > KEY_BYTES)
    if not len(long):
        return vocabulary.short_words(windows[starts] & _MASKS.take(sizes)), counts
    keys = windows[starts] & _MASKS.take(np.minimum(sizes, KEY_BYTES))
    short = int(np.argmin(sizes))
    if sizes[short] <= KEY_BYTES:
        # A long word stands for a short one of these texts until it gets its own number.
        keys[long] = keys[short]
        words = vocabulary.short_words(keys)
    else:
        words = np.empty(len(starts), dtype=np.int64)
    spans = zip((starts[long] - 1).tolist(), sizes[long].tolist(), strict=True)
    text = lines.decode()
    words[long] = vocabulary.long_words([text[at : at + size] for at, size in spans])
    return words, counts


def _languages(vocabulary: Vocabulary, words: Longs, owners: Longs, counts: Longs) -> Longs:
    """Return the number of the language of each text, by its commonest words."""
    common = common_words()
    rows = vocabulary.rows_of(words)
    chosen = np.flatnonzero(rows)
    firsts = np.cumsum(counts) - counts
    chosen = chosen[chosen - firsts[owners[chosen]] < LANGUAGE_SAMPLE]
    # A word counts once in a text however often it stands there.
    pairs = each_once(owners[chosen] << 32 | rows[chosen])
    sums = np.zeros((len(pairs) + 1, vocabulary.votes.shape[1]), dtype=np.uint64)
    # Sums run over and lose their upper bits; the difference of two is right all the same.
    np.cumsum(vocabulary.votes[pairs & 0xFFFFFFFF], axis=0, out=sums[1:])
    ends = np.searchsorted(pairs, np.arange(len(counts) + 1) << 32)
    lanes = (sums[ends[1:]] - sums[ends[:-1]]).astype("<u8").view(np.uint8)
    votes = lanes[:, : len(common.languages)]
    languages: Longs = np.argmax(votes, axis=1).astype(np.int64)
    most = votes.max(axis=1).astype(np.int64)
    few = most * WORDS_PER_VOTE < np.minimum(counts, LANGUAGE_SAMPLE)
    languages[few | (votes[:, common.english] == most)] = common.english
    return languages
