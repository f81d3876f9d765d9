"""The protocol a store fulfils: what goes in and what comes out, without any engine's types."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, Protocol

from pdpp.encryption.files import DataFiles
from pdpp.model.declaration import Declaration
from pdpp.model.errors import PdppError
from pdpp.store.aggregation import AggregateQuery, GroupTotal
from pdpp.store.batch import Line, RecordBatch, WriteResult
from pdpp.store.blobs import Blob, BlobBatch, BlobUse
from pdpp.store.catalogue import Catalogue, Feed
from pdpp.store.cell import CellValue
from pdpp.store.deadline import Deadline
from pdpp.store.query import (
    ChangePage,
    ChangeQuery,
    HitPage,
    PagePosition,
    PageQuery,
    Record,
    RecordPage,
    RelatedByValue,
    SearchQuery,
)
from pdpp.store.scope import Reach

if TYPE_CHECKING:
    from pdpp.store.fleet import Fleet
    from pdpp.store.jobs import JobStore
    from pdpp.store.limits import SharedLimits
    from pdpp.store.meaning import MeaningStore
    from pdpp.store.notices import ChangeNotices
    from pdpp.store.receipts import ReceiptLog
    from pdpp.store.replica import ReplicaUse
    from pdpp.store.vault import Vault


class ConnectionContents(NamedTuple):
    """What a connection holds: records by stream, and files that no other connection uses."""

    connection_id: str
    records: Mapping[str, int]
    record_bytes: int
    """How long the JSON of all its records is."""
    blobs: int
    blob_bytes: int


class MovedPiece(NamedTuple):
    """A piece of a merge: records looked at, records written, and whether there may be more."""

    records: int
    written: int
    more: bool


class Store(Protocol):
    """One owner's records and grants. Reads are synchronous and safe from any thread."""

    def close(self) -> None: ...

    def reading(
        self,
        deadline: Deadline | None = None,
        lag: float | None = None,
        assumed: object = None,
    ) -> AbstractContextManager[None]:
        """Hold one snapshot for this thread's reads; raise ``DeadlinePassed`` when time is up.

        With ``lag`` a replica may answer that is behind by no more than these seconds; 0 says that
        it must have everything this process knows of. If it fails, ``ReadAgain`` is raised. If a
        state is ``assumed``, which is one that ``is_assumable``, and the snapshot is of another,
        ``StateChanged`` is raised before the block is left.
        """
        ...

    def replica_use(self) -> "ReplicaUse | None":
        """Return how this process uses its replica; None where it has none."""
        ...

    def check_deadline(self) -> None:
        """Raise ``DeadlinePassed`` when this thread's read has used up its time."""
        ...

    def state(self) -> object:
        """Return a token of what is stored: asked for in one thread, it differs after any write.

        It means nothing else and is compared with nothing but an earlier one, so that an engine may
        use a counter, a position in a log or a timestamp of its own.
        """
        ...

    def is_assumable(self, state: object) -> bool:
        """Tell whether to assume that a state lasts, and to let the snapshot of a read check it.

        Where the state costs a question to a database that is one way there and back less.
        """
        ...

    def recent_state(self) -> object:
        """Return a token like ``state`` that may be late by a moment, for who looks again anyway.

        Where the engine sends notices it costs no question. Nothing that decides what a caller may
        see follows from it.
        """
        ...

    @property
    def notices(self) -> "ChangeNotices | None":
        """Return what tells of the work that others add; None where one has to look for it."""
        ...

    @property
    def fleet(self) -> "Fleet | None":
        """Return where the workers of a database tell of themselves; None for a folder."""
        ...

    def catalogue(self) -> Catalogue: ...
    def secret(self) -> bytes:
        """Return the secret that cursors are signed and ids are sealed with, made once."""
        ...

    def turn(self, work: str, wait: Callable[[], None]) -> AbstractContextManager[None]:
        """Hold the turn at a kind of work; call ``wait`` again and again while another has it.

        It keeps out every program on this store, wherever it runs, and ends with its program.
        """
        ...

    def import_secret(self) -> bytes:
        """Return the secret under which importers hash what keys of records are made of."""
        ...

    def adopt_import_secret(self, secret: bytes) -> bool:
        """Hash as another store did; return False where connections already have other keys."""
        ...

    def register(
        self, declaration: Declaration, *, progress: Callable[[int], None] | None = None
    ) -> None: ...
    def connect(self, connection_id: str, connector_key: str, display_name: str) -> None: ...

    def connection_sizes(self) -> Mapping[str, int]:
        """Return how long the JSON of each connection's records is."""
        ...

    def connection_contents(self, connection_id: str) -> ConnectionContents:
        """Return what is lost when a connection is removed."""
        ...

    def rename_connection(self, connection_id: str, display_name: str) -> None: ...
    def remove_connection(self, connection_id: str) -> None:
        """Remove a connection from everybody's sight; ``delete_removed`` deletes what it held."""
        ...

    def move_some(self, source_id: str, target_id: str) -> MovedPiece:
        """Move a bounded piece of a connection into another one of its source.

        Of records with the same key the one that was changed last is kept. With the last piece the
        first connection is out of sight, and ``Catalogue.merged`` says where it went.
        """
        ...

    def delete_removed(self) -> bool:
        """Delete a bounded piece of what removed connections held; tell whether there was any."""
        ...

    def page(self, query: PageQuery) -> RecordPage: ...
    def record(self, reach: Reach, id: str, select: frozenset[str] | None = None) -> Record | None:
        """Return the record that a reach shows under an id."""
        ...

    def record_with(self, reach: Reach, id: str, field: str) -> Record | None:
        """Return the record that a reach shows under an id, with one of its fields whole.

        Other fields may be left out: those that would have to be read for it.
        """
        ...

    def record_at(
        self, reach: Reach, position: PagePosition, select: frozenset[str]
    ) -> Record | None:
        """Return some fields of the record that a position is at, if the reach shows it."""
        ...

    def cited(self, reach: Reach, id: str) -> Record | None:
        """Return the record that the owner or any grant, also a revoked one, saw under an id.

        ``reach`` is one of the owner's.
        """
        ...

    def related(self, reach: Reach, field: str) -> RelatedByValue:
        """Return the records of a reach by the values of a field, within one snapshot."""
        ...

    def changes(self, query: ChangeQuery) -> ChangePage: ...
    def latest_version(self, reach: Reach) -> int: ...
    def latest_trace(self, reach: Reach) -> int:
        """Return the version of the last record that went away from what a reach shows, else 0."""
        ...

    def search(self, query: SearchQuery) -> HitPage: ...
    def prepare_search(self) -> None:
        """Load what the first search would have to wait for."""
        ...

    def count(self, reach: Reach) -> int: ...
    def counts(self, reaches: Sequence[Reach]) -> Mapping[int, int]:
        """Return how many records each reach shows, by the number of its feed."""
        ...

    def newest_of(
        self, fields: Sequence[tuple[Reach, str]], before: int | None = None
    ) -> Sequence[CellValue]:
        """Return the largest value of a field for each of several reaches, with one question.

        With a bound it is the largest value below that.
        """
        ...

    def aggregate(
        self, query: AggregateQuery, bucket: Callable[[int], tuple[str, int]] | None = None
    ) -> Mapping[CellValue, GroupTotal]:
        """Add up per group; ``bucket`` names the bucket of an instant and the instant it ends."""
        ...

    def write(self, feed: Feed, lines: Iterable[Line]) -> WriteResult: ...
    def batch(self, feed: Feed, *, keep_newer: bool = False) -> RecordBatch:
        """Begin a batch for one feed.

        With ``keep_newer`` a record that says itself that it was changed earlier than the stored
        one (``updated_at``, ``edited_at`` or ``modified_on``) leaves that as it is.
        """
        ...

    def writing_beside(self) -> AbstractContextManager[None]:
        """Let batches be written by a process of their own until the block ends, if one can be had.

        It takes a moment to start and is worth it for thousands of records. What is written, and
        when ``write`` returns, is the same.
        """
        ...

    def settle(self) -> None:
        """Wait until all that was written without being lasting is on the disk."""
        ...

    def prune(self, before: int) -> int: ...
    def newest_block(self) -> int:
        """Return how far the word index is written."""
        ...

    def tend(self, up_to: int | None = None) -> bool:
        """Do a bounded piece of housekeeping in idle time; tell whether there is more to do.

        ``up_to`` leaves what was written to the word index later for another time.
        """
        ...

    def holds_deleted(self) -> bool:
        """Tell whether copies of what was deleted may be left, which tending removes."""
        ...

    def reindex(self) -> bool:
        """Index a bounded piece anew after a change of the analyser; tell whether there was any."""
        ...

    def index_progress(self) -> tuple[int, int]:
        """Return how many records are indexed by the analyser of today, and how many there are."""
        ...

    @property
    def files(self) -> DataFiles:
        """Return how files in the data folder are kept: as they are, or sealed."""
        ...

    def keep_blob(self, source: BinaryIO, media_type: str, limit: int) -> Blob: ...
    def blob_batch(self) -> BlobBatch:
        """Begin to receive some files that are stored together."""
        ...

    def blob(self, blob_id: str) -> Blob | None: ...

    def open_blob(self, blob_id: str, start: int = 0) -> BinaryIO:
        """Open the bytes of a stored file from a position; raise ``BlobNotFound`` if they are lost.

        The caller closes the stream. It needs no snapshot and may outlive one.
        """
        ...

    def blobs(self) -> Iterator[Blob]: ...
    def sweep_blobs(self, before: int) -> int:
        """Remove what killed uploads left behind before a moment; return how many files."""
        ...

    def collect_blobs(self, before: int, after: str = "") -> str | None:
        """Remove some files that no record refers to and that were last kept before a moment.

        Looks at a bounded number of files after the one named; returns the last of them, from which
        to go on, or None where that was all.
        """
        ...

    def blob_shown(self, blob_id: str, reaches: Iterable[Reach]) -> BlobUse | None:
        """Return the visible record through which a blob is seen, None where none refers to it."""
        ...

    @property
    def receipts(self) -> "ReceiptLog":
        """Return the log of what was read."""
        ...

    @property
    def meaning(self) -> "MeaningStore":
        """Return the vectors that records are searched by meaning with."""
        ...

    @property
    def jobs(self) -> "JobStore":
        """Return the work that outlives a request."""
        ...

    @property
    def vault(self) -> "Vault":
        """Return what the authorization server keeps."""
        ...

    @property
    def limits(self) -> "SharedLimits | None":
        """Return the limits that all workers share, None where each keeps its own."""
        ...

    def occupied(self) -> Mapping[str, int]:
        """Return how many bytes each part of the store takes."""
        ...

    def explain(self, problem: Exception) -> PdppError | None:
        """Return what a failure of the store means to a caller, None where it is another's."""
        ...

    def remedy(self, problem: Exception) -> str | None:
        """Return what lets a write be done again that failed, None where nothing is known to."""
        ...

    def check(self) -> list[str]:
        """Return what is wrong with the store; nothing when all is well."""
        ...

    def mend(self, progress: "Callable[[int], None] | None" = None) -> None:
        """Index every stream anew from its records."""
        ...
