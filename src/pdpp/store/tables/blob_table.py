"""The table of blobs: which files are stored, and which records refer to them."""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing
from typing import Any, BinaryIO

from pdpp.store.blobs import Blob, BlobUse, chunks, media_type_of
from pdpp.store.numbers import read_data
from pdpp.store.scope import Reach
from pdpp.store.tables.blob_folder import BlobFolder, ReceivedBlob, name_blobs, sync_blobs
from pdpp.store.tables.database import TableDatabase
from pdpp.store.tables.records.predicate import OWNER, Sql, records_where
from pdpp.store.tables.records.reader import RecordReader
from pdpp.store.tables.records.visible_way import VisibleWay

_COLLECTED = 200

_USE = "u.owner = ? AND u.blob_id = ? AND u.feed = ? AND u.field = ?"
_USES = f"FROM blob_use u WHERE {_USE}"


class ReceivedBlobs:
    """Files received one by one and stored together: of many, each costs a fraction of one."""

    def __init__(self, db: TableDatabase, folder: BlobFolder) -> None:
        self._db = db
        self._folder = folder
        self._received: dict[str, ReceivedBlob] = {}
        self._rows: list[tuple[int, str, str, int]] = []
        self._unfinished = ExitStack()

    def keep(self, source: BinaryIO, media_type: str, limit: int) -> Blob:
        """Receive one file; it is stored when the batch is settled."""
        received = self._unfinished.enter_context(self._folder.received(chunks(source), limit))
        if self._received.setdefault(received.blob_id, received) is received:
            self._rows.append((OWNER, received.blob_id, media_type, received.size))
        return Blob(received.blob_id, media_type, received.size)

    def settle(self) -> None:
        """Store what was received, so that it outlasts a power cut."""
        received = list(self._received.values())
        sync_blobs(received)
        # The lock of the database keeps collecting away between the bytes and their row: without
        # it the same bytes, unused until now, could be removed after they were looked for.
        with self._db.writing() as db:
            name_blobs(received)
            db.executemany("INSERT OR IGNORE INTO blob VALUES (?, ?, ?, ?)", self._rows)

    def close(self) -> None:
        """Remove what was received and not stored."""
        self._unfinished.close()


class BlobTable:
    """Knows the files of a folder by the table of them."""

    def __init__(self, db: TableDatabase, folder: BlobFolder) -> None:
        self._db = db
        self._folder = folder

    def keep(self, source: BinaryIO, media_type: str, limit: int) -> Blob:
        """Store a file; the same bytes are kept once."""
        with closing(self.batch()) as batch:
            blob = batch.keep(source, media_type, limit)
            batch.settle()
        return self.find(blob.blob_id) or blob

    def batch(self) -> "ReceivedBlobs":
        """Begin to receive some files that are stored together."""
        return ReceivedBlobs(self._db, self._folder)

    def find(self, blob_id: str) -> Blob | None:
        """Return a stored file."""
        row = next(
            self._db.reader.execute(
                "SELECT media_type, size_bytes FROM blob WHERE owner = ? AND blob_id = ?",
                (OWNER, blob_id),
            ),
            None,
        )
        return None if row is None else Blob(blob_id, *row)

    def all(self) -> Iterator[Blob]:
        """Yield every stored file, whether or not a record refers to it."""
        for blob_id, media_type, size in self._db.reader.execute(
            "SELECT blob_id, media_type, size_bytes FROM blob WHERE owner = ? ORDER BY blob_id",
            (OWNER,),
        ):
            yield Blob(blob_id, media_type, size)

    def sweep(self, before: int) -> int:
        """Remove what killed uploads left before a moment; return how many files that were."""
        for blob_id in self._folder.named_leftovers(before):
            # Whoever keeps the same bytes meanwhile does so in this turn or after it.
            with self._db.writing():
                if self.find(blob_id) is None:
                    self._folder.remove(blob_id, before)
        return self._folder.sweep(before)

    def collect(self, before: int, after: str) -> str | None:
        """Remove some files that no record refers to and that were last kept before a moment."""
        with self._db.writing() as db:
            rows: list[Any] = db.execute(
                "SELECT blob_id, EXISTS (SELECT 1 FROM blob_use u WHERE u.owner = b.owner"
                " AND u.blob_id = b.blob_id) FROM blob b WHERE owner = ? AND blob_id > ?"
                " ORDER BY blob_id LIMIT ?",
                (OWNER, after, _COLLECTED),
            ).fetchall()
            for blob_id, used in rows:
                # The lock of the database is held: nobody refers to the file in the meantime.
                if not used and self._folder.remove(blob_id, before):
                    db.execute("DELETE FROM blob WHERE owner = ? AND blob_id = ?", (OWNER, blob_id))
        return rows[-1][0] if len(rows) == _COLLECTED else None

    def shown(
        self, blob_id: str, reaches: Iterable[Reach], records: RecordReader
    ) -> BlobUse | None:
        """Return the visible record through which a blob is seen, None where none refers to it."""
        for reach in reaches:
            for field in filter(reach.opens_blob, reach.names()):
                number = self._used_by(blob_id, reach, field)
                record = (
                    None if number is None else records.by_number(reach, number, frozenset({field}))
                )
                if record is not None:
                    media_type = media_type_of(read_data(record.data)[field])
                    return BlobUse(reach, record.id, field, media_type)
        return None

    def _used_by(self, blob_id: str, reach: Reach, field: str) -> int | None:
        """Return the number of a visible record that refers to a file in a field.

        Several may, under different media types: which of them is taken follows from their random
        numbers, because the order in which they came is hidden.
        """
        use = (OWNER, blob_id, reach.feed.id, field)
        way = VisibleWay(self._db.reader, reach)
        if way.is_shorter(lambda most: self._size(use, most)):
            # Along the visible records, because hidden ones may use the file in any number.
            # A value and not ``EXISTS``, for which a planner could read all uses of the file.
            used = f"AND (SELECT 1 {_USES} AND u.record = r.id) IS NOT NULL"
            source = way.source() + Sql(used, use)
        else:
            source = Sql(f"blob_use u CROSS JOIN record r ON r.id = u.record WHERE {_USE}", use)
            source += Sql("AND") + records_where(reach)
        sql = Sql("SELECT r.id FROM") + source + Sql("ORDER BY r.surrogate LIMIT 1")
        row = next(self._db.reader.execute(sql.text, sql.values), None)
        return None if row is None else int(row[0])

    def _size(self, use: tuple[int, str, int, str], most: int) -> int:
        """Return how many records of a feed use a file in a field, up to a number."""
        sql = f"SELECT count(*) FROM (SELECT 1 {_USES} LIMIT ?) AS counted"
        return int(self._db.reader.execute(sql, (*use, most)).get)
