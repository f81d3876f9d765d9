"""The sink: where items of one connection go, together, in batches; files before their records."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from pdpp.model.errors import DamagedFile, ImportRefused, PayloadTooLarge
from pdpp.sources.item import Attachment, Item
from pdpp.sources.jsontext import scrub
from pdpp.sources.report import Report
from pdpp.store.blobs import media_type_of
from pdpp.store.catalogue import Feed
from pdpp.store.port import Store

BATCH_ITEMS = 1_000
BATCH_BYTES = 16 << 20

Write = Callable[[Feed, Sequence[bytes]], Mapping[str, Any]]
"""Checks and writes lines of one batch as ingest does, and answers like it."""


class Sink:
    """Gathers items and writes them stream by stream, each batch as a whole.

    ``see`` is told the stream and the key of everything that was taken.
    """

    def __init__(
        self,
        store: Store,
        connection_id: str,
        write: Write,
        report: Report,
        *,
        blob_bytes: int,
        see: Callable[[str, str], None] | None = None,
    ) -> None:
        self._store = store
        self._connection_id = connection_id
        self._write = write
        self._report = report
        self._blob_bytes = blob_bytes
        self._lines: dict[str, list[tuple[str, bytes]]] = {}
        self._count = self._size = 0
        self._see = see

    @property
    def full(self) -> bool:
        """Tell whether a batch is gathered."""
        return self._count >= BATCH_ITEMS or self._size >= BATCH_BYTES

    def add(self, item: Item) -> None:
        """Take one item; its files are kept at once."""
        for attachment in item.attachments:
            self._keep(item, attachment)
        line = self._encoded(item)
        if line is None:
            return
        self._lines.setdefault(item.stream, []).append((item.key, line))
        self._count += 1
        self._size += len(line)
        if self._see is not None:
            self._see(item.stream, item.key)

    def _encoded(self, item: Item) -> bytes | None:
        line: dict[str, Any] = {"key": item.key, "data": item.data}
        if item.emitted_at is not None:
            line["emitted_at"] = item.emitted_at
        try:
            return orjson.dumps(line)
        except TypeError:
            return self._scrubbed(item, line)

    def _scrubbed(self, item: Item, line: Mapping[str, Any]) -> bytes | None:
        """Return a line without halves of characters; what is no JSON even then is told."""
        try:
            return orjson.dumps(scrub(dict(line)))
        except (TypeError, RecursionError):
            self._report.skip("a value that JSON cannot say", f"{item.stream} {item.key}")
            return None

    def _keep(self, item: Item, attachment: Attachment) -> None:
        media_type = media_type_of({"mime_type": attachment.media_type})
        try:
            with attachment.open() as content:
                blob = self._store.keep_blob(content, media_type, self._blob_bytes)
        except (DamagedFile, PayloadTooLarge) as problem:
            self._report.skip("a file that cannot be kept", f"{item.key}: {problem.message}")
            return
        self._report.counts["blobs"] += 1
        item.data[attachment.field] = {
            "blob_id": blob.blob_id,
            "mime_type": media_type,
            "size_bytes": blob.size_bytes,
            "sha256": blob.blob_id,
        }

    def flush(self) -> None:
        """Write everything gathered, one transaction for each stream."""
        gathered, self._lines = self._lines, {}
        self._count = self._size = 0
        feeds = self._store.catalogue().feeds
        for stream, lines in gathered.items():
            feed = feeds.get((self._connection_id, stream))
            if feed is None:
                raise ImportRefused(f"the source declares no stream {stream!r}")
            answer = self._write(feed, [line for _, line in lines])
            self._report.write(stream, answer, [key for key, _ in lines])
