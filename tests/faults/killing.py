"""Killing: work in a process of its own, told step by step, until it is killed at some point.

``Work`` is a function of a module that takes a ``tell`` and what else it is given, and tells each
step once it is acknowledged. ``killed`` lets it run towards a ``Doom`` and returns what was told:

    told = killed(doom(chance), ingest, folder, first)

The processes are forked from one that has everything imported, so that a round costs milliseconds.
"""

import multiprocessing
import os
import random
import signal
from collections.abc import Callable
from functools import cache
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NamedTuple

import apsw
from tests.engine import ENGINE, program_environment
from tests.soak import SOAK

Tell = Callable[[Any], None]
Work = Callable[..., None]

ROUNDS = 1_000 if SOAK else 10
_LONGEST_SECONDS = 30.0
_USED = (
    "pdpp.app",
    "pdpp.cli.program",
    "pdpp.cli.importing",
    "pdpp.store.intake",
    "pdpp.sources",
    "pdpp.store.sqlite.store",
    "pdpp.store.tables.store",
    "pytest",
    "tests.faults.killing",
    "tests.oauth.dance",
    "tests.serving",
)


class Doom(NamedTuple):
    """When a process is killed: in a write to a file, or a while after some steps were told."""

    write: int | None = None
    steps: int = 0
    seconds: float = 0.0


def doom(chance: random.Random, writes: int = 40, steps: int = 4, seconds: float = 0.02) -> Doom:
    """Return some end: as often in the middle of a write as at any moment.

    Only the embedded engine writes to files of this process.
    """
    if ENGINE == "sqlite" and chance.random() < 0.5:
        return Doom(write=chance.randint(1, writes))
    return Doom(steps=chance.randint(0, steps), seconds=chance.random() * seconds)


def killed(end: Doom, work: Work, *given: Any) -> list[Any]:
    """Let a process work until its end, or until it is done, and return what it told."""
    process, told = _start(end, work, given)
    heard: list[Any] = []
    if end.write is None:
        while len(heard) < end.steps and _hear(told, heard):
            pass
        process.join(end.seconds)
        process.kill()
    while _hear(told, heard):
        pass
    _bury(process, told)
    return heard


def finished(work: Work, *given: Any) -> list[Any]:
    """Let a process work to its end and return what it told."""
    process, told = _start(Doom(), work, given)
    heard: list[Any] = []
    while _hear(told, heard):
        pass
    assert _bury(process, told) == 0
    return heard


def count_writes(work: Work, *given: Any) -> int:
    """Return how many writes to files of a database a whole piece of work makes."""
    return int(finished(_counting, work, *given)[-1])


def _start(end: Doom, work: Work, given: tuple[Any, ...]) -> tuple[BaseProcess, Connection]:
    program_environment(Path())  # Starts the database of this process, which the others use.
    context = forking()
    told, teller = context.Pipe(duplex=False)
    process = context.Process(target=_live, args=(end.write, teller, work, given), daemon=True)
    process.start()
    teller.close()
    return process, told


@cache
def forking() -> ForkServerContext:
    """Return what forks processes from one that has everything imported."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(_USED))
    return context


def _hear(told: Connection, heard: list[Any]) -> bool:
    """Take the next thing told; nothing comes after the end, and half a word is none."""
    assert wait([told], _LONGEST_SECONDS), "nothing was told for too long"
    try:
        heard.append(told.recv())
    except (EOFError, OSError):
        return False
    return True


def _bury(process: BaseProcess, told: Connection) -> int | None:
    process.join(_LONGEST_SECONDS)
    told.close()
    assert process.exitcode in (0, -signal.SIGKILL), process.exitcode
    return process.exitcode


# In the process


def _live(write: int | None, teller: Connection, work: Work, given: tuple[Any, ...]) -> None:
    disk = None if write is None else _Disk(_Fuse(write))
    work(teller.send, *given)
    del disk  # until now the engine has called it


def _counting(tell: Tell, work: Work, *given: Any) -> None:
    fuse = _Fuse(None)
    disk = _Disk(fuse)
    work(lambda _: None, *given)
    tell(fuse.writes)
    del disk


class _Fuse:
    """Counts what is done to files, and ends the process in the middle of one of these things."""

    def __init__(self, last: int | None) -> None:
        self.writes = 0
        self._last = last

    def burn(self) -> bool:
        """Count; tell whether this is the last."""
        self.writes += 1
        return self.writes == self._last


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class _Disk(apsw.VFS):
    """The files of every database that is opened from now on."""

    def __init__(self, fuse: _Fuse) -> None:
        self._real = apsw.vfs_names()[0]
        self._fuse = fuse
        super().__init__("watched", self._real, makedefault=True)

    def xOpen(  # noqa: N802 - the name that the engine calls
        self, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> apsw.VFSFile:
        """Open a file whose writes are counted."""
        return _File(self._real, name, flags, self._fuse)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802 - as above
        """Delete a file, unless it is too late."""
        if self._fuse.burn():
            _die()
        super().xDelete(filename, syncdir)


class _File(apsw.VFSFile):
    """A file in which the last write is torn."""

    def __init__(
        self, disk: str, name: str | apsw.URIFilename | None, flags: list[int], fuse: _Fuse
    ) -> None:
        super().__init__(disk, name, flags)
        self._fuse = fuse

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - as above
        """Write, or half of it."""
        if self._fuse.burn():
            super().xWrite(bytes(data)[: len(data) // 2], offset)
            _die()
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802 - as above
        """Wait for the disk, or not any more."""
        if self._fuse.burn():
            _die()
        super().xSync(flags)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802 - as above
        """Cut the file, unless it is too late."""
        if self._fuse.burn():
            _die()
        super().xTruncate(newsize)
