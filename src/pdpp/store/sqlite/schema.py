"""The tables in a file, the version of their format, and what is no store of this program."""

import re
from functools import cache

import apsw

from pdpp.model.errors import NewerDatabase, StoreError
from pdpp.store.tables.schema import TABLES

APPLICATION_ID = 0x50445050
VERSION = 24
"""The format of the first release. Smaller numbers were only ever written during development."""

_BLOB_CONTENT = """
-- The bytes of small blobs, and when each was kept last; see `blobs.py`. Not a table without rowid:
-- there the search for a row reads the bytes beside it.
CREATE TABLE blob_content (
  owner INTEGER NOT NULL,
  blob_id TEXT NOT NULL,
  kept_at INTEGER NOT NULL,
  content BLOB NOT NULL,
  PRIMARY KEY (owner, blob_id)
);
"""
_TABLES = TABLES + _BLOB_CONTENT
_CREATED = re.compile(r"^CREATE (?:VIRTUAL )?TABLE (\w+)", re.MULTILINE)
_ELSEWHERE = "choose another data folder"


def create(db: apsw.Connection) -> None:
    """Create all tables in an empty database."""
    with db:
        db.execute(_TABLES)
        db.pragma("application_id", APPLICATION_ID)
        db.pragma("user_version", VERSION)


@cache
def _table_names() -> frozenset[str]:
    return frozenset(_CREATED.findall(_TABLES))


def recognise(db: apsw.Connection) -> None:
    """Refuse a database that this program cannot read, and leave it as it is."""
    if db.pragma("application_id") != APPLICATION_ID:
        raise StoreError(f"the database file is not a store of pdpp; {_ELSEWHERE}")
    version = int(str(db.pragma("user_version")))
    if version > VERSION:
        raise NewerDatabase(
            f"the database is of version {version} and this program reads version {VERSION}: "
            "install a newer pdpp-server"
        )
    if version < VERSION:
        raise StoreError(
            f"the database is of version {version}, from before the first release, and this "
            f"program reads version {VERSION} only; {_ELSEWHERE} and import again"
        )
    tables = {row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    missing = sorted(_table_names() - tables)
    if missing:
        raise StoreError(
            f"the database lacks the table {missing[0]!r} and cannot be used; "
            "put a backup in its place"
        )
