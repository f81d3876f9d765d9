"""The record writer: write the items of one connection in batches, files before their records.

Some items are sealed, checked and made ready together soon after they are read. Batches are written
in a thread of its own, one after another, while the next one is gathered; of a long import that
thread only asks a process beside this one. Few are on their way at once, so that memory stays
bounded. The thread that reads makes more ready where it would only wait.
"""

import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from functools import cached_property
from typing import Any, NamedTuple

from orjson import OPT_SORT_KEYS, dumps

from pdpp.model.errors import DamagedFile, ImportRefused, PayloadTooLarge
from pdpp.sources.importing.report import ImportReport
from pdpp.sources.item import Attachment, Item
from pdpp.sources.keys import KeySealer, plain_copy
from pdpp.sources.reading.jsontext import scrub
from pdpp.store.batch import canonical
from pdpp.store.blobs import BlobBatch, media_type_of
from pdpp.store.catalogue import Feed
from pdpp.store.intake import Intake
from pdpp.store.numbers import read_data
from pdpp.store.port import Store
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

_MOST_UNDERWAY = 2
"""So many batches are on their way at most: one is written, and one waits for that, so that whoever
writes never does."""

_MANY_ITEMS = 10_000
"""Once so many were sent, a process of its own writes: of fewer, its start costs more."""

_GROUP_ITEMS = 512
_GROUP_BYTES = 1 << 20
"""So many items are read before they are sealed, written as JSON, checked and made ready. One by
one that would cost a half more, because the processor changes from one long piece of code to
another each time; from here on more of them change nothing."""

_TURN_SECONDS = 0.00005
"""How long the thread that reads goes on when the one that writes wants the interpreter: far less
than usual, because the engine stands still meanwhile. A batch gives the interpreter away some
hundred times, for each statement and each long array, and waits that long to have it back."""

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


class _Load:
    """What is gathered of one stream: its keys, and the last records, not checked yet."""

    __slots__ = ("intake", "keys", "stream", "waiting")

    def __init__(self, stream: str, intake: Intake) -> None:
        self.stream = stream
        self.intake = intake
        self.keys: list[str] = []
        self.waiting: list[_Waiting] = []


class _Answer(NamedTuple):
    """What became of the items of one stream."""

    stream: str
    keys: list[str]
    counts: Mapping[str, Any]


class _Batch(NamedTuple):
    """A batch on its way: its keys by stream, and what is called once the disk has it."""

    keys: Mapping[str, frozenset[str]]
    answers: Future[list[_Answer]]
    lasting: Future[None]
    written: Callable[[], None]


def _is_new(answer: _Answer) -> bool:
    """Tell whether all items of a stream became new records."""
    return bool(answer.counts["records_new"] == len(answer.keys))


def _nothing() -> None:
    """Do nothing."""


