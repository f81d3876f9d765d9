"""Blobs: the bytes behind a record, read piece by piece or saved as a file that is surely whole."""

import hashlib
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from pdpp.evidence.handle import BLOB_URI, parse_blob_uri
from pdpp.model.errors import Conflict, RangeNotSatisfiable
from pdpp.wire.answer import ServerUnreachable
from pdpp.wire.http import Download, Unreachable

_SHA256 = re.compile(r"[0-9a-f]{64}\Z", re.ASCII)
_PARTIAL = 206
_CHUNK = 1 << 20


class Saved(NamedTuple):
    """A blob that was saved."""

    path: Path
    media_type: str
    size_bytes: int
    sha256: str


class Blob:
    """A blob that is being read: a context, and an iterator over its bytes."""

    def __init__(self, download: Download) -> None:
        self._download = download
        self.media_type = download.headers.get("content-type", "application/octet-stream")
        self.start, self.size_bytes = _extent(download)

    def __enter__(self) -> "Blob":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __iter__(self) -> Iterator[bytes]:
        try:
            yield from self._download.chunks()
        except Unreachable as problem:
            raise ServerUnreachable(f"{problem}. The blob broke off.") from None

    def close(self) -> None:
        """Stop reading."""
        self._download.close()


def _extent(download: Download) -> tuple[int, int | None]:
    """Return where the bytes begin and how long the whole is, as far as the answer says."""
    length = download.headers.get("content-length", "")
    if download.status != _PARTIAL:
        return 0, int(length) if length.isdecimal() else None
    span, _, total = download.headers.get("content-range", "").removeprefix("bytes ").partition("/")
    first = span.partition("-")[0]
    return int(first) if first.isdecimal() else 0, int(total) if total.isdecimal() else None


def blob_id_of(text: str) -> str:
    """Return the blob that an id or a blob URI names."""
    return parse_blob_uri(text) if text.startswith(BLOB_URI) else text


def part_of(path: Path) -> Path:
    """Return the path of the partial file that a download is written to."""
    return path.with_name(path.name + ".part")


def save(open_at: Callable[[int], Blob], blob_id: str, path: Path, *, resume: bool) -> Saved:
    """Save a blob under a name it has only when it is whole and hashes to its id.

    With ``resume`` what was gathered before is gone on from, and kept when this one breaks off.
    """
    part = part_of(path)
    if not resume:
        part.unlink(missing_ok=True)
    try:
        media_type = _gather(open_at, part)
        saved = Saved(path, media_type, part.stat().st_size, _sha256(part))
        if _SHA256.match(blob_id) and saved.sha256 != blob_id:
            part.unlink()
            raise Conflict(f"The bytes of the blob hash to {saved.sha256}, not to its id.")
        os.replace(part, path)
    except BaseException:
        if not resume:
            part.unlink(missing_ok=True)
        raise
    return saved


def _gather(open_at: Callable[[int], Blob], part: Path) -> str:
    """Write what is missing of a file, and return its media type."""
    gathered = part.stat().st_size if part.exists() else 0
    try:
        blob = open_at(gathered)
    except RangeNotSatisfiable:
        gathered, blob = 0, open_at(0)
    descriptor = os.open(part, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
    with blob, os.fdopen(descriptor, "r+b") as target:
        target.truncate(min(gathered, blob.start))
        target.seek(0, os.SEEK_END)
        for chunk in blob:
            target.write(chunk)
        target.flush()
        os.fsync(target.fileno())
    return blob.media_type


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as source:
        while chunk := source.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
