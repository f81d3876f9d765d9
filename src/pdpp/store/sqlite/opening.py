"""Opening a database file, plain or encrypted."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import apsw

from pdpp.encryption.data_key import DataKey
from pdpp.model.errors import StoreError
from pdpp.store.sqlite import bulk
from pdpp.store.tables.write.new_records import NewRecords

CREATE = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
EXISTING = apsw.SQLITE_OPEN_READWRITE
_PLAIN_START = b"SQLite format 3\0"
_DEFAULT_CACHE = 100


class SqliteConnection(apsw.Connection):
    """A connection of which a statement can be given a list as one value."""

    failure: type[Exception] = apsw.Error

    def array(self, values: Any) -> Any:
        """Return numbers or texts as ``carray(?)`` takes them."""
        return apsw.carray(values)

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]], /) -> object:  # type: ignore[override]
        """Ask a statement for each of some rows; rows that are only added go in together."""
        insertion = bulk.insertion_of(sql)
        if insertion is None:
            return super().executemany(sql, rows)
        bulk.insert_rows(self, insertion, rows)
        return None

    def insert_records(self, new: NewRecords) -> None:
        """Add records with their cells."""
        bulk.insert_records(self, new)

    def fill_cells(self, feed: int, place: int) -> None:
        """Add an empty cell for each record of a feed that has no value at a place."""
        bulk.fill_cells(self, feed, place)


def open_connection(
    path: Path, key: DataKey | None, *, flags: int = CREATE, statements: int = _DEFAULT_CACHE
) -> SqliteConnection:
    """Return a connection to a database file; ``key`` is that of an encrypted one."""
    db = SqliteConnection(str(path), flags=flags, statementcachesize=statements)
    if key is not None:
        db.pragma("cipher", "aegis")
        # The key is random and given as it is: nothing is derived from it when a file is opened.
        db.execute(f"PRAGMA key = 'raw:{_hex(key)}'")
    # A sort that does not fit into memory would otherwise write rows to a file beside the system's
    # other temporary files, where nothing encrypts them.
    db.pragma("temp_store", "memory")
    return db


def _hex(key: DataKey) -> str:
    return key.derived(b"databases").hex()


def copy_into(db: apsw.Connection, target: Path, key: DataKey | None) -> None:
    """Write a database anew into another file, under another key or none.

    ``db`` must have been opened with addresses allowed (``WITH_ADDRESSES``).
    """
    options = "key=" if key is None else f"cipher=aegis&key=raw:{_hex(key)}"
    try:
        db.execute("VACUUM INTO ?", (f"{target.resolve().as_uri()}?{options}",))
    except apsw.Error as problem:
        # The engine's own words may repeat the address, and the key is in it.
        raise StoreError(f"cannot write {target}: {type(problem).__name__}") from None


WITH_ADDRESSES = EXISTING | apsw.SQLITE_OPEN_URI


def is_plain(path: Path) -> bool:
    """Tell whether a database file can be read without a key; an empty one can."""
    with path.open("rb") as file:
        start = file.read(len(_PLAIN_START))
    return start in (b"", _PLAIN_START)


def check_kind(path: Path, key: DataKey | None) -> None:
    """Refuse a plain file in an encrypted store, before it is read."""
    if not path.exists() or path.stat().st_size == 0:
        return
    plain = is_plain(path)
    if plain and key is not None:
        raise StoreError(f"{path} is not encrypted though the store is; put a backup in its place")


def wrong_key(path: Path) -> StoreError:
    """Return the refusal of a key that does not fit a file."""
    return StoreError(
        f"{path} does not open with the key of this folder: it is damaged, or encryption.json is "
        "of another store; put both back from one backup"
    )


def without_key(path: Path) -> StoreError:
    """Return the refusal of a file that does not open as a plain one."""
    return StoreError(
        f"cannot open the database {path}: it is encrypted and encryption.json is missing, or it "
        "is damaged; put both back from one backup"
    )
