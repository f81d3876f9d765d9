"""The scribe: a process of its own that writes the batches of an import.

Threads of one interpreter take turns, so that an import which reads in one and writes in another
has little of a second processor. A scribe has its own interpreter: it is given batches that are
ready and writes each in one transaction, as this process would. Whatever it cannot do, or does not
answer, is done here; it decides nothing, and nothing is lost when it ends.
"""

import gc
import logging
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NamedTuple

from pdpp import __version__
from pdpp.encryption.data_key import DataKey
from pdpp.store.batch import WriteResult
from pdpp.store.sqlite.database import FileIdentity
from pdpp.store.tables.positions import IndexedFeed
from pdpp.store.tables.write.parcel import pack
from pdpp.store.tables.write.prepared import PreparedBatch

_log = logging.getLogger(__name__)

_PROGRAM = "pdpp.store.sqlite.scribe_process"

_BEGINNING = "import sys; sys.path[:] = sys.argv[1:]; from {} import main; main()"
"""What the process runs. It gets its places of modules one by one: ``PYTHONPATH`` would take one
that has a colon in its name for two, of which the second is one below the working folder."""

_FLAGS = {"isolated": "-I", "ignore_environment": "-E", "no_user_site": "-s", "no_site": "-S"}
"""What an interpreter was told not to read, and how another one is told so."""

_MEMORY = {
    "MALLOC_TRIM_THRESHOLD_": str(64 << 20),
    "MALLOC_TOP_PAD_": str(4 << 20),
    "MALLOC_MMAP_THRESHOLD_": str(32 << 20),
}
"""Lets the C library keep memory that was given back, as a program that imports does: the arrays of
each batch would take their pages from the system anew. To another library it says nothing."""

_LEAST_RECORDS = 100
"""Fewer are written sooner by who has them than they are sent away."""

_LONGEST_START = 5.0
"""How many seconds a batch waits for the process to start: fifty times what that takes."""

_LONGEST_END = 60.0
"""How many seconds the process has to finish once nothing more comes."""


class Opening(NamedTuple):
    """What a scribe is told first: which file it writes, for whom, and how that was tuned."""

    version: str
    database: Path
    identity: FileIdentity
    key: DataKey | None
    process: int
    collector_rounds: tuple[int, int, int]


class Errand(NamedTuple):
    """A batch to write; ``catalogue`` is the version of what was declared when it was made."""

    feed: IndexedFeed
    catalogue: int
    now: int
    parcel: bytes


def can_write_beside() -> bool:
    """Tell whether a second process would have an interpreter and a processor to run on."""
    return bool(sys.executable) and not getattr(sys, "frozen", False) and _processors() > 1


