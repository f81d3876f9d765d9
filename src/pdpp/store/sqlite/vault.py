"""The vault of an embedded database, which remembers revocations outside of its file."""

import logging
from collections.abc import Collection, Sequence
from pathlib import Path

from pdpp.model.instant import Clock
from pdpp.store.sqlite.revocations import RevocationFiles, revoke_again
from pdpp.store.sqlite.rotations import RotationFiles
from pdpp.store.tables.database import TableDatabase, TableReader
from pdpp.store.tables.vault import holding
from pdpp.store.tables.vault.vault import TableVault
from pdpp.store.vault import RefreshToken

log = logging.getLogger("pdpp.store")


class SqliteVault(TableVault):
    """Revokes again what an old copy of the file revived, and holds what nobody remembers."""

    def __init__(
        self, database: TableDatabase, folder: Path, clock: Clock, machine: Path | None = None
    ) -> None:
        super().__init__(database, clock)
        self._revocations = RevocationFiles(folder, machine)
        rotations = None if machine is None else machine.with_name(f"{machine.name}-rotations")
        self._rotations = RotationFiles(folder, rotations)
        if not self._revocations.exist:
            self._hold()
        self._revocations.begin_on_machine()
        self._rotations.forget_ended(self._clock())
        if self._revived(self._db):
            self._revoke_revived()

    def _revived(self, db: TableReader) -> list[tuple[str, str]]:
        """Return what is good in a database only because an older one was put back."""
        outdated = [("family", family) for family in self._rotations.outdated(db)]
        return [*self._revocations.revived(db), *outdated]

    def _revoke_revived(self) -> None:
        with self._database.writing() as db:
            # Looked at again under the lock: another program may be revoking just now, and it
            # writes the file first.
            revived = self._revived(db)
            for kind, name in revived:
                revoke_again(db, kind, name, self._clock())
        if revived:
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

    def confirm(self, grant_ids: Collection[str] | None) -> None:
        """Let held grants be good again, or all that is held; what is known as revoked stays so."""
        with self._database.writing() as db:
            holding.release(db, grant_ids)
            for kind, name in self._revived(db):
                revoke_again(db, kind, name, self._clock())

    def _remember(self, revoked: Sequence[str]) -> None:
        if revoked:
            # First the file: what a crash leaves half done is then revoked at the next start.
            self._revocations.add(revoked)

    def _remember_rotations(self, last: Sequence[RefreshToken]) -> None:
        self._rotations.keep(last)
