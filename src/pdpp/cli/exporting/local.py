"""The local origin: everything in a data folder, for its owner."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import orjson

from pdpp.cli.exporting.origin import ExportBatch, ExportStream
from pdpp.model import instant
from pdpp.model.errors import NotFound
from pdpp.store.port import Store
from pdpp.store.query import PagePosition, PageQuery, Record
from pdpp.store.scope import Reach, owner_reaches

_PAGE = 1_000


class LocalOrigin:
    """Exports a store: all of it, or one stream."""

    scope = "owner"

    def __init__(
        self,
        store: Store,
        name: str,
        *,
        stream: str | None = None,
        connection_id: str | None = None,
    ) -> None:
        self._store = store
        self.name = name
        self._catalogue = store.catalogue()
        self._whole = stream is None and connection_id is None
        self._reaches = {
            reach.feed.address: reach
            for reach in owner_reaches(self._catalogue)
            if stream in (None, reach.stream.name) and connection_id in (None, reach.connection_id)
        }
        if not self._whole and not self._reaches:
            missing = stream or connection_id
            raise NotFound(f"there is no {missing!r} in this store; see pdpp connection list")

    def connections(self) -> Sequence[Mapping[str, str]]:
        """Return the accounts."""
        exported = {place[0] for place in self._reaches}
        return [
            {
                "connection_id": connection.connection_id,
                "connector_key": connection.connector_key,
                "display_name": connection.display_name,
            }
            for name, connection in sorted(self._catalogue.connections.items())
            if self._whole or name in exported
        ]

    def declarations(self) -> Iterator[tuple[str, bytes]]:
        """Yield the sources as they are declared now."""
        keys = {connection["connector_key"] for connection in self.connections()}
        for key, declaration in sorted(self._catalogue.sources.items()):
            if self._whole or key in keys:
                yield key, orjson.dumps(declaration.document)

    def import_secret(self) -> bytes | None:
        """Return what importers hash keys with; a part of the store goes without it."""
        return self._store.import_secret() if self._whole else None

    def places(self) -> Sequence[ExportStream]:
        """Return every stream of every account."""
        counts = self._store.counts(list(self._reaches.values()))
        return [
            ExportStream(*place, counts.get(reach.feed.id))
            for place, reach in self._reaches.items()
        ]

    def batches(self, place: ExportStream, cursor: str | None) -> Iterator[ExportBatch]:  # noqa: ARG002
        """Yield all records of a stream; from a file it is quickest to begin anew."""
        reach = self._reaches[place.connection_id, place.stream]
        after: PagePosition | None = None
        while True:
            page = self._page(reach, after)
            yield ExportBatch([_line(record) for record in page[0]], None)
            after = page[1]
            if after is None:
                return

    def _page(
        self, reach: Reach, after: PagePosition | None
    ) -> tuple[tuple[Record, ...], PagePosition | None]:
        query = PageQuery((reach,), _PAGE, descending=False, after=after)
        page = self._store.page(query)
        return page.records, page.next

    def blobs(self) -> Iterator[str] | None:
        """Yield every file there is, whether or not a record refers to it."""
        return (blob.blob_id for blob in self._store.blobs()) if self._whole else None

    def save_blob(self, blob_id: str, path: Path) -> str | None:
        """Copy a file."""
        blob = self._store.blob(blob_id)
        if blob is None:
            return None
        with self._store.open_blob(blob_id) as source, path.open("wb") as target:
            path.chmod(0o600)
            shutil.copyfileobj(source, target)
        return blob.media_type


def _line(record: Record) -> bytes:
    emitted = instant.to_text(record.emitted_at).encode()
    key = orjson.dumps(record.id)
    return b'{"key":%b,"data":%b,"emitted_at":"%b"}' % (key, record.data, emitted)
