"""What a store does on tables, whichever database has them."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING, BinaryIO

from pdpp.model import instant
from pdpp.model.declaration import Declaration
from pdpp.model.errors import DamagedRecord, NotFound
from pdpp.store.aggregation import AggregateQuery, GroupTotal
from pdpp.store.batch import Line, WriteResult
from pdpp.store.blobs import Blob, BlobUse
from pdpp.store.catalogue import Catalogue, Connection, Feed
from pdpp.store.cell import CellValue
from pdpp.store.deadline import Deadline
from pdpp.store.fleet import Fleet
from pdpp.store.limits import SharedLimits
from pdpp.store.notices import ChangeNotices
from pdpp.store.port import ConnectionContents, MovedPiece
from pdpp.store.pseudonym import FeedSeal, GrantKeys, located, locator_of
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
from pdpp.store.replica import ReplicaUse
from pdpp.store.scope import Reach
from pdpp.store.tables import connections, deletion, feeds, mending, merging, secrets
from pdpp.store.tables.blob_folder import BlobFolder
from pdpp.store.tables.blob_table import BlobTable, ReceivedBlobs
from pdpp.store.tables.database import TableDatabase
from pdpp.store.tables.integrity import row_problems
from pdpp.store.tables.jobs import TableJobs
from pdpp.store.tables.positions import indexed
from pdpp.store.tables.records.aggregates import Aggregator, Bucket
from pdpp.store.tables.records.changes import ChangeReader
from pdpp.store.tables.records.long_values import read_long_values
from pdpp.store.tables.records.predicate import OWNER
from pdpp.store.tables.records.projection import Projector
from pdpp.store.tables.records.reader import RecordReader
from pdpp.store.tables.search.meaning import TableMeaning
from pdpp.store.tables.vault.vault import TableVault
from pdpp.store.tables.write.batch import TableBatch
from pdpp.store.tables.write.fieldsets import FieldSets
from pdpp.store.tables.write.prepared import PreparedBatch, SurrogateOf, prepare
from pdpp.store.tables.write.writer import BatchWriter

if TYPE_CHECKING:
    from pdpp.store.tables.search.block_cache import BlockCache


class TableStore:
    """Reads and writes records, blobs and declarations; each engine adds how a store is opened."""

    vault: TableVault
    limits: SharedLimits | None = None
    notices: ChangeNotices | None = None
    _aggregator: type[Aggregator] = Aggregator

    def __init__(
        self,
        database: TableDatabase,
        blobs: BlobFolder,
        clock: instant.Clock,
        surrogate_of: SurrogateOf | None,
    ) -> None:
        self._clock = clock
        self._surrogate_of = surrogate_of
        self._secret: bytes | None = None
        self._db = database
        self._blobs = blobs
        self._blob_table = BlobTable(database, blobs)
        self._field_sets = FieldSets()
        self.jobs = TableJobs(database, clock)
        self.meaning = TableMeaning(database, self.catalogue)
        self._catalogue: Catalogue | None = None
        self._past = 0
        self._words: BlockCache | None = None

    def reading(
        self,
        deadline: Deadline | None = None,
        lag: float | None = None,  # noqa: ARG002 - an engine with replicas uses it
        assumed: object = None,  # noqa: ARG002 - nothing is assumed where to ask costs nothing
    ) -> AbstractContextManager[None]:
        """Hold one snapshot for this thread's reads."""
        return self._db.reading(deadline)

    def replica_use(self) -> ReplicaUse | None:
        """Return that there is no replica."""
        return None

    def check_deadline(self) -> None:
        """Raise ``DeadlinePassed`` when this thread's read has used up its time."""
        self._db.check_deadline()

    def state(self) -> object:
        """Return a value that differs after any write."""
        return self._db.state()

    def is_assumable(self, state: object) -> bool:  # noqa: ARG002 - of any state
        """Return that nothing is assumed: a file tells its state in a microsecond."""
        return False

    @property
    def fleet(self) -> Fleet | None:
        """Return that one folder has no fleet."""
        return None

    def recent_state(self) -> object:
        """Return a value that soon differs after a write, for who looks again anyway."""
        return self.state()

    # What there is

    def catalogue(self) -> Catalogue:
        """Return everything declared."""
        with self._db.reading(None):
            catalogue = feeds.load(self._db.reader, self._catalogue)
            if catalogue.past != self._past:
                catalogue = replace(catalogue, past=self._past)
            self._catalogue = catalogue
        return catalogue

    def _forget_all(self) -> None:
        """Forget everything that was read: the numbers it was known by may be of other things."""
        self._past += 1
        self._catalogue = None
        self._field_sets = FieldSets()
        self._words = None

    def secret(self) -> bytes:
        """Return the key that signs cursors, made once."""
        if self._secret is None:
            self._secret = secrets.store_secret(self._db)
        return self._secret

    def _name(self) -> str:
        """Return a name by which the machine knows this store in any folder."""
        return blake2b(b"store", key=self.secret(), digest_size=12).hexdigest()

    def import_secret(self) -> bytes:
        """Return the secret under which importers hash what keys of records are made of."""
        return secrets.import_secret(self._db.reader, self.secret())

    def adopt_import_secret(self, secret: bytes) -> bool:
        """Hash as another store did; return False where connections already have other keys."""
        return secret == self.import_secret() or secrets.adopt_import_secret(self._db, secret)

    def register(
        self, declaration: Declaration, *, progress: Callable[[int], None] | None = None
    ) -> None:
        """Make a declaration the current one of its source."""
        with self._db.writing() as db:
            feeds.register(db, declaration, self._clock(), progress)

    def connect(self, connection_id: str, connector_key: str, display_name: str) -> None:
        """Add or rename a connection."""
        with self._db.writing() as db:
            feeds.connect(db, Connection(connection_id, connector_key, display_name))

    def connection_sizes(self) -> Mapping[str, int]:
        """Return how long the JSON of each connection's records is."""
        return connections.sizes(self._db.reader)

    def connection_contents(self, connection_id: str) -> ConnectionContents:
        """Return what is lost when a connection is removed."""
        return connections.contents(self._db.reader, connection_id)

    def rename_connection(self, connection_id: str, display_name: str) -> None:
        """Give a connection another name."""
        with self._db.writing() as db:
            connections.rename(db, connection_id, display_name)

    def remove_connection(self, connection_id: str) -> None:
        """Remove a connection from everybody's sight."""
        with self._db.writing() as db:
            connections.hide(db, connection_id)

    def move_some(self, source_id: str, target_id: str) -> MovedPiece:
        """Move a bounded piece of a connection into another one of its source."""
        with self._db.writing() as db:
            catalogue = feeds.load(db, self._catalogue)
            ids = (source_id, target_id)
            return merging.move_some(db, catalogue, ids, self._field_sets, self._clock())

    def delete_removed(self) -> bool:
        """Delete a bounded piece of what removed connections held; tell whether there was any."""
        with self._db.writing() as db:
            catalogue = feeds.load(db, self._catalogue)
            return connections.delete_some(db, catalogue, self._field_sets, self._clock())

    # Reading

    def _projector(self, reach: Reach, select: frozenset[str] | None) -> Projector:
        return reach.once(self._new_projector).selecting(select)

    def _new_projector(self, reach: Reach) -> Projector:
        keys = GrantKeys(self.secret(), reach.grant_id)
        seal = FeedSeal(keys, *reach.feed.address)
        return Projector(reach, self._field_set, seal, self._long_values)

    def _long_values(
        self, feed: int, surrogates: Sequence[int], names: Collection[str]
    ) -> Mapping[tuple[int, str], bytes]:
        return read_long_values(self._db.reader, feed, surrogates, names, self._db.count_bytes)

    def _changes(self) -> ChangeReader:
        return ChangeReader(self._db.reader, self._projector, self._db.count_bytes)

    def _records(self) -> RecordReader:
        db = self._db
        return RecordReader(db.reader, self._projector, db.count_bytes, db.assumed_state())

    def _field_set(self, number: int) -> frozenset[str] | None:
        return self._field_sets.fields(number, self._db.reader)

    def page(self, query: PageQuery) -> RecordPage:
        """Return one page of records."""
        return self._records().page(query)

    def record(self, reach: Reach, id: str, select: frozenset[str] | None = None) -> Record | None:
        """Return the record that a reach shows under an id."""
        return self._records().record(reach, id, select)

    def record_with(self, reach: Reach, id: str, field: str) -> Record | None:
        """Return the record that a reach shows under an id, with one of its fields whole."""
        return self._records().record_with(reach, id, field)

    def record_at(
        self, reach: Reach, position: PagePosition, select: frozenset[str]
    ) -> Record | None:
        """Return some fields of the record that a position is at, if the reach shows it."""
        if reach.connection_id != position.connection_id:
            return None
        return self._records().by_surrogate(reach, position.surrogate, select)

    def cited(self, reach: Reach, id: str) -> Record | None:
        """Return the record that the owner or any grant saw under an id."""
        record, locator = self.record(reach, id), located(id)
        if record is not None or locator is None:
            return record
        for grant in self.vault.grants():
            if locator_of(self.secret(), grant.id) == locator:
                surrogate = self._unsealed(reach, grant.id, id)
                if surrogate is not None:
                    surrogate = merging.staying(self._db.reader, reach.feed.id, surrogate)
                    return self._records().by_surrogate(reach, surrogate)
        return None

    def _unsealed(self, reach: Reach, grant_id: str, id: str) -> int | None:
        """Return the surrogate that a grant saw under an id, also before a merge."""
        here, stream = reach.feed.address
        merged = self.catalogue().merged.items()
        for connection_id in (here, *(former for former, target in merged if target == here)):
            keys = GrantKeys(self.secret(), grant_id)
            surrogate = FeedSeal(keys, connection_id, stream).open(id)
            if surrogate is not None:
                return surrogate
        return None

    def related(self, reach: Reach, field: str) -> RelatedByValue:
        """Return the records of a reach by the values of a field."""
        return self._records().related(reach, field)

    def changes(self, query: ChangeQuery) -> ChangePage:
        """Return one page of changes."""
        return self._changes().changes(query)

    def latest_version(self, reach: Reach) -> int:
        """Return the version of the last write to a feed."""
        sql = "SELECT version FROM feed WHERE id = ?"
        row = next(self._db.reader.execute(sql, (reach.feed.id,)), None)
        return 0 if row is None else int(row[0])

    def latest_trace(self, reach: Reach) -> int:
        """Return the version of the last record that went away from what a reach shows, else 0."""
        return self._changes().latest_trace(reach)

    def search(self, query: SearchQuery) -> HitPage:
        """Return one page of hits."""
        from pdpp.store.tables.search.block_cache import BlockCache
        from pdpp.store.tables.search.search import Searcher

        if self._words is None:
            self._words = BlockCache()
        db = self._db
        searcher = Searcher(
            db.reader, self._projector, self._words, db.check_deadline, db.count_bytes, db.state
        )
        return searcher.search(query)

    def prepare_search(self) -> None:
        """Load the modules and tables that the first search would have to wait for."""
        import pdpp.store.tables.search.search  # noqa: F401
        from pdpp.evidence.language.tables import common_words, frequencies, related_words
        from pdpp.evidence.language.translations import load_translations

        common_words(), related_words(), frequencies("en")
        load_translations()

    def count(self, reach: Reach) -> int:
        """Return how many records a reach shows."""
        return self._records().count(reach)

    def counts(self, reaches: Sequence[Reach]) -> Mapping[int, int]:
        """Return how many records each reach shows, by the number of its feed."""
        return self._records().counts(reaches)

    def newest_of(
        self, fields: Sequence[tuple[Reach, str]], before: int | None = None
    ) -> Sequence[CellValue]:
        """Return the largest value of a field for each of several reaches."""
        return self._records().newest_of(fields, before)

    def aggregate(
        self, query: AggregateQuery, bucket: Bucket | None = None
    ) -> Mapping[CellValue, GroupTotal]:
        """Add up per group."""
        return self._aggregator(self._db.reader, self.count).aggregate(query, bucket)

    # Writing

    def write(self, feed: Feed, lines: Iterable[Line]) -> WriteResult:
        """Write one batch completely, or not at all."""
        return self._write(prepare(indexed(feed), lines, self._surrogate_of), lasting=True)

    def batch(self, feed: Feed, *, keep_newer: bool = False) -> TableBatch:
        """Begin a batch for one feed."""
        return TableBatch(
            indexed(feed), self._surrogate_of, self._write, self._work_ahead, keep_newer=keep_newer
        )

    def writing_beside(self) -> AbstractContextManager[None]:
        """Return that batches are written by this process."""
        return nullcontext()

    def settle(self) -> None:
        """Do nothing: whatever was written is on the disk."""

    def _work_ahead(self, batch: PreparedBatch, *, waiting: bool) -> None:  # noqa: ARG002
        """Do what else would be done while a batch is written."""
        batch.work_out_words()

    def _write(self, batch: PreparedBatch, *, lasting: bool) -> WriteResult:
        feed = batch.feed
        with self._db.writing() as db:
            # An import goes on while its account is merged into another one.
            current = feeds.load(db, self._catalogue).feed_of(*feed.address)
            if current is None:
                raise NotFound(f"{feed.stream.name!r} is no longer a stream of its connection.")
            if current != feed:
                lines, newer = batch.lines(), batch.keep_newer
                batch = prepare(indexed(current), lines, self._surrogate_of, keep_newer=newer)
            written = BatchWriter(db, batch, self._field_sets, self._clock()).write()
        if lasting:
            self.settle()
        return written

    def prune(self, before: int) -> int:
        """Forget what went away before a moment; return how many traces that were."""
        with self._db.writing() as db:
            db.execute("DELETE FROM ghost WHERE owner = ? AND version < ?", (OWNER, before))
            traces = db.changes()
            if traces:
                deletion.mark(db)
            return traces

    def newest_block(self) -> int:
        """Return how far the word index is written, for a pass of tending."""
        from pdpp.store.tables.search import tending

        return tending.newest_block(self._db.reader)

    def tend(self, up_to: int | None = None) -> bool:
        """Merge a bounded piece of the word index; tell whether there may be more to do.

        Many small writes leave many small blocks, and every search looks into each of them. When
        all is done, what was deleted is removed from the log of writes and from unused space.
        """
        from pdpp.store.tables.search import tending

        return tending.tend(self._db, up_to) or self._db.shed()

    def holds_deleted(self) -> bool:
        """Tell whether copies of what was deleted may be left, which tending removes."""
        return self._db.holds_deleted()

    def reindex(self) -> bool:
        """Index a bounded piece anew after a change of the analyser; tell whether there was any."""
        from pdpp.store.tables.search.reindex import reindex_some

        with self._db.writing() as db:
            every = feeds.load(db, self._catalogue).feeds.values()
            return reindex_some(db, {feed.id: indexed(feed) for feed in every})

    def index_progress(self) -> tuple[int, int]:
        """Return how many records are indexed by the analyser of today, and how many there are."""
        from pdpp.store.tables.search.reindex import index_progress

        return index_progress(self._db.reader)

    def _row_problems(self, *, sound: bool = True) -> list[str]:
        """Return what is wrong with what the tables say, at one moment."""
        with self._db.reading(None):
            every = map(indexed, self.catalogue().feeds.values())
            return list(row_problems(self._db.reader, every, self._blobs, sound=sound))

    def mend(self, progress: Callable[[int], None] | None = None) -> None:
        """Index every stream anew from its records, one transaction for each.

        One that holds a damaged record stays as it is: a check names it.
        """
        for address in self.catalogue().feeds:
            with suppress(DamagedRecord), self._db.writing() as db:
                feed = feeds.load(db, None).feeds.get(address)
                if feed is not None:
                    mending.mend_feed(db, indexed(feed), progress)
        with self._db.writing() as db:
            mending.drop_lost_postings(db)

    # Blobs

    def blob_batch(self) -> ReceivedBlobs:
        """Begin to receive some files that are stored together."""
        return self._blob_table.batch()

    def keep_blob(self, source: BinaryIO, media_type: str, limit: int) -> Blob:
        """Store a file; the same bytes are kept once."""
        return self._blob_table.keep(source, media_type, limit)

    def blob(self, blob_id: str) -> Blob | None:
        """Return a stored file."""
        return self._blob_table.find(blob_id)

    def open_blob(self, blob_id: str, start: int = 0) -> BinaryIO:
        """Open the bytes of a stored file from a position."""
        return self._blobs.open(blob_id, start)

    def blobs(self) -> Iterator[Blob]:
        """Yield every stored file, whether or not a record refers to it."""
        return self._blob_table.all()

    def sweep_blobs(self, before: int) -> int:
        """Remove what killed uploads left behind before a moment."""
        return self._blob_table.sweep(before)

    def collect_blobs(self, before: int, after: str = "") -> str | None:
        """Remove some files that no record refers to and that were last kept before a moment."""
        return self._blob_table.collect(before, after)

    def blob_shown(self, blob_id: str, reaches: Iterable[Reach]) -> BlobUse | None:
        """Return the visible record through which a blob is seen, None where none refers to it."""
        return self._blob_table.shown(blob_id, reaches, self._records())
