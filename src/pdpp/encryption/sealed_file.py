"""Sealed files: AES-256-GCM in blocks of 64 KiB, so that any part is read without the rest.

A file begins with a mark and a salt; its own key is derived from the salt. Then come blocks, each
a nonce of 12 random bytes, up to 64 KiB of content, and a tag of 16 bytes. The tag also covers the
number of the block and whether it is the last one: blocks cannot be moved, and a file that was cut
anywhere is found out by whoever reads it to its end. Nothing says which file it is: two files of a
store that changed places are both whole.
"""

import io
import os
import tempfile
from hashlib import blake2b
from typing import IO, Any, BinaryIO

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from pdpp.seekable import SeekableReader

MARK = b"pdpp sealed 1\n"
BLOCK = 1 << 16
_SALT = 16
_HEAD = len(MARK) + _SALT
_NONCE = 12
_TAG = 16
_STORED = _NONCE + BLOCK + _TAG


class DamagedSeal(OSError):
    """A sealed file was changed, cut, or sealed under another key."""

    def __init__(self) -> None:
        super().__init__("a file is damaged, or sealed under another key")


class _Blocks:
    """Seals and opens the blocks of one file."""

    def __init__(self, key: bytes, salt: bytes) -> None:
        self._cipher = AESGCM(blake2b(salt, key=key, digest_size=32).digest())

    def seal(self, number: int, content: bytes, *, last: bool) -> bytes:
        nonce = os.urandom(_NONCE)
        return nonce + self._cipher.encrypt(nonce, content, _place(number, last))

    def open(self, number: int, stored: bytes, *, last: bool) -> bytes:
        try:
            return self._cipher.decrypt(stored[:_NONCE], stored[_NONCE:], _place(number, last))
        except (InvalidTag, ValueError):
            raise DamagedSeal from None


def _place(number: int, last: bool) -> bytes:
    return number.to_bytes(8, "big") + bytes([last])


class SealedWriter:
    """Seals content into a new file; ``finish`` writes the last block."""

    def __init__(self, file: BinaryIO, key: bytes) -> None:
        salt = os.urandom(_SALT)
        file.write(MARK + salt)
        self._file = file
        self._blocks = _Blocks(key, salt)
        self._pending = bytearray()
        self._number = 0

    def write(self, content: bytes, /) -> int:
        """Add content."""
        self._pending += content
        # One block is kept back: only at the end is it known which one is the last.
        while len(self._pending) > BLOCK:
            self._put(bytes(self._pending[:BLOCK]), last=False)
            del self._pending[:BLOCK]
        return len(content)

    def finish(self) -> None:
        """Write the last block."""
        self._put(bytes(self._pending), last=True)
        self._pending.clear()

    def _put(self, content: bytes, *, last: bool) -> None:
        self._file.write(self._blocks.seal(self._number, content, last=last))
        self._number += 1


class SealedReader(SeekableReader):
    """The content of a sealed file, read from any position; holds one block in memory."""

    def __init__(self, file: BinaryIO, key: bytes) -> None:
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        head = file.read(_HEAD)
        count = -(-(size - _HEAD) // _STORED)
        if len(head) < _HEAD or not head.startswith(MARK) or count < 1:
            raise DamagedSeal
        self._file = file
        self._blocks = _Blocks(key, head[len(MARK) :])
        self._count = count
        super().__init__(size - _HEAD - count * (_NONCE + _TAG))
        # Only the one block of an empty file is empty. A file cut to a few bytes of a block would
        # otherwise end before that block, and nobody would open it and see that it is not the last.
        if self._size < 0 or (count > 1 and self._size <= (count - 1) * BLOCK):
            raise DamagedSeal
        self._held: tuple[int, bytes] = (-1, b"")

    def readinto(self, buffer: Any, /) -> int:
        """Read some bytes of one block."""
        number, start = divmod(self._position, BLOCK)
        if self._position >= self._size and self._size:
            return 0
        piece = self._block(number)[start : start + len(buffer)] if number < self._count else b""
        buffer[: len(piece)] = piece
        self._position += len(piece)
        return len(piece)

    def _block(self, number: int) -> bytes:
        if self._held[0] != number:
            self._file.seek(_HEAD + number * _STORED)
            stored = self._file.read(_STORED)
            content = self._blocks.open(number, stored, last=number == self._count - 1)
            self._held = number, content
        return self._held[1]

    def close(self) -> None:
        """Close the file beneath."""
        self._file.close()
        super().close()


def open_sealed(file: BinaryIO, key: bytes) -> BinaryIO:
    """Return the content of a sealed file; closing it closes the file."""
    try:
        return io.BufferedReader(SealedReader(file, key), BLOCK)
    except BaseException:
        file.close()
        raise


def sealed(content: bytes, key: bytes) -> bytes:
    """Return a whole sealed file."""
    file = io.BytesIO()
    writer = SealedWriter(file, key)
    writer.write(content)
    writer.finish()
    return file.getvalue()


def unsealed(stored: bytes, key: bytes) -> bytes:
    """Return the content of a whole sealed file."""
    with open_sealed(io.BytesIO(stored), key) as reader:
        return reader.read()


class SealedSpool(io.RawIOBase):
    """Content on its way: written once, then read; sealed where it does not fit into memory."""

    def __init__(self, memory_bytes: int, key: bytes) -> None:
        self._key = key
        self._file: IO[bytes] = tempfile.SpooledTemporaryFile(memory_bytes)  # noqa: SIM115 - closed with this
        self._writer: SealedWriter | None = SealedWriter(self._file, key)  # type: ignore[arg-type]
        self._reader: SealedReader | None = None

    def readable(self) -> bool:
        """Say that this can be read."""
        return True

    def writable(self) -> bool:
        """Say that this can be written, until it is first read."""
        return self._writer is not None

    def seekable(self) -> bool:
        """Say that any position can be read."""
        return True

    def write(self, content: Any, /) -> int:
        """Add content."""
        if self._writer is None:
            raise io.UnsupportedOperation("this is being read already")
        return self._writer.write(bytes(content))

    def _content(self) -> SealedReader:
        if self._writer is not None:
            self._writer.finish()
            self._writer = None
        if self._reader is None:
            self._reader = SealedReader(self._file, self._key)  # type: ignore[arg-type]
        return self._reader

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Go to a position of what was written."""
        return self._content().seek(offset, whence)

    def tell(self) -> int:
        """Return the position."""
        return self._content().tell()

    def readinto(self, buffer: Any, /) -> int:
        """Read some bytes."""
        return self._content().readinto(buffer)

    def close(self) -> None:
        """Let it go."""
        self._file.close()
        super().close()
