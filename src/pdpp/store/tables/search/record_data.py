"""The data of records that a search looks into: read once, however often it is asked for."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pdpp.store.numbers import read_data
from pdpp.store.scope import Reach
from pdpp.store.tables.database import TableReader
from pdpp.store.tables.records.projection import LARGE_BYTES, CountBytes


class RecordData(NamedTuple):
    """What is stored of one record."""

    surrogate: int
    data: Mapping[str, Any]

    def searched_texts(self, reach: Reach) -> tuple[str, ...]:
        """Return the texts that a reach may search."""
        values = (self.data.get(name) for name in reach.searched_fields())
        return tuple(value for value in values if isinstance(value, str))


class RecordsRead:
    """The records that one search has read, by their numbers."""

    def __init__(self, db: TableReader, count: CountBytes) -> None:
        self._db = db
        self._count = count
        self._known: dict[int, RecordData] = {}

    def of(self, numbers: Sequence[int]) -> dict[int, RecordData]:
        """Return the records with some numbers, as far as there are any."""
        known = self._known
        unread = [number for number in numbers if number not in known]
        if unread:
            rows = self._db.execute(
                "SELECT r.id, r.surrogate, r.data FROM carray(?) AS c"
                " CROSS JOIN record r ON r.id = c.value",
                (self._db.array(np.array(unread, dtype=np.int64)),),
            )
            for number, surrogate, data in rows:
                if len(data) > LARGE_BYTES:
                    self._count(len(data))
                known[number] = RecordData(surrogate, read_data(data))
        return {number: known[number] for number in numbers if number in known}

    def forget(self) -> None:
        """Give up what was read, where so much is read that it must not be kept."""
        self._known.clear()
