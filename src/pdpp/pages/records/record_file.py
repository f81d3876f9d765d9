"""Record files: those of a record, shown or handed over so that none is ever executed."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple

from starlette.responses import Response, StreamingResponse

from pdpp.authz.requester import one_line
from pdpp.evidence.amount import size_in_words
from pdpp.evidence.binary import OCTETS, is_text_media
from pdpp.evidence.handle import path_part
from pdpp.model.errors import NotFound, PdppError
from pdpp.pages.page_reader import PageReader
from pdpp.pages.page_request import PageRequest
from pdpp.resource.blob import BlobRange

PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif"})
"""Pictures that a browser may show: of formats that cannot hold a script, as SVG can."""

_BLOB_ID = re.compile(r"[0-9a-f]{64}\Z", re.ASCII)
_NAMES = ("filename", "file_name", "name", "title")
_CHUNK = 1 << 18
_LONGEST_NAME = 120


class RecordFile(NamedTuple):
    """A file: what it is called and is, where it is, and whether it is a picture to be shown."""

    name: str
    description: str
    address: str
    picture: bool
    opens: bool


def files_of(base: str, data: Mapping[str, Any]) -> Iterator[RecordFile]:
    """Yield the files that the values of a record refer to."""
    named = next((data[name] for name in _NAMES if isinstance(data.get(name), str)), "")
    for field, value in data.items():
        blob_id = value.get("blob_id") if isinstance(value, Mapping) else None
        if not isinstance(blob_id, str) or not _BLOB_ID.match(blob_id):
            continue
        media_type = _bare(str(value.get("mime_type") or OCTETS))
        size = value.get("size_bytes")
        name = one_line(named or field, _LONGEST_NAME)
        words = media_type if not isinstance(size, int) else f"{media_type}, {size_in_words(size)}"
        yield RecordFile(
            name=name,
            description=one_line(words, _LONGEST_NAME),
            address=f"{base}/file/{blob_id}/{path_part(name.replace('/', '_'))}",
            picture=media_type in PICTURES,
            opens=media_type in PICTURES or is_text_media(media_type),
        )


async def show_file(request: PageRequest) -> Response:
    """Answer ``GET /file/{blob_id}/{name}``."""
    return await file_response(request, request.site.reader())


async def file_response(request: PageRequest, reader: PageReader) -> Response:
    """Return the bytes of a file that a reader sees.

    The last part of the address is its name, which a browser takes for a download.
    """
    try:
        answer: BlobRange = await reader.operate(
            "readBlob", {"blob_id": request.http.path_params["blob_id"]}
        )
    except PdppError:
        raise NotFound("This file does not exist, or no longer exists.") from None
    source = answer.open()
    return StreamingResponse(_bytes(source), headers=file_headers(answer))


def file_headers(blob: BlobRange) -> dict[str, str]:
    """Return headers under which a browser shows pictures and plain text, and executes nothing.

    Whatever the bytes are, they have an origin of their own (``sandbox``), load nothing, and are
    not taken for another type than the one that is said (``nosniff``).
    """
    headers = {**blob.headers(), "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY"}
    media_type = _bare(blob.blob.media_type)
    if media_type in PICTURES:
        return headers | {"Content-Type": media_type, "Content-Disposition": "inline"}
    if is_text_media(media_type):
        plain = "text/plain; charset=utf-8"
        return headers | {"Content-Type": plain, "Content-Disposition": "inline"}
    return headers | {"Content-Type": media_type, "Content-Disposition": "attachment"}


async def _bytes(source: BinaryIO) -> AsyncIterator[bytes]:
    try:
        while chunk := await asyncio.to_thread(source.read, _CHUNK):
            yield chunk
    finally:
        source.close()


def _bare(media_type: str) -> str:
    return media_type.partition(";")[0].strip().lower()
