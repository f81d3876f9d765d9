"""Owners by name: each has a number, which every row of theirs begins with."""

import psycopg

from pdpp.store.postgres import schema
from pdpp.store.postgres.connection import PostgresConnection
from pdpp.store.postgres.pool import WorkerConnections

OWNER_NAME = "owner"
"""Whose store it is where nobody says."""
_NOBODY = 0
"""The number that no owner has."""
_FIND = "SELECT id FROM owner_name WHERE name = $1"


def has_store(url: str, owner: str = OWNER_NAME) -> bool:
    """Tell whether there is an owner of a name, without making anything."""
    with psycopg.connect(url) as raw:
        names = f"{schema.SCHEMA}.owner_name"
        there = raw.execute("SELECT to_regclass(%s) IS NOT NULL", (names,)).fetchone()
        if there is None or not there[0]:
            return False
        row = raw.execute(f"SELECT 1 FROM {names} WHERE name = %s", (owner,)).fetchone()
        return row is not None


def known_owner(connections: WorkerConnections, name: str) -> int | None:
    """Return the number of an owner, None where there is none of that name."""
    db, number = connections.readers.take(_NOBODY, lambda db: find_owner(db, name))
    connections.readers.give(db)
    return number


def find_owner(db: PostgresConnection, name: str) -> int | None:
    """Return the number of an owner as a session finds it, which may be anybody's."""
    number = db.run(_FIND, (name,)).get
    return None if number is None else int(number)


def owner_number(connections: WorkerConnections, name: str) -> int:
    """Return the number of an owner, who is added where there is none of that name."""
    number = known_owner(connections, name)
    if number is None:
        with connections.writer.held(_NOBODY, lambda db: db.control("BEGIN")) as db:
            try:
                # Another worker may add the same one: it waits here, and both find one row.
                db.run("INSERT INTO owner_name (name) VALUES ($1) ON CONFLICT DO NOTHING", (name,))
                number = int(db.run(_FIND, (name,)).get)
                db.run("SELECT set_config('pdpp.owner', $1, true)", (str(number),))
                db.run("INSERT INTO owner (id) VALUES ($1) ON CONFLICT DO NOTHING", (number,))
                db.commit()
            except BaseException:
                db.roll_back()
                raise
    return number
