"""Projection: what a reach shows of a record as it is stored."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from pdpp.model.instant import DAY
from pdpp.store.port import Record
from pdpp.store.pseudonym import FeedSeal
from pdpp.store.scope import Reach
from pdpp.store.tables.records.stamps import last_visible

COLUMNS = "r.surrogate, r.key, r.data, r.digest, r.field_set, r.created, r.emitted, r.stamps"

Row = tuple[Any, ...]
"""One value that the reader of a record needs beside it, such as its sort value; ``COLUMNS``."""

CountBytes = Callable[[int], None]

_SURROGATE, _KEY, _DATA = 1, 2, 3
_SEALED_PART = slice(6, 22)
"""A part of a pseudonym that differs from record to record and opens nothing."""
_record: Callable[[tuple[Reach, str, bytes, int, str]], Record] = partial(tuple.__new__, Record)
"""Makes a record of its values in a third of the time that its constructor takes."""

LARGE_BYTES = 16_384
"""Smaller records are not counted: all of a page are less than a megabyte or two."""


def fetched(rows: Iterable[Row], count: CountBytes) -> list[Row]:
    """Return rows; large records are counted while they are read, not when it is too late.

    The engine's clock runs by steps, of which a record of megabytes takes no more than any other.
    """
    kept: list[Row] = []
    for row in rows:
        kept.append(row)
        data = row[_DATA]
        if type(data) is bytes and len(data) > LARGE_BYTES:
            count(len(data))
    return kept


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
        self._shows_key = reach.shows_key
        self._shows_emission = reach.shows_emission
        self._plain: dict[int, bool] = {}
        self._names: dict[int, frozenset[str] | None] = {}

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
        if not self._shows_key or not self._shows_emission:
            rows = list(rows)
            ids = self._ids(rows)
            return [self._adapted(id, *row[_DATA:]) for id, row in zip(ids, rows, strict=True)]
        return [
            _record((reach, key, data, emitted, digest))
            if stamps is None and plain.get(field_set)
            else self._adapted(key, data, digest, field_set, created, emitted, stamps)
            for _, _, key, data, digest, field_set, created, emitted, stamps in rows
        ]

    def _ids(self, rows: Sequence[Row]) -> Sequence[str]:
        """Return what the records of rows are called under the reach."""
        if self._shows_key:
            return [row[_KEY] for row in rows]
        return self.seal.seal_all([row[_SURROGATE] for row in rows])

    def _adapted(
        self,
        id: str,
        data: bytes,
        digest: str,
        field_set: int,
        created: int,
        emitted: int,
        stamps: str | None,
    ) -> Record:
        """Return what is shown of a record of which something is hidden or was changed."""
        plain = self._plain.get(field_set)
        if plain is None:
            plain = self._learn(field_set)
        reach = self._reach
        if not plain:
            data, digest = reach.project(data, digest, self._names[field_set], self._select)
        if stamps is not None:
            created, emitted = last_visible(reach, created, emitted, stamps)
        # Where the event time is hidden, the moment of the write would tell it of live data: the
        # day of the write is all that is shown.
        shown_at = emitted if self._shows_emission else created - created % DAY
        return _record((reach, id, data, shown_at, digest))

    def id(self, surrogate: int, key: str) -> str:
        """Return what a record is called under the reach."""
        return key if self._shows_key else self.seal.seal(surrogate)

    def emitted(self, version: int, emitted: int) -> int:
        """Return when a record was emitted, or only the day on which it was written."""
        return emitted if self._shows_emission else version - version % DAY

    def tombstone_version(self, version: int, surrogate: int) -> str:
        """Return the version of a record that went away: it tells two apart, and not when."""
        return self.seal.seal(version ^ surrogate)[_SEALED_PART]

    def _learn(self, field_set: int) -> bool:
        """Look at a field set for the first time; tell whether its records are shown whole."""
        names = self._names[field_set] = self._field_sets(field_set)
        wanted = (self._reach.fields, self._select)
        plain = all(fields is None or (names is not None and names <= fields) for fields in wanted)
        self._plain[field_set] = plain
        return plain


Projectors = Callable[[Reach, frozenset[str] | None], Projector]
"""Returns the projector of a reach, with the fields that were asked for."""
