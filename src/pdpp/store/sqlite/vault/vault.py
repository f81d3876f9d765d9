"""The keyring: the vault of an embedded database."""

from collections.abc import Iterator
from contextlib import contextmanager

import apsw

from pdpp.store.sqlite.database import Database
from pdpp.store.sqlite.vault.ledger import SqliteLedger
from pdpp.store.sqlite.vault.shelf import SqliteShelf
from pdpp.store.vault import Ledger


class SqliteVault(SqliteShelf):
    """Looks up on each thread's own connection; decides on the one that writes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def _db(self) -> apsw.Connection:
        return self._database.reader

    @contextmanager
    def deciding(self) -> Iterator[Ledger]:
        """Hold one write transaction: all that is decided in it is kept, or nothing."""
        with self._database.writing() as db:
            yield SqliteLedger(db)
