"""The embedded store: one SQLite file and a folder of large blobs."""

import hashlib
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from pdpp.encryption.data_key import DataKey
from pdpp.encryption.files import data_files
from pdpp.encryption.key_file import KEY_FILE, read_key_file
from pdpp.model import instant
from pdpp.model.errors import PdppError, StoreError
from pdpp.private import locked_file, write_file
from pdpp.store.batch import WriteResult
from pdpp.store.sqlite.blobs import SqliteBlobs
from pdpp.store.sqlite.database import SqliteDatabase
from pdpp.store.sqlite.failures import DAMAGED, advice, explain
from pdpp.store.sqlite.opening import EXISTING, open_connection
from pdpp.store.sqlite.receipt_file import RECEIPTS_NAME, ReceiptFile
from pdpp.store.sqlite.vault import SqliteVault
from pdpp.store.tables.receipts.anchor import SettingAnchor
from pdpp.store.tables.records.aggregates import ExactSum
from pdpp.store.tables.records.predicate import OWNER
from pdpp.store.tables.store import TableStore
from pdpp.store.tables.write.prepared import PreparedBatch, SurrogateOf

if TYPE_CHECKING:
    from pdpp.store.sqlite.scribe import Scribe

FILE_NAME = "pdpp.sqlite3"
BLOB_FOLDER = "blobs"
_TURNS = Path("imports", "turns")
"""Where the files are that programs lock for their turn; none is part of a backup."""


def _blob_ids(path: Path, key: DataKey | None) -> list[str]:
    """Return the blobs that a copy of a database names."""
    with closing(open_connection(path, key, flags=EXISTING)) as db:
        return [blob_id for (blob_id,) in db.execute("SELECT blob_id FROM blob")]


def _forget_logins(path: Path, key: DataKey | None) -> None:
    """Take logins, codes and requests that wait out of a copy of a database.

    They live for minutes or hours. One that was used or ended after the copy was made must not be
    good again where the copy is put back.
    """
    with closing(open_connection(path, key, flags=EXISTING)) as db:
        db.pragma("journal_mode", "delete")
        db.pragma("secure_delete", True)
        db.execute("DELETE FROM short_lived_secret")


def _give_functions(db: apsw.Connection) -> None:
    db.create_aggregate_function("pdpp_sum", ExactSum, 1)


