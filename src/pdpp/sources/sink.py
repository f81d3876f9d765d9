"""The sink: where items of one connection go, together, in batches; files before their records.

One batch is written in a thread of its own while the next one is gathered. There is never a second
one on its way, so that memory stays bounded and everything is written in the order it was read.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

import orjson

from pdpp.model.errors import DamagedFile, ImportRefused, PayloadTooLarge
from pdpp.sources.item import Attachment, Item
from pdpp.sources.jsontext import scrub
from pdpp.sources.report import Report
from pdpp.store.blobs import media_type_of
from pdpp.store.catalogue import Feed
from pdpp.store.port import Store

FIRST_ITEMS = 500
BATCH_ITEMS = 4_000
BATCH_BYTES = 16 << 20
"""Batches begin small, so that something can be found soon, and grow: a large one costs less."""

Write = Callable[[Feed, Sequence[bytes]], Mapping[str, Any]]
"""Checks and writes lines of one batch as ingest does, and answers like it."""

_Lines = list[tuple[str, bytes]]
"""The lines of a stream, each with its key."""


class _Answer(NamedTuple):
    """What became of the lines of one stream."""

    stream: str
    keys: list[str]
    counts: Mapping[str, Any]


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
        self._lines: dict[str, _Lines] = {}
        self._count = self._size = 0
        self._see = see
        self._most = min(FIRST_ITEMS, BATCH_ITEMS)
        self._thread = ThreadPoolExecutor(1, "import")
        self._underway: Future[list[_Answer]] | None = None

    def close(self) -> None:
        """Wait for the batch that is on its way; nothing more is written."""
        self._thread.shutdown()

    @property
    def full(self) -> bool:
        """Tell whether a batch is gathered."""
        return self._count >= self._most or self._size >= BATCH_BYTES

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

    def send(self) -> None:
        """Have everything gathered written, after what was sent before."""
        self.settle()
        gathered, self._lines = self._lines, {}
        self._count = self._size = 0
        self._most = min(2 * self._most, BATCH_ITEMS)
        loads = [(self._feed(stream), lines) for stream, lines in gathered.items()]
        if loads:
            self._underway = self._thread.submit(self._write_all, loads)

    def settle(self) -> None:
        """Wait until everything that was sent is written, and count it."""
        underway, self._underway = self._underway, None
        for answer in underway.result() if underway is not None else ():
            self._report.write(answer.stream, answer.counts, answer.keys)

    def _feed(self, stream: str) -> Feed:
        feed = self._store.catalogue().feeds.get((self._connection_id, stream))
        if feed is None:
            raise ImportRefused(f"the source declares no stream {stream!r}")
        return feed

    def _write_all(self, loads: Sequence[tuple[Feed, _Lines]]) -> list[_Answer]:
        """Write a batch, one transaction for each stream."""
        return [
            _Answer(
                feed.stream.name,
                [key for key, _ in lines],
                self._write(feed, [line for _, line in lines]),
            )
            for feed, lines in loads
        ]