def _processors() -> int:
    """Return how many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # pragma: no cover - a system that does not tell
        return os.cpu_count() or 1


class Scribe:
    """A process that writes batches into one database; it starts while others already work."""

    def __init__(self, database: Path, identity: FileIdentity, key: DataKey | None) -> None:
        self._lock = threading.Lock()
        self._is_ready = False
        self._was_asked = False
        """Whether a batch came while it might still be starting."""
        self._settling = threading.Lock()
        self._is_settled = True
        self._log: int | None = None
        # The key goes through the pipe: what stands in a command or its surroundings is no secret.
        opening = Opening(
            __version__, database.absolute(), identity, key, os.getpid(), gc.get_threshold()
        )
        self._starter = threading.Thread(target=self._open, args=(opening,), daemon=True)
        self._process = _start()
        try:
            # Opened once: the folder may be moved meanwhile.
            self._log = os.open(f"{database.absolute()}-wal", os.O_RDWR)
            self._starter.start()
        except (OSError, RuntimeError):  # The system gives no more; everything is written here.
            self._end()

    def _open(self, opening: Opening) -> None:
        """Wait until the process can write; without it everything is written here."""
        self._is_ready = self._asked(opening) is True

    def _asked(self, question: object) -> Any:
        """Return what the process answers; None where it cannot, or is gone."""
        process = self._process
        if process is None:
            return None
        try:
            pickle.dump(question, _pipe(process.stdin), pickle.HIGHEST_PROTOCOL)
            _pipe(process.stdin).flush()
            return pickle.load(_pipe(process.stdout))  # noqa: S301 - from a process of ours
        except Exception:  # noqa: BLE001 - what is no answer may look like anything
            return None

    def takes(self, batch: PreparedBatch) -> bool:
        """Tell whether the process writes a batch: not before it is started."""
        return self._is_ready and _is_large(batch)

    def comes_to_take(self, batch: PreparedBatch) -> bool:
        """Tell whether the process writes a batch, once it is started.

        The first batch is not kept waiting: something is to be found soon. The next is: written
        here meanwhile, it would hold up whoever reads for longer than the start takes.
        """
        if _is_large(batch):
            if self._was_asked and self._starter.ident is not None:
                self._starter.join(_LONGEST_START)
            self._was_asked = True
        return self.takes(batch)

    def pack(self, batch: PreparedBatch) -> None:
        """Make a batch ready to be sent, if the process is going to write it."""
        if self.takes(batch):
            batch.parcel = pack(batch)

    def write(self, batch: PreparedBatch, catalogue: int, now: int) -> WriteResult | None:
        """Have a batch written; None where it was not and has to be written here."""
        parcel = batch.parcel or pack(batch)
        if parcel is None:
            return None
        answer = None
        with self._lock:
            if not self._is_ready or self._process is None:
                return None
            try:
                answer = self._asked(Errand(batch.feed, catalogue, now, parcel))
            finally:
                self._is_ready = answer is not None
                self._is_settled = False
                if answer is None:
                    # It may still have the batch, which is not to come after what is written here.
                    self._process.kill()
                    self._process.wait()
        if answer is None:
            _log.warning(
                "The process that writes imports beside this one ended; it goes on without."
            )
        return answer if isinstance(answer, WriteResult) else None

    def settle(self) -> None:
        """Wait until what the process wrote is on the disk.

        The process itself waits for the disk only when its log is long. This one does, meanwhile:
        any may that has the file.
        """
        with self._settling:
            if self._is_settled or self._log is None:
                return
            # First: what is written from now on may come too late.
            self._is_settled = True
            try:
                _sync(self._log)
            except OSError:
                self._is_settled = False
                raise

    def close(self) -> None:
        """Let the process end; what it was given is on the disk, and who gave it has the answer."""
        # Others of this process may have large batches written here too, and not know when it ends.
        with self._lock:
            self._end()
        try:
            self.settle()
        finally:
            log, self._log = self._log, None
            if log is not None:
                os.close(log)

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if self._starter.is_alive():
            process.kill()
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):
                _pipe(pipe).close()
        try:
            process.wait(_LONGEST_END)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if self._starter.ident is not None:
            self._starter.join()


def _is_large(batch: PreparedBatch) -> bool:
    return batch.turns + len(batch.gone) >= _LEAST_RECORDS


def _start() -> "subprocess.Popen[bytes] | None":
    """Start the process with the modules that this one has; None where the system refuses."""
    try:
        return subprocess.Popen(  # noqa: S603 - of this interpreter
            [sys.executable, *_flags(), "-P", "-c", _BEGINNING.format(_PROGRAM), *_places()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_surroundings(),
        )
    except OSError:
        return None


def _flags() -> Sequence[str]:
    """Return how to tell an interpreter to read no more of its surroundings than this one did."""
    told = [flag for name, flag in _FLAGS.items() if getattr(sys.flags, name)]
    # The name of a folder is read as it was written.
    return [*told, "-X", f"utf8={sys.flags.utf8_mode}"]


def _places() -> Sequence[str]:
    """Return where this process finds modules, but for the working folder."""
    return [place for place in sys.path if place and isinstance(place, str)]


def _surroundings() -> Mapping[str, str]:
    # Passphrases and tokens may stand in variables of this program, of which it needs none.
    others = {name: text for name, text in os.environ.items() if not name.startswith("PDPP_")}
    # Words are worked out in one thread: others of a library of numbers would only take memory.
    return {**others, **_MEMORY, "OPENBLAS_NUM_THREADS": "1"}


_sync = getattr(os, "fdatasync", os.fsync)
"""Waits until the disk has what was written to a file."""


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise EOFError
    return pipe
