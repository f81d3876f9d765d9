"""Revocations beside the database: what was taken back stays so when an older database returns.

A backup knows nothing of what was revoked after it was made. Whoever puts its database back in the
data folder would revive those grants, and let others open accounts that the owner removed since.
So each revocation, and each account that a grant opens no longer because it was removed, is also a
line in a file of the folder that no backup holds, and in one that the machine keeps for the store
whatever folder it is in. They are written before the database keeps the revocation, and read
whenever the store is opened. A place that has neither file cannot know what was revoked: there
approvals are held (``holding``).
"""

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from pdpp.private import make_folder
from pdpp.store.tables.database import TableConnection, TableReader
from pdpp.store.tables.records.predicate import OWNER
from pdpp.store.tables.vault import grants as grant_rows

FILE_NAME = "revocations"
_LINE = re.compile(r"(grant|package|token|family|closed|opened) (\S{1,200})\Z")
_TABLES = {
    "grant": ("grant", "grant_id"),
    "package": ("package", "package_id"),
    "token": ("token", "hash"),
}


class RevocationFiles:
    """The list of everything that was ever revoked in a store; it only grows.

    ``machine`` is the file that the machine keeps for the store. Where it cannot be written, as in
    a container without a home, the one in the data folder has to do.
    """

    def __init__(self, folder: Path, machine: Path | None) -> None:
        self._path = folder / FILE_NAME
        self._machine = machine

    @property
    def exist(self) -> bool:
        """Tell whether this place can know what was revoked."""
        return self._path.exists() or (self._machine is not None and self._machine.exists())

    def begin(self) -> None:
        """Let this place be one that knows what is revoked from now on."""
        self.add(())

    def begin_on_machine(self) -> None:
        """Let the machine remember a store that it meets."""
        if self._machine is not None and not self._machine.exists():
            with suppress(OSError):
                make_folder(self._machine.parent)
                _append(self._machine, "")

    def add(self, lines: Iterable[str]) -> None:
        """Add what is being revoked, and wait until the disk has it."""
        text = "".join(f"{line}\n" for line in lines)
        # The folder first: it must be written; the machine's own file may fail.
        _append(self._path, text)
        if self._machine is not None:
            with suppress(OSError):
                make_folder(self._machine.parent)
                _append(self._machine, text)

    def revived(self, db: TableReader) -> list[tuple[str, str]]:
        """Return what was revoked once and is good in a database: an older one was put back."""
        texts = [_text(path) for path in (self._path, self._machine) if path is not None]
        entries = dict.fromkeys(entry for text in texts for entry in _entries(text))
        return [entry for entry in entries if _is_good(db, *entry)]


def _append(path: Path, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        # One write to a file opened for appending: lines of several processes never mix.
        os.write(descriptor, text.encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:  # not there, or a machine that keeps nothing
        return ""


def _entries(text: str) -> dict[tuple[str, str], None]:
    """Return what a list says was taken back, in its order."""
    entries: dict[tuple[str, str], None] = {}
    # A last line that a power cut left half written names nothing that exists; its revocation
    # was not acknowledged either.
    for match in filter(None, map(_LINE.match, text.splitlines())):
        kind, name = match.groups()
        if kind == "opened":
            entries.pop(("closed", name), None)
        else:
            entries[kind, name] = None
    return entries


def _is_good(db: TableReader, kind: str, name: str) -> bool:
    if kind == "closed":
        return grant_rows.opens_account(db, name)
    if kind == "family":
        return grant_rows.is_family_good(db, name)
    table, column = _TABLES[kind]
    statement = (
        f"SELECT 1 FROM {table} WHERE owner = ? AND {column} = ? AND revoked_at IS NULL LIMIT 1"
    )
    return db.execute(statement, (OWNER, name)).get is not None


def revoke_again(db: TableConnection, kind: str, name: str, now: int) -> None:
    """Revoke what an older database brought back."""
    match kind:
        case "grant":
            grant_rows.revoke_grant(db, name, now)
        case "package":
            grant_rows.revoke_package(db, name, now)
        case "token":
            grant_rows.revoke(db, "token", "hash", name, now)
        case "closed":
            grant_rows.close_account(db, name, now)
        case _:
            grant_rows.revoke_family(db, name, now)
