"""Blobs of the embedded store: the bytes of small ones in the database, of large ones in files."""

import io
import time
from pathlib import Path
from typing import BinaryIO

from pdpp.encryption.files import PLAIN, DataFiles
from pdpp.store.sqlite.database import SqliteDatabase
from pdpp.store.tables import deletion
from pdpp.store.tables.records.predicate import OWNER
from pdpp.store.tables.small_blobs import SmallBlobs

MOST_IN_DATABASE = 1 << 16
"""Larger blobs are files: a row is read as a whole, and a copy of the database writes it anew."""

# Bytes that are here already stay where they are; only those that differ are written anew.
_KEEP = """
    INSERT INTO blob_content (owner, blob_id, kept_at, content) VALUES (?, ?, ?, ?)
    ON CONFLICT (owner, blob_id) DO UPDATE SET kept_at = excluded.kept_at,
      content = iif(content = excluded.content, content, excluded.content)
"""
_CONTENT = "SELECT content FROM blob_content WHERE owner = ? AND blob_id = ?"
_KEPT = "SELECT kept_at FROM blob_content WHERE owner = ? AND blob_id = ?"
_REMOVE = "DELETE FROM blob_content WHERE owner = ? AND blob_id = ?"


class SqliteBlobs(SmallBlobs):
    """Has small blobs in the database file, and large ones in a folder beside it."""

    most_in_database = MOST_IN_DATABASE

    def __init__(self, database: SqliteDatabase, folder: Path, files: DataFiles = PLAIN) -> None:
        super().__init__(folder, files)
        self._database = database

    def _keep(self, blob_id: str, content: bytes) -> None:
        with self._database.joining() as db:
            db.execute(_KEEP, (OWNER, blob_id, time.time_ns() // 1_000, content))

    def _content(self, blob_id: str, start: int) -> BinaryIO | None:
        content: bytes | None = self._database.reader.execute(_CONTENT, (OWNER, blob_id)).get
        if content is None:
            return None
        source = io.BytesIO(content)
        source.seek(start)
        return source

    def remove(self, blob_id: str, before: int) -> bool:
        """Remove a blob unless it was kept since a moment; tell whether it is gone."""
        with self._database.joining() as db:
            kept_at: int | None = db.execute(_KEPT, (OWNER, blob_id)).get
            if kept_at is not None:
                if kept_at >= before:
                    return False
                db.execute(_REMOVE, (OWNER, blob_id))
                deletion.mark(db)
        return super().remove(blob_id, before)
