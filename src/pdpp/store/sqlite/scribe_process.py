"""What the process of a scribe does: it writes the batches that come in, and answers for each."""

import gc
import os
import pickle
import signal
import sys
from contextlib import closing
from typing import IO, Any

from pdpp import __version__
from pdpp.store.batch import WriteResult
from pdpp.store.sqlite.database import SqliteDatabase
from pdpp.store.sqlite.opening import SqliteConnection
from pdpp.store.sqlite.scribe import Errand, Opening
from pdpp.store.tables.catalogue_version import catalogue_version
from pdpp.store.tables.write.fieldsets import FieldSets
from pdpp.store.tables.write.parcel import unpack
from pdpp.store.tables.write.writer import BatchWriter

_LOG_PAGES = 4_000
"""How long the log of writes grows while batches come in: a page that several of them change is
carried over once."""

NOT_WRITTEN = False
"""The answer for a batch that has to be written by who sent it."""


def serve(errands: IO[bytes], answers: IO[bytes]) -> None:
    """Write one batch after another until no more come."""
    opening: Opening = _next(errands)
    # A server may have been replaced on the disk while it runs, and what it prepares is of before.
    # Whoever is started by something in between cannot tell when that for which it writes is gone.
    if opening.version != __version__ or os.getppid() != opening.process:
        return
    gc.set_threshold(*opening.collector_rounds)
    place = opening.database, _prepare, opening.key, opening.identity
    with closing(SqliteDatabase(*place)) as database:
        _answer(answers, True)
        field_sets = FieldSets()
        while True:
            try:
                errand: Errand = _next(errands)
            except EOFError:
                return
            _answer(answers, _result(database, opening.process, errand, field_sets))


def _next(errands: IO[bytes]) -> Any:
    return pickle.load(errands)  # noqa: S301 - from the process that started this one


def _answer(answers: IO[bytes], answer: object) -> None:
    pickle.dump(answer, answers, pickle.HIGHEST_PROTOCOL)
    answers.flush()


def _result(
    database: SqliteDatabase, process: int, errand: Errand, field_sets: FieldSets
) -> WriteResult | bool:
    """Write a batch as a whole, if who sent it and what was declared are still there."""
    try:
        batch = unpack(errand.feed, errand.parcel)
        with database.writing() as db:
            # After who was killed another one may have imported what is newer, while this waited.
            if os.getppid() != process or catalogue_version(db) != errand.catalogue:
                return NOT_WRITTEN
            return BatchWriter(db, batch, field_sets, errand.now).write()
    except Exception:  # noqa: BLE001 - whoever sent it tries for itself, and tells what is wrong
        return NOT_WRITTEN


def _prepare(db: SqliteConnection) -> None:
    db.pragma("wal_autocheckpoint", _LOG_PAGES)
    # Whoever sent a batch has the log put on the disk, while the next one is written here.
    db.pragma("synchronous", "normal")


def main() -> None:
    """Serve the process that started this one, and end with it."""
    # A person who stops an import means the process that reads; this one ends when that does.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Nothing that prints by chance may come between the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serve(sys.stdin.buffer, answers)
    # All is on the disk, and taking the interpreter apart takes as long as some batches.
    os._exit(0)
