"""Impacts: how strongly a term marks one field of one record, from that field's words alone.

An impact is a number from 1 to 255. It depends on how often the term stands in the field and on how
long the field is, and on nothing else: no other field, record or stream can change it.
"""

import numpy as np

from pdpp.store.ranking.postings import Longs

LARGEST = 255
_SATURATION = 0.9
_LENGTH_PART = 0.4
_USUAL_LENGTH = 30


def impacts_of(counts: Longs, lengths: Longs) -> Longs:
    """Return the impacts of terms by how often each stands in its field, and the field's length."""
    # The saturating part of BM25 with a fixed usual length: an average over all records would
    # change with hidden ones, and scores would tell of them.
    damping = _SATURATION * (1 - _LENGTH_PART + _LENGTH_PART * lengths / _USUAL_LENGTH)
    impacts: Longs = np.rint(LARGEST * counts / (counts + damping)).astype(np.int64)
    # Zero stands for "not there", so a term in a very long field still gets one step.
    return np.maximum(impacts, 1)


def impact_of(count: int, length: int) -> int:
    """Return the same for one term, where there are too few for arrays to gain anything."""
    damping = _SATURATION * (1 - _LENGTH_PART + _LENGTH_PART * length / _USUAL_LENGTH)
    return max(round(LARGEST * count / (count + damping)), 1)
