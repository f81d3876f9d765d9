"""The vault on tables: grants, tokens, clients and short-lived secrets."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from pdpp.model.grant import Grant, Package
from pdpp.model.instant import Clock
from pdpp.store.tables.database import TableDatabase, TableReader
from pdpp.store.tables.vault import holding
from pdpp.store.tables.vault.reader import TableVaultReader
from pdpp.store.tables.vault.transaction import TableVaultTransaction
from pdpp.store.vault import RefreshToken, Token, VaultTransaction


class TableVault(TableVaultReader):
    """Looks up on each thread's own connection; decides on the one that writes."""

    def __init__(self, database: TableDatabase, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def confirm(self, grant_ids: Collection[str] | None) -> None:
        """Let held grants be good again, or all that is held."""
        with self._database.writing() as db:
            holding.release(db, grant_ids)

    @property
    def _db(self) -> TableReader:
        return self._database.reader

    @contextmanager
    def transaction(self) -> Iterator[VaultTransaction]:
        """Hold one write transaction; it is committed completely or not at all."""
        with self._database.writing() as db:
            transaction = TableVaultTransaction(db)
            yield transaction
            self._remember(transaction.revoked)
        self._remember_rotations(transaction.rotated)

    def _remember(self, revoked: Sequence[str]) -> None:
        """Keep outside of the database what was revoked; here that is kept nowhere else."""

    def _remember_rotations(self, last: Sequence[RefreshToken]) -> None:
        """Keep outside of the database which refresh tokens replaced others; here nowhere else."""

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
