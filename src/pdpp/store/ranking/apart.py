"""Words apart: where a word that nothing holds is written as several."""

from collections.abc import Sequence
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
    ways = list(ways_apart(text))
    terms = {part: part_terms(part) for way in ways for part in way}
    postings = index.postings(sorted(set(terms.values()))) if terms else {}
    for way in ways:
        parts = [postings[terms[part]].texts for part in way if terms[part] in postings]
        together = _together(parts) if len(parts) == len(way) and all(parts) else None
        if together is not None and len(together.impacts):
            return Apart(" ".join(way), Postings([together], []))
    return None


def _together(parts: Sequence[Sequence[FieldPostings]]) -> FieldPostings:
    """Return the rows that hold all parts, each as strongly as the weakest of them."""
    rows = reduce(_in_both, (joined_rows([held.held() for held in part]) for part in parts))
    return FieldPostings(rows, reduce(np.minimum, (_strongest(part, rows) for part in parts)))


def _in_both(one: Longs, other: Longs) -> Longs:
    return np.intersect1d(one, other, assume_unique=True)


def _strongest(fields: Sequence[FieldPostings], rows: Longs) -> Impacts:
    """Return the largest impact that each of some rows has in any field."""
    return reduce(np.maximum, (held.at(rows) for held in fields))