class SqliteStore(TableStore):
    """Fulfils the store's port on an embedded database."""

    def __init__(
        self,
        folder: Path,
        clock: instant.Clock = instant.now,
        surrogate_of: SurrogateOf | None = None,
        machine: Path | None = None,
        key: DataKey | None = None,
    ) -> None:
        """Open the store of a folder, with its key where it is encrypted.

        ``machine`` is where the machine remembers revocations.
        """
        if key is None and read_key_file(folder) is not None:
            raise StoreError(f"the store in {folder} is encrypted, and its key was not given")
        self._folder = folder
        self._key = key
        self.files = data_files(key)
        database = self._database = SqliteDatabase(folder / FILE_NAME, _give_functions, key)
        blobs = SqliteBlobs(database, folder / BLOB_FOLDER / str(OWNER), self.files)
        super().__init__(database, blobs, clock, surrogate_of)
        try:
            remembered = None if machine is None else machine / self._name()
            self.vault = SqliteVault(database, folder, clock, remembered)
        except BaseException:
            database.close()
            raise
        self._receipts: ReceiptFile | None = None
        self._scribe: Scribe | None = None
        self._scribe_users = 0
        self._scribe_lock = threading.Lock()

    @property
    def receipts(self) -> ReceiptFile:
        """Return the log of what was read, opened when it is first asked for."""
        if self._receipts is None:
            anchor = SettingAnchor(self._db)
            self._receipts = ReceiptFile(
                self._folder, self.secret(), anchor, self._clock, self._key
            )
        return self._receipts

    def close(self) -> None:
        """Close the database."""
        if self._receipts is not None:
            self._receipts.close()
        self._db.close()

    def turn(self, work: str, wait: Callable[[], None]) -> AbstractContextManager[None]:
        """Hold the turn at a kind of work by the lock of a file: all programs share the folder."""
        name = hashlib.sha256(work.encode()).hexdigest()[:24]
        return locked_file(self._folder / _TURNS / f"{name}.lock", wait)

    # Writing

    @contextmanager
    def writing_beside(self) -> Iterator[None]:
        """Let a process of its own write large batches: one for all who ask at the same time."""
        # Most programs that open a store bring in little.
        from pdpp.store.sqlite.scribe import Scribe, can_write_beside

        identity = self._database.identity
        if identity is None or not can_write_beside():
            yield
            return
        with self._scribe_lock:
            if self._scribe is None:
                self._scribe = Scribe(self._folder / FILE_NAME, identity, self._key)
            self._scribe_users += 1
        try:
            yield
        finally:
            with self._scribe_lock:
                self._scribe_users -= 1
                scribe = None if self._scribe_users else self._scribe
                if scribe is not None:
                    self._scribe = None
            if scribe is not None:
                scribe.close()

    def settle(self) -> None:
        """Wait until what another process wrote is on the disk."""
        scribe = self._scribe
        if scribe is not None:
            scribe.settle()

    def _work_ahead(self, batch: PreparedBatch, *, waiting: bool) -> None:
        super()._work_ahead(batch, waiting=waiting)
        if not waiting:
            return
        batch.arrange()
        scribe = self._scribe
        if scribe is not None:
            scribe.pack(batch)

    def _write(self, batch: PreparedBatch, *, lasting: bool) -> WriteResult:
        scribe = self._scribe
        written = None if scribe is None else self._written_beside(scribe, batch)
        if scribe is None or written is None:
            return super()._write(batch, lasting=lasting)
        if lasting:
            scribe.settle()
        return written

    def _written_beside(self, scribe: "Scribe", batch: PreparedBatch) -> WriteResult | None:
        """Have another process write a batch; None where that is to be done here."""
        if not scribe.comes_to_take(batch):
            return None
        catalogue = self.catalogue()
        # What was made for an account as it was before is made anew, here.
        if catalogue.feed_of(*batch.feed.address) != batch.feed:
            return None
        return scribe.write(batch, catalogue.version, self._clock())

    # Care

    def explain(self, problem: Exception) -> PdppError | None:
        """Return what a failure of the disk or of the file means to a caller, and log the cause."""
        return explain(problem, self._folder / FILE_NAME)

    def remedy(self, problem: Exception) -> str | None:
        """Return what lets a write be done again that failed, None where nothing is known to."""
        sentence = advice(problem)
        return None if sentence in (None, DAMAGED) else f"{self._folder / FILE_NAME}: {sentence}"

    def check(self) -> list[str]:
        """Return what is wrong with the store; nothing when all is well."""
        path = self._folder / FILE_NAME
        try:
            damage = self._damaged_pages(path)
            problems = self._row_problems(sound=not damage)
            return [*damage, *problems, *self._check_receipts()]
        except apsw.Error as problem:
            sentence = advice(problem)
            more = "" if sentence is None else f"; {path}: {sentence}"
            return [f"the database cannot be read: {problem}{more}"]

    def _damaged_pages(self, path: Path) -> list[str]:
        rows = self._db.reader.execute("PRAGMA integrity_check")
        problems = [row[0] for row in rows if row[0] != "ok"]
        return [*problems, f"{path}: {DAMAGED}"] if problems else []

    def _check_receipts(self) -> list[str]:
        if not (self._folder / RECEIPTS_NAME).exists():
            anchor = SettingAnchor(self._db).recall()
            return [] if anchor is None else ["the log of receipts is missing"]
        try:
            return list(self.receipts.verify().problems)
        except StoreError as problem:
            return [problem.message]

    def occupied(self) -> Mapping[str, int]:
        """Return how many bytes each part of the store takes."""
        db = self._database.reader
        blob_sizes = "SELECT coalesce(sum(size_bytes), 0) FROM blob WHERE owner = ?"
        small = f"{blob_sizes} AND blob_id IN (SELECT blob_id FROM blob_content WHERE owner = ?)"
        pages = db.pragma("page_count") * db.pragma("page_size")
        return {
            "database": pages - db.execute(small, (OWNER, OWNER)).get,
            "blobs": db.execute(blob_sizes, (OWNER,)).get,
        }

    def backup(self, target: Path, progress: Callable[[int, int], None] | None = None) -> None:
        """Write a copy of everything into an empty folder while the store stays in use."""
        try:
            target.mkdir(parents=True, mode=0o700, exist_ok=True)
            if any(target.iterdir()):
                raise StoreError(f"{target} is not empty; choose a new folder for the backup")
            # Files come before and after: one may be removed, and others come, while rows are
            # copied, and the copy has those of its own moment.
            files = target / BLOB_FOLDER / str(OWNER)
            self._blobs.copy(files)
            self._database.backup(target / FILE_NAME, progress)
            _forget_logins(target / FILE_NAME, self._key)
            self._blobs.copy(files)
            self._blobs.keep_only(files, _blob_ids(target / FILE_NAME, self._key))
            if (self._folder / RECEIPTS_NAME).exists():
                self.receipts.backup(target / RECEIPTS_NAME)
            if (self._folder / KEY_FILE).exists():
                write_file(target / KEY_FILE, (self._folder / KEY_FILE).read_bytes(), durable=True)
        except (OSError, apsw.Error) as problem:
            raise StoreError(f"cannot write the backup: {problem}") from problem
