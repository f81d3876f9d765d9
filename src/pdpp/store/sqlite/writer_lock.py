"""WriterLock: a file lock that shows whether the process that took it still runs."""

import os
from pathlib import Path


class WriterLock:
    """A file that its process keeps locked while it writes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        _lock(self._descriptor)

    def leave(self) -> None:
        """Give the lock up and remove its file."""
        self._path.unlink(missing_ok=True)
        self.drop()

    def drop(self) -> None:
        """Give the lock up and leave the file, as a process does that was killed."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def is_gone(path: Path) -> bool:
    """Return True and remove the file of a lock if no process holds it."""
    try:
        descriptor = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return True
    try:
        if not _lock(descriptor):
            return False
        path.unlink(missing_ok=True)
        return True
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    """Take the lock of a file if nobody has it."""
    if os.name == "nt":  # pragma: no cover - there whoever looks takes the others for gone
        return True
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
