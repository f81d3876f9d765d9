"""The record writer: gather the items of one connection into batches, files before their records.

Some items are sealed, checked and made ready together soon after they are read. What is gathered
goes to the write queue, which writes it while the next items are read.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import cached_property
from typing import Any

from orjson import OPT_SORT_KEYS, dumps

from pdpp.model import instant
from pdpp.model.errors import DamagedFile, ImportRefused, PayloadTooLarge
from pdpp.sources.importing.exact_times import is_inexact, with_exact_times
from pdpp.sources.importing.report import ImportReport
from pdpp.sources.importing.write_queue import Load, WriteQueue
from pdpp.sources.item import Attachment, Item
from pdpp.sources.keys import KeySealer, plain_copy
from pdpp.sources.reading.jsontext import scrub
from pdpp.store.batch import CHANGED_AT, canonical
from pdpp.store.blobs import BlobBatch, media_type_of
from pdpp.store.catalogue import Feed
from pdpp.store.intake import Intake
from pdpp.store.numbers import read_data
from pdpp.store.port import Store
from pdpp.store.query import Record
from pdpp.store.scope import Reach, owner_reaches

FIRST_ITEMS = 500
USUAL_ITEMS = 2_000
BATCH_ITEMS = 3_000
LARGEST_PART = 8
BATCH_BYTES = 16 << 20
BATCH_FILES = 200
BATCH_FILE_BYTES = 64 << 20
"""Batches begin small, so that something can be found soon, and grow: a large one costs less. What
is more than usual is a part of what was sent before, because nothing is left to read while the last
batch is written, and in a small store more of them cost no less."""

_MANY_ITEMS = 10_000
"""Once so many were sent, a process of its own writes: of fewer, its start costs more."""

_GROUP_ITEMS = 512
_GROUP_BYTES = 1 << 20
"""So many items are read before they are sealed, written as JSON, checked and made ready. One by
one that would cost a half more, because the processor changes from one long piece of code to
another each time; from here on more of them change nothing."""

_UNCHANGED: Mapping[str, Any] = {
    "records_new": 0,
    "records_changed": 0,
    "records_unchanged": 1,
    "records_deleted": 0,
    "rejections": (),
}
"""What ingest would answer for one record that stays as it is."""

OpenIntake = Callable[[Feed], Intake]
"""Begins a batch of one stream."""


_Waiting = tuple[str, Any, bytes | None]
"""The name of a record, its data, and its canonical JSON where that is known; it is sealed then."""


class _Gathered(Load):
    """What is gathered of one stream: beside its keys the last records, not checked yet."""

    __slots__ = ("named", "waiting")

    def __init__(self, stream: str, intake: Intake) -> None:
        super().__init__(stream, intake)
        self.named: set[str] | None = None
        """All names or keys, once somebody asks for one: of most streams nobody does."""
        self.waiting: list[_Waiting] = []

    def holds(self, name: str, key: str) -> bool:
        """Tell whether a record of a name was taken."""
        if self.named is None:
            self.named = {*(waiting[0] for waiting in self.waiting), *self.keys}
        return name in self.named or key in self.named


def _nothing() -> None:
    """Do nothing."""


class RecordWriter:
    """Gathers items and has them written stream by stream, each batch as a whole.

    ``full`` tells whether a batch is gathered; ``see`` is told the stream and the key of everything
    that was taken. Items are refused once they would come to more than ``most_bytes`` in all. Of
    ``many`` it is known at once that a process of its own is worth its start, of ``new`` that none
    of them can be stored already.
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
        many: bool = False,
        new: bool = False,
    ) -> None:
        self._store = store
        self._connection_id = connection_id
        self._intake = intake
        self._report = report
        self._sealer = sealer
        self._blob_bytes = blob_bytes
        self._most_bytes = self._bytes_left = most_bytes
        self.full = False
        self._loads: dict[str, _Gathered] = {}
        self._files: BlobBatch | None = None
        self._file_count = self._file_size = 0
        self._has_files = False
        """Whether as many files wait as are stored together."""
        self._waiting_size = 0
        self._count = self._handed_over = self._size = self._sent = 0
        self._see = see
        self._most = min(FIRST_ITEMS, BATCH_ITEMS)
        self._look()
        self._is_new = new
        self._queue = WriteQueue(store, report, all_new=new)
        if many:
            self._queue.write_beside()

    def close(self) -> None:
        """Wait for what is on its way; nothing more is written."""
        with ExitStack() as ends:  # Also where somebody interrupts the waiting.
            if self._files is not None:
                ends.callback(self._files.close)
            self._queue.close()

    def add(self, item: Item) -> None:
        """Take one item; its files are received at once and stored before it."""
        if item.keeps or (not self._is_new and is_inexact(item)):
            item = self._with_kept(item)
        stream, name, data, attachments, weak, lacks, *_ = item
        if (weak or lacks or item.older) and self._is_there(item):
            return
        load = self._loads.get(stream)
        if load is None:
            load = self._loads[stream] = self._load(stream)
        if lacks:
            load.lacking.add(name)
        elif load.lacking:
            load.lacking.discard(name)
        if load.named is not None:
            load.named.add(name)
        # What was read belongs to the source, which may go on to change it.
        copy, size = (data, -1) if attachments or type(data) is not dict else plain_copy(data)
        self._count += 1
        if size < 0:
            self._add_nested(load, item)
            self._look()
            return
        self._count_bytes(size)
        load.waiting.append((name, copy, None))
        if self._count >= self._look_items or self._waiting_size >= self._look_bytes:
            self._look()

    def _look(self) -> None:
        """See whether what waits is made ready and whether a batch is gathered; say when next."""
        waiting = self._count - self._handed_over
        if waiting >= _GROUP_ITEMS or self._waiting_size >= _GROUP_BYTES:
            self._hand_over()
        size = self._size + self._waiting_size
        self.full = self._count >= self._most or size >= BATCH_BYTES or self._has_files
        self._look_items = min(self._most, self._handed_over + _GROUP_ITEMS)
        self._look_bytes = min(_GROUP_BYTES, BATCH_BYTES - self._size)

    def _is_there(self, item: Item) -> bool:
        """Tell whether a record is stored or on its way already, and count it then as it is.

        It must have the field that an item lacks; an older one must not have been changed later.
        """
        stream, name = item.stream, item.key
        field = "" if item.weak or item.older else item.lacks
        key = self._sealer.key_of(name)
        lacking = self._lacking_on_its_way(stream, name, key)
        if lacking is None:
            record = self._stored(stream, key)
            told = {} if record is None else read_data(record.data)
            if record is None or (field and not told.get(field)) or _is_later(item, told):
                return False
        elif field and lacking:
            return False
        self._report.write(stream, _UNCHANGED, [key])
        if self._see is not None:
            self._see(stream, key)
        return True

    def _with_kept(self, item: Item) -> Item:
        """Return an item with what only the record that is stored says in fields that it keeps."""
        record = self._stored(item.stream, self._sealer.key_of(item.key))
        if record is None:
            return item
        told = read_data(record.data)
        kept = {item.keeps: value} if (value := told.get(item.keeps)) else {}
        return item._replace(data={**kept, **with_exact_times(item, told)})

    def _stored(self, stream: str, key: str) -> Record | None:
        reach = self._reaches.get(stream)
        return None if reach is None else self._store.record(reach, key)

    def _lacking_on_its_way(self, stream: str, name: str, key: str) -> bool | None:
        """Tell of a record that may not be written yet whether it lacks something; else nothing."""
        load = self._loads.get(stream)
        if load is not None and load.holds(name, key):
            return name in load.lacking
        return self._queue.lacking(stream, name, key)

    @cached_property
    def _reaches(self) -> Mapping[str, Reach]:
        catalogue = self._store.catalogue()
        connection_id = catalogue.account_of(self._connection_id)
        return {
            reach.stream.name: reach
            for reach in owner_reaches(catalogue)
            if reach.connection_id == connection_id
        }

    def _add_nested(self, load: _Gathered, item: Item) -> None:
        """Take an item that has files, or values of which only a deep copy would do."""
        _, name, data, attachments, *_ = item
        key = self._sealer.key_of(name)
        if type(data) is dict:
            self._sealer.seal_data(data, name, key)
        for attachment in attachments:
            self._keep(item, attachment)
        text = self._text(load.stream, key, data)
        if text is not None:
            self._count_bytes(len(text))
            # What was just written is read again, which is quicker than a deep copy.
            load.waiting.append((key, read_data(text), text))

    def _count_bytes(self, size: int) -> None:
        self._waiting_size += size
        if self._waiting_size > self._bytes_left:
            raise DamagedFile(
                f"what it says would take more than {self._most_bytes:,} bytes, many times what "
                "its files hold"
            )

    def _text(self, stream: str, key: str, data: Any) -> bytes | None:
        """Return the canonical JSON of data; what is none even when it is mended is told."""
        with suppress(TypeError):
            return canonical(data)
        try:
            return canonical(scrub(data))
        except (TypeError, RecursionError):
            self._report.lose("a value that JSON cannot say", f"{stream} {key}")
        return None

    def _hand_over(self) -> None:
        """Have what was read sealed, written as JSON, checked and made ready."""
        self._waiting_size, self._handed_over = 0, self._count
        for load in self._loads.values():
            if load.waiting:
                waiting, load.waiting = load.waiting, []
                self._make_ready(load, waiting)

    def _make_ready(self, load: _Gathered, waiting: Sequence[_Waiting]) -> None:
        # Step by step for all of them, so that the processor stays with one piece of code.
        names, records, known = zip(*waiting, strict=True)
        keys = self._sealer.seal_records(names, records)
        try:
            texts = [
                dumps(record, option=OPT_SORT_KEYS) if text is None else text
                for record, text in zip(records, known, strict=True)
            ]
        except TypeError:
            self._take_mended(load, keys, records, known)
        else:
            self._take(load, keys, records, texts)

    def _take_mended(
        self,
        load: _Gathered,
        keys: Sequence[str],
        records: Sequence[Any],
        known: Sequence[bytes | None],
    ) -> None:
        """Take records of which some are not JSON as they are."""
        for key, record, text in zip(keys, records, known, strict=True):
            written = self._text(load.stream, key, record) if text is None else text
            if written is not None:
                self._take(load, (key,), (read_data(written),), (written,))

    def _take(
        self, load: _Gathered, keys: Sequence[str], records: Sequence[Any], texts: Sequence[bytes]
    ) -> None:
        size = sum(map(len, texts))
        self._size += size
        self._bytes_left -= size
        load.keys += keys
        load.intake.take_records(keys, records, texts)
        if self._see is not None:
            for key in keys:
                self._see(load.stream, key)

    def _load(self, stream: str) -> _Gathered:
        catalogue = self._store.catalogue()
        feed = catalogue.feed_of(self._connection_id, stream)
        if feed is None:
            if catalogue.account_of(self._connection_id) not in catalogue.connections:
                raise ImportRefused(
                    f"{self._connection_id}, the account it goes into, was removed meanwhile"
                )
            raise ImportRefused(f"the source declares no stream {stream!r}")
        return _Gathered(stream, self._intake(feed))

    def _keep(self, item: Item, attachment: Attachment) -> None:
        media_type = media_type_of({"mime_type": attachment.media_type})
        if self._files is None:
            self._files = self._store.blob_batch()
        try:
            with attachment.open() as content:
                blob = self._files.keep(content, media_type, self._blob_bytes)
        except (DamagedFile, PayloadTooLarge) as problem:
            self._report.counts["read"] += 1
            count = self._report.lose if isinstance(problem, DamagedFile) else self._report.skip
            count("a file that cannot be kept", f"{item.key}: {problem.message}")
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

    def send(self, written: Callable[[], None] = _nothing) -> None:
        """Have what is gathered written; ``written`` is called here, once the disk has it."""
        self._hand_over()
        loads, self._loads = [load for load in self._loads.values() if load.keys], {}
        self._sent += self._count
        self._count = self._handed_over = self._size = 0
        self._file_count = self._file_size = 0
        self._has_files = False
        large = max(USUAL_ITEMS, self._sent // LARGEST_PART)
        self._most = min(2 * self._most, large, BATCH_ITEMS)
        self._look()
        if self._sent >= _MANY_ITEMS:
            self._queue.write_beside()
        files, self._files = self._files, None
        self._queue.send(loads, files, written)

    def settle(self) -> None:
        """Wait until everything that was sent is written and on the disk, and count it."""
        self._queue.settle()


def _is_later(item: Item, told: Mapping[str, Any]) -> bool:
    """Tell whether an item of an older export says that it was changed later than a record."""
    return item.older and any(
        _moment(item.data.get(name)) > _moment(told.get(name)) for name in CHANGED_AT
    )


def _moment(value: object) -> int:
    return (instant.parse(value) or 0) if isinstance(value, str) else 0
