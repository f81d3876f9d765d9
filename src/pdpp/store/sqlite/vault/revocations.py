"""Revocations beside the database: what was taken back stays so when an older database returns.

A backup knows nothing of what was revoked after it was made. Whoever puts its database back in the
data folder would revive those grants. So each revocation is also a line in a file of the folder
that no backup holds, written before the database keeps it, and read whenever the store is opened.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path

import apsw

from pdpp.store.sqlite.records.predicate import OWNER
from pdpp.store.sqlite.vault import grants as grant_rows

FILE_NAME = "revocations"
_LINE = re.compile(r"(grant|package|token|family) (\S{1,200})\Z")
_TABLES = {
    "grant": ("grant", "grant_id"),
    "package": ("package", "package_id"),
    "token": ("token", "hash"),
    "family": ("refresh_token INDEXED BY refresh_token_family", "family"),
}


class RevocationFile:
    """The list of everything that was ever revoked in a data folder; it only grows."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE_NAME

    def add(self, lines: Iterable[str]) -> None:
        """Add what is being revoked, and wait until the disk has it."""
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, "".join(f"{line}\n" for line in lines).encode())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def revived(self, db: apsw.Connection) -> list[tuple[str, str]]:
        """Return what was revoked once and is good in a database: an older one was put back."""
        if not self._path.exists():
            return []
        matches = map(_LINE.match, self._path.read_text("utf-8", "replace").splitlines())
        entries = dict.fromkeys((match[1], match[2]) for match in matches if match is not None)
        return [entry for entry in entries if _is_good(db, *entry)]


def _is_good(db: apsw.Connection, kind: str, name: str) -> bool:
    table, column = _TABLES[kind]
    statement = (
        f"SELECT 1 FROM {table} WHERE owner = ? AND {column} = ? AND revoked_at IS NULL LIMIT 1"
    )
    return db.execute(statement, (OWNER, name)).get is not None


def revoke_again(db: apsw.Connection, kind: str, name: str, now: int) -> None:
    """Revoke what an older database brought back."""
    match kind:
        case "grant":
            grant_rows.revoke_grant(db, name, now)
        case "package":
            grant_rows.revoke_package(db, name, now)
        case "token":
            grant_rows.revoke(db, "token", "hash", name, now)
        case _:
            grant_rows.revoke_family(db, name, now)
