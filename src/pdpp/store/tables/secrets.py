"""Secrets of a store: what cursors and ids are sealed with, and what importers hash under."""

from hashlib import blake2b
from secrets import token_bytes

from pdpp.store.tables.database import TableDatabase, TableReader
from pdpp.store.tables.records.predicate import OWNER


def store_secret(database: TableDatabase) -> bytes:
    """Return the secret of a store, which the first that asks makes."""
    find = "SELECT value FROM setting WHERE owner = ? AND name = 'secret'"
    row = next(database.reader.execute(find, (OWNER,)), None)
    if row is not None:
        return bytes(row[0])
    with database.writing() as db:
        # Several programs may start on a new store: whoever inserts first wins, all read it back.
        db.execute(
            "INSERT OR IGNORE INTO setting VALUES (?, 'secret', ?)", (OWNER, token_bytes(32))
        )
        return bytes(db.execute(find, (OWNER,)).get)


def import_secret(db: TableReader, secret: bytes) -> bytes:
    """Return the secret that keys of records are hashed under: adopted, or the store's own."""
    sql = "SELECT value FROM setting WHERE owner = ? AND name = 'import_secret'"
    row = next(db.execute(sql, (OWNER,)), None)
    if row is not None:
        return bytes(row[0])
    # Derived one way: an export carries it, and must not carry the secret of the store.
    return blake2b(b"import keys", key=secret, digest_size=32).digest()


def adopt_import_secret(database: TableDatabase, secret: bytes) -> bool:
    """Hash as another store did; return False where connections already have other keys."""
    with database.writing() as db:
        if db.execute("SELECT EXISTS (SELECT 1 FROM connection)").get:
            return False
        sql = "INSERT OR REPLACE INTO setting VALUES (?, 'import_secret', ?)"
        db.execute(sql, (OWNER, secret))
        return True
