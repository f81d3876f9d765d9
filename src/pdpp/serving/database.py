"""The database that a store may be in instead of its folder: how it is named, shown and opened."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pdpp.configuration.database import DatabaseAddress
from pdpp.configuration.effective import configured_database
from pdpp.model import instant
from pdpp.model.errors import StoreError
from pdpp.serving.unfinished import refuse_unfinished
from pdpp.serving.visits import WaitingOwners
from pdpp.store.fleet import Fleet
from pdpp.store.port import Store

if TYPE_CHECKING:
    from pdpp.store.postgres.bucket import Bucket
    from pdpp.store.postgres.pool import WorkerConnections


def database_of(folder: Path) -> DatabaseAddress | None:
    """Return the database that belongs to a data folder, None where there is none.

    It is what PDPP_DATABASE says, or the settings file; every command asks here.
    """
    return configured_database(folder, os.environ)


def refuse_database(database: DatabaseAddress | None, instead: str) -> None:
    """Refuse a command that works on files if the records are in a database; say what to use."""
    if database is not None:
        raise StoreError(f"the records are in the database {database}, not in a folder; {instead}")


def database_has_store(database: DatabaseAddress) -> bool:
    """Tell whether a database holds a store."""
    with explained(database):
        from pdpp.store.postgres.owner import has_store

        return has_store(database.url, database.owner)


@contextmanager
def open_database(
    database: DatabaseAddress, folder: Path, *, create: bool, restoring: bool = False
) -> Iterator[Store]:
    """Open the store in a database for one command; only where ``create`` says so is it made.

    ``restoring`` opens one, too, into which a restore was interrupted.
    """
    with explained(database):
        from pdpp.store.postgres.opening import prepare
        from pdpp.store.postgres.owner import has_store
        from pdpp.store.postgres.store import PostgresStore

        if not create and not has_store(database.url, database.owner):
            raise StoreError(
                f"there is no store in the database {database}; begin one with "
                "pdpp import, pdpp source add or pdpp serve"
            )
        prepare(database.url)
        connections = connections_to(database)
        try:
            store = PostgresStore(
                database.url,
                folder,
                owner=database.owner,
                connections=connections,
                bucket=bucket_of(database),
            )
            try:
                refuse_unfinished(store, restoring=restoring)
                yield store
            finally:
                store.close()
        finally:
            connections.close()


@contextmanager
def open_owners(database: DatabaseAddress, folder: Path) -> Iterator["OwnerStores"]:
    """Yield what opens the store of any owner there is, on connections that all of them share."""
    with explained(database):
        from pdpp.store.postgres.opening import prepare

        prepare(database.url)
        connections = connections_to(database)
        try:
            yield OwnerStores(database, folder, connections)
        finally:
            connections.close()


class OwnerStores:
    """Opens the store of any owner there is, on connections that all of them share."""

    def __init__(
        self, database: DatabaseAddress, folder: Path, connections: "WorkerConnections"
    ) -> None:
        from pdpp.store.postgres.fleet import PostgresFleet
        from pdpp.store.postgres.owner_work import OwnersWithWork

        self._database = database
        self._folder = folder
        self._connections = connections
        self._bucket = bucket_of(database)
        self.fleet: Fleet = PostgresFleet(connections)
        self.with_work: WaitingOwners = OwnersWithWork(connections, instant.now)

    def __call__(self, name: str) -> Store | None:
        """Return the store of an owner, None where there is none of that name."""
        from pdpp.store.postgres.owner import known_owner
        from pdpp.store.postgres.store import PostgresStore

        if known_owner(self._connections, name) is None:
            return None
        store = PostgresStore(
            self._database.url,
            self._folder,
            owner=name,
            connections=self._connections,
            bucket=self._bucket,
        )
        try:
            refuse_unfinished(store)
        except BaseException:
            store.close()
            raise
        return store


@contextmanager
def open_fleet(database: DatabaseAddress) -> Iterator[Fleet]:
    """Open what the workers of a database tell of themselves; no owner is needed for it."""
    with explained(database):
        from pdpp.store.postgres.fleet import PostgresFleet
        from pdpp.store.postgres.opening import prepare

        prepare(database.url)
        connections = connections_to(database)
        try:
            yield PostgresFleet(connections)
        finally:
            connections.close()


def connections_to(database: DatabaseAddress) -> "WorkerConnections":
    """Return the connections of this process to a database and to its replica, if it has one."""
    from pdpp.store.postgres.opening import worker_connections

    return worker_connections(database.url, database.replica_url, database.read_lag_seconds)


def bucket_of(database: DatabaseAddress) -> "Bucket | None":
    """Return the bucket with the large blobs of a database, None where they are in a folder."""
    if database.bucket is None:
        return None
    from pdpp.store.postgres.bucket import Bucket

    return Bucket(database.bucket)


@contextmanager
def explained(database: DatabaseAddress) -> Iterator[None]:
    """Say in a sentence what failed about a database, without what opens it."""
    try:
        import psycopg
    except ImportError:
        raise StoreError(
            "a store in PostgreSQL needs its driver: pip install 'pdpp-server[postgres]'"
        ) from None
    try:
        yield
    except psycopg.Error as problem:
        # The driver repeats the part of an address that it cannot read, and that may be a password.
        if isinstance(problem, psycopg.ProgrammingError) and problem.sqlstate is None:
            raise StoreError(
                f"the address of the database {database} cannot be read; characters such as @ / # "
                "in a password are written %40 %2F %23"
            ) from None
        lines = str(problem).strip().splitlines() or ["it said nothing"]
        raise StoreError(f"the database {database} failed: {lines[0]}") from problem
