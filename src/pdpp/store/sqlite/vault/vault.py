"""The vault of an embedded database: grants, tokens, clients and short-lived secrets."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import apsw

from pdpp.model.grant import Grant, Package
from pdpp.store.port import Token
from pdpp.store.sqlite.database import Database
from pdpp.store.sqlite.vault.reader import SqliteVaultReader
from pdpp.store.sqlite.vault.transaction import SqliteVaultTransaction
from pdpp.store.vault import VaultTransaction


class SqliteVault(SqliteVaultReader):
    """Looks up on each thread's own connection; decides on the one that writes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @property
    def _db(self) -> apsw.Connection:
        return self._database.reader

    @contextmanager
    def transaction(self) -> Iterator[VaultTransaction]:
        """Hold one write transaction: everything decided in it is kept, or nothing."""
        with self._database.writing() as db:
            yield SqliteVaultTransaction(db)

    def keep_token(self, token: Token) -> None:
        """Keep a token in a transaction of its own."""
        with self.transaction() as transaction:
            transaction.add_token(token)

    def keep_grant(self, grant: Grant, tokens: Sequence[Token] = ()) -> None:
        """Keep a grant with its tokens in a transaction of its own."""
        with self.transaction() as transaction:
            transaction.add_grant(grant)
            for token in tokens:
                transaction.add_token(token)

    def keep_package(
        self, package: Package, grants: Sequence[Grant], tokens: Sequence[Token] = ()
    ) -> None:
        """Keep a package with its grants and tokens in a transaction of its own."""
        with self.transaction() as transaction:
            transaction.add_package(package)
            for grant in grants:
                transaction.add_grant(grant)
            for token in tokens:
                transaction.add_token(token)
