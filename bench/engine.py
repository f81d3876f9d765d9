"""The engine of a measured store: a file beside it says where its database is, if not in it."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import orjson

if TYPE_CHECKING:
    from pdpp.store.port import Store

_PLACE = "database.json"
APPLICATION = "pdpp-bench"


class DatabasePlace(NamedTuple):
    """Where the records of a store are that has no file of its own."""

    url: str
    owner: str


def place_of(folder: Path) -> DatabasePlace | None:
    """Return where the database of a store is, None where it is the file in its folder."""
    path = folder / _PLACE
    return DatabasePlace(**orjson.loads(path.read_bytes())) if path.exists() else None


def put_place(folder: Path, place: DatabasePlace) -> None:
    """Let a store be in a database."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _PLACE).write_bytes(orjson.dumps(place._asdict()))


def open_store(folder: Path) -> "Store":
    """Open the store of a folder on its engine."""
    place = place_of(folder)
    if place is not None:
        from pdpp.store.postgres.store import PostgresStore

        return PostgresStore(place.url, folder, owner=place.owner)
    from pdpp.serving.data_folder import store_key
    from pdpp.store.sqlite.store import SqliteStore

    return SqliteStore(folder, key=store_key(folder))


class Backends:
    """The processes of a database that work for one measured process."""

    def __init__(self, place: DatabasePlace, name: str) -> None:
        import psycopg

        self._name = name
        self._db = psycopg.connect(place.url, autocommit=True, application_name="watching")

    def __call__(self) -> Sequence[int]:
        rows = self._db.execute(
            "SELECT pid FROM pg_stat_activity WHERE application_name = %s", (self._name,)
        )
        return [pid for (pid,) in rows]

    def close(self) -> None:
        """Stop watching."""
        self._db.close()


def environment(name: str) -> dict[str, str]:
    """Return an environment in which connections to a database carry a name."""
    return {**os.environ, "PGAPPNAME": name}
