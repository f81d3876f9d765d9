"""Projection: what a reach shows of a record as it is stored."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import repeat
from operator import itemgetter
from typing import Any, NamedTuple

from pdpp.model.instant import DAY
from pdpp.store.numbers import read_data, write_data
from pdpp.store.pseudonym import FeedSeal
from pdpp.store.query import Record
from pdpp.store.scope import Reach, cut_all, digest_of
from pdpp.store.tables.records.long_values import (
    LONG_FIELDS,
    LongValue,
    ReadLongValues,
    has_long_values,
    joined,
    long_members,
    lost_value,
)
from pdpp.store.tables.records.stamps import last_visible

COLUMNS = "r.surrogate, r.key, r.data, r.digest, r.field_set, r.created, r.emitted, r.stamps"

Row = tuple[Any, ...]
"""One value that the reader of a record needs beside it, such as its sort value; ``COLUMNS``."""

CountBytes = Callable[[int], None]

_SURROGATE, _KEY, DATA, _FIELD_SET = 1, 2, 3, 5
_FEW = 3
"""Fewer records than this are built one by one."""

_DATA_OF = itemgetter(Record._fields.index("data"))
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
        data = row[DATA]
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
        read_long_values: ReadLongValues,
        select: frozenset[str] | None = None,
    ) -> None:
        self._reach = reach
        self._field_sets = field_sets
        self._read_long_values = read_long_values
        self.seal = seal
        self._select = select
        self._shows_key = reach.shows_key
        self._shows_emission = reach.shows_emission
        self._plain: dict[int, bool] = {}
        self._cuts: dict[int, tuple[frozenset[str] | None, frozenset[str] | None]] = {}
        self._has_short: dict[int, bool] = {}

    def selecting(self, select: frozenset[str] | None) -> "Projector":
        """Return a projector that shows only the fields that were asked for."""
        if select is None:
            return self
        return Projector(self._reach, self._field_sets, self.seal, self._read_long_values, select)

    def record(self, row: Row) -> Record:
        """Build one record."""
        _, _, key, data, digest, field_set, _, emitted, stamps = row
        if (
            stamps is None
            and self._plain.get(field_set)
            and self._shows_key
            and self._shows_emission
        ):
            return _record((self._reach, key, data, emitted, digest))
        return self.records((row,))[0]

    def records(self, rows: Iterable[Row], most_bytes: int | None = None) -> list[Record]:
        """Build a record from each row, or from as many as have so many bytes; at least from one.

        Only what is shown is counted: where a page ends must not tell the size of what is hidden.
        """
        reach, plain = self._reach, self._plain
        short: list[_ShortRecord] = []
        rows = list(rows)
        if rows and plain.get(rows[0][_FIELD_SET]) and self._shows_key and self._shows_emission:
            records = [
                _record((reach, key, data, emitted, digest))
                if stamps is None and plain.get(field_set)
                else self._adapted(
                    short, key, surrogate, data, digest, field_set, created, emitted, stamps
                )
                for _, surrogate, key, data, digest, field_set, created, emitted, stamps in rows
            ]
        else:
            alike = self._alike(rows) if len(rows) >= _FEW else None
            records = alike or [
                self._adapted(short, id, row[_SURROGATE], *row[DATA:])
                for id, row in zip(self.ids(rows), rows, strict=True)
            ]
        if short:
            records = self._filled(records, short, most_bytes)
        return records if most_bytes is None else within(records, most_bytes)

    def _alike(self, rows: Sequence[Row]) -> list[Record] | None:
        """Build the records of a page of one set of fields, written once each, as most pages are.

        What is done to each of them is done column by column, in half of the time. None where they
        differ, or where some may have long values.
        """
        columns: Iterable[Sequence[Any]] = zip(*rows, strict=True)
        _, surrogates, keys, data, digests, field_sets, created, emitted, stamps = columns
        field_set, count = field_sets[0], len(rows)
        if field_sets.count(field_set) < count or stamps.count(None) < count:
            return None
        if field_set not in self._plain:
            self._learn(field_set)
        if self._has_short[field_set]:
            return None
        ids = keys if self._shows_key else self.seal.seal_all(surrogates)
        if not self._plain[field_set]:
            data, digests = cut_all(data, digests, *self._cuts[field_set])
        shown_at = emitted if self._shows_emission else [at - at % DAY for at in created]
        reach = repeat(self._reach, count)
        return list(map(_record, zip(reach, ids, data, shown_at, digests, strict=True)))

    def ids(self, rows: Sequence[Sequence[Any]]) -> Sequence[str]:
        """Return what the records of rows, or of their beginnings, are called under the reach."""
        if self._shows_key:
            return [row[_KEY] for row in rows]
        return self.seal.seal_all([row[_SURROGATE] for row in rows])

    def _adapted(
        self,
        short: list["_ShortRecord"],
        id: str,
        surrogate: int,
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
        selected: Mapping[str, Any] | None = None
        if not plain and self._has_short[field_set] and has_long_values(data):
            selected, data, digest = self._project_short(data, digest)
        elif not plain:
            (data,), (digest,) = cut_all((data,), (digest,), *self._cuts[field_set])
        if stamps is not None:
            created, emitted = last_visible(reach, created, emitted, stamps)
        # Where the event time is hidden, the moment of the write would tell it of live data: the
        # day of the write is all that is shown.
        shown_at = emitted if self._shows_emission else created - created % DAY
        record = _record((reach, id, data, shown_at, digest))
        if selected and (members := long_members(selected)):
            short.append(_ShortRecord(record, surrogate, selected, members))
        return record

    def _project_short(self, data: bytes, digest: str) -> tuple[Mapping[str, Any], bytes, str]:
        """Return what is shown of data with long members in their short form, and its version."""
        fields, select = self._reach.fields, self._select
        shown: Mapping[str, Any] = read_data(data)
        if fields is not None and not shown.keys() <= fields:
            shown = {name: value for name, value in shown.items() if name in fields}
            digest = digest_of(write_data(shown))
        if select is not None:
            shown = {name: value for name, value in shown.items() if name in select}
        return shown, write_data(shown), digest

    def _filled(
        self, records: list[Record], short: Sequence["_ShortRecord"], most_bytes: int | None
    ) -> list[Record]:
        """Return records with the long members that they show, read for all of them at once."""
        short_of = {id(part.record): part for part in short}
        if most_bytes is not None:
            sizes = [
                len(record.data) + (part.size if (part := short_of.get(id(record))) else 0)
                for record in records
            ]
            records = records[: fitting(sizes, most_bytes)]
        parts = [part for record in records if (part := short_of.get(id(record)))]
        names = {name for part in parts for name in part.members}
        feed, surrogates = self._reach.feed.id, [part.surrogate for part in parts]
        values = self._read_long_values(feed, surrogates, names) if parts else {}
        return [
            part.filled(values) if (part := short_of.get(id(record))) else record
            for record in records
        ]

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
        """Look at a field set for the first time; tell whether its records are shown whole.

        Whether values of theirs are long is noted too; of a set that is not known each record has
        to be looked at.
        """
        names = self._field_sets(field_set)
        cuts = self._cuts[field_set] = self._reach.cuts(names, self._select)
        self._has_short[field_set] = names is None or LONG_FIELDS in names
        plain = self._plain[field_set] = not self._has_short[field_set] and cuts == (None, None)
        return plain


class _ShortRecord(NamedTuple):
    """A record that shows long members, and its data with their short forms."""

    record: Record
    surrogate: int
    shown: Mapping[str, Any]
    members: Mapping[str, LongValue]

    @property
    def size(self) -> int:
        """Return about how many bytes the long members have."""
        return sum(member.size for member in self.members.values())

    def filled(self, values: Mapping[tuple[int, str], bytes]) -> Record:
        """Return the record with its long members."""
        try:
            own = {name: values[self.surrogate, name] for name in self.members}
        except KeyError:
            raise lost_value() from None
        exact = any(member.exact for member in self.members.values())
        return self.record._replace(data=joined(self.shown, own, exact=exact))


def fitting(sizes: Iterable[int], most_bytes: int) -> int:
    """Return how many of some records fit into so many bytes, at least one."""
    count = total = 0
    for size in sizes:
        total += size
        if count and total > most_bytes:
            break
        count += 1
    return count


def within(records: list[Record], most_bytes: int) -> list[Record]:
    """Return the first records that fit into so many bytes, at least one."""
    if sum(map(len, map(_DATA_OF, records))) <= most_bytes:
        return records
    return records[: fitting(map(len, map(_DATA_OF, records)), most_bytes)]


Projectors = Callable[[Reach, frozenset[str] | None], Projector]
"""Returns the projector of a reach, with the fields that were asked for."""
