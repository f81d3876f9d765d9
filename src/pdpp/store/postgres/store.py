"""The store in PostgreSQL: one owner's part of a database that many workers share."""

import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import cast

import psycopg

from pdpp.encryption.files import PLAIN
from pdpp.model import instant
from pdpp.model.errors import Overloaded, PdppError
from pdpp.private import make_folder
from pdpp.store.deadline import Deadline
from pdpp.store.fleet import Fleet
from pdpp.store.limits import SharedLimits
from pdpp.store.notices import ChangeNotices
from pdpp.store.postgres.aggregates import PostgresAggregator
from pdpp.store.postgres.blobs import PostgresBlobs
from pdpp.store.postgres.bucket import Bucket
from pdpp.store.postgres.connection import CommitUnknown, PostgresConnection
from pdpp.store.postgres.database import PostgresDatabase
from pdpp.store.postgres.fleet import PostgresFleet
from pdpp.store.postgres.jobs import PostgresJobs
from pdpp.store.postgres.limits import PostgresLimits
from pdpp.store.postgres.notices import OwnerNotices
from pdpp.store.postgres.owner import OWNER_NAME
from pdpp.store.postgres.pool import WorkerConnections
from pdpp.store.postgres.receipts import PostgresReceipts
from pdpp.store.postgres.replica import LagNeed
from pdpp.store.postgres.turn import database_turn
from pdpp.store.replica import ReplicaUse
from pdpp.store.tables.catalogue_version import catalogue_version
from pdpp.store.tables.receipts.anchor import SettingAnchor
from pdpp.store.tables.records.predicate import OWNER
from pdpp.store.tables.store import TableStore
from pdpp.store.tables.vault.vault import TableVault
from pdpp.store.tables.write.prepared import SurrogateOf

log = logging.getLogger("pdpp.store")


class PostgresStore(TableStore):
    """Fulfils the store's port on a PostgreSQL database; large blobs are elsewhere."""

    _aggregator = PostgresAggregator

    def __init__(
        self,
        url: str,
        folder: Path,
        clock: instant.Clock = instant.now,
        surrogate_of: SurrogateOf | None = None,
        owner: str = OWNER_NAME,
        connections: WorkerConnections | None = None,
        bucket: Bucket | None = None,
    ) -> None:
        """Open the part of an owner, who is added where there is none of that name.

        ``connections`` are those of the worker, where it serves several owners or has a replica;
        whoever made them closes them. Without a ``bucket`` large blobs are in the folder.
        """
        self.files = PLAIN
        self._database = PostgresDatabase(url, owner, connections)
        make_folder(folder)
        blobs = PostgresBlobs(self._database, folder / "blobs", bucket, self.secret)
        super().__init__(self._database, blobs, clock, surrogate_of)
        self._database.connections.timeline.follow(self._forget)
        # What was revoked is kept in the database alone: workers share no folder, and whoever sets
        # a database back to an earlier moment knows it, while a file is copied by anyone.
        self.vault = TableVault(self._database, clock)
        self.limits: SharedLimits | None = PostgresLimits(self._database, clock)
        self.jobs = PostgresJobs(self._database, clock)
        self.notices: ChangeNotices | None = OwnerNotices(
            self._database.connections.notices, self._database.owner
        )
        self._receipts: PostgresReceipts | None = None

    def _forget(self, _: PostgresConnection) -> None:
        self._forget_all()

    @property
    def receipts(self) -> PostgresReceipts:
        """Return the log of what was read, opened when it is first asked for."""
        if self._receipts is None:
            anchor = SettingAnchor(self._db)
            self._receipts = PostgresReceipts(self._database, self.secret(), anchor, self._clock)
        return self._receipts

    def reading(
        self,
        deadline: Deadline | None = None,
        lag: float | None = None,
        assumed: object = None,
    ) -> AbstractContextManager[None]:
        """Hold one snapshot for this thread's reads, of the replica where that is recent enough."""
        need = None if lag is None else LagNeed(lag, self._has_catalogue)
        return self._database.reading(deadline, need, cast("int | None", assumed))

    def is_assumable(self, state: object) -> bool:
        """Tell whether no notice came since a state was asked for."""
        return self._database.is_assumable(state)

    def _has_catalogue(self, db: PostgresConnection) -> bool:
        """Tell whether a snapshot has the catalogue that reaches were made with."""
        known = self._catalogue
        return known is not None and catalogue_version(db) == known.version

    def replica_use(self) -> ReplicaUse | None:
        """Return how this process uses its replica; None where it has none."""
        replica = self._database.connections.replica
        return None if replica is None else replica.use()

    @property
    def fleet(self) -> Fleet | None:
        """Return where the workers of the database tell of themselves."""
        return PostgresFleet(self._database.connections)

    def recent_state(self) -> object:
        """Return a value that soon differs after a write; no question while notices come."""
        return self._database.recent_state()

    def turn(self, work: str, wait: Callable[[], None]) -> AbstractContextManager[None]:
        """Hold the turn at a kind of work by a lock of the database: workers share no folder."""
        return database_turn(self._database, work, wait)

    def close(self) -> None:
        """Close all connections."""
        if self._receipts is not None:
            self._receipts.close()
        self._db.close()

    def explain(self, problem: Exception) -> PdppError | None:
        """Return what a failure of the database means to a caller."""
        if isinstance(problem, psycopg.errors.DiskFull):
            log.error("the database has no room on its disk: make room there (%s)", problem)
            return Overloaded(
                "The database of this server has no room on its disk, and nothing of this request "
                "was kept. Send the same again once its owner has made room.",
                headers={"Retry-After": "60"},
            )
        if isinstance(problem, CommitUnknown):
            return Overloaded(
                "The way to the database was cut before it said whether this request was kept. "
                "Send the same again: what is there already is not written twice.",
                headers={"Retry-After": "10"},
            )
        if isinstance(problem, psycopg.OperationalError):
            return Overloaded(
                "This server cannot reach its database at the moment, and nothing of this request "
                "was kept. Send the same again in a while.",
                headers={"Retry-After": "10"},
            )
        return None

    def remedy(self, problem: Exception) -> str | None:
        """Return what lets a write be done again that failed, None where nothing is known to."""
        if isinstance(problem, psycopg.errors.DiskFull):
            return "the database has no room on its disk: make room there"
        if isinstance(problem, psycopg.OperationalError):
            return f"the database does not answer: see whether it runs ({problem})"
        return None

    def check(self) -> list[str]:
        """Return what is wrong with the store; nothing when all is well."""
        return [*self._row_problems(), *self.receipts.verify().problems]

    def occupied(self) -> Mapping[str, int]:
        """Return how many bytes each part of the store takes."""
        db = self._db.reader
        size = (
            "SELECT (SELECT coalesce(sum(octet_length(data)), 0) FROM record WHERE owner = ?)"
            " + (SELECT coalesce(sum(octet_length(json)), 0) FROM long_value WHERE owner = ?)"
        )
        blobs = "SELECT coalesce(sum(size_bytes), 0) FROM blob WHERE owner = ?"
        return {
            "database": int(db.execute(size, (OWNER, OWNER)).get),
            "blobs": int(db.execute(blobs, (OWNER,)).get),
        }
