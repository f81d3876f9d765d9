"""Presence: which processes are at work on a file, told by locks that end with the process."""

import os
from pathlib import Path


class Presence:
    """A share in a lock; whoever can have it whole for a moment knows that nobody else is here."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def enter(self) -> bool:
        """Be present until told to leave or until the process ends; tell whether alone.

        Whoever is alone keeps others from entering until ``welcome`` is called.
        """
        self.leave()
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        return _take(self._descriptor)

    def welcome(self) -> None:
        """Let others in."""
        if self._descriptor is not None:
            _share(self._descriptor)

    def leave(self) -> None:
        """Be gone."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _take(descriptor: int) -> bool:
    if os.name == "nt":  # pragma: no cover - there every writer takes itself to be alone
        return True
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        _share(descriptor)
        return False
    return True


def _share(descriptor: int) -> None:
    if os.name == "nt":  # pragma: no cover
        return
    import fcntl

    fcntl.flock(descriptor, fcntl.LOCK_SH)
