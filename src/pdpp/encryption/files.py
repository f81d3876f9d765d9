"""Files of a data folder, as they are or sealed: one way to write and read either kind."""

import os
import tempfile
from hashlib import blake2b
from pathlib import Path
from typing import IO, BinaryIO, Protocol, cast

from pdpp.encryption.data_key import DataKey


class FileWriter(Protocol):
    """Takes the content of one file from its start to its end."""

    def write(self, content: bytes, /) -> int: ...
    def finish(self) -> None: ...


class DataFiles(Protocol):
    """How files are kept in a data folder."""

    def name(self, name: str) -> str:
        """Return what a file is called on the disk whose name tells of its content."""
        ...

    def writer(self, file: BinaryIO) -> FileWriter:
        """Return what writes into a new file."""
        ...

    def reader(self, file: BinaryIO) -> BinaryIO:
        """Return the content of a file, to be read from any position."""
        ...

    def seal(self, content: bytes) -> bytes:
        """Return a whole small file as it lies on the disk."""
        ...

    def unseal(self, stored: bytes) -> bytes:
        """Return the content of a whole small file."""
        ...

    def spool(self, memory_bytes: int) -> IO[bytes]:
        """Return a file without a name for what is on its way, in memory while it is small."""
        ...


class PlainFiles:
    """Files as they are."""

    def name(self, name: str) -> str:
        """Return the name itself."""
        return name

    def writer(self, file: BinaryIO) -> FileWriter:
        """Return what writes into a new file."""
        return _PlainWriter(file)

    def reader(self, file: BinaryIO) -> BinaryIO:
        """Return the file itself."""
        return file

    def seal(self, content: bytes) -> bytes:
        """Return the content itself."""
        return content

    def unseal(self, stored: bytes) -> bytes:
        """Return the content itself."""
        return stored

    def spool(self, memory_bytes: int) -> IO[bytes]:
        """Return a file without a name."""
        return tempfile.SpooledTemporaryFile(memory_bytes)


class _PlainWriter:
    def __init__(self, file: BinaryIO) -> None:
        self.write = file.write

    def finish(self) -> None:
        """Do nothing: all of it is written."""


PLAIN = PlainFiles()


class SealedFiles:
    """Files sealed under the key of a store; the module that does it is loaded when first used."""

    def __init__(self, key: DataKey) -> None:
        # One key for each purpose: no seal of one kind can be taken for another.
        self._content = key.derived(b"files")
        self._names = key.derived(b"file names")

    def name(self, name: str) -> str:
        """Return a name that tells nothing: a known file's own hash would betray it."""
        # Keyed, because names are hashes of content: an attacker could hash a file of their own and
        # look for it.
        return blake2b(name.encode(), key=self._names, digest_size=32).hexdigest()

    def writer(self, file: BinaryIO) -> FileWriter:
        """Return what seals content into a new file."""
        from pdpp.encryption.sealed_file import SealedWriter

        return SealedWriter(file, self._content)

    def reader(self, file: BinaryIO) -> BinaryIO:
        """Return the content of a sealed file."""
        from pdpp.encryption.sealed_file import open_sealed

        return open_sealed(file, self._content)

    def seal(self, content: bytes) -> bytes:
        """Return a whole small file as it lies on the disk."""
        from pdpp.encryption.sealed_file import sealed

        return sealed(content, self._content)

    def unseal(self, stored: bytes) -> bytes:
        """Return the content of a whole small file."""
        from pdpp.encryption.sealed_file import unsealed

        return unsealed(stored, self._content)

    def spool(self, memory_bytes: int) -> IO[bytes]:
        """Return a file without a name whose key is forgotten with it."""
        from pdpp.encryption.sealed_file import SealedSpool

        return cast(IO[bytes], SealedSpool(memory_bytes, os.urandom(32)))


def data_files(key: DataKey | None) -> DataFiles:
    """Return how the files of a store are kept."""
    return PLAIN if key is None else SealedFiles(key)


def read_file(files: DataFiles, path: Path) -> bytes:
    """Return the content of a whole small file."""
    return files.unseal(path.read_bytes())
