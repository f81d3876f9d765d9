"""Moving: every row of a store copied to the other engine, in pieces, and compared at the end.

Both engines have the same tables, so a row is the same values there and here. A piece and where it
ended are written in one transaction: whoever is interrupted goes on from there. At the end all rows
of both are read once more and compared by a digest that does not depend on their order.
"""

import base64
import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

import orjson

from pdpp.model.errors import StoreError
from pdpp.store.tables.database import TableConnection, TableReader
from pdpp.store.tables.records.predicate import OWNER

MOVE_SETTING = "move"
"""The setting of a store into which a move has begun and not ended."""

CHANGED = "the source changed while it was moved; stop its server"
PIECE = 2_000
_FEW = 16
"""So many rows are a piece where each may have megabytes."""
_STATE = "SELECT value FROM setting WHERE owner = ? AND name = ?"
_KEEP = "INSERT OR REPLACE INTO setting VALUES (?, ?, ?)"
_FORGET = "DELETE FROM setting WHERE owner = ? AND name = ?"
_DIGESTS = 1 << 256
Row = tuple[Any, ...]
Tell = Callable[[int], None]


class MovedTable(NamedTuple):
    """A table as it is moved: the columns that both engines have, and those of its key."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]

    @property
    def piece(self) -> int:
        """Return how many rows are moved at once."""
        return _FEW if self.name == "long_value" else PIECE

    def key_in(self, row: Row) -> list[Any]:
        """Return the key of a row."""
        return [row[self.columns.index(name)] for name in self.key]


class MovingSide(Protocol):
    """A store whose rows can be read and written as they are."""

    def reading(self) -> AbstractContextManager[None]:
        """Hold one moment of the store."""
        ...

    def rows(self, table: MovedTable, after: Sequence[Any] | None, most: int) -> list[Row]:
        """Return rows in the order of their keys, from the one after a key."""
        ...

    def add(self, table: MovedTable, rows: Sequence[Row], state: bytes) -> None:
        """Add rows, and keep with them how far the move is."""
        ...

    def state(self) -> bytes | None:
        """Return how far a move into this store is, None where there is none."""
        ...

    def is_empty(self, tables: Sequence[MovedTable]) -> bool:
        """Tell whether nothing was ever stored here."""
        ...

    def finish(self) -> None:
        """Forget that there was a move."""
        ...


def move_rows(
    source: MovingSide, target: MovingSide, tables: Sequence[MovedTable], name: str, tell: Tell
) -> int:
    """Copy everything of one store into another that is empty, or go on; return how many rows.

    ``name`` is the source's, by which a move that was interrupted is known.
    """
    place = begun(target, tables, name)
    with source.reading():
        for number, table in enumerate(tables):
            if number < place["table"]:
                continue
            after = place["after"] if number == place["table"] else None
            _move_table(source, target, table, _opened(after), _Place(name, number), tell)
        moved = compare(source, target, tables)
    target.finish()
    return moved


def begun(target: MovingSide, tables: Sequence[MovedTable], name: str) -> dict[str, Any]:
    """Return how far a move into a store is; refuse one that is in use or another's target."""
    state = target.state()
    if state is None:
        if not target.is_empty(tables):
            raise StoreError(
                "the target holds records, grants or a passphrase already; choose an empty one"
            )
        return {"table": 0, "after": None}
    place: dict[str, Any] = orjson.loads(state)
    if place["source"] != name:
        raise StoreError("the move that began here came from another store; choose an empty target")
    return place


class _Place:
    """Tells how far a move is."""

    def __init__(self, source: str, table: int) -> None:
        self._source = source
        self._table = table

    def after(self, key: Sequence[Any] | None) -> bytes:
        """Return the state after a row."""
        sealed = None if key is None else [_sealed(value) for value in key]
        return orjson.dumps({"source": self._source, "table": self._table, "after": sealed})


def _sealed(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    return value


def _opened(key: Sequence[Any] | None) -> list[Any] | None:
    if key is None:
        return None
    return [base64.b64decode(value["bytes"]) if isinstance(value, dict) else value for value in key]


def _move_table(
    source: MovingSide,
    target: MovingSide,
    table: MovedTable,
    after: Sequence[Any] | None,
    place: _Place,
    tell: Tell,
) -> None:
    if after is not None and not table.key:
        # A table without a key is one piece, and it is there.
        return
    while True:
        rows = source.rows(table, after, table.piece)
        if rows:
            after = table.key_in(rows[-1])
            target.add(table, rows, place.after(after))
            tell(len(rows))
        if len(rows) < table.piece or not table.key:
            return


def compare(source: MovingSide, target: MovingSide, tables: Sequence[MovedTable]) -> int:
    """Compare all rows of two stores; return how many there are, or say where they differ."""
    count = 0
    with target.reading():
        for table in tables:
            ours, theirs = (digest(side, table) for side in (source, target))
            if ours != theirs:
                raise StoreError(
                    f"the copy differs in the table {table.name}: {CHANGED}, empty the target and "
                    "move again"
                )
            count += ours[0]
    return count


def digest(side: MovingSide, table: MovedTable) -> tuple[int, int]:
    """Return how many rows a table has, and a sum over all of them that tells them apart."""
    count = total = 0
    for row in _all(side, table):
        # How far the move is stands in the target alone.
        if table.name == "setting" and MOVE_SETTING in row:
            continue
        count += 1
        content = repr(tuple(plain(value) for value in row)).encode()
        total += int.from_bytes(hashlib.sha256(content).digest(), "big")
    return count, total % _DIGESTS


def _all(side: MovingSide, table: MovedTable) -> Iterator[Row]:
    after: Sequence[Any] | None = None
    while True:
        rows = side.rows(table, after, table.piece)
        yield from rows
        if len(rows) < table.piece or not table.key:
            return
        after = table.key_in(rows[-1])


def plain(value: Any) -> Any:
    """Return a value by which equal ones are the same, whatever the engine gives them as."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return bytes(value) if isinstance(value, memoryview | bytearray) else value


def recall_state(db: TableReader) -> bytes | None:
    """Return how far a move into a store is, None where there is none."""
    kept = db.execute(_STATE, (OWNER, MOVE_SETTING)).get
    return None if kept is None else bytes(kept)


def keep_state(db: TableConnection, state: bytes) -> None:
    """Keep how far a move into a store is."""
    db.execute(_KEEP, (OWNER, MOVE_SETTING, state))


def forget_state(db: TableConnection) -> None:
    """Forget that there was a move into a store."""
    db.execute(_FORGET, (OWNER, MOVE_SETTING))
