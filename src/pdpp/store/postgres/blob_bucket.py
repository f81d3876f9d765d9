"""Large blobs of an owner in an object store: sealed, with a row in the database for each.

The row (in ``blob_content``, without content) is written before the object. So the database names
every object that there is, nobody lists the bucket, and what a killed upload left is found. Whoever
removes an object holds its row meanwhile: an upload of the same bytes waits for that and puts them
there again.
"""

import io
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, BinaryIO, cast

from pdpp.encryption.data_key import DataKey
from pdpp.encryption.files import DataFiles, SealedFiles
from pdpp.model.errors import BlobNotFound
from pdpp.private import make_folder
from pdpp.store.blobs import CHUNK
from pdpp.store.postgres.bucket import Bucket, ObjectReader
from pdpp.store.postgres.database import PostgresDatabase
from pdpp.store.tables.blob_folder import ReceivedBlob, write_pieces
from pdpp.store.tables.records.predicate import OWNER

_NOW = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
_MOST_SWEPT = 1_000

_NAME = f"""
    INSERT INTO blob_content (blob_id, kept_at, content) VALUES ($1, {_NOW}, NULL)
    ON CONFLICT (owner, blob_id) DO UPDATE SET kept_at = excluded.kept_at
"""
_STILL_NAMED = f"""
    UPDATE blob_content SET kept_at = {_NOW}
    WHERE owner = $1 AND blob_id = $2 AND content IS NULL
"""
_HOLD = """
    SELECT 1 FROM blob_content
    WHERE owner = $1 AND blob_id = $2 AND content IS NULL AND kept_at < $3 FOR UPDATE
"""
_FORGET = "DELETE FROM blob_content WHERE owner = $1 AND blob_id = $2 AND content IS NULL"
_LEFT = """
    SELECT b.blob_id FROM blob_content b WHERE b.owner = $1 AND b.kept_at < $2 AND b.content IS NULL
    AND NOT EXISTS (SELECT 1 FROM blob o WHERE o.owner = b.owner AND o.blob_id = b.blob_id)
    LIMIT $3
"""


class BlobBucket:
    """Keeps the large blobs of one owner in a bucket."""

    def __init__(
        self, database: PostgresDatabase, bucket: Bucket, folder: Path, secret: Callable[[], bytes]
    ) -> None:
        """``folder`` is where uploads wait, and ``secret`` returns that of the owner's store."""
        self._database = database
        self._bucket = bucket
        self._folder = folder
        self._secret = secret
        self._sealed: SealedFiles | None = None

    def _files(self) -> DataFiles:
        # Whoever runs the object store may be somebody else, so nothing leaves unsealed. The names
        # are keyed too: the hash of a known file would betray it.
        if self._sealed is None:
            key = DataKey(self._secret()).derived(b"object store")
            self._sealed = SealedFiles(DataKey(key))
        return self._sealed

    def open(self, blob_id: str, start: int) -> BinaryIO:
        """Open the bytes of a blob from a position."""
        name = self._files().name(blob_id)
        size = self._bucket.size(name)
        if size is None:
            raise BlobNotFound("The bytes of this blob are missing.")
        reader = io.BufferedReader(ObjectReader(self._bucket, name, size), CHUNK)
        source = self._files().reader(cast(BinaryIO, reader))
        source.seek(start)
        return source

    @contextmanager
    def received(self, pieces: Iterator[bytes], limit: int) -> Iterator[ReceivedBlob]:
        """Take what comes in pieces and upload it; a row keeps it when it is settled."""
        make_folder(self._folder)
        # Its name follows from all of its bytes, so they wait here; a file without a name goes with
        # the process.
        with tempfile.TemporaryFile(dir=self._folder) as spool:
            writer = self._files().writer(cast(BinaryIO, spool))
            blob_id, size = write_pieces(writer, pieces, limit)
            # Before anybody holds the owner's lock: an upload may take minutes.
            self._upload(blob_id, spool)
            yield ReceivedBlob(blob_id, size, partial(self._settle, blob_id, spool))

    def _upload(self, blob_id: str, spool: IO[bytes]) -> None:
        with self._database.brief() as db:
            db.run(_NAME, (blob_id,))
        name = self._files().name(blob_id)
        size = spool.seek(0, io.SEEK_END)
        # The name is that of these bytes alone, and an object is there as a whole or not at all.
        if self._bucket.size(name) != size:
            spool.seek(0)
            self._bucket.put(name, spool)

    def _settle(self, blob_id: str, spool: IO[bytes]) -> None:
        """Keep the blob for another while; put it there again if it was collected meanwhile."""
        with self._database.brief() as db:
            db.run(_STILL_NAMED, (OWNER, blob_id))
            is_named = db.changes() > 0
        if not is_named:
            self._upload(blob_id, spool)

    def remove(self, blob_id: str, before: int) -> bool:
        """Remove a blob unless it was kept since a moment; tell whether it was removed."""
        with self._database.brief() as db:
            if db.run(_HOLD, (OWNER, blob_id, before)).get is None:
                return False
            self._bucket.remove(self._files().name(blob_id))
            db.run(_FORGET, (OWNER, blob_id))
        return True

    def sweep(self, before: int) -> int:
        """Remove what killed uploads left behind, if it was not named since a moment."""
        rows = self._database.reader.run(_LEFT, (OWNER, before, _MOST_SWEPT)).fetchall()
        return sum(self.remove(blob_id, before) for (blob_id,) in rows)
