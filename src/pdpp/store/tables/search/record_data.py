"""The data of records that a search looks into: read once, however often it is asked for."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pdpp.store.numbers import read_data
from pdpp.store.scope import Reach
from pdpp.store.tables.database import TableReader
from pdpp.store.tables.records.long_values import (
    has_long_values,
    long_value,
    lost_value,
    read_long_values,
    read_member,
)
from pdpp.store.tables.records.projection import COLUMNS, CountBytes, Row, fetched

MOST_CHARS = 1 << 20
"""How many characters of texts are analysed at once, and one text more."""


class RecordData(NamedTuple):
    """What is stored of one record; long members are read when they are asked for."""

    surrogate: int
    key: str
    row: Mapping[str, Any]
    read_long: Callable[[str], Any] | None

    def get(self, name: str) -> Any:
        """Return the value of a field."""
        value = self.row.get(name)
        if self.read_long is None or long_value(value) is None:
            return value
        return self.read_long(name)

    def searched_texts(self, reach: Reach) -> tuple[str, ...]:
        """Return the texts that a reach may search."""
        values = map(self.get, reach.searched_fields())
        return tuple(value for value in values if isinstance(value, str))


class RecordsRead:
    """The records that one search has read, by their numbers."""

    def __init__(self, db: TableReader, count: CountBytes) -> None:
        self._db = db
        self._count = count
        self._stored: dict[int, Row] = {}
        self._known: dict[int, RecordData] = {}
        self._values: dict[tuple[int, str], Any] = {}

    def stored(self, numbers: Sequence[int]) -> list[Row]:
        """Return the rows of the records with some numbers, as far as there are any."""
        stored = self._stored
        unread = [number for number in numbers if number not in stored]
        if unread:
            rows = self._db.execute(
                f"SELECT r.id, {COLUMNS} FROM carray(?) AS c CROSS JOIN record r ON r.id = c.value",
                (self._db.array(np.array(unread, dtype=np.int64)),),
            )
            stored.update([(row[0], row) for row in fetched(rows, self._count)])
        return [stored[number] for number in numbers if number in stored]

    def of(self, numbers: Sequence[int]) -> dict[int, RecordData]:
        """Return the records with some numbers, as far as there are any."""
        known = self._known
        unread = [number for number in numbers if number not in known]
        for number, surrogate, key, data, *_ in self.stored(unread) if unread else ():
            read = partial(self._read, number, surrogate) if has_long_values(data) else None
            known[number] = RecordData(surrogate, key, read_data(data), read)
        return {number: known[number] for number in numbers if number in known}

    def _read(self, number: int, surrogate: int, name: str) -> Any:
        """Return a long member; it is kept, because a search looks at a text several times."""
        if (surrogate, name) not in self._values:
            feed = self._db.execute("SELECT feed FROM record WHERE id = ?", (number,)).get
            values = read_long_values(self._db, feed, [surrogate], [name], self._count)
            if (surrogate, name) not in values:
                raise lost_value()
            self._values[surrogate, name] = read_member(values[surrogate, name])
        return self._values[surrogate, name]

    def forget(self) -> None:
        """Give up what was read, where so much is read that it must not be kept."""
        self._stored.clear()
        self._known.clear()
        self.forget_long()

    def forget_long(self) -> None:
        """Give up the long members that were read, which may have megabytes each."""
        self._values.clear()
