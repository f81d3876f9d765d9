"""The sink: where items of one connection go, together, in batches; files before their records.

One batch is written in a thread of its own while the next one is gathered and made ready. There is
never a second one on its way, so that memory stays bounded and the order of reading is kept. What
the thread does, the engine does nearly alone: it holds up the interpreter for a moment only.
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
BATCH_ITEMS = 2_000
BATCH_BYTES = 16 << 20
"""Batches begin small, so that something can be found soon, and grow: a large one costs less."""

Write = Callable[[], Mapping[str, Any]]
"""Writes lines that are ready, and answers as ingest does."""

Ready = Callable[[Feed, Sequence[bytes]], Write]
"""Checks lines of one stream as ingest does, and makes them ready."""

_Lines = list[tuple[str, bytes]]
"""The lines of a stream, each with its key."""


class _Load(NamedTuple):
    """Lines of one stream that are ready, and what writes them."""

    stream: str
    keys: list[str]
    write: Write


class _Answer(NamedTuple):
    """What became of the lines of one stream."""

    stream: str
    keys: list[str]
    told: Mapping[str, Any]


class Sink:
    """Gathers items and writes them stream by stream, each batch as a whole.

    ``see`` is told the stream and the key of everything that was taken.
    """

    def __init__(
        self,
        store: Store,
        connection_id: str,
        ready: Ready,
        report: Report,
        *,
        blob_bytes: int,
        see: Callable[[str, str], None] | None = None,
    ) -> None:
        self._store = store
        self._connection_id = connection_id
        self._ready = ready
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
        """Make ready what is gathered, and have it written once what was sent before is."""
        gathered, self._lines = self._lines, {}
        self._count = self._size = 0
        self._most = min(2 * self._most, BATCH_ITEMS)
        loads = [self._load(stream, lines) for stream, lines in gathered.items()]
        self.settle()
        if loads:
            self._underway = self._thread.submit(_write_all, loads)

    def settle(self) -> None:
        """Wait until everything that was sent is written, and count it."""
        underway, self._underway = self._underway, None
        for answer in underway.result() if underway is not None else ():
            self._report.write(answer.stream, answer.told, answer.keys)

    def _load(self, stream: str, lines: _Lines) -> _Load:
        feed = self._store.catalogue().feeds.get((self._connection_id, stream))
        if feed is None:
            raise ImportRefused(f"the source declares no stream {stream!r}")
        keys = [key for key, _ in lines]
        return _Load(stream, keys, self._ready(feed, [line for _, line in lines]))


def _write_all(loads: Sequence[_Load]) -> list[_Answer]:
    """Write a batch, one transaction for each stream."""
    return [_Answer(load.stream, load.keys, load.write()) for load in loads]
