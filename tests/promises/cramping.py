"""Makes plans change after a few rows, as they otherwise do after thousands."""

import pytest

from pdpp.store import cell
from pdpp.store.ranking import leaders, matches, score, unit_score
from pdpp.store.tables.records import long_values, predicate
from pdpp.store.tables.search import index, packing, posting_reader, tending


def cramp(patch: pytest.MonkeyPatch) -> None:
    """Cramp the engine until the patch is undone."""
    patch.setattr(index, "BLOCK_RECORDS", 3)
    patch.setattr(index, "MOST_WAITING", 3)
    patch.setattr(index, "_MOST_SMALL", 1)
    patch.setattr(index, "SPREAD_FROM", 1)
    patch.setattr(packing, "DENSE_PART", 2)
    patch.setattr(posting_reader, "_MANY", 1)
    patch.setattr(score, "FEW", 1)
    patch.setattr(tending, "PIECE_ROWS", 3)
    for module in (score, unit_score):
        patch.setattr(module, "CHUNK", 4)
    patch.setattr(leaders, "_SAMPLE", 6)
    patch.setattr(leaders, "_MOST", 1)
    patch.setattr(matches, "_SAMPLE", 6)
    patch.setattr(matches, "_SCORED_EACH", 0)
    patch.setattr(predicate, "_SELECTIVE", 2)
    for part in (cell, long_values):
        patch.setattr(part, "LONG_CHARS", 8)
