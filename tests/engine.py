"""The engine that tests run on. Nothing outside ``tests/store/sqlite`` names one."""

from pathlib import Path
from typing import Any

from pdpp.model import instant
from pdpp.store.port import Store
from pdpp.store.sqlite.store import SqliteStore


def open_store(folder: Path, clock: instant.Clock = instant.now) -> Store:
    """Open the store in a data folder, or make one there."""
    return SqliteStore(folder, clock)


def database_of(part: object) -> Any:
    """Return the database behind a store or its receipts, for tests that put a fault into it."""
    return part._db  # type: ignore[attr-defined]
