"""The version of the catalogue: a number that each change of what is declared raises."""

import secrets

from pdpp.store.tables.database import TableConnection, TableReader
from pdpp.store.tables.records.predicate import OWNER

_MOST_RAISED = 1 << 31


def catalogue_version(db: TableReader) -> int:
    """Return the number that each change of the catalogue raises."""
    row = next(
        db.execute("SELECT value FROM setting WHERE owner = ? AND name = 'catalogue'", (OWNER,)),
        None,
    )
    return 0 if row is None else int(row[0])


def raise_version(db: TableConnection) -> None:
    """Let everybody read the catalogue anew."""
    # By chance: a database that goes on from an earlier moment never gives a number again.
    version = catalogue_version(db) + 1 + secrets.randbelow(_MOST_RAISED)
    db.execute("INSERT OR REPLACE INTO setting VALUES (?, 'catalogue', ?)", (OWNER, version))
