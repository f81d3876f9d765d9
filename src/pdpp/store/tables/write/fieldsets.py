"""Field sets: the fields that records have, numbered, so that most records need no parsing."""

import orjson

from pdpp.store.tables.database import TableConnection, TableReader
from pdpp.store.tables.records.predicate import OWNER

UNKNOWN = 0
_MOST = 10_000
_LONGEST = 2_000
"""How many bytes of names are numbered: an index of PostgreSQL takes no row of 2,704."""


class FieldSets:
    """Numbers sets of fields and remembers them."""

    def __init__(self) -> None:
        self._fields: dict[int, frozenset[str]] = {}

    def load(self, db: TableReader) -> None:
        """Read the field_sets another connection may have added."""
        for number, text in db.execute(
            "SELECT id, fields FROM field_set WHERE owner = ? AND id > ?",
            (OWNER, max(self._fields, default=0)),
        ):
            self._fields[number] = frozenset(orjson.loads(text))

    def fields(self, number: int, db: TableReader) -> frozenset[str] | None:
        """Return the set of fields of a field_set, None where it is not known."""
        if number == UNKNOWN:
            return None
        fields = self._fields.get(number)
        if fields is None:
            self.load(db)
            fields = self._fields.get(number)
        return fields

    def number(self, db: TableConnection, names: tuple[str, ...]) -> int:
        """Return the number of a set of sorted names, adding it inside a write transaction.

        What has many or long names gets none: each such record is parsed when it is read.
        """
        written = orjson.dumps(names)
        if len(written) > _LONGEST:
            return UNKNOWN
        text = written.decode()
        row = next(
            db.execute("SELECT id FROM field_set WHERE owner = ? AND fields = ?", (OWNER, text)),
            None,
        )
        if row is not None:
            return int(row[0])
        if db.execute("SELECT count(*) FROM field_set").get >= _MOST:
            return UNKNOWN
        db.execute("INSERT INTO field_set (owner, fields) VALUES (?, ?)", (OWNER, text))
        return db.last_insert_rowid()
