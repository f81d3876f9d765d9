"""Projection: what a reach shows of a record as it is stored."""

from collections.abc import Callable, Iterable
from typing import Any

from pdpp.model.instant import DAY
from pdpp.store.port import Record
from pdpp.store.pseudonym import FeedSeal
from pdpp.store.scope import Reach
from pdpp.store.sqlite.records.stamps import Stamps

COLUMNS = "r.surrogate, r.key, r.data, r.digest, r.field_set, r.created, r.emitted, r.stamps"

Row = tuple[Any, ...]
"""One value that the reader of a record needs beside it, such as its sort value; ``COLUMNS``."""

FieldSetOf = Callable[[int], frozenset[str] | None]
"""Returns the fields of a numbered field set."""


class Projector:
    """Builds what one reach shows of rows; most are passed on as they are stored."""

    def __init__(
        self,
        reach: Reach,
        field_sets: FieldSetOf,
        seal: FeedSeal,
        select: frozenset[str] | None = None,
    ) -> None:
        self._reach = reach
        self._field_sets = field_sets
        self.seal = seal
        self._select = select
        self._plain: dict[int, bool] = {}

    def selecting(self, select: frozenset[str] | None) -> "Projector":
        """Return a projector that shows only the fields that were asked for."""
        return (
            self if select is None else Projector(self._reach, self._field_sets, self.seal, select)
        )

    def record(self, row: Row) -> Record:
        """Build one record."""
        return self.records((row,))[0]

    def records(self, rows: Iterable[Row]) -> list[Record]:
        """Build a record from each row."""
        reach, plain = self._reach, self._plain
        if not reach.shows_key or not reach.shows_emission:
            return [self._adapted(row) for row in rows]
        return [
            Record(reach, row[2], row[3], row[7], row[4])
            if row[8] is None and plain.get(row[5])
            else self._adapted(row)
            for row in rows
        ]

    def _adapted(self, row: Row) -> Record:
        """Return what is shown of a record of which something is hidden or was changed."""
        _, surrogate, key, data, digest, field_set, created, emitted, stamps = row
        if field_set not in self._plain:
            self._plain[field_set] = self._is_plain(field_set)
        reach = self._reach
        if not self._plain[field_set]:
            data, digest = reach.project(data, digest, self._field_sets(field_set), self._select)
        stamp = (created, emitted)
        if stamps is not None:
            stamp = Stamps.parse(stamps).visible(reach, stamp)
        return Record(reach, self.id(surrogate, key), data, self.emitted(*stamp), digest)

    def id(self, surrogate: int, key: str) -> str:
        """Return what a record is called under the reach."""
        return key if self._reach.shows_key else self.seal.seal(surrogate)

    def emitted(self, version: int, emitted: int) -> int:
        """Return when a record was emitted, or only the day on which it was written."""
        return emitted if self._reach.shows_emission else version - version % DAY

    def _is_plain(self, field_set: int) -> bool:
        """Tell whether records of a field set are shown whole."""
        names = self._field_sets(field_set)
        wanted = (self._reach.fields, self._select)
        return all(fields is None or (names is not None and names <= fields) for fields in wanted)


Projectors = Callable[[Reach, frozenset[str] | None], Projector]
"""Returns the projector of a reach, with the fields that were asked for."""
