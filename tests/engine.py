"""The engine that tests run on. Nothing outside ``tests/store/sqlite`` names one."""

import hashlib
import os
import weakref
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import apsw

from pdpp.authz.authority import Authority
from pdpp.encryption.data_key import DataKey
from pdpp.model import instant
from pdpp.model.errors import BlobNotFound
from pdpp.store.blobs import Blob
from pdpp.store.catalogue import Feed
from pdpp.store.port import Store
from pdpp.store.receipts import ReceiptLog
from pdpp.store.sqlite.store import FILE_NAME, SqliteStore
from pdpp.store.tables.write.prepared import SurrogateOf

ENGINE = os.environ.get("ENGINE", "sqlite")
"""Which engine all tests run on."""


def open_store(
    folder: Path,
    clock: instant.Clock = instant.now,
    surrogate_of: SurrogateOf | None = None,
    key: DataKey | None = None,
) -> Store:
    """Open the store in a data folder, or make one there.

    ``surrogate_of`` gives new records their random numbers, where a test has to know them.
    """
    if ENGINE == "postgres":
        from tests.postgres_server import server_url

        from pdpp.store.postgres.store import PostgresStore

        store = PostgresStore(server_url(), folder, clock, surrogate_of, owner=str(folder))
        # A test may forget to close what it opened: files do not mind, but connections are few.
        weakref.finalize(store, database_of(store).connections.close)
        return store
    return SqliteStore(folder, clock, surrogate_of, key=key)


def copy_store(source: Path, target: Path) -> Path:
    """Let a new data folder hold what a closed store has; return the new folder."""
    _copy_folder(str(source), str(target))
    if ENGINE == "postgres":
        from tests.postgres_server import copy_owner

        copy_owner(str(source), str(target))
    return target


def _copy_folder(source: str, target: str) -> None:
    """Copy what a folder holds, with modes and times.

    The demo world has 280 small files in 165 folders, and hundreds of tests copy it: ``shutil``
    asks the system for three times as much as this needs.
    """
    os.makedirs(target, 0o700, exist_ok=True)
    with os.scandir(source) as entries:
        for entry in entries:
            beside = f"{target}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                _copy_folder(entry.path, beside)
            else:
                _copy_file(entry.path, beside)


def _copy_file(source: str, target: str) -> None:
    reading = os.open(source, os.O_RDONLY)
    try:
        facts = os.fstat(reading)
        writing = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, facts.st_mode & 0o777)
        try:
            while piece := os.read(reading, 1 << 20):
                os.write(writing, piece)
            os.utime(writing, ns=(facts.st_atime_ns, facts.st_mtime_ns))
        finally:
            os.close(writing)
    finally:
        os.close(reading)


def is_stored(folder: Path) -> bool:
    """Tell whether there is a store of a data folder, without making one."""
    if ENGINE == "postgres":
        from tests.postgres_server import server_url

        from pdpp.store.postgres.owner import has_store

        return has_store(server_url(), str(folder))
    return (folder / FILE_NAME).exists()


def kept_bytes(folder: Path) -> bytes:
    """Return everything that is kept for a data folder, in files and in the database."""
    files = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    if ENGINE == "postgres":
        from tests.postgres_server import owned_bytes

        files += owned_bytes(str(folder))
    return files


def program_environment(folder: Path) -> dict[str, str]:
    """Return what tells the program where the store of a data folder is."""
    if ENGINE != "postgres":
        return {}
    from tests.postgres_server import server_url

    return {"PDPP_DATABASE": server_url(), "PDPP_OWNER": str(folder)}


def ordered_surrogate(feed: Feed, key: str) -> int:
    """Give records numbers in the order of their keys, so that a test knows their order."""
    prefix = int.from_bytes(key.encode()[:5].ljust(5, b"\0"), "big")
    return (prefix << 23) | zlib.crc32(f"{feed.id} {key}".encode()) >> 9


def surrogate_by_key(feed: Feed, key: str) -> int:
    """Give records of the same key the same number in every store, where stores are compared."""
    name = "\0".join((*feed.address, key)).encode()
    return int.from_bytes(hashlib.sha256(name).digest()[:8], "big", signed=True)


def database_of(part: object) -> Any:
    """Return the database behind a store or its receipts, for tests that put a fault into it."""
    return part._db  # type: ignore[attr-defined]


def make_unreadable(store: Store, folder: Path) -> None:
    """Let nothing more be read of an open store."""
    if ENGINE == "postgres":
        _cut(database_of(store).connections.readers)
    else:
        _overwrite(folder / "pdpp.sqlite3")


def _cut(part: Any) -> Callable[[], object]:
    """Close connections of a worker and let no new one be opened; return what opens them."""
    import psycopg

    def refuse() -> None:
        raise psycopg.OperationalError("no database here")

    opens: Callable[[], object] = part._open
    part.close()
    part._open = refuse
    return opens


def _overwrite(database: Path) -> None:
    """Overwrite the database and its log with what is none, in their place.

    The engine maps the index of the log into memory: cut under the mapping it would end the whole
    process, and odd numbers in it would be mapped without end. Zeros have it made anew.
    """
    log, index = (database.with_name(f"{database.name}-{end}") for end in ("wal", "shm"))
    for path in (database, log):
        with path.open("r+b") as file:
            file.write(b"no database at all. " * 4_096)
    with index.open("r+b") as file:
        file.write(bytes(index.stat().st_size))


