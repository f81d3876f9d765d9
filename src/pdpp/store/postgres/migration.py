"""Migrations: the steps from the schema of an earlier program to that of this one.

Each step is one transaction with the version that it leads to, under a lock that all workers take:
whoever comes second finds it done, and a worker that was killed leaves the state before the step,
from which the next one goes on. Nothing leads back: an older program refuses a newer schema.
"""

from collections.abc import Sequence
from typing import NamedTuple

import psycopg

from pdpp.model.errors import NewerDatabase, StoreError
from pdpp.store.postgres import schema


class Migration(NamedTuple):
    """A step: the version that it leads to, from the one before, and what is done for that."""

    version: int
    statements: Sequence[str]


MIGRATIONS: Sequence[Migration] = (
    Migration(2, schema.COUNTING),
    # The second version had a function that looked at all tables.
    Migration(3, ("DROP FUNCTION IF EXISTS count_grown()", *schema.COUNTING)),
    # The third one did not look at whose rows they are.
    Migration(4, ("DROP FUNCTION IF EXISTS count_grown(text[])", *schema.COUNTING)),
    # The fourth one took an owner among many, and his streams, to have next to no rows.
    Migration(
        5, (*schema.ESTIMATES, *(f'ANALYZE "{table.name}"' for table in schema.EARLIER_TABLES))
    ),
    # The fifth one had long pieces of postings among the others, where they are found as well, and
    # no dated cells, without which records are found until their declaration changes; and records
    # of one time were in no order in their conversations.
    Migration(6, (*schema.ADDED, *schema.ORDINALS)),
)
"""All steps in order, from the version of the first release to ``schema.VERSION``."""


def migrate(url: str, steps: Sequence[Migration] = MIGRATIONS) -> None:
    """Bring a schema up to this program's version; refuse one that is newer, or too old."""
    latest = steps[-1].version if steps else schema.VERSION
    with psycopg.connect(url, autocommit=True) as raw:
        while True:
            with raw.transaction():
                # Waits while another worker takes a step, and then looks at what that left.
                raw.execute("SELECT pg_advisory_xact_lock(%s)", (schema.LOCK,))
                raw.execute(f"SET LOCAL search_path TO {schema.SCHEMA}")
                row = raw.execute("SELECT version FROM about").fetchone()
                version = 0 if row is None else int(row[0])
                if version == latest:
                    return
                for text in _next(version, latest, steps).statements:
                    raw.execute(text)
                raw.execute("UPDATE about SET version = %s", (version + 1,))


def _next(version: int, latest: int, steps: Sequence[Migration]) -> Migration:
    if version > latest:
        raise NewerDatabase(
            f"the database is of version {version} and this program reads version {latest}: "
            "install a newer pdpp-server"
        )
    step = next((step for step in steps if step.version == version + 1), None)
    if step is None:
        raise StoreError(
            f"the database is of version {version}, from before the first release, and this "
            f"program reads version {latest} only; choose another database and import again"
        )
    return step
