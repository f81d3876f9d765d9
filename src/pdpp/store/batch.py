"""Batches: what is written to a feed at once, and what became of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import orjson

from pdpp.store.numbers import write_data

CHANGED_AT = ("updated_at", "edited_at", "modified_on", "balance_on")
"""What importers call the time at which a record was last changed where it comes from."""


class Line(NamedTuple):
    """One checked line of a batch: a record to keep, or a key to delete."""

    number: int
    key: str
    emitted_at: int
    data: Mapping[str, Any] | None


def canonical(data: Any) -> bytes:
    """Return data as the one JSON text that is kept of it."""
    return write_data(data, orjson.OPT_SORT_KEYS)


@dataclass(frozen=True, slots=True)
class WriteResult:
    """What a batch did."""

    new: int = 0
    changed: int = 0
    unchanged: int = 0
    deleted: int = 0


class CheckedRecords(NamedTuple):
    """Some records by columns: keys, when each was emitted, data, and its canonical JSON if known.

    What is made ready column by column costs less than record by record.
    """

    keys: Sequence[str]
    emitted: Sequence[int]
    data: Sequence[Mapping[str, Any]]
    texts: Sequence[bytes | None]


class RecordBatch(Protocol):
    """Checked records of one feed, prepared one by one; the last line of a key wins.

    With ``keep_newer`` none that says itself that it is an earlier state replaces another one.
    """

    keep_newer: bool

    def keep(self, key: str, emitted: int, data: Mapping[str, Any], text: bytes | None) -> None:
        """Prepare a record; ``text`` is its canonical JSON if the caller has it."""
        ...

    def keep_all(self, records: CheckedRecords) -> None:
        """Prepare some records, which costs less than one after another."""
        ...

    def drop(self, key: str, emitted: int) -> None:
        """Mark a record to be deleted."""
        ...

    def work_ahead(self, *, waiting: bool = True) -> None:
        """Do in this thread what else would be done while they are written.

        One that is not ``waiting`` for others leaves them what they do as quickly.
        """
        ...

    def write(self, *, lasting: bool = True) -> WriteResult:
        """Write them, in this thread or another, all of them or nothing.

        What need not be ``lasting`` at once is on the disk when ``Store.settle`` returns.
        """
        ...
