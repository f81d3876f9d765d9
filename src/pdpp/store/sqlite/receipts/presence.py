"""Presence: whether a process is still at work, told by a lock that ends with it."""

import os
from pathlib import Path


class Presence:
    """A file that is locked for as long as its process lives and does not say goodbye."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        _lock(self._descriptor)

    def leave(self) -> None:
        """Be gone, and leave nothing behind."""
        self._path.unlink(missing_ok=True)
        self.drop()

    def drop(self) -> None:
        """Be gone as a process is that was killed."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def is_gone(path: Path) -> bool:
    """Tell whether nobody holds a presence any more; if so, what it left behind is removed."""
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
