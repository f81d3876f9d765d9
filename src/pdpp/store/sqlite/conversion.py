"""Conversion: a whole store written anew under another key, or under none, and put in its place.

Everything is written into a folder beside the old files while nobody else has the store open. Two
names of that folder say how far it came: while it is built it counts for nothing, and whoever
opens the store after a crash removes it;
``.converted`` means that it is complete, and whoever opens the store next puts it in its place,
first moving the old files away, then (``.moving``) the new ones in. Each step can be repeated, so
that a crash at any moment leaves either the old store or the new one.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from pdpp.encryption.data_key import DataKey
from pdpp.encryption.files import data_files
from pdpp.encryption.key_file import KEY_FILE, KeyFile
from pdpp.model.errors import StoreError
from pdpp.private import locked_folder
from pdpp.store.sqlite.opening import WITH_ADDRESSES, copy_into, open_connection
from pdpp.store.sqlite.receipt_file import RECEIPTS_NAME
from pdpp.store.sqlite.store import BLOB_FOLDER, FILE_NAME
from pdpp.store.tables.blob_folder import BlobFolder, sync_folder
from pdpp.store.tables.records.predicate import OWNER

Tell = Callable[[int, int], None]
ConvertMore = Callable[[Path], None]
"""Converts what others keep in the data folder, into the folder that is given."""

BUILDING, _CONVERTED, _MOVING, _REPLACED = ".converting", ".converted", ".moving", ".replaced"
_IMPORTS = "imports"
_OWN = (
    *(name + end for name in (FILE_NAME, RECEIPTS_NAME) for end in ("", "-wal", "-shm")),
    BLOB_FOLDER,
    _IMPORTS,
    KEY_FILE,
)
_NO_LIMIT = 1 << 62


def convert(
    folder: Path,
    old: DataKey | None,
    new: tuple[DataKey, KeyFile] | None,
    more: ConvertMore,
    tell: Tell | None = None,
) -> None:
    """Write the store of a folder anew under another key; None stands for no encryption."""
    settle(folder)
    building = folder / BUILDING
    shutil.rmtree(building, ignore_errors=True)
    key = None if new is None else new[0]
    with _alone(folder / FILE_NAME, old) as db:
        building.mkdir(mode=0o700)
        try:
            _copy_database(db, building / FILE_NAME, key)
            _convert_blobs(db, folder, building, (old, key), tell)
            if (folder / RECEIPTS_NAME).exists():
                with _alone(folder / RECEIPTS_NAME, old) as receipts:
                    _copy_database(receipts, building / RECEIPTS_NAME, key)
            more(building)
            if new is not None:
                new[1].write(building)
            _sync_all(building)
        except BaseException:
            shutil.rmtree(building, ignore_errors=True)
            raise
        building.rename(folder / _CONVERTED)
        sync_folder(folder)
        if os.name != "nt":  # there a file that is open cannot be moved
            settle(folder)
    settle(folder)


def settle(folder: Path) -> None:
    """Put a finished conversion in its place, if there is one that was cut short."""
    # A folder that cannot be looked into is told of by whoever opens its database.
    if any(os.path.isdir(folder / name) for name in (_CONVERTED, _MOVING, _REPLACED)):
        # A second process would move the new files away too.
        with locked_folder(folder):
            _move_away(folder)
            _move_in(folder)
            shutil.rmtree(folder / _REPLACED, ignore_errors=True)


def remove_unfinished(folder: Path) -> None:
    """Remove what a conversion wrote that was killed; what ``off`` had written is legible.

    Call it with the store open: a conversion at work has the database for itself.
    """
    if os.path.isdir(folder / BUILDING):
        shutil.rmtree(folder / BUILDING, ignore_errors=True)


def _move_away(folder: Path) -> None:
    converted, replaced = folder / _CONVERTED, folder / _REPLACED
    if converted.is_dir():
        replaced.mkdir(mode=0o700, exist_ok=True)
        for name in _OWN:
            if (folder / name).exists():
                (folder / name).rename(replaced / name)
        sync_folder(folder)
        converted.rename(folder / _MOVING)


def _move_in(folder: Path) -> None:
    moving = folder / _MOVING
    if moving.is_dir():
        for path in moving.iterdir():
            path.rename(folder / path.name)
        sync_folder(folder)
        moving.rmdir()


@contextmanager
def _alone(path: Path, key: DataKey | None) -> Iterator[apsw.Connection]:
    """Hold a database that nobody else has open; refuse while somebody has."""
    db = open_connection(path, key, flags=WITH_ADDRESSES)
    try:
        try:
            db.pragma("locking_mode", "exclusive")
            # Only a connection that is alone can end the log of writes; the lock stays with it.
            # Without a log nothing is removed by name when the file is closed in another place.
            db.pragma("journal_mode", "delete")
            db.execute("BEGIN EXCLUSIVE")
            db.execute("COMMIT")
        except apsw.BusyError:
            raise StoreError(
                f"{path.parent} is in use: stop the server and other pdpp commands first"
            ) from None
        yield db
    finally:
        db.close()


def _copy_database(db: apsw.Connection, target: Path, key: DataKey | None) -> None:
    os.close(os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    copy_into(db, target, key)
    made = open_connection(target, key)
    try:
        made.pragma("journal_mode", "wal")
    finally:
        made.close()


def _convert_blobs(
    db: apsw.Connection,
    folder: Path,
    building: Path,
    keys: tuple[DataKey | None, DataKey | None],
    tell: Tell | None,
) -> None:
    place = Path(BLOB_FOLDER) / str(OWNER)
    old, new = (
        BlobFolder(root / place, data_files(key))
        for root, key in zip((folder, building), keys, strict=True)
    )
    ids = [row[0] for row in db.execute("SELECT blob_id FROM blob WHERE owner = ?", (OWNER,))]
    for number, blob_id in enumerate(ids, 1):
        if old.path(blob_id).is_file():
            with old.open(blob_id, 0) as source:
                new.keep(source, _NO_LIMIT)
            times = old.path(blob_id).stat()
            os.utime(new.path(blob_id), ns=(times.st_atime_ns, times.st_mtime_ns))
        if tell is not None:
            tell(number, len(ids))


def _sync_all(folder: Path) -> None:
    """See that everything in a folder is on the disk."""
    for path in folder.rglob("*"):
        if path.is_file():
            descriptor = os.open(path, os.O_RDWR)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        else:
            sync_folder(path)
    sync_folder(folder)
