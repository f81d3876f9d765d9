"""One database file: a writer that takes turns, a reader per thread, snapshots with a deadline."""

import os
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import apsw

from pdpp.encryption.data_key import DataKey
from pdpp.model import instant
from pdpp.model.errors import StoreError
from pdpp.store.deadline import Deadline, DeadlinePassed
from pdpp.store.number_key import number_key
from pdpp.store.numbers import read_number
from pdpp.store.sqlite import schema
from pdpp.store.sqlite.failures import advice, replaced, tell_replaced
from pdpp.store.sqlite.opening import (
    EXISTING,
    SqliteConnection,
    check_kind,
    is_plain,
    open_connection,
    without_key,
    wrong_key,
)
from pdpp.store.sqlite.scrubbing import Scrubber
from pdpp.store.tables.blob_folder import sync_folder
from pdpp.store.tables.snapshot import Snapshot

Prepare = Callable[[SqliteConnection], None]
FileIdentity = tuple[int, int]
"""Which file something is, wherever it is moved."""

_STEPS_BETWEEN_CHECKS = 5_000
_BUSY_SECONDS = 30.0
_PAUSE_SECONDS = 0.002
_PAGE_BYTES = 8_192
_STATEMENTS = 512
_UNFINISHED_SECONDS = 3_600
_LOG_PAGES = 1_000
"""How long the log of writes grows before it is carried over; whoever writes then waits for it."""
_LOOK_SECONDS = 0.01
"""How often readers look whether the file is still in its place: a request asks several times."""


