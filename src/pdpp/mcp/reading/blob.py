"""Blobs: what is told about one, and its text where it is text."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from pdpp.evidence.binary import OCTETS, Binary, decoded_text, is_text_media
from pdpp.evidence.budget import cut
from pdpp.evidence.window import TextWindow, chosen_window
from pdpp.mcp.reading.reader import GrantReader
from pdpp.mcp.reading.resource_client import target
from pdpp.model.errors import NotFound

MOST_BYTES = 16 << 20
"""How large a text may be that is read in windows."""


_MEDIA_TYPE_CHARS = 240
_SHA256 = re.compile(r"[0-9a-f]{64}\Z", re.ASCII)


class BlobContent(NamedTuple):
    """The facts about a blob, with as much of its text as was asked for."""

    blob_id: str
    media_type: str
    size_bytes: int
    text: str | None
    is_whole: bool

    @property
    def sha256(self) -> str | None:
        """Return the digest, where the blob is named by it; other servers name blobs otherwise."""
        return self.blob_id if _SHA256.match(self.blob_id) else None

    @property
    def binary(self) -> Binary:
        """Return the facts about content that is not shown."""
        return Binary(self.media_type, self.size_bytes, self.sha256, self.blob_id)


def blob_route(blob_id: str) -> str:
    """Return where a blob's bytes are."""
    return target(["blobs", blob_id], {})


async def read_blob(reader: GrantReader, blob_id: str, first: int) -> BlobContent:
    """Return a blob's facts and the text of its first bytes."""
    reply = await reader.blob(blob_id, first)
    content_type = reply.headers.get("content-type", "") if reply.status < 400 else ""
    media_type = cut(content_type, _MEDIA_TYPE_CHARS)[0] or OCTETS
    total = reply.headers.get("content-range", "").rpartition("/")[2]
    size = int(total) if total.isdecimal() else len(reply.body)
    text = None
    if is_text_media(media_type):
        text = decoded_text(reply.body[:first])
    return BlobContent(blob_id, media_type, size, text, size <= first)


def window_of(text: str, params: Mapping[str, object]) -> TextWindow:
    """Return the window that the parameters of a field window choose."""
    window = chosen_window(text, params)
    if window is None:
        raise NotFound("This text does not hold the words of query.", param="q")
    return window
