"""The engine that tests run on. Nothing outside ``tests/store/sqlite`` names one."""

from pathlib import Path
from typing import Any

from pdpp.authz.authority import Authority
from pdpp.model import instant
from pdpp.store.port import Store
from pdpp.store.sqlite.store import SqliteStore


def open_store(folder: Path, clock: instant.Clock = instant.now) -> Store:
    """Open the store in a data folder, or make one there."""
    return SqliteStore(folder, clock)


def database_of(part: object) -> Any:
    """Return the database behind a store or its receipts, for tests that put a fault into it."""
    return part._db  # type: ignore[attr-defined]


def revoke_grant(store: Store, grant_id: str) -> bool:
    """Revoke a grant as the owner does."""
    return Authority(store, clock_of(store)).revoke_grant(grant_id)


def revoke_package(store: Store, package_id: str) -> bool:
    """Revoke a package as the owner does."""
    return Authority(store, clock_of(store)).revoke_package(package_id)


def clock_of(store: Store) -> instant.Clock:
    """Return the clock that a store was opened with."""
    clock: instant.Clock = store._clock  # type: ignore[attr-defined]
    return clock
