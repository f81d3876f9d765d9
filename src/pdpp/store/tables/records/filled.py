"""Filled fields: those in which some record of a feed has a value, or once had one.

Each record has a cell for each of them, so that a page sorted by one goes through all records. The
other fields have no cells: most streams declare some that nobody's records fill, and to write that
nothing is there took a third of the time of an import.
"""

from array import array
from collections.abc import Collection

from pdpp.store.tables.database import TableReader
from pdpp.store.tables.records.predicate import OWNER

_FILLED = """
    SELECT c.value FROM carray(?) AS c
    WHERE (SELECT w.field FROM cell w WHERE w.owner = ? AND w.feed = ? AND w.field = c.value
           ORDER BY w.value LIMIT 1) IS NOT NULL
"""
"""A seek for each place. Asked whether a cell exists, PostgreSQL may read all of them."""


def filled_places(db: TableReader, feed: int, places: Collection[int]) -> set[int]:
    """Return which of the places of a feed have cells."""
    if not places:
        return set()
    return {place for (place,) in db.execute(_FILLED, (db.array(array("q", places)), OWNER, feed))}
