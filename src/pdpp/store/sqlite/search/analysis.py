"""Analysis: the terms of many texts at once, each the same as if it were analysed alone.

Most words of a batch stand in it many times. They are told apart as numbers, eight letters in 64
bits, so that only each distinct word is looked up. Texts that are not plain ASCII, and batches too
small to gain by it, go through the analyser one by one.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pdpp.evidence.analyse import ASCII_FOLDS
from pdpp.evidence.language.stems import stems_of
from pdpp.evidence.language.tables import common_words
from pdpp.evidence.language.terms import LANGUAGE_SAMPLE, terms_of, without_clitics
from pdpp.store.ranking.postings import Longs

Keys = NDArray[np.uint64]

_FEW = 16
_MOST_CHARS = 1 << 21
_KEY_BYTES = 8
_SPACE = 32
_MASKS = np.array(
    [(1 << 64) - (1 << 64 - 8 * size) for size in range(_KEY_BYTES + 1)], dtype=np.uint64
)
"""What keeps the first letters of a key, which are its upper bits: so keys sort like words."""


class Terms(NamedTuple):
    """The terms of some texts: which of the sorted ``names`` each is, and in which text."""

    names: list[str]
    ranks: Longs
    texts: Longs


class _Words(NamedTuple):
    """The words of some texts: the distinct ones, which of them each is, and in which text."""

    distinct: list[str]
    ids: Longs
    texts: Longs


def analyse(texts: Sequence[str]) -> Terms:
    """Return the terms of texts, each as often as it stands there."""
    names: list[str] = []
    ids, owners = [], []
    for own_names, own_ids, own_texts in _analysed(texts):
        ids.append(own_ids + len(names))
        owners.append(own_texts)
        names += own_names
    # Names come nearly in order, which a sort makes use of and a set would destroy.
    ordered = sorted(dict.fromkeys(names))
    rank_of = dict(zip(ordered, range(len(ordered)), strict=True))
    ranks = np.fromiter(map(rank_of.__getitem__, names), dtype=np.int64, count=len(names))
    return Terms(ordered, ranks[np.concatenate(ids)], np.concatenate(owners))


def _analysed(texts: Sequence[str]) -> Iterator[_Words]:
    """Yield terms of some of the texts after another; a term may be named twice."""
    plain = [at for at, text in enumerate(texts) if text.isascii()]
    if len(plain) < _FEW:
        plain = []
    known = set(plain)
    others = [(at, terms_of(text)) for at, text in enumerate(texts) if at not in known]
    names = [term for _, terms in others for term in terms]
    owners = np.repeat(_longs([at for at, _ in others]), _longs([len(held) for _, held in others]))
    yield _Words(names, np.arange(len(names)), owners)
    start = 0
    while start < len(plain):
        end, chars = start, 0
        while end < len(plain) and (chars < _MOST_CHARS or end == start):
            chars += len(texts[plain[end]])
            end += 1
        some = plain[start:end]
        distinct, ids, own = _stemmed(_words([texts[at] for at in some]), len(some))
        yield _Words(distinct, ids, _longs(some)[own])
        start = end


def _longs(values: Sequence[int]) -> Longs:
    return np.array(values, dtype=np.int64)


def _words(texts: Sequence[str]) -> _Words:
    """Return the folded words of plain texts."""
    bare = [without_clitics(text) for text in texts]
    lines = " ".join(bare).encode().translate(ASCII_FOLDS)
    padded = np.frombuffer(b" %b%b" % (lines, b" " * (_KEY_BYTES + 1)), dtype=np.uint8)
    edges = np.flatnonzero(np.diff(padded != _SPACE)) + 1
    starts, sizes = edges[::2], edges[1::2] - edges[::2]
    begins = np.cumsum([1, *(len(text) + 1 for text in bare)])
    owners = np.searchsorted(begins, starts, side="right") - 1
    short = sizes <= _KEY_BYTES
    windows = np.lib.stride_tricks.sliding_window_view(padded, _KEY_BYTES)[starts[short]]
    keys, places = np.unique(
        windows.view(">u8").ravel().astype(np.uint64) & _MASKS[sizes[short]], return_inverse=True
    )
    distinct: list[str] = keys.astype(">u8").view("S8").astype("U8").tolist()
    ids = np.empty(len(starts), dtype=np.int64)
    ids[short] = places
    long = np.flatnonzero(~short)
    if len(long):
        spans = zip(starts[long].tolist(), sizes[long].tolist(), strict=True)
        written = [lines[at - 1 : at - 1 + size].decode() for at, size in spans]
        known = {word: number for number, word in enumerate(dict.fromkeys(written), len(distinct))}
        ids[long] = [known[word] for word in written]
        distinct += known
    return _Words(distinct, ids, owners)


def _stemmed(words: _Words, texts: int) -> _Words:
    """Return the stems of words, each in the language of its text."""
    count = max(1, len(words.distinct))
    languages = _languages(words, texts)
    pairs = languages[words.texts] * count + words.ids
    used = np.zeros(len(common_words().languages) * count, dtype=bool)
    used[pairs] = True
    held = np.flatnonzero(used)
    number_of = np.empty(len(used), dtype=np.int64)
    number_of[held] = np.arange(len(held))
    stems: list[str] = []
    distinct = words.distinct
    for number in np.unique(held // count).tolist():
        own = held[(held >= number * count) & (held < (number + 1) * count)] % count
        language = common_words().languages[number]
        stems += stems_of(language).of([distinct[at] for at in own.tolist()])
    return _Words(stems, number_of[pairs], words.texts)


def _languages(words: _Words, texts: int) -> Longs:
    """Return the number of the language of each text, by its commonest words."""
    common = common_words()
    bits = np.fromiter(common.bits(words.distinct), np.uint64, len(words.distinct))
    first = np.searchsorted(words.texts, np.arange(texts))
    sampled = np.arange(len(words.ids)) - first[words.texts] < LANGUAGE_SAMPLE
    chosen = np.flatnonzero(sampled & (bits[words.ids] != 0))
    pairs = np.unique(words.texts[chosen] << 32 | words.ids[chosen])
    every = bits[pairs & 0xFFFFFFFF, None] >> np.arange(len(common.languages), dtype=np.uint64)
    sums = np.zeros((len(pairs) + 1, len(common.languages)), dtype=np.int32)
    np.cumsum((every & np.uint64(1)).astype(np.int32), axis=0, out=sums[1:])
    ends = np.searchsorted(pairs >> 32, np.arange(texts + 1))
    votes = sums[ends[1:]] - sums[ends[:-1]]
    languages: Longs = np.argmax(votes, axis=1).astype(np.int64)
    languages[votes[:, common.english] == votes.max(axis=1)] = common.english
    return languages
