"""The write queue: batches on their way to the store, written one after another.

They are written in a thread of its own, while the next one is gathered; of a long import that
thread only asks a process beside this one. Another thread waits for the disk. Few are on their way
at once, so that memory stays bounded.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence, Set
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, nullcontext
from typing import Any, NamedTuple

from pdpp.sources.importing.report import ImportReport
from pdpp.store.blobs import BlobBatch
from pdpp.store.intake import Intake
from pdpp.store.port import Store

_MOST_UNDERWAY = 2
"""So many batches are on their way at most: one is written, and one waits for that, so that whoever
writes never does."""

_IDLE_BATCHES = 16
"""After so many batches in a row that found nothing being written, a process beside this one is
given more to do. Before it works out its first words it learns them, which takes longer than to
write three batches: only a long import gains by it."""


class Load:
    """The part of a batch that is of one stream: what the store took in, and its keys."""

    __slots__ = ("intake", "keys", "lacking", "stream")

    def __init__(self, stream: str, intake: Intake) -> None:
        self.stream = stream
        self.intake = intake
        self.keys: list[str] = []
        self.lacking: set[str] = set()
        """The names of those that lack something which another record of that name may have."""


class _Answer(NamedTuple):
    """What became of the items of one stream."""

    stream: str
    keys: list[str]
    counts: Mapping[str, Any]

    @property
    def is_new(self) -> bool:
        """Whether all of them became new records."""
        return bool(self.counts["records_new"] == len(self.keys))


class _Batch(NamedTuple):
    """A batch on its way: its keys by stream, and what is called once the disk has it."""

    keys: Mapping[str, frozenset[str]]
    lacking: Mapping[str, Set[str]]
    answers: Future[list[_Answer]]
    lasting: Future[None]
    written: Callable[[], None]


class WriteQueue:
    """Writes what is sent, in the order in which it is sent, and counts it in a report.

    ``all_new`` tells whether the last batch of which that is known had new records only.
    """

    def __init__(self, store: Store, report: ImportReport, *, all_new: bool) -> None:
        self._store = store
        self._report = report
        self._all_new = all_new
        self._thread = ThreadPoolExecutor(1, "import")
        self._disk = ThreadPoolExecutor(1, "import-disk")
        self._underway: deque[_Batch] = deque()
        self._counted: _Batch | None = None
        """The last batch that is counted, which may not be on the disk yet."""
        self._failure: Exception | None = None
        self._beside: ExitStack | None = None
        self._idle = 0
        """How many batches in a row found nothing being written."""

    def close(self) -> None:
        """Wait for what is on its way; nothing more is written."""
        with ExitStack() as ends:  # Each of them, also where somebody interrupts the waiting.
            if self._beside is not None:
                ends.callback(self._beside.close)
            ends.callback(self._disk.shutdown)
            self._thread.shutdown()

    def write_beside(self) -> None:
        """Have a process of its own write what is sent from now on, where there can be one."""
        if self._beside is None:
            # Threads first: the process might take the last places that the system gives.
            for thread in (self._thread, self._disk):
                thread.submit(_nothing)
            self._beside = ExitStack()
            self._beside.enter_context(self._store.writing_beside())

    def lacking(self, stream: str, name: str, key: str) -> bool | None:
        """Tell whether a record that is on its way lacks something; nothing where none is."""
        for batch in reversed(self._underway):
            if key in batch.keys.get(stream, ()):
                return name in batch.lacking[stream]
        return None

    def send(
        self, loads: Sequence[Load], files: BlobBatch | None, written: Callable[[], None]
    ) -> None:
        """Have a batch written; ``written`` is called by whoever sends, once the disk has it."""
        self._work_ahead(loads)
        self.settle(_MOST_UNDERWAY - 1)
        answers = self._thread.submit(self._write, loads, files)
        lasting = self._disk.submit(self._make_last, answers)
        keys = {load.stream: frozenset(load.keys) for load in loads}
        lacking = {load.stream: load.lacking for load in loads}
        self._underway.append(_Batch(keys, lacking, answers, lasting, written))

    def settle(self, most: int = 0) -> None:
        """Wait until no more batches than so many are on their way, and count the others.

        Those that are written by now are counted too. Where none may be left, all are on the disk.
        """
        underway = self._underway
        while underway and (len(underway) > most or underway[0].answers.done()):
            self._count(underway.popleft())
        if not most or (self._counted is not None and self._counted.lasting.done()):
            self._note()

    def _work_ahead(self, loads: Sequence[Load]) -> None:
        """Make more of a batch ready, where this thread would wait or another process writes.

        Another thread takes turns with this one, so it does that as there is time. As of records
        that are stored already most of it is not needed.
        """
        unfinished = sum(not batch.answers.done() for batch in self._underway)
        self._idle = 0 if unfinished else self._idle + 1
        waiting = unfinished == _MOST_UNDERWAY
        beside = self._beside is not None and self._idle < _IDLE_BATCHES
        if self._all_new and (waiting or beside):
            for load in loads:
                load.intake.work_ahead(waiting=waiting)

    def _write(self, loads: Sequence[Load], files: BlobBatch | None) -> list[_Answer]:
        """Write a batch, or fail as one before it did: it would be there without what came first.

        What follows is not tried for as long again, and whoever goes on after a failure never takes
        what came after it for written.
        """
        with nullcontext() if files is None else closing(files):
            if self._failure is not None:
                raise self._failure
            try:
                return _write_all(loads, files)
            except Exception as problem:
                self._failure = problem
                raise

    def _make_last(self, answers: Future[list[_Answer]]) -> None:
        """Wait until a batch is written and the disk has it; meanwhile the next is written."""
        answers.result()
        self._store.settle()

    def _count(self, batch: _Batch) -> None:
        """Count what became of a batch that is written, and tell that the one before is kept."""
        self._note()
        answers = batch.answers.result()
        for answer in answers:
            self._report.write(answer.stream, answer.counts, answer.keys)
        if answers:
            self._all_new = all(answer.is_new for answer in answers)
        self._counted = batch

    def _note(self) -> None:
        """Tell that the last batch which is counted is on the disk, once it is."""
        batch, self._counted = self._counted, None
        if batch is not None:
            batch.lasting.result()
            batch.written()


def _nothing() -> None:
    """Do nothing."""


def _write_all(loads: Sequence[Load], files: BlobBatch | None) -> list[_Answer]:
    """Write a batch: the files that its records name, then a transaction for each stream."""
    if files is not None:
        files.settle()
    return [_Answer(load.stream, load.keys, load.intake.write(lasting=False)) for load in loads]
