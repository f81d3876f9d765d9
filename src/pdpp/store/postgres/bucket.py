"""A bucket of an S3-compatible object store: whole objects in, pieces of them out.

Nothing but this module knows the client. Each call is one request, or one upload, that ends by
itself after a while: no connection is held between two pieces.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import IO, Any, NoReturn

from pdpp.model.errors import Overloaded, StoreError
from pdpp.seekable import SeekableReader
from pdpp.store.bucket import BucketAddress

log = logging.getLogger("pdpp.store")

_PART_BYTES = 8 << 20
"""What an upload has in memory for each part; 10,000 parts are the most of one object."""
_PARTS_AT_ONCE = 2
_FIRST_BYTES = 1 << 17
"""The first piece of a read: most reads of a part want little more than it."""
_MOST_BYTES = 1 << 20
"""Each further piece. 100 MiB took 0.25 s of processor in pieces of 256 KiB, 0.13 s in pieces of
this size and 0.09 s in pieces of 4 MiB, of which each read would have one in memory."""
_RETRIES = 2
_RETRY_SECONDS = 10
_REQUEST_SECONDS = 30
_CONNECT_SECONDS = 5


class Bucket:
    """Keeps objects under names, all of which begin with the prefix of the address."""

    def __init__(self, address: BucketAddress) -> None:
        try:
            import obstore
            from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError
            from obstore.store import S3Store
        except ImportError:
            raise StoreError(
                "blobs in an object store need its client: pip install 'pdpp-server[s3]'"
            ) from None
        self._address = address
        self._client = obstore
        self._refusals = (PermissionDeniedError, UnauthenticatedError)
        self._failures = (BaseError, OSError)
        try:
            self._store = S3Store(address.name, **_options(address))
        except BaseError as problem:
            raise StoreError(f"the object store {address} cannot be used: {problem}") from None

    def size(self, name: str) -> int | None:
        """Return how many bytes an object has, None where there is none of that name."""
        with self._reached():
            try:
                return int(self._client.head(self._store, self._path(name))["size"])
            except FileNotFoundError:
                return None

    def put(self, name: str, content: IO[bytes]) -> None:
        """Keep an object; whoever reads sees the whole of it or what was there before."""
        with self._reached():
            self._client.put(
                self._store,
                self._path(name),
                content,
                chunk_size=_PART_BYTES,
                max_concurrency=_PARTS_AT_ONCE,
            )

    def piece(self, name: str, start: int, length: int) -> bytes:
        """Return a part of an object; raise ``FileNotFoundError`` where there is none any more."""
        with self._reached(missing=True):
            path = self._path(name)
            return bytes(self._client.get_range(self._store, path, start=start, length=length))

    def remove(self, name: str) -> None:
        """Remove an object, if there is one."""
        with self._reached():
            self._client.delete(self._store, self._path(name))

    def _path(self, name: str) -> str:
        return f"{self._address.prefix}/{name}" if self._address.prefix else name

    @contextmanager
    def _reached(self, *, missing: bool = False) -> Iterator[None]:
        """Say in one way what failed, without what opens the store."""
        try:
            yield
        except self._failures as problem:
            if missing and isinstance(problem, FileNotFoundError):
                raise
            self._fail(problem)

    def _fail(self, problem: Exception) -> NoReturn:
        # Only the first line: the others are the inner state of the client.
        reason = str(problem).partition("\n")[0][:300]
        if isinstance(problem, self._refusals):
            log.error("the object store %s refuses this server's key: %s", self._address, reason)
            message = "The object store refuses the key of this server, so"
        else:
            log.error("the object store %s failed: %s", self._address, reason)
            message = "This server cannot reach its object store at the moment, so"
        raise Overloaded(
            f"{message} the file was neither kept nor read. Try again in a while.",
            headers={"Retry-After": "10"},
        ) from None


def _options(address: BucketAddress) -> dict[str, Any]:
    chosen = {
        "endpoint": address.endpoint,
        "region": address.region,
        "access_key_id": address.key_id,
        "secret_access_key": address.key_secret,
    }
    is_plain = (address.endpoint or "").startswith("http://")
    return {
        **{name: value for name, value in chosen.items() if value is not None},
        "client_options": {
            # Only where the address says so. What is sent is sealed, and a key is never sent.
            "allow_http": is_plain,
            "timeout": timedelta(seconds=_REQUEST_SECONDS),
            "connect_timeout": timedelta(seconds=_CONNECT_SECONDS),
        },
        "retry_config": {
            "max_retries": _RETRIES,
            "retry_timeout": timedelta(seconds=_RETRY_SECONDS),
        },
    }


class ObjectReader(SeekableReader):
    """Reads an object piece by piece, from any position."""

    def __init__(self, bucket: Bucket, name: str, size: int) -> None:
        super().__init__(size)
        self._bucket = bucket
        self._name = name
        self._start = 0
        self._piece = b""

    def readinto(self, buffer: Any, /) -> int:
        """Read the bytes that come next into a buffer."""
        if self._position >= self._size:
            return 0
        at = self._position - self._start
        if not 0 <= at < len(self._piece):
            self._fetch()
            at = 0
        part = self._piece[at : at + len(buffer)]
        buffer[: len(part)] = part
        self._position += len(part)
        return len(part)

    def _fetch(self) -> None:
        follows = bool(self._piece) and self._position == self._start + len(self._piece)
        most = _MOST_BYTES if follows else _FIRST_BYTES
        length = min(most, self._size - self._position)
        try:
            piece = self._bucket.piece(self._name, self._position, length)
        except FileNotFoundError:
            raise OSError("this blob was removed while it was read") from None
        if len(piece) != length:
            raise OSError("the object store sent less than was asked for")
        self._start, self._piece = self._position, piece
