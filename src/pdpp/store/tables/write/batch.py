"""A batch of the port: prepared records that know who writes them."""

from typing import Protocol

from pdpp.store.batch import WriteResult
from pdpp.store.tables.positions import IndexedFeed
from pdpp.store.tables.write.prepared import PreparedBatch, SurrogateOf


class Write(Protocol):
    """Writes a batch, which is on the disk at once where it has to be ``lasting``."""

    def __call__(self, batch: PreparedBatch, *, lasting: bool) -> WriteResult: ...


class WorkAhead(Protocol):
    """Does a part of the writing ahead, all of it in a thread that would only wait."""

    def __call__(self, batch: PreparedBatch, *, waiting: bool) -> None: ...


class TableBatch(PreparedBatch):
    """Records made ready, what writes them, and what does a part of that ahead."""

    def __init__(
        self,
        feed: IndexedFeed,
        surrogate_of: SurrogateOf | None,
        write: Write,
        work_ahead: WorkAhead,
        *,
        keep_newer: bool = False,
    ) -> None:
        super().__init__(feed, surrogate_of, keep_newer=keep_newer)
        self._write = write
        self._work_ahead = work_ahead

    def work_ahead(self, *, waiting: bool = True) -> None:
        """Do in this thread what else would be done while the records are written.

        One that is not ``waiting`` for others leaves them what they do as quickly.
        """
        self._work_ahead(self, waiting=waiting)

    def write(self, *, lasting: bool = True) -> WriteResult:
        """Write all records in one transaction."""
        return self._write(self, lasting=lasting)
