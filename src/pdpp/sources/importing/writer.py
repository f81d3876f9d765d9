"""The record writer: write the items of one connection in batches, files before their records.

An item is checked and made ready soon after it is read, while it is still at hand. One batch is
written in a thread of its own while the next one is gathered. There is never a second one on its
way, so that memory stays bounded and the order of reading is kept. What the thread does, the engine
does nearly alone: it holds up the interpreter for a moment only, and must not wait long for it.
"""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import Any, NamedTuple

from orjson import OPT_SORT_KEYS, dumps

from pdpp.model.errors import DamagedFile, ImportRefused, PayloadTooLarge
from pdpp.sources.importing.report import ImportReport
from pdpp.sources.item import Attachment, Item
from pdpp.sources.keys import KeySealer, RecordKey
from pdpp.sources.reading.jsontext import scrub
from pdpp.store.batch import canonical
from pdpp.store.blobs import BlobBatch, media_type_of
from pdpp.store.catalogue import Feed
from pdpp.store.intake import Intake, ItemRecord
from pdpp.store.numbers import read_data
from pdpp.store.port import Store

FIRST_ITEMS = 500
USUAL_ITEMS = 2_000
BATCH_ITEMS = 4_000
LARGEST_PART = 8
BATCH_BYTES = 16 << 20
BATCH_FILES = 200
BATCH_FILE_BYTES = 64 << 20
"""Batches begin small, so that something can be found soon, and grow: a large one costs less. What
is more than usual is a part of what was sent before, because nothing is left to read while the last
batch is written, and in a small store more of them cost no less."""

_GROUP_ITEMS = 512
_GROUP_BYTES = 1 << 20
"""So many items are read before they are checked and made ready. One by one that would cost a
quarter more, because the processor changes from one long piece of code to another each time; from
here on more of them change nothing."""

_TURN_SECONDS = 0.00005
"""How long the thread that reads goes on when the one that writes wants the interpreter: far less
than usual, because the engine stands still meanwhile. A batch gives the interpreter away some
hundred times, for each statement and each long array, and waits that long to have it back."""

OpenIntake = Callable[[Feed], Intake]
"""Begins a batch of one stream."""


class _Load:
    """What is gathered of one stream: its keys, and the last records, not checked yet."""

    __slots__ = ("group", "intake", "keys", "stream")

    def __init__(self, stream: str, intake: Intake) -> None:
        self.stream = stream
        self.intake = intake
        self.keys: list[str] = []
        self.group: list[ItemRecord] = []


class _Answer(NamedTuple):
    """What became of the items of one stream."""

    stream: str
    keys: list[str]
    counts: Mapping[str, Any]


