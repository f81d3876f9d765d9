"""Timelines: whether a database goes on from where it was, or from an earlier moment.

A replica that takes over may lack the last writes, where commits did not wait for it, and a
database may be set back while workers run. What was written since is gone, and its numbers are
given again: to other feeds, other sets of fields, other blocks. Whatever a worker remembers by such
a number would then be said of something else. PostgreSQL begins another timeline in these cases.
"""

import logging
import threading
import weakref
from collections.abc import Callable
from typing import Any

import psycopg

from pdpp.store.postgres import schema
from pdpp.store.postgres.connection import PostgresConnection

log = logging.getLogger("pdpp.store")

Forget = Callable[[PostgresConnection], None]

_TIMELINE = f"""
    SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8), d.oid::bigint,
      to_regnamespace('{schema.SCHEMA}')::oid::bigint
    FROM pg_database d WHERE d.datname = current_database()
"""
"""The timeline, and the numbers that a database and its schema get when they are made anew."""


class DatabaseTimeline:
    """Which past the database of a worker goes on from, as new sessions tell it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._told: Any = None
        self._forgets: list[weakref.WeakMethod[Forget]] = []
        self.number = 0
        """How often the database was found to go on from another moment."""

    def follow(self, forget: Forget) -> None:
        """Call a method, while its object lives, when nothing that is remembered holds any more.

        It is given a session of the database as it is now.
        """
        with self._lock:
            self._forgets = [known for known in self._forgets if known() is not None]
            self._forgets.append(weakref.WeakMethod(forget))

    def look(self, db: PostgresConnection) -> None:
        """Ask a new session; where it tells of another past, have everything forgotten."""
        try:
            told = db.run(_TIMELINE).get
        except psycopg.Error:
            if db.raw.closed:
                raise
            # Some databases that speak this protocol have no log of their own to tell of.
            return
        with self._lock:
            known, self._told = self._told, told
            if known in (None, told):
                return
            self.number += 1
            forgets = [forget for known in self._forgets if (forget := known()) is not None]
        log.warning("the database goes on from another moment; what was remembered is read anew")
        for forget in forgets:
            forget(db)
