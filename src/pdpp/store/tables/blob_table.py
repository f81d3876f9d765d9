"""The table of blobs: which files are stored, and which records refer to them."""

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from pdpp.store.blobs import Blob, BlobUse, media_type_of
from pdpp.store.numbers import read_data
from pdpp.store.scope import Reach
from pdpp.store.tables.blob_folder import BlobFolder
from pdpp.store.tables.database import TableDatabase
from pdpp.store.tables.records.predicate import OWNER
from pdpp.store.tables.records.reader import RecordReader

_COLLECTED = 200


class BlobTable:
    """Knows the files of a folder by the table of them."""

    def __init__(self, db: TableDatabase, folder: BlobFolder) -> None:
        self._db = db
        self._folder = folder

    def keep(self, source: BinaryIO, media_type: str, limit: int) -> Blob:
        """Store a file; the same bytes are kept once."""
        blob_id, size = self._folder.keep(source, limit)
        known = self.find(blob_id)
        if known is not None:
            return known
        with self._db.writing() as db:
            db.execute(
                "INSERT OR IGNORE INTO blob VALUES (?, ?, ?, ?)",
                (OWNER, blob_id, media_type, size),
            )
            stored_type = db.execute(
                "SELECT media_type FROM blob WHERE owner = ? AND blob_id = ?", (OWNER, blob_id)
            ).get
        return Blob(blob_id, stored_type, size)

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
        uses: dict[int, list[tuple[str, int]]] = {}
        for feed, field, number in self._db.reader.execute(
            "SELECT feed, field, record FROM blob_use WHERE owner = ? AND blob_id = ?"
            " ORDER BY feed, field, record",
            (OWNER, blob_id),
        ):
            uses.setdefault(feed, []).append((field, number))
        for reach in reaches if uses else ():
            for field, number in uses.get(reach.feed.id, ()):
                record = records.by_number(reach, number) if reach.opens_blob(field) else None
                if record is not None:
                    media_type = media_type_of(read_data(record.data)[field])
                    return BlobUse(reach, record.id, field, media_type)
        return None
