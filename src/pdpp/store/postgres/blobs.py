"""Blobs in PostgreSQL: the bytes of small ones in the database, of large ones elsewhere.

Elsewhere is a bucket of an object store, or a folder where there is no bucket. Workers on several
machines then need no shared file system for ordinary attachments, and with a bucket for none.
"""

import io
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import BinaryIO, cast

from pdpp.encryption.files import PLAIN
from pdpp.model.errors import BlobNotFound
from pdpp.store.blobs import CHUNK
from pdpp.store.postgres.blob_bucket import BlobBucket
from pdpp.store.postgres.bucket import Bucket
from pdpp.store.postgres.database import PostgresDatabase
from pdpp.store.tables.blob_folder import ReceivedBlob
from pdpp.store.tables.records.predicate import OWNER
from pdpp.store.tables.secrets import store_secret
from pdpp.store.tables.small_blobs import SmallBlobs

MOST_IN_DATABASE = 1 << 20
"""Larger blobs are elsewhere: a worker has what it writes in memory, several times over."""

_NOW = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
"""The clock of the database, which all workers share."""

# Bytes that are here already stay where they are; only those that differ are written anew.
_KEEP = f"""
    INSERT INTO blob_content AS b (blob_id, kept_at, content) VALUES ($1, {_NOW}, $2)
    ON CONFLICT (owner, blob_id) DO UPDATE SET kept_at = excluded.kept_at,
      content = CASE WHEN b.content = excluded.content THEN b.content ELSE excluded.content END
"""
_SIZE = """
    SELECT coalesce(octet_length(content), -1)::bigint FROM blob_content
    WHERE owner = $1 AND blob_id = $2
"""
_IN_BUCKET = -1
_PIECE = """
    SELECT substr(content, $3::int, $4::int) FROM blob_content WHERE owner = $1 AND blob_id = $2
"""
_REMOVE = """
    DELETE FROM blob_content
    WHERE owner = $1 AND blob_id = $2 AND kept_at < $3 AND content IS NOT NULL
"""
_SWEEP = """
    DELETE FROM blob_content b WHERE b.owner = $1 AND b.kept_at < $2
    AND b.content IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM blob o WHERE o.owner = b.owner AND o.blob_id = b.blob_id)
"""


class PostgresBlobs(SmallBlobs):
    """Has small blobs of an owner in the database, and large ones in a bucket or a folder."""

    most_in_database = MOST_IN_DATABASE

    def __init__(
        self,
        database: PostgresDatabase,
        folder: Path,
        bucket: Bucket | None = None,
        secret: Callable[[], bytes] | None = None,
    ) -> None:
        """``secret`` returns that of the owner's store; what is in a bucket is sealed with it."""
        own = folder / str(database.owner)
        super().__init__(own, PLAIN)
        self._database = database
        self._bucket: BlobBucket | None = None
        if bucket is not None:
            self._bucket = BlobBucket(
                database, bucket, own, secret or partial(store_secret, database)
            )

    def _content(self, blob_id: str, start: int) -> BinaryIO | None:
        size = self._size(blob_id)
        if size is None:
            return None
        if size == _IN_BUCKET:
            return self._known_bucket().open(blob_id, start)
        reader = _ContentReader(self._database, blob_id, start, size)
        return cast(BinaryIO, io.BufferedReader(reader, CHUNK))

    def _size(self, blob_id: str) -> int | None:
        """Return how many bytes a blob has in the database, None where it is a file."""
        size = self._database.reader.run(_SIZE, (OWNER, blob_id)).get
        return None if size is None else int(size)

    def _known_bucket(self) -> BlobBucket:
        if self._bucket is None:
            raise BlobNotFound(
                "The bytes of this blob are in an object store that this server is not told of; "
                "its setting blobs names it."
            )
        return self._bucket

    def _received_elsewhere(
        self, pieces: Iterator[bytes], limit: int
    ) -> AbstractContextManager[ReceivedBlob]:
        receive = super()._received_elsewhere if self._bucket is None else self._bucket.received
        return receive(pieces, limit)

    def _keep(self, blob_id: str, content: bytes) -> None:
        with self._database.brief() as db:
            db.run(_KEEP, (blob_id, content))

    def sweep(self, before: int) -> int:
        """Remove what killed uploads left behind, if nothing was written to it since a moment."""
        with self._database.brief() as db:
            # Bytes are kept before the table of blobs names them; whoever was killed between left
            # them without a name.
            db.run(_SWEEP, (OWNER, before))
            removed = db.changes()
        if self._bucket is not None:
            removed += self._bucket.sweep(before)
        return removed + super().sweep(before)

    def remove(self, blob_id: str, before: int) -> bool:
        """Remove a blob unless it was kept since a moment; tell whether it is gone."""
        if self._size(blob_id) == _IN_BUCKET:
            # Without the bucket it stays, row and object: whoever knows the bucket removes both.
            return self._bucket is not None and self._bucket.remove(blob_id, before)
        with self._database.brief() as db:
            db.run(_REMOVE, (OWNER, blob_id, before))
        return self._size(blob_id) is None and super().remove(blob_id, before)


class _ContentReader(io.RawIOBase):
    """Reads the bytes of a blob piece by piece; between two pieces it holds no connection."""

    def __init__(self, database: PostgresDatabase, blob_id: str, start: int, size: int) -> None:
        self._database = database
        self._blob_id = blob_id
        self._place = start
        self._size = size

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Read the bytes that come next into a buffer."""
        most = min(len(buffer), self._size - self._place)
        if most <= 0:
            return 0
        asked = (OWNER, self._blob_id, self._place + 1, most)
        piece = self._database.reader.run(_PIECE, asked).get
        if not piece:
            raise OSError("this blob was removed while it was read")
        buffer[: len(piece)] = piece
        self._place += len(piece)
        return len(piece)
