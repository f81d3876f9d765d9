"""A mark in the store: something was deleted, and copies of it may be left in unused space."""

import secrets

from pdpp.store.tables.database import TableConnection, TableReader
from pdpp.store.tables.records.predicate import OWNER

_NAME = "deleted"


def mark(db: TableConnection) -> None:
    """Note that something was deleted or rewritten."""
    token = secrets.token_hex(8)
    db.execute("INSERT OR REPLACE INTO setting VALUES (?, ?, ?)", (OWNER, _NAME, token))


def mark_of(db: TableReader) -> object:
    """Return the mark that was made last; None where nothing was deleted."""
    rows = db.execute("SELECT value FROM setting WHERE owner = ? AND name = ?", (OWNER, _NAME))
    return rows.get


def touch(db: TableConnection) -> None:
    """Write the mark as it is."""
    db.execute("UPDATE setting SET value = value WHERE owner = ? AND name = ?", (OWNER, _NAME))


def unmark(db: TableConnection, mark: object) -> bool:
    """Take a mark away, unless a newer one was made; tell whether it was taken."""
    db.execute(
        "DELETE FROM setting WHERE owner = ? AND name = ? AND value = ?", (OWNER, _NAME, mark)
    )
    return db.changes() > 0
