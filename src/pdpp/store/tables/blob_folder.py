"""Blobs: content-addressed files beside the database, written once, checked, never loaded whole."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO, NamedTuple

from pdpp.encryption.files import PLAIN, DataFiles, FileWriter
from pdpp.model.errors import BlobNotFound, PayloadTooLarge
from pdpp.store.blobs import chunks

_UNFINISHED = ".new-"


class ReceivedBlob(NamedTuple):
    """Bytes that were received and are not stored yet; ``settle`` stores them."""

    blob_id: str
    size: int
    settle: Callable[[], None]


class BlobFolder:
    """A folder of files named by the sha-256 of their bytes; sealed ones tell nothing by it."""

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
        """Store everything a stream holds; return the name it got and its size."""
        with self.received(chunks(source), limit) as blob:
            blob.settle()
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
                if not known:
                    target.flush()
                    os.fsync(target.fileno())
            yield ReceivedBlob(blob_id, size, partial(self._settle, Path(name), blob_id, known))
        finally:
            Path(name).unlink(missing_ok=True)

    def _settle(self, written: Path, blob_id: str, known: bool) -> None:
        """Give a file its name, and see that the name too outlasts a power cut."""
        target = self.path(blob_id)
        if known:
            with suppress(FileNotFoundError):  # it was removed since it was looked at
                os.utime(target)  # whoever keeps it now means to use it
                return
            with written.open("rb") as received:
                os.fsync(received.fileno())
        if not target.parent.is_dir():
            target.parent.mkdir(exist_ok=True, mode=0o700)
            sync_folder(self._folder)
        # The order is: content on the disk, then its name, then the folder that holds the name. A
        # crash in between leaves an unfinished file, never a name without its bytes.
        os.replace(written, target)
        sync_folder(target.parent)

    def sweep(self, before: int) -> int:
        """Remove what killed uploads left behind, if nothing was written to it since a moment."""
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
        """Copy every blob that is complete into another folder."""
        if not self._folder.is_dir():
            return
        for folder in (target.parent, target):
            folder.mkdir(exist_ok=True, mode=0o700)
        for path in sorted(self._folder.glob("??/*")):
            place = target / path.parent.name
            place.mkdir(exist_ok=True, mode=0o700)
            shutil.copy2(path, place / path.name)

    def problem(self, blob_id: str, size: int) -> str | None:
        """Say what is wrong with a stored blob, or nothing."""
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
        digest, length = hashlib.sha256(), 0
        for chunk in chunks(source):
            digest.update(chunk)
            length += len(chunk)
        if length != size or digest.hexdigest() != blob_id:
            return f"blob {blob_id} has other content than its name says"
        return None


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


def sync_folder(folder: Path) -> None:
    """Make the names in a folder outlast a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
