"""Private files: what only its owner can read, put in its place whole or not at all."""

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_LOCK_SECONDS = 0.1
"""How long whoever waits for a lock rests before asking again."""


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it that are missing, for the owner alone."""
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def write_file(path: Path, content: bytes, *, durable: bool = False) -> None:
    """Put content in the place of a path; ``durable`` content outlasts a power cut from then on."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    if durable and os.name != "nt":  # there folders cannot be opened
        _sync_folder(path.parent)


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Let one process at a time change what lies in a folder."""
    if os.name == "nt":  # pragma: no cover - there folders cannot be locked
        yield
        return
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def hold_folder(folder: str | Path) -> int | None:
    """Return the lock of a folder, which ends with the process; raise where another has it."""
    if os.name == "nt":  # pragma: no cover - there folders cannot be locked
        return None
    import fcntl

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


@contextmanager
def locked_file(path: Path, wait: Callable[[], None]) -> Iterator[None]:
    """Hold the lock of a file; call ``wait`` again and again while somebody else holds it.

    The lock ends with its process, however that ends. It keeps out other threads too.
    """
    if os.name == "nt":  # pragma: no cover - there is no such lock
        yield
        return
    import fcntl

    make_folder(path.parent)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                wait()
                time.sleep(_LOCK_SECONDS)
        yield
    finally:
        os.close(descriptor)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
