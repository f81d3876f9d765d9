"""Words apart: where a word that is written as several stands in all its parts."""

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from pdpp.evidence.language.word_parts import part_terms, ways_apart
from pdpp.store.ranking.postings import FieldPostings, Impacts, Index, Longs, Postings, joined_rows


class Apart(NamedTuple):
    """A word written apart, with spaces between its parts, and where all of them stand."""

    words: str
    postings: Postings


def written_apart(index: Index, text: str) -> Apart | None:
    """Return a word in the first way in which a visible row holds all its parts."""
    return next(held_together(index, list(map(" ".join, ways_apart(text)))), None)


def held_together(index: Index, ways: Sequence[str]) -> Iterator[Apart]:
    """Yield those of some ways to write a word apart of which a visible row holds all parts."""
    terms = {part: part_terms(part) for way in ways for part in way.split()}
    postings = index.postings(sorted(set(terms.values()))) if terms else {}
    for way in ways:
        parts = [
            postings[terms[part]].texts if terms[part] in postings else [] for part in way.split()
        ]
        if not all(parts):
            continue
        held = parts[0] if len(parts) == 1 else [_together(parts)]
        if any(len(field.impacts) for field in held):
            yield Apart(way, Postings(held, []))


def _together(parts: Sequence[Sequence[FieldPostings]]) -> FieldPostings:
    """Return the rows that hold all parts, each as strongly as the weakest of them."""
    rows = reduce(_in_both, (joined_rows([held.held() for held in part]) for part in parts))
    return FieldPostings(rows, reduce(np.minimum, (_strongest(part, rows) for part in parts)))


def _in_both(one: Longs, other: Longs) -> Longs:
    return np.intersect1d(one, other, assume_unique=True)


def _strongest(fields: Sequence[FieldPostings], rows: Longs) -> Impacts:
    """Return the largest impact that each of some rows has in any field."""
    return reduce(np.maximum, (held.at(rows) for held in fields))