class SqliteDatabase:
    """Opens connections to one file and hands them out."""

    interruption: type[Exception] = apsw.InterruptError
    failure: type[Exception] = apsw.Error

    def __init__(
        self,
        path: Path,
        prepare: Prepare,
        key: DataKey | None = None,
        identity: FileIdentity | None = None,
    ) -> None:
        """Open the file at a path; none is made where it has to be the one of an ``identity``."""
        self._path = path
        self._key = key
        self._prepare = prepare
        self._local = threading.local()
        self._numbers = count()
        self._lock = threading.RLock()
        self._opened: list[SqliteConnection] = []
        self._opened_lock = threading.Lock()
        self._scrubber = Scrubber(path)
        try:
            self._place = str(path)
            self._is_replaced = False
            self._identity = identity
            if identity is None:
                _make_private_folder(path.parent)
                if not path.exists():
                    _create(path, key)
                _remove_unfinished(path)
            else:
                self._check_place()
            self._writer = self._made_ready(_recognised(path, key))
            if identity is None:
                os.chmod(path, 0o600)
                self._identity = _identity(self._place)
            self._check_place()
        except (OSError, apsw.Error) as problem:
            remedy = advice(problem)
            more = "" if remedy is None else f"; {remedy}"
            raise StoreError(f"cannot open the database {path}: {problem}{more}") from problem

    @property
    def identity(self) -> FileIdentity | None:
        """Return which file is open, wherever it is now."""
        return self._identity

    def _connect(self) -> SqliteConnection:
        """Return another connection to the file that is open, and to no other.

        None is made: an empty file in the place of data that was moved would be taken for it.
        """
        self._check_place()
        db = open_connection(self._path, self._key, flags=EXISTING, statements=_STATEMENTS)
        try:
            # A connection to a file that came in between would stay when the data comes back.
            self._check_place()
        except BaseException:
            db.close()
            raise
        return db

    def _made_ready(self, db: SqliteConnection) -> SqliteConnection:
        db.set_busy_handler(wait_for_turn)
        # Otherwise a statement is planned anew for every value that is bound to a range.
        db.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
        db.pragma("journal_mode", "wal")
        db.pragma("wal_autocheckpoint", _LOG_PAGES)
        db.pragma("synchronous", "full")
        # What is deleted is overwritten, in the rows that go and in the pages that become free.
        db.pragma("secure_delete", True)
        db.pragma("cache_size", -16_384)
        db.create_scalar_function("pdpp_instant", _instant, 1, deterministic=True)
        db.create_scalar_function("pdpp_number_key", _number_key, 1, deterministic=True)
        self._prepare(db)
        with self._opened_lock:
            self._opened.append(db)
        return db

    @property
    def reader(self) -> SqliteConnection:
        """Return this thread's own connection for reads."""
        reader: SqliteConnection | None = getattr(self._local, "reader", None)
        if reader is None:
            reader = self._made_ready(self._connect())
            reader.pragma("query_only", True)
            reader.set_progress_handler(self._out_of_time, _STEPS_BETWEEN_CHECKS)
            self._local.reader = reader
            self._local.number = next(self._numbers)
            self._local.deadline = None
            self._local.depth = 0
        return reader

    def _replace_reader(self) -> None:
        """Give up a connection on which something still reads: it would go on seeing the past."""
        reader: SqliteConnection = self._local.reader
        self._local.reader = None
        with self._opened_lock:
            self._opened.remove(reader)
        reader.close(True)

    def _out_of_time(self) -> bool:
        deadline: Deadline | None = self._local.deadline
        return deadline is not None and deadline.passed()

    def count_bytes(self, size: int) -> None:
        """Count a large record that was read; raise when this thread's read may read no more."""
        deadline: Deadline | None = self._local.deadline
        if deadline is not None:
            deadline.take(size)

    def check_deadline(self) -> None:
        """Raise when this thread's read has used up its time."""
        if self._out_of_time():
            raise DeadlinePassed

    def reading(self, deadline: Deadline | None) -> Snapshot:
        """Hold one snapshot; nested uses join the outer one."""
        return Snapshot(self, deadline)

    def begin(self, deadline: Deadline | None) -> bool:
        """Begin a snapshot of this thread; tell whether there was none before."""
        reader = self.reader
        if self._local.depth:
            return False
        reader.execute("BEGIN")
        self._local.deadline = deadline
        self._local.depth = 1
        return True

    def end(self) -> None:
        """End the snapshot of this thread."""
        reader = self.reader
        self._local.deadline = None
        self._local.depth = 0
        reader.execute("ROLLBACK")
        if reader.txn_state("main") != apsw.SQLITE_TXN_NONE:
            self._replace_reader()

    @contextmanager
    def writing(self) -> Iterator[SqliteConnection]:
        """Hold the write lock, of this process and of the file, for one transaction."""
        with self._lock:
            self._check_place()
            self._writer.execute("BEGIN IMMEDIATE")
            try:
                yield self._writer
                self._writer.execute("COMMIT")
            except BaseException:
                if self._writer.in_transaction:
                    self._writer.execute("ROLLBACK")
                raise

    @contextmanager
    def joining(self) -> Iterator[SqliteConnection]:
        """Write in the transaction that this thread holds, or in one of its own."""
        with self._lock:
            if self._writer.in_transaction:
                yield self._writer
                return
            with self.writing() as db:
                yield db

    def state(self) -> tuple[int, int]:
        """Return a value that differs after any commit by another connection."""
        if time.monotonic() - self._looked > _LOOK_SECONDS:
            self._check_place()
        # Each connection counts for itself, and that of a thread may be replaced: the number of
        # the connection is never used again.
        version: Any = self.reader.execute("PRAGMA data_version").get
        return self._local.number, version

    def _check_place(self) -> None:
        """Refuse to go on where another file, or none, is in the place of the one that is open.

        Other programs open the file that is there now: nobody here would see what they revoke.
        """
        is_replaced = _identity(self._place) != self._identity
        # Once, and not for every stranger who asks.
        if is_replaced and not self._is_replaced:
            tell_replaced(self._path)
        self._is_replaced = is_replaced
        if is_replaced:
            raise replaced()
        self._looked = time.monotonic()

    def assumed_state(self) -> object:
        """Return that no state is assumed: to ask costs nothing here."""
        return None

    def backup(self, target: Path, progress: Callable[[int, int], None] | None) -> None:
        """Write the database anew into another file while others go on using it.

        The copy is made row by row, so that it holds nothing that was deleted. It is encrypted as
        the database is, under the same key.
        """
        os.close(os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        db = self._connect()
        try:
            db.set_busy_handler(wait_for_turn)
            size = int(str(db.pragma("page_size")))
            pages = int(str(db.pragma("page_count")))

            def tell() -> bool:
                if progress is not None:
                    progress(min(target.stat().st_size // size, pages), pages)
                return False

            db.set_progress_handler(tell, _STEPS_BETWEEN_CHECKS * 100)
            db.execute("VACUUM INTO ?", (str(target),))
            db.set_progress_handler(None)
            if progress is not None:
                progress(pages, pages)
        finally:
            db.close()

    def shed(self) -> bool:
        """Empty the log of writes and overwrite unused space where something was deleted.

        A piece at a time; tell whether there is more to do. In an encrypted file nothing can be
        read, so that its unused space is left as it is.
        """
        db = self._connect()
        try:
            # A connection learns only by reading that the database has a log.
            db.pragma("user_version")
            with suppress(apsw.BusyError):
                db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        finally:
            db.close()
        return self._key is None and self._scrubber.step()

    def holds_deleted(self) -> bool:
        """Tell whether something was deleted since the unused space was last overwritten."""
        return self._key is None and self._scrubber.is_needed(self.reader)

    def close(self) -> None:
        """Close every connection this object opened."""
        with self._opened_lock:
            for db in self._opened:
                db.close()
            self._opened.clear()


def _identity(place: str) -> FileIdentity | None:
    """Return which file is at a path, None for none."""
    try:
        status = os.stat(place)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def wait_for_turn(tries: int) -> bool:
    """Wait a moment while another process writes; tell whether to try again.

    The engine's own way is to wait longer and longer, up to a tenth of a second. An import that
    writes one batch after another would then be back at work before anyone else has looked.
    """
    time.sleep(_PAUSE_SECONDS)
    return tries * _PAUSE_SECONDS < _BUSY_SECONDS


def _create(path: Path, key: DataKey | None) -> None:
    """Create a database, whole or not at all, also when other programs do so at the same time.

    It is built under a name of its own and then linked to its place: a link never replaces a file,
    so that the first program to link wins and the others use what it made.
    """
    building = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        os.close(os.open(building, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        db = open_connection(building, key, flags=EXISTING)
        try:
            db.pragma("page_size", _PAGE_BYTES)
            db.pragma("journal_mode", "wal")
            schema.create(db)
            # To close it would do that too, and say nothing where the disk has no room for it.
            db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        finally:
            db.close()
        with suppress(FileExistsError):
            _link(building, path)
    finally:
        for end in ("", "-wal", "-shm"):
            building.with_name(f"{building.name}{end}").unlink(missing_ok=True)


def _link(source: Path, target: Path) -> None:
    """Give a finished file its name, unless there is one of that name."""
    try:
        os.link(source, target)
    except FileExistsError:
        raise
    except OSError:  # pragma: no cover - a disk that knows no links
        if not target.exists():
            os.rename(source, target)
    sync_folder(target.parent)


def _remove_unfinished(path: Path) -> None:
    """Remove what a program left that was killed long ago while it created the database."""
    for unfinished in path.parent.glob(f".{path.name}.*"):
        with suppress(FileNotFoundError):
            if time.time() - unfinished.stat().st_mtime > _UNFINISHED_SECONDS:
                unfinished.unlink()


def _recognised(path: Path, key: DataKey | None) -> SqliteConnection:
    """Return a connection to a file that was looked at before anything is changed about it."""
    check_kind(path, key)
    db = open_connection(path, key, flags=EXISTING, statements=_STATEMENTS)
    try:
        db.set_busy_handler(wait_for_turn)
        schema.recognise(db)
    except BaseException as problem:
        db.close()
        if isinstance(problem, apsw.NotADBError) and not is_plain(path):
            raise (without_key(path) if key is None else wrong_key(path)) from problem
        raise
    return db


def _instant(*values: Any) -> int | None:
    """Return the instant a text names; an SQL function."""
    return instant.parse(values[0]) if isinstance(values[0], str) else None


def _number_key(*values: Any) -> str | None:
    """Return the key of a number, or of one that stands as a JSON text; an SQL function."""
    value = values[0]
    if isinstance(value, str):
        value = read_number(value)
    return None if value is None else number_key(value)


def _make_private_folder(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    probe = folder / f".write-test-{os.getpid()}-{threading.get_ident()}"
    probe.touch(mode=0o600)
    probe.unlink(missing_ok=True)
