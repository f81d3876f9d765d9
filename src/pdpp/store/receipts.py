"""Receipts: what each client read, as the port that keeps them sees it. Never what it says."""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from pdpp.store.receipt_batch import ReceiptBatch


class LogEvent(StrEnum):
    """What the log tells of itself, where a read names its operation."""

    GAP = "gap"
    TRIMMED = "trimmed"
    BROKEN = "broken"


EVENTS = frozenset(LogEvent)


class Receipt(NamedTuple):
    """One read of one stream, or something that happened to the log.

    A read without a client is the owner's. ``fields`` None is every field. ``asked`` names the
    fields that a question used to filter, sort, group or add up, whether or not they were shown:
    many narrow questions about a field tell as much as the field. ``detail`` names the
    blob of a read of bytes, and says what happened where ``operation`` is an event.
    """

    at: int
    operation: str
    client_id: str | None = None
    grant_id: str | None = None
    package_id: str | None = None
    connection_id: str | None = None
    stream: str | None = None
    fields: tuple[str, ...] | None = ()
    asked: tuple[str, ...] = ()
    records: tuple[str, ...] = ()
    characters: int = 0
    bytes: int = 0
    detail: str | None = None

    @property
    def is_event(self) -> bool:
        """Tell whether this is about the log itself."""
        return self.operation in EVENTS


class ChainedReceipt(NamedTuple):
    """A receipt with its place in the chain; those that were written together have one hash."""

    number: int
    hash: bytes
    receipt: Receipt


class ReceiptQuery(NamedTuple):
    """Which receipts to look at; what is None does not matter."""

    since: int | None = None
    client_id: str | None = None
    grant_id: str | None = None
    until: int | None = None


class ReadTotal(NamedTuple):
    """What one client read of one connection; ``records`` counts each record once."""

    client_id: str | None
    connection_id: str
    records: int
    characters: int
    bytes: int
    last_at: int


class HourlyReads(NamedTuple):
    """What a client read of one stream in the hour that begins at a moment."""

    client_id: str
    connection_id: str
    stream: str
    hour: int
    reads: int
    records: int
    characters: int


class ClientHour(NamedTuple):
    """What a client read of all streams in the hour that begins at a moment."""

    client_id: str
    hour: int
    reads: int
    records: int


class FirstRead(NamedTuple):
    """The hour in which a client first read a stream."""

    client_id: str
    connection_id: str
    stream: str
    hour: int


class ChainVerdict(NamedTuple):
    """What a look at the whole chain found."""

    first: int
    last: int
    hash: bytes
    problems: tuple[str, ...]

    @property
    def length(self) -> int:
        """Return how many receipts the chain should hold."""
        return self.last - self.first + 1


class ReceiptLog(Protocol):
    """An append-only log that shows when it was tampered with."""

    def begin(self) -> None:
        """Begin to write; a predecessor that ended without saying so leaves a gap in the log."""
        ...

    def write(self, batches: Sequence["ReceiptBatch"]) -> None:
        """Write batches of receipts, all of them or none.

        Whoever is told that it failed gives the same sequence again: where nobody knows whether it
        was written, it is not written twice.
        """
        ...

    def trim(self, most_rows: int, most_bytes: int) -> None:
        """Drop the oldest receipts where there are too many, and write down that they went."""
        ...

    def anchor(self) -> tuple[int, bytes]:
        """Let the store remember the last receipt, so that an older log is found out; return it."""
        ...

    def finish(self) -> None:
        """Stop writing, with everything written."""
        ...

    def receipts(self, query: ReceiptQuery, limit: int | None = None) -> Iterator[ChainedReceipt]:
        """Yield receipts, newest first."""
        ...

    def events(self, since: int | None = None) -> Iterator[ChainedReceipt]:
        """Yield what happened to the log itself, newest first."""
        ...

    def totals(self, query: ReceiptQuery) -> tuple[ReadTotal, ...]:
        """Return what was read, by client and connection, most characters first."""
        ...

    def hourly(self, since: int) -> Sequence[ClientHour]:
        """Return what each client read since a moment, by hour, over all streams."""
        ...

    def first_reads(self) -> Sequence[FirstRead]:
        """Return when each client first read each stream, of what is still known."""
        ...

    def question(self, number: int) -> Sequence[ChainedReceipt]:
        """Return the receipts of the question that a receipt belongs to: one moment, one client."""
        ...

    def last_read(self, client_id: str) -> int | None:
        """Return when a client last read something."""
        ...

    def hash_of(self, number: int) -> bytes | None:
        """Return the hash of a receipt that is still there."""
        ...

    def verify(self) -> ChainVerdict:
        """Compute the whole chain again."""
        ...

    def close(self) -> None: ...