def stop_receipts(store: Store) -> None:
    """Let no receipt be written from now on: no room in the file, no connection to the database."""
    if ENGINE == "postgres":
        receipts = database_of(store).connections.receipts
        receipts.opens_again = _cut(receipts)
    else:
        database_of(store.receipts).pragma("max_page_count", 1)


def hold_receipts(store: Store) -> AbstractContextManager[object]:
    """Let whoever writes receipts wait."""
    if ENGINE == "postgres":
        held: AbstractContextManager[object] = database_of(store).connections.receipts.session()
    else:
        held = store.receipts._lock  # type: ignore[attr-defined]
    return held


def let_receipts(store: Store) -> None:
    """Let receipts be written again."""
    if ENGINE == "postgres":
        receipts = database_of(store).connections.receipts
        receipts._open = receipts.opens_again
    else:
        database_of(store.receipts).pragma("max_page_count", 1_000_000)


def blob_file(store: Store, blob: Blob) -> Path:
    """Return the file of a blob; only large ones have one."""
    path: Path = store._blobs.path(blob.blob_id)  # type: ignore[attr-defined]
    return path


def blob_content(store: Store, blob: Blob) -> bytes | None:
    """Return the bytes of a blob, None where they are gone."""
    try:
        with store.open_blob(blob.blob_id) as source:
            return source.read()
    except BlobNotFound:
        return None


def damage_blob(store: Store, blob: Blob, content: bytes | None) -> None:
    """Put other bytes in the place of those of a blob, or none."""
    if ENGINE == "postgres":
        with database_of(store).brief() as db:
            if content is None:
                db.run("DELETE FROM blob_content WHERE blob_id = $1", (blob.blob_id,))
            else:
                text = "UPDATE blob_content SET content = $2 WHERE blob_id = $1"
                db.run(text, (blob.blob_id, content))
        return
    with database_of(store).writing() as db:
        if content is None:
            db.execute("DELETE FROM blob_content WHERE blob_id = ?", (blob.blob_id,))
        else:
            text = "UPDATE blob_content SET content = ? WHERE blob_id = ?"
            db.execute(text, (content, blob.blob_id))


def age_blob(store: Store, blob: Blob) -> None:
    """Let a blob have been kept for the last time more than a day ago."""
    kept_at = instant.now() - 25 * 3_600 * instant.SECOND
    if ENGINE == "postgres":
        with database_of(store).brief() as db:
            text = "UPDATE blob_content SET kept_at = $2 WHERE blob_id = $1"
            db.run(text, (blob.blob_id, kept_at))
        return
    with database_of(store).writing() as db:
        text = "UPDATE blob_content SET kept_at = ? WHERE blob_id = ?"
        db.execute(text, (kept_at, blob.blob_id))


def back_up(
    part: Store | ReceiptLog, target: Path, progress: Callable[[int, int], None] | None = None
) -> None:
    """Copy a store into a folder, or its receipts into a file, as the program does."""
    told = () if progress is None else (progress,)
    part.backup(target, *told)  # type: ignore[union-attr]


def revoke_grant(store: Store, grant_id: str) -> bool:
    """Revoke a grant as the owner does."""
    return Authority(store, clock_of(store)).revoke_grant(grant_id)


def revoke_package(store: Store, package_id: str) -> bool:
    """Revoke a package as the owner does."""
    return Authority(store, clock_of(store)).revoke_package(package_id)


def clock_of(store: Store) -> instant.Clock:
    """Return the clock that a store was opened with."""
    clock: instant.Clock = store._clock  # type: ignore[attr-defined]
    return clock


class Work:
    """What an engine did: steps of its virtual machine, or pages that it looked at."""

    def __init__(self) -> None:
        self.units = 0

    def take(self, event: dict[str, Any]) -> None:
        """Take the account of one statement of the embedded engine that has ended."""
        self.units += event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"]


_PAGES = """
    SELECT coalesce(sum(pg_stat_get_xact_blocks_fetched(oid)), 0)::int FROM pg_class
    WHERE relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'record'::regclass)
"""


@contextmanager
def counted_work(store: Store) -> Iterator[Work]:
    """Count what the engine does for the reads of a block: the clock of a machine tells nothing."""
    if ENGINE == "postgres":
        with _counted_pages(store) as work:
            yield work
        return
    work, database = Work(), database_of(store)
    database.reader.trace_v2(apsw.SQLITE_TRACE_PROFILE, work.take)
    try:
        yield work
    finally:
        database.reader.trace_v2(0, None)


@contextmanager
def _counted_pages(store: Store) -> Iterator[Work]:
    """Count the pages that PostgreSQL looks at for the reads of a block."""
    work, database = Work(), database_of(store)
    ended = database._ended

    def count(db: Any) -> None:
        work.units += db.raw.execute(_PAGES).fetchone()[0]
        ended(db)

    # Otherwise the account of a session goes on with what it did before.
    for db in (one for one in database.connections.readers._idle if not one.raw.closed):
        db.run("SELECT pg_stat_force_next_flush()")
    database._ended = count
    try:
        yield work
    finally:
        del database._ended
