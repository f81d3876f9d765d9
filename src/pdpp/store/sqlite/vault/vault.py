"""The vault of an embedded database: grants, tokens, clients and short-lived secrets."""

import logging
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pdpp.model.grant import Grant, Package
from pdpp.model.instant import Clock
from pdpp.store.sqlite.database import Database
from pdpp.store.sqlite.opening import SqliteConnection
from pdpp.store.sqlite.vault import holding
from pdpp.store.sqlite.vault.reader import SqliteVaultReader
from pdpp.store.sqlite.vault.revocations import RevocationFiles, revoke_again
from pdpp.store.sqlite.vault.transaction import SqliteVaultTransaction
from pdpp.store.vault import Token, VaultTransaction

log = logging.getLogger("pdpp.store")


class SqliteVault(SqliteVaultReader):
    """Looks up on each thread's own connection; decides on the one that writes."""

    def __init__(
        self, database: Database, folder: Path, clock: Clock, machine: Path | None = None
    ) -> None:
        self._database = database
        self._revocations = RevocationFiles(folder, machine)
        self._clock = clock
        if not self._revocations.exist:
            self._hold()
        self._revocations.begin_on_machine()
        revived = self._revocations.revived(self._db)
        if revived:
            with database.writing() as db:
                for kind, name in revived:
                    revoke_again(db, kind, name, clock())
            log.warning("%d revocations were not in the database; revoked again", len(revived))

    def _hold(self) -> None:
        """Hold every approval: this store comes from elsewhere, and may be an old one."""
        with self._database.writing() as db:
            # Looked at again under the lock: another program may have begun this store meanwhile.
            count = 0 if self._revocations.exist else holding.hold(db, self._clock())
        # Last: a crash before this holds once more what is held already.
        self._revocations.begin()
        if count:
            log.warning(
                "this store was restored here and %d grants and tokens of it wait for its owner: "
                "see pdpp grant confirm",
                count,
            )

    def held_grants(self) -> list[str]:
        """Return the grants that wait for the owner since the store was restored here."""
        return holding.held_grants(self._db)

    def confirm(self, grant_ids: Collection[str] | None) -> None:
        """Let held grants be good again, or all that is held; what is known as revoked stays so."""
        with self._database.writing() as db:
            holding.release(db, grant_ids)
            for kind, name in self._revocations.revived(db):
                revoke_again(db, kind, name, self._clock())

    @property
    def _db(self) -> SqliteConnection:
        return self._database.reader

    @contextmanager
    def transaction(self) -> Iterator[VaultTransaction]:
        """Hold one write transaction: everything decided in it is kept, or nothing."""
        with self._database.writing() as db:
            transaction = SqliteVaultTransaction(db)
            yield transaction
            self._remember(transaction.revoked)

    def _remember(self, revoked: Sequence[str]) -> None:
        if revoked:
            # First the file: what a crash leaves half done is then revoked at the next start.
            self._revocations.add(revoked)

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
