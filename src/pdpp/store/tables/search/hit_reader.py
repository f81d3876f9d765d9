"""Hit reader: the records of rows, as hits and by their handles."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from pdpp.store.query import Hit, Record, SearchPosition
from pdpp.store.ranking.postings import Longs
from pdpp.store.scope import Reach
from pdpp.store.tables.database import TableReader
from pdpp.store.tables.records.projection import Projector, Projectors
from pdpp.store.tables.search.record_data import RecordsRead
from pdpp.store.tables.search.visible import Visible


class _Shown(NamedTuple):
    """What all hits of a feed have in common."""

    reach: Reach
    projector: Projector
    connection_id: str
    stream: str


_hit: Callable[[tuple[Reach, SearchPosition, Callable[[], Record]]], Hit] = partial(
    tuple.__new__, Hit
)
_position: Callable[[tuple[int, int, tuple[str, str, str]]], SearchPosition] = partial(
    tuple.__new__, SearchPosition
)
"""Make them of their values in a third of the time that their constructors take."""


class HitReader:
    """Reads the records of one search; ``reaches`` are those of the caller, by feed."""

    def __init__(
        self,
        db: TableReader,
        records: RecordsRead,
        projector: Projectors,
        reaches: Mapping[int, Reach],
        check: Callable[[], None],
    ) -> None:
        self._db = db
        self._records = records
        self._projector = projector
        self._reaches = reaches
        self._check = check
        self._named: dict[int, tuple[str, str, str]] = {}
        """The handles that were read: those of equals are looked at twice."""

    def handles(self, visible: Visible, rows: Longs) -> list[tuple[str, str, str]]:
        """Return what some rows are called: their connection, their stream and their id."""
        unknown = [row for row in rows.tolist() if row not in self._named]
        if unknown:
            read = self._read_handles(visible, np.array(unknown, dtype=np.int64))
            self._named |= zip(unknown, read, strict=True)
        return [self._named[row] for row in rows.tolist()]

    def _read_handles(self, visible: Visible, rows: Longs) -> list[tuple[str, str, str]]:
        stored = self._db.execute(
            "SELECT r.id, r.surrogate, r.key FROM carray(?) AS c"
            " CROSS JOIN record r ON r.id = c.value",
            (self._db.array(visible.numbers(rows)),),
        )
        named = list(stored)
        handles: dict[int, tuple[str, str, str]] = {}
        for part, chosen in visible.by_part(rows):
            self._check()
            reach = self._reaches[part.reach.feed.id]
            some = [named[at] for at in chosen.tolist()]
            ids = self._projector(reach, None).ids(some)
            address = reach.connection_id, reach.stream.name
            handles |= {at: (*address, id) for at, id in zip(chosen.tolist(), ids, strict=True)}
        return [handles[at] for at in range(len(rows))]

    def hits(
        self, visible: Visible, rows: Longs, scores: Sequence[int], times: Sequence[int]
    ) -> list[Hit]:
        """Return the hits of some rows, each with its place in the order."""
        if not len(rows):
            return []
        hits = []
        shown: dict[int, _Shown] = {}
        chosen = rows.tolist()
        records = self._records.stored(visible.few_numbers(chosen))
        for record_row, row, time, score in zip(records, chosen, times, scores, strict=True):
            feed = visible.part_of(row).reach.feed.id
            known = shown.get(feed)
            if known is None:
                known = shown[feed] = self._shown(feed)
            reach, projector, connection_id, stream = known
            handle = connection_id, stream, projector.id(record_row[1], record_row[2])
            read = partial(projector.record, record_row)
            hits.append(_hit((reach, _position((score, time, handle)), read)))
        return hits

    def _shown(self, feed: int) -> _Shown:
        reach = self._reaches[feed]
        return _Shown(reach, self._projector(reach, None), reach.connection_id, reach.stream.name)
