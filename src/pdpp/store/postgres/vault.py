"""The vault in PostgreSQL: grants, tokens, clients and short-lived secrets of one owner."""

from collections.abc import Collection, Sequence
from typing import cast

from pdpp.model.instant import Clock
from pdpp.store.postgres.database import PostgresDatabase
from pdpp.store.sqlite.database import Database
from pdpp.store.sqlite.vault.vault import SqliteVault


class PostgresVault(SqliteVault):
    """Looks up on each thread's own connection; decides on the one that writes.

    What was revoked is kept in the database alone. A worker has no folder that all others see, and
    a database that is put back to an earlier moment is one whose operator knows that; the embedded
    engine is copied by anyone who copies a file, and remembers beside it what was revoked.
    """

    def __init__(self, database: PostgresDatabase, clock: Clock) -> None:
        self._database = cast(Database, database)
        self._clock = clock

    def confirm(self, grant_ids: Collection[str] | None) -> None:
        """Do nothing: no grant is ever held."""

    def _remember(self, revoked: Sequence[str]) -> None:
        """Do nothing: the database remembers."""
