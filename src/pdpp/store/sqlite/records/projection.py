"""Projection: what a reach shows of a record as it is stored."""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

import orjson

from pdpp.store.port import Record
from pdpp.store.scope import Reach

COLUMNS = "r.key, r.data, r.digest, r.field_set, r.created, r.emitted, r.stamps"

Row = tuple[Any, ...]
"""One value that the reader of a record needs beside it, such as its sort value; ``COLUMNS``."""

FieldSetOf = Callable[[int], frozenset[str] | None]

MOVES = ""
"""The member of a record's stamps, no field's name, for the times it was moved away from."""


def visible_stamp(reach: Reach, created: int, emitted: int, stamps: str) -> tuple[int, int]:
    """Return the version and emission of the last write that changed what a reach shows.

    Coming into the reach's time is such a write, even where the time itself is hidden.
    """
    latest = (created, emitted)
    marks = orjson.loads(stamps)
    moves = marks.pop(MOVES, ())
    for name, (version, at) in marks.items():
        if reach.shows(name) and version > latest[0]:
            latest = (version, at)
    for version, at, time in moves:
        if reach.time is not None and not reach.time.holds(time) and version > latest[0]:
            latest = (version, at)
    return latest


class Projector:
    """Builds what one reach shows of rows; most are passed on as they are stored."""

    def __init__(
        self, reach: Reach, field_sets: FieldSetOf, select: frozenset[str] | None = None
    ) -> None:
        self._reach = reach
        self._field_sets = field_sets
        self._select = select
        self._plain: dict[int, bool] = {}

    def record(self, row: Row) -> Record:
        """Build one record."""
        return self.records((row,))[0]

    def records(self, rows: Iterable[Row]) -> list[Record]:
        """Build a record from each row."""
        reach, plain = self._reach, self._plain
        return [
            Record(reach, key, data, emitted, digest)
            if stamps is None and plain.get(field_set)
            else self._adapted(
                Record(reach, key, data, emitted, digest), field_set, created, stamps
            )
            for _, key, data, digest, field_set, created, emitted, stamps in rows
        ]

    def _adapted(self, record: Record, field_set: int, created: int, stamps: str | None) -> Record:
        """Return what is shown of a record that was changed or is not known to be shown whole."""
        if field_set not in self._plain:
            self._plain[field_set] = self._is_plain(field_set)
        _, key, data, emitted, digest = record
        if not self._plain[field_set]:
            data, digest = self._reach.project(
                data, digest, self._field_sets(field_set), self._select
            )
        if stamps is not None:
            _, emitted = visible_stamp(self._reach, created, emitted, stamps)
        return Record(self._reach, key, data, emitted, digest)

    def _is_plain(self, field_set: int) -> bool:
        """Tell whether records of a field_set are shown whole."""
        names = self._field_sets(field_set)
        wanted = (self._reach.fields, self._select)
        return all(fields is None or (names is not None and names <= fields) for fields in wanted)


Projectors = Callable[[Reach, frozenset[str] | None], Projector]
"""Returns the projector of a reach, with the fields that were asked for."""


def projectors(field_sets: FieldSetOf) -> Projectors:
    """Return what gives each reach its projector; one that was used lately knows its field sets."""

    @lru_cache(maxsize=4_096)
    def projector(reach: Reach, select: frozenset[str] | None) -> Projector:
        return Projector(reach, field_sets, select)

    return projector
