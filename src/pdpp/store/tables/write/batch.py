"""A batch of the port: prepared records that know who writes them."""

from collections.abc import Callable

from pdpp.store.batch import WriteResult
from pdpp.store.tables.positions import IndexedFeed
from pdpp.store.tables.write.prepared import PreparedBatch, SurrogateOf


class TableBatch(PreparedBatch):
    """Records made ready, and what writes them."""

    def __init__(
        self,
        feed: IndexedFeed,
        surrogate_of: SurrogateOf | None,
        write: Callable[[PreparedBatch], WriteResult],
        *,
        keep_newer: bool = False,
    ) -> None:
        super().__init__(feed, surrogate_of, keep_newer=keep_newer)
        self._write = write

    def write(self) -> WriteResult:
        """Write all records in one transaction."""
        return self._write(self)
