"""Blobs: bytes behind a record, in whole or by range, only through a record the caller sees."""

import hashlib
import re
from dataclasses import dataclass, replace
from functools import partial
from typing import BinaryIO

from pdpp.evidence.binary import OCTETS
from pdpp.model.errors import BlobNotFound, InvalidRequest, RangeNotSatisfiable, Unprocessable
from pdpp.receipts.served import of_blob
from pdpp.resource.answers import BlobJson
from pdpp.resource.call import Call
from pdpp.store.blobs import MEDIA_TYPE, Blob, BlobUse, chunks
from pdpp.store.port import Store

_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})\Z", re.ASCII)
_BLOB_ID = re.compile(r"[0-9a-f]{64}\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class BlobRange:
    """The bytes of a blob to send: from ``start`` up to but not ``end``."""

    blob: Blob
    start: int
    end: int
    store: Store

    def open(self) -> BinaryIO:
        """Open the bytes at their start; the caller closes the stream."""
        return self.store.open_blob(self.blob.blob_id, self.start)

    @property
    def size(self) -> int:
        """Return how many bytes it is."""
        return self.end - self.start

    @property
    def partial(self) -> bool:
        """Tell whether it is less than the whole."""
        return (self.start, self.end) != (0, self.blob.size_bytes)

    def headers(self) -> dict[str, str]:
        """Return the headers that describe the bytes; nothing may keep or run them."""
        headers = {
            "Content-Type": self.blob.media_type,
            "Content-Length": str(self.size),
            "Accept-Ranges": "bytes",
            "ETag": f'"{self.blob.blob_id}"',
            "Cache-Control": "private, no-store",
            "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy": "sandbox; default-src 'none'",
            "Content-Disposition": "attachment",
        }
        if self.partial:
            headers["Content-Range"] = f"bytes {self.start}-{self.end - 1}/{self.blob.size_bytes}"
        return headers


def read_blob(call: Call) -> BlobRange:
    """Answer ``GET /v1/blobs/{blob_id}``."""
    blob_range, use = _range(call)
    call.served[:] = [partial(of_blob, blob_range.blob.blob_id, use, blob_range.size)]
    return blob_range


def head_blob(call: Call) -> BlobRange:
    """Answer ``HEAD /v1/blobs/{blob_id}``: what it is, and none of its bytes."""
    return _range(call)[0]


def _range(call: Call) -> tuple[BlobRange, BlobUse | None]:
    """Return what is asked for of a blob; that it is there is told, whatever range is asked for."""
    blob, use = _visible(call)
    call.served.append(partial(of_blob, blob.blob_id, use, 0))
    span = _span(call.headers.get("range"), blob.size_bytes)
    return BlobRange(blob, *span, call.store), use


def _visible(call: Call) -> tuple[Blob, BlobUse | None]:
    """Return a blob and the record it is seen through; the owner sees it without any."""
    blob_id = call.path["blob_id"]
    named = _BLOB_ID.match(blob_id) is not None
    # Visible records are looked through whether or not there is such a file: else the time would
    # tell whether a hidden record has it, and anybody can compute the id of a file.
    use = call.store.blob_shown(blob_id, call.principal.reaches) if named else None
    is_visible = use is not None or (named and call.principal.is_owner)
    blob = call.store.blob(blob_id) if is_visible else None
    if blob is None or not _has_bytes(call.store, blob):
        raise BlobNotFound("There is no such blob in a record this token shows.")
    # The type that the visible record names: the first upload's own may be of a hidden record.
    if use is not None and not call.principal.is_owner:
        blob = replace(blob, media_type=use.media_type)
    return blob, use


def _has_bytes(store: Store, blob: Blob) -> bool:
    try:
        store.open_blob(blob.blob_id).close()
    except BlobNotFound:
        return False
    return True


def _span(header: str | None, size: int) -> tuple[int, int]:
    """Return the stretch a ``Range`` header asks for; a form not served means the whole."""
    match = _RANGE.match(header.strip()) if header is not None else None
    if match is None or match.groups() == ("", ""):
        return 0, size
    first, last = match.groups()
    if not first:
        start, end = max(0, size - int(last)), size
    else:
        start, end = int(first), min(int(last) + 1, size) if last else size
    if start >= end:
        raise RangeNotSatisfiable(
            f"The blob has {size} bytes.", headers={"Content-Range": f"bytes */{size}"}
        )
    return start, end


def store_blob(call: Call) -> BlobJson:
    """Answer ``POST /v1/blobs``; the body is a file that can be read twice."""
    source: BinaryIO = call.body
    media_type = call.headers.get("content-type") or OCTETS
    if not MEDIA_TYPE.match(media_type):
        raise InvalidRequest(
            "Content-Type must be a media type such as image/png.", param="Content-Type"
        )
    expected = call.query.text("sha256")
    if expected is not None:
        digest = hashlib.sha256()
        for chunk in chunks(source):
            digest.update(chunk)
        actual = digest.hexdigest()
        if actual != expected.lower():
            raise Unprocessable(f"The bytes hash to {actual}, not to sha256.", param="sha256")
        source.seek(0)
    blob = call.store.keep_blob(source, media_type, call.settings.blob_bytes)
    return {
        "object": "blob",
        "blob_id": blob.blob_id,
        "mime_type": blob.media_type,
        "size_bytes": blob.size_bytes,
        "sha256": blob.blob_id,
    }
