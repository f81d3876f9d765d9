"""Blobs: content-addressed files beside the database, written once, checked, never loaded whole."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO, NamedTuple

from pdpp.encryption.files import PLAIN, DataFiles, FileWriter
from pdpp.model.errors import BlobNotFound, PayloadTooLarge
from pdpp.store.blobs import chunks

_UNFINISHED = ".new-"
_FEW = 4
_SYNCING = 16
"""So many files are synced at once."""


def _nothing() -> None:
    """Do nothing: not every place for bytes has to be synced before they get their name."""


class ReceivedBlob(NamedTuple):
    """Bytes that were received and are not stored yet.

    ``sync`` makes them outlast a power cut; then ``settle`` gives them their name, and returns the
    folders that have to be synced for the name to outlast one too.
    """

    blob_id: str
    size: int
    settle: Callable[[], Iterable[Path] | None]
    sync: Callable[[], None] = _nothing


class BlobFolder:
    """A folder of files named by the sha-256 of their bytes; names of sealed files are secret."""

    def __init__(self, folder: Path, files: DataFiles = PLAIN) -> None:
        self._folder = folder
        self._files = files

    def path(self, blob_id: str) -> Path:
        """Return where a blob lies."""
        name = self._files.name(blob_id)
        # 256 folders: a million files in one are slow to list on many file systems.
        return self._folder / name[:2] / name

    def open(self, blob_id: str, start: int) -> BinaryIO:
        """Open the bytes of a blob from a position."""
        try:
            source = self._files.reader(self.path(blob_id).open("rb"))
        except FileNotFoundError:
            raise BlobNotFound("The bytes of this blob are missing.") from None
        source.seek(start)
        return source

    def keep(self, source: BinaryIO, limit: int) -> tuple[str, int]:
        """Store the content of a stream; return the name of the file and its size."""
        with self.received(chunks(source), limit) as blob:
            settle_blobs([blob])
            return blob.blob_id, blob.size

    @contextmanager
    def received(self, pieces: Iterator[bytes], limit: int) -> Iterator["ReceivedBlob"]:
        """Take what comes in pieces; it is stored when it is settled.

        Bytes that lie here already, whole, are not written to the disk again.
        """
        for folder in (self._folder.parent, self._folder):
            folder.mkdir(exist_ok=True, mode=0o700)
        descriptor, name = tempfile.mkstemp(dir=self._folder, prefix=_UNFINISHED)
        try:
            with os.fdopen(descriptor, "wb") as target:
                blob_id, size = write_pieces(self._files.writer(target), pieces, limit)
                known = self.problem(blob_id, size) is None
            written = Path(name)
            settle = partial(self._settle, written, blob_id, known)
            yield ReceivedBlob(
                blob_id, size, settle, _nothing if known else partial(_sync, written)
            )
        finally:
            Path(name).unlink(missing_ok=True)

    def _settle(self, written: Path, blob_id: str, known: bool) -> tuple[Path, ...]:
        """Give a file its name; return the folders whose names are new."""
        target = self.path(blob_id)
        if known:
            with suppress(FileNotFoundError):  # it was removed since it was looked at
                os.utime(target)  # whoever keeps it now means to use it
                return ()
            _sync(written)
        is_new = not target.parent.is_dir()
        target.parent.mkdir(exist_ok=True, mode=0o700)
        os.replace(_second_name(written), target)
        return (self._folder, target.parent) if is_new else (target.parent,)

    def named_leftovers(self, before: int) -> Iterator[str]:
        """Yield the blobs of uploads that were killed before a moment after they had their name.

        Until an upload is stored its file has two names, of which one tells that it is not.
        """
        for path in self._folder.glob(f"{_UNFINISHED}*"):
            with suppress(FileNotFoundError):
                facts = path.stat()
                if facts.st_nlink > 1 and facts.st_mtime_ns // 1_000 < before:
                    with self._files.reader(path.open("rb")) as source:
                        yield _name_and_size(source)[0]

    def sweep(self, before: int) -> int:
        """Remove files of uploads that were killed, unless they were written to after a moment."""
        removed = 0
        for path in self._folder.glob(f"{_UNFINISHED}*"):
            with suppress(FileNotFoundError):
                if path.stat().st_mtime_ns // 1_000 < before:
                    path.unlink()
                    removed += 1
        return removed

    def remove(self, blob_id: str, before: int) -> bool:
        """Remove a blob unless it was kept since a moment; tell whether it is gone."""
        path = self.path(blob_id)
        with suppress(FileNotFoundError):
            if path.stat().st_mtime_ns // 1_000 >= before:
                return False
            path.unlink()
        return True

    def copy(self, target: Path) -> None:
        """Copy every blob that is complete into another folder, unless it is there."""
        if not self._folder.is_dir():
            return
        for folder in (target.parent, target):
            folder.mkdir(exist_ok=True, mode=0o700)
        for path in sorted(self._folder.glob("??/*")):
            place = target / path.parent.name
            place.mkdir(exist_ok=True, mode=0o700)
            if not (place / path.name).exists():
                _copy_if_there(path, place / path.name)

    def keep_only(self, target: Path, blob_ids: Iterable[str]) -> None:
        """Remove all other blobs from a copy of this folder."""
        names = {self._files.name(blob_id) for blob_id in blob_ids}
        for path in target.glob("??/*"):
            if path.name not in names:
                path.unlink()

    def problem(self, blob_id: str, size: int) -> str | None:
        """Describe the damage of a stored blob; return None if there is none."""
        path = self.path(blob_id)
        if not path.is_file():
            return f"blob {blob_id} is missing"
        try:
            with self.open(blob_id, 0) as source:
                return self._difference(source, blob_id, size)
        except OSError as problem:
            return f"blob {blob_id} cannot be read: {problem}"

    def _difference(self, source: BinaryIO, blob_id: str, size: int) -> str | None:
        """Say whether the bytes of a blob are others than its name says."""
        if _name_and_size(source) != (blob_id, size):
            return f"blob {blob_id} has other content than its name says"
        return None


def _name_and_size(source: BinaryIO) -> tuple[str, int]:
    """Return the name of the content of a stream, and how long it is."""
    digest, size = hashlib.sha256(), 0
    for chunk in chunks(source):
        digest.update(chunk)
        size += len(chunk)
    return digest.hexdigest(), size


def write_pieces(writer: FileWriter, pieces: Iterator[bytes], limit: int) -> tuple[str, int]:
    """Write what comes in pieces; return the name that it gets and its size."""
    digest, size = hashlib.sha256(), 0
    for chunk in pieces:
        size += len(chunk)
        if size > limit:
            raise PayloadTooLarge(f"A blob holds at most {limit} bytes.")
        digest.update(chunk)
        writer.write(chunk)
    writer.finish()
    return digest.hexdigest(), size


def sync_blobs(blobs: Iterable[ReceivedBlob]) -> None:
    """Make the bytes of some blobs outlast a power cut."""
    _at_once([blob.sync for blob in blobs if blob.sync is not _nothing])


def settle_blobs(blobs: Sequence[ReceivedBlob]) -> None:
    """Store some blobs, and see that they outlast a power cut."""
    # The order is: content on the disk, then its name, then the folder that holds the name. A
    # crash in between leaves an unfinished file, never a name without its bytes.
    sync_blobs(blobs)
    name_blobs(blobs)


def name_blobs(blobs: Iterable[ReceivedBlob]) -> None:
    """Give blobs that are synced their names, and see that the names outlast a power cut."""
    folders = {folder for blob in blobs for folder in blob.settle() or ()}
    _at_once([partial(_sync, folder) for folder in sorted(folders)])


def _at_once(syncs: Sequence[Callable[[], None]]) -> None:
    """Sync several files: file systems write what is asked for at the same time together."""
    if len(syncs) < _FEW:
        for sync in syncs:
            sync()
        return
    with ThreadPoolExecutor(_SYNCING, "sync") as pool:
        for done in [pool.submit(sync) for sync in syncs]:
            done.result()


def _second_name(path: Path) -> Path:
    """Return another name for a file, or its only one on a disk where a file has one."""
    name = path.with_name(f"{path.name}-named")
    try:
        os.link(path, name)
    except OSError:
        return path
    return name


def _copy_if_there(path: Path, target: Path) -> None:
    """Copy a file, unless it was removed since it was listed."""
    try:
        shutil.copy2(path, target)
    except FileNotFoundError:
        if os.path.lexists(path):
            raise


def sync_folder(folder: Path) -> None:
    """Make the names in a folder outlast a power cut."""
    _sync(folder)


def _sync(path: Path) -> None:
    """Make what was written to a file or a folder outlast a power cut."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