class RecordWriter:
    """Gathers items and writes them stream by stream, each batch as a whole.

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
        self._loads: dict[str, _Load] = {}
        self._files: BlobBatch | None = None
        self._file_count = self._file_size = 0
        self._has_files = False
        """Whether as many files wait as are stored together."""
        self._waiting_size = 0
        self._count = self._handed_over = self._size = self._sent = 0
        self._see = see
        self._most = min(FIRST_ITEMS, BATCH_ITEMS)
        self._look()
        self._thread = ThreadPoolExecutor(1, "import")
        self._disk = ThreadPoolExecutor(1, "import-disk")
        self._underway: deque[_Batch] = deque()
        self._counted: _Batch | None = None
        """The last batch that is counted, which may not be on the disk yet."""
        self._failure: Exception | None = None
        self._beside: ExitStack | None = None
        if many:
            # Before the other process, which would take the last places that the system gives.
            for thread in (self._thread, self._disk):
                thread.submit(_nothing)
            self._write_beside()
        self._all_new = new
        """Whether the last batch of which that is known had new records only."""

    def close(self) -> None:
        """Wait for what is on its way; nothing more is written."""
        with ExitStack() as ends:  # Each of them, also where somebody interrupts the waiting.
            if self._files is not None:
                ends.callback(self._files.close)
            if self._beside is not None:
                ends.callback(self._beside.close)
            ends.callback(self._disk.shutdown)
            self._thread.shutdown()

    def add(self, item: Item) -> None:
        """Take one item; its files are received at once and stored before it."""
        stream, name, data, attachments, weak, lacks = item
        if (weak or lacks) and self._is_there(stream, name, "" if weak else lacks):
            return
        load = self._loads.get(stream)
        if load is None:
            load = self._loads[stream] = self._load(stream)
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

    def _is_there(self, stream: str, name: str, field: str) -> bool:
        """Tell whether a record is stored or on its way already, and count it then as it is.

        One that is stored must have the ``field``, if one is named.
        """
        key = self._sealer.key_of(name)
        if not self._is_on_its_way(stream, name, key):
            reach = self._reaches.get(stream)
            record = None if reach is None else self._store.record(reach, key)
            if record is None or (field and not read_data(record.data).get(field)):
                return False
        self._report.write(stream, _UNCHANGED, [key])
        if self._see is not None:
            self._see(stream, key)
        return True

    def _is_on_its_way(self, stream: str, name: str, key: str) -> bool:
        """Tell whether a record was taken that may not be written yet."""
        load = self._loads.get(stream)
        if load is not None and any(waiting[0] in (name, key) for waiting in load.waiting):
            return True
        if load is not None and key in load.keys:
            return True
        return any(key in batch.keys.get(stream, ()) for batch in self._underway)

    @cached_property
    def _reaches(self) -> Mapping[str, Reach]:
        catalogue = self._store.catalogue()
        connection_id = catalogue.account_of(self._connection_id)
        return {
            reach.stream.name: reach
            for reach in owner_reaches(catalogue)
            if reach.connection_id == connection_id
        }

    def _add_nested(self, load: _Load, item: Item) -> None:
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

    def _make_ready(self, load: _Load, waiting: Sequence[_Waiting]) -> None:
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
        load: _Load,
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
        self, load: _Load, keys: Sequence[str], records: Sequence[Any], texts: Sequence[bytes]
    ) -> None:
        size = sum(map(len, texts))
        self._size += size
        self._bytes_left -= size
        load.keys += keys
        load.intake.take_records(keys, records, texts)
        if self._see is not None:
            for key in keys:
                self._see(load.stream, key)

    def _load(self, stream: str) -> _Load:
        catalogue = self._store.catalogue()
        feed = catalogue.feed_of(self._connection_id, stream)
        if feed is None:
            if catalogue.account_of(self._connection_id) not in catalogue.connections:
                raise ImportRefused(
                    f"{self._connection_id}, the account it goes into, was removed meanwhile"
                )
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

    def _write_beside(self) -> None:
        """Have a process of its own write what is sent from now on, where there can be one."""
        if self._beside is None:
            self._beside = ExitStack()
            self._beside.enter_context(self._store.writing_beside())

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
            self._write_beside()
        if self._has_time():
            for load in loads:
                load.intake.work_ahead()
        self._settle(_MOST_UNDERWAY - 1)
        files, self._files = self._files, None
        answers = self._thread.submit(self._write, loads, files)
        lasting = self._disk.submit(self._make_last, answers)
        keys = {load.stream: frozenset(load.keys) for load in loads}
        self._underway.append(_Batch(keys, answers, lasting, written))

    def _write(self, loads: Sequence[_Load], files: BlobBatch | None) -> list[_Answer]:
        """Write a batch, or fail as one before it did: it would be there without what came first.

        What follows is not tried for as long again, and whoever goes on after a failure never takes
        what came after it for written.
        """
        with nullcontext() if files is None else closing(files):
            if self._failure is not None:
                raise self._failure
            try:
                return _write_all(loads, files)
            except Exception as problem:
                self._failure = problem
                raise

    def _has_time(self) -> bool:
        """Tell whether to make more of a batch ready while those before are being written.

        Otherwise whoever writes does so, as there is time, and as of records that are stored
        already most of it is not needed.
        """
        waits = len(self._underway) == _MOST_UNDERWAY and not self._underway[0].answers.done()
        return self._all_new and waits

    def _make_last(self, answers: Future[list[_Answer]]) -> None:
        """Wait until a batch is written and the disk has it; meanwhile the next is written."""
        answers.result()
        self._store.settle()

    def settle(self) -> None:
        """Wait until everything that was sent is written and on the disk, and count it."""
        self._settle(0)
        self._note()

    def _settle(self, most: int) -> None:
        """Wait until no more batches than so many are on their way, and count the others.

        Those that are written by now are counted too.
        """
        underway = self._underway
        while underway and (len(underway) > most or underway[0].answers.done()):
            batch = underway.popleft()
            self._note()
            answers = batch.answers.result()
            for answer in answers:
                self._report.write(answer.stream, answer.counts, answer.keys)
            if answers:
                self._all_new = all(map(_is_new, answers))
            self._counted = batch
        if self._counted is not None and self._counted.lasting.done():
            self._note()

    def _note(self) -> None:
        """Tell that the last batch which is counted is on the disk, once it is."""
        batch, self._counted = self._counted, None
        if batch is not None:
            batch.lasting.result()
            batch.written()


class _Turns:
    """How long the threads of this process take turns: shortly while anybody imports."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._imports = 0
        self._usual = 0.0

    @contextmanager
    def short(self) -> Iterator[None]:
        """Let turns be short until the block ends, and every other such block."""
        with self._lock:
            if not self._imports:
                self._usual = sys.getswitchinterval()
                sys.setswitchinterval(min(self._usual, _TURN_SECONDS))
            self._imports += 1
        try:
            yield
        finally:
            with self._lock:
                self._imports -= 1
                if not self._imports:
                    sys.setswitchinterval(self._usual)


# One for the process, as the interpreter has one such setting: of two imports that run at once, the
# one that ends last would otherwise put back what it found, which is what the other had set.
short_turns = _Turns().short


def _write_all(loads: Sequence[_Load], files: BlobBatch | None) -> list[_Answer]:
    """Write a batch: the files that its records name, then a transaction for each stream."""
    if files is not None:
        files.settle()
    return [_Answer(load.stream, load.keys, load.intake.write(lasting=False)) for load in loads]
