"""Moving a store from its file into a database, and back."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple, cast

from pdpp.configuration.database import DatabaseAddress
from pdpp.encryption.data_key import DataKey
from pdpp.encryption.files import data_files
from pdpp.model import instant
from pdpp.model.errors import StoreError
from pdpp.private import make_folder
from pdpp.serving.database import bucket_of, explained
from pdpp.store.sqlite.blobs import SqliteBlobs
from pdpp.store.sqlite.database import SqliteDatabase
from pdpp.store.sqlite.moved_rows import SqliteSide
from pdpp.store.sqlite.opening import EXISTING, open_connection
from pdpp.store.sqlite.receipt_file import RECEIPTS_NAME, ReceiptFile
from pdpp.store.sqlite.store import BLOB_FOLDER, FILE_NAME
from pdpp.store.tables.blob_folder import BlobFolder
from pdpp.store.tables.moving import CHANGED, MovingSide, begun, move_rows
from pdpp.store.tables.records.predicate import OWNER

_MOST_BLOB_BYTES = 1 << 50
_KNOWN_BY = "SELECT value FROM setting WHERE owner = ? AND name = 'secret'"
_BLOBS = "SELECT blob_id FROM blob WHERE owner = ? ORDER BY blob_id"


class StorePlace(NamedTuple):
    """Where a store is: in a folder, or in a database with its files in a folder."""

    folder: Path
    database: DatabaseAddress | None = None
    key: DataKey | None = None

    def __str__(self) -> str:
        return str(self.folder if self.database is None else self.database)


class OpenedSide(NamedTuple):
    """One side of a move: rows, how they are asked for, and files."""

    rows: MovingSide
    ask: Callable[[str], list[tuple[object, ...]]]
    blobs: BlobFolder


def move_store(source: StorePlace, target: StorePlace, tell: Callable[[int], None]) -> int:
    """Copy everything, or go on where a move was interrupted; return how many rows there are."""
    from pdpp.store.postgres.moved_rows import moved_tables

    with ExitStack() as stack:
        old = stack.enter_context(_opened(source))
        secret = old.ask(_KNOWN_BY)
        if not secret:
            raise StoreError(f"there is nothing in {source} yet, so there is nothing to move")
        # The secret is moved too, after the files: those in a bucket are sealed with it already.
        new = stack.enter_context(_opened(target, bytes(cast(bytes, secret[0][0]))))
        name = blake2b(bytes(str(secret[0][0]), "utf-8"), digest_size=12).hexdigest()
        # Before any file is there: a store that is in use would keep what is none of its own.
        begun(new.rows, moved_tables(), name)
        blobs = old.ask(_BLOBS)
        for (blob_id,) in blobs:
            with old.blobs.open(str(blob_id), 0) as content:
                new.blobs.keep(content, _MOST_BLOB_BYTES)
        # Files take too long for one moment of the source to be held all the while.
        with old.rows.reading():
            if old.ask(_BLOBS) != blobs:
                raise StoreError(f"{CHANGED}, and run the same command again")
            return move_rows(old.rows, new.rows, moved_tables(), name, tell)


@contextmanager
def _opened(place: StorePlace, secret: bytes | None = None) -> Iterator[OpenedSide]:
    """Open one side; ``secret`` is what its store will have, where that has none yet."""
    if place.database is None:
        with _opened_file(place) as side:
            yield side
        return
    with explained(place.database):
        from pdpp.store.postgres.blobs import PostgresBlobs
        from pdpp.store.postgres.database import PostgresDatabase
        from pdpp.store.postgres.moved_rows import PostgresSide

        make_folder(place.folder)
        with closing(PostgresDatabase(place.database.url, place.database.owner)) as database:
            known = None if secret is None else lambda: secret
            bucket = bucket_of(place.database)
            blobs = PostgresBlobs(database, place.folder / BLOB_FOLDER, bucket, known)
            reader = database.reader
            yield OpenedSide(
                PostgresSide(database), lambda sql: reader.execute(sql, (OWNER,)).fetchall(), blobs
            )


@contextmanager
def _opened_file(place: StorePlace) -> Iterator[OpenedSide]:
    from pdpp.store.postgres.schema import RECEIPT_NAMES

    folder, files = place.folder, data_files(place.key)
    with closing(SqliteDatabase(folder / FILE_NAME, lambda _: None, place.key)) as database:
        reader = database.reader
        secret = reader.execute(_KNOWN_BY, (OWNER,)).get
        # Made here where there is none; what a new one seals without a secret is replaced by what
        # is moved.
        ReceiptFile(folder, secret or bytes(32), _NoAnchor(), instant.now, place.key).close()
        receipts = open_connection(folder / RECEIPTS_NAME, place.key, flags=EXISTING)
        with closing(receipts):
            side = SqliteSide(database, receipts, RECEIPT_NAMES)
            blobs = SqliteBlobs(database, folder / BLOB_FOLDER / str(OWNER), files)
            yield OpenedSide(side, lambda sql: reader.execute(sql, (OWNER,)).fetchall(), blobs)


class _NoAnchor:
    """Remembers nothing: nobody writes receipts while they are moved."""

    def recall(self) -> tuple[int, bytes] | None:
        """Return nothing."""
        return None

    def remember(self, number: int, hashed: bytes) -> None:
        """Do nothing."""