class RecordWriter:
    """Gathers items and writes them stream by stream, each batch as a whole.

    ``full`` tells whether a batch is gathered; ``see`` is told the stream and the key of everything
    that was taken. Items are refused once they would come to more than ``most_bytes`` in all.
    """

    def __init__(
        self,
        store: Store,
        connection_id: str,
        intake: OpenIntake,
        report: ImportReport,
        *,
        blob_bytes: int,
        sealer: KeySealer,
        most_bytes: int = sys.maxsize,
        see: Callable[[str, str], None] | None = None,
    ) -> None:
        self._store = store
        self._connection_id = connection_id
        self._intake = intake
        self._report = report
        self._sealer = sealer
        self._blob_bytes = blob_bytes
        self._most_bytes = self._bytes_left = most_bytes
        self.full = False
        self._loads: dict[str, _Load] = {}
        self._files: BlobBatch | None = None
        self._file_count = self._file_size = 0
        self._has_files = False
        """Whether as many files wait as are stored together."""
        self._group_size = 0
        self._count = self._size = self._sent = 0
        self._see = see
        self._most = min(FIRST_ITEMS, BATCH_ITEMS)
        self._thread = ThreadPoolExecutor(1, "import")
        self._underway: Future[list[_Answer]] | None = None

    def close(self) -> None:
        """Wait for the batch that is on its way; nothing more is written."""
        self._thread.shutdown()
        if self._files is not None:
            self._files.close()

    def add(self, item: Item) -> None:
        """Take one item; its files are received at once and stored before it."""
        stream, name, data, attachments = item
        key = self._sealer.seal(name) if type(name) is RecordKey else scrub(name)
        flat = type(data) is dict and self._sealer.seal_data(data, name, key)
        if attachments:
            for attachment in attachments:
                self._keep(item, attachment)
            flat = False
        try:
            text = dumps(data, option=OPT_SORT_KEYS) if flat else canonical(data)
        except TypeError:
            self._add_scrubbed(item._replace(key=key))
            return
        # What was read belongs to the source, which may go on to change it. A shallow copy is
        # enough where nothing is nested; else the JSON that was just made is read again, which is
        # quicker than a deep copy.
        self._take(stream, key, data.copy() if flat else read_data(text), text)

    def _add_scrubbed(self, item: Item) -> None:
        """Take an item without halves of characters; what is no JSON even then is told."""
        try:
            text = canonical(scrub(item.data))
        except (TypeError, RecursionError):
            self._report.skip("a value that JSON cannot say", f"{item.stream} {item.key}")
        else:
            self._take(item.stream, item.key, read_data(text), text)

    def _take(self, stream: str, key: str, data: Any, text: bytes) -> None:
        size = len(text)
        self._bytes_left -= size
        if self._bytes_left < 0:
            raise DamagedFile(
                f"what it says would take more than {self._most_bytes:,} bytes, many times what "
                "its files hold"
            )
        load = self._loads.get(stream)
        if load is None:
            load = self._loads[stream] = self._load(stream)
        load.keys.append(key)
        load.group.append((key, data, text))
        self._count += 1
        self._size += size
        self._group_size += size
        if len(load.group) >= _GROUP_ITEMS or self._group_size >= _GROUP_BYTES:
            self._hand_over()
        self.full = self._count >= self._most or self._size >= BATCH_BYTES or self._has_files
        if self._see is not None:
            self._see(stream, key)

    def _hand_over(self) -> None:
        """Have what was read checked and made ready."""
        self._group_size = 0
        for load in self._loads.values():
            if load.group:
                group, load.group = load.group, []
                load.intake.take_records(group)

    def _load(self, stream: str) -> _Load:
        feed = self._store.catalogue().feeds.get((self._connection_id, stream))
        if feed is None:
            raise ImportRefused(f"the source declares no stream {stream!r}")
        return _Load(stream, self._intake(feed))

    def _keep(self, item: Item, attachment: Attachment) -> None:
        media_type = media_type_of({"mime_type": attachment.media_type})
        if self._files is None:
            self._files = self._store.blob_batch()
        try:
            with attachment.open() as content:
                blob = self._files.keep(content, media_type, self._blob_bytes)
        except (DamagedFile, PayloadTooLarge) as problem:
            self._report.counts["read"] += 1
            self._report.skip("a file that cannot be kept", f"{item.key}: {problem.message}")
            return
        self._bytes_left -= blob.size_bytes
        self._file_count += 1
        self._file_size += blob.size_bytes
        self._has_files = self._file_count >= BATCH_FILES or self._file_size >= BATCH_FILE_BYTES
        self._report.counts["blobs"] += 1
        item.data[attachment.field] = {
            "blob_id": blob.blob_id,
            "mime_type": media_type,
            "size_bytes": blob.size_bytes,
            "sha256": blob.blob_id,
        }

    def send(self) -> None:
        """Have what is gathered written, once what was sent before is."""
        self._hand_over()
        loads, self._loads = list(self._loads.values()), {}
        self._sent += self._count
        self.full, self._count, self._size = False, 0, 0
        self._file_count = self._file_size = 0
        self._has_files = False
        large = max(USUAL_ITEMS, self._sent // LARGEST_PART)
        self._most = min(2 * self._most, large, BATCH_ITEMS)
        self.settle()
        files, self._files = self._files, None
        if loads or files is not None:
            self._underway = self._thread.submit(_write_all, loads, files)

    def settle(self) -> None:
        """Wait until everything that was sent is written, and count it."""
        underway, self._underway = self._underway, None
        for answer in underway.result() if underway is not None else ():
            self._report.write(answer.stream, answer.counts, answer.keys)


@contextmanager
def short_turns() -> Iterator[None]:
    """Let the threads of this process take short turns; for a program that only imports."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(min(usual, _TURN_SECONDS))
    try:
        yield
    finally:
        sys.setswitchinterval(usual)


def _write_all(loads: Sequence[_Load], files: BlobBatch | None) -> list[_Answer]:
    """Write a batch: the files that its records name, then a transaction for each stream."""
    if files is not None:
        with closing(files):
            files.settle()
    return [_Answer(load.stream, load.keys, load.intake.write()) for load in loads]
