"""Small blobs: their bytes are rows of the database, and only larger ones are files.

A file of its own costs a name, two waits for the disk and a dozen calls of the system, whatever its
size; a row is written with the batch that it belongs to.
"""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from itertools import chain
from typing import BinaryIO

from pdpp.model.errors import BlobNotFound, PayloadTooLarge
from pdpp.store.tables.blob_folder import BlobFolder, ReceivedBlob


class SmallBlobs(BlobFolder, ABC):
    """Has small blobs in the database of an engine, and large ones elsewhere: in the folder."""

    most_in_database: int
    """Larger blobs are elsewhere, in bytes."""

    @contextmanager
    def received(self, pieces: Iterator[bytes], limit: int) -> Iterator[ReceivedBlob]:
        """Take what comes in pieces; it is stored when it is settled."""
        content = bytearray()
        for piece in pieces:
            content += piece
            if len(content) > limit:
                raise PayloadTooLarge(f"A blob holds at most {limit} bytes.")
            if len(content) > self.most_in_database:
                with self._received_elsewhere(chain([bytes(content)], pieces), limit) as large:
                    yield large
                return
        blob_id = hashlib.sha256(content).hexdigest()
        yield ReceivedBlob(blob_id, len(content), partial(self._keep, blob_id, bytes(content)))

    def _received_elsewhere(
        self, pieces: Iterator[bytes], limit: int
    ) -> AbstractContextManager[ReceivedBlob]:
        """Take a large blob."""
        return super().received(pieces, limit)

    @abstractmethod
    def _keep(self, blob_id: str, content: bytes) -> None:
        """Store the bytes of a small blob; bytes that are there already are kept from now on."""

    @abstractmethod
    def _content(self, blob_id: str, start: int) -> BinaryIO | None:
        """Open the bytes of a blob from a position, None where they are not in the database."""

    def open(self, blob_id: str, start: int) -> BinaryIO:
        """Open the bytes of a blob from a position."""
        return self._content(blob_id, start) or super().open(blob_id, start)

    def problem(self, blob_id: str, size: int) -> str | None:
        """Describe the damage of a stored blob; return None if there is none."""
        try:
            source = self._content(blob_id, 0)
            if source is None:
                return super().problem(blob_id, size)
            with source:
                return self._difference(source, blob_id, size)
        except (BlobNotFound, OSError) as problem:
            return f"blob {blob_id} cannot be read: {problem}"
