"""Blobs: what is told about one, and its text where it is text."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from pdpp.evidence.binary import OCTETS, decoded_text, is_text_media
from pdpp.evidence.window import TextWindow, chosen_window
from pdpp.mcp.drawing.label import label_of
from pdpp.mcp.reading.reader import GrantReader
from pdpp.mcp.reading.resource_client import target
from pdpp.model.errors import NotFound

MOST_BYTES = 16 << 20
"""How large a text may be that is read in windows."""


class BlobContent(NamedTuple):
    """The facts about a blob, with as much of its text as was asked for."""

    blob_id: str
    media_type: str
    size_bytes: int
    text: str | None
    is_whole: bool

    @property
    def route(self) -> str:
        """Return where its bytes are."""
        return target(["blobs", self.blob_id], {})

    def facts(self) -> dict[str, Any]:
        """Return what is told of content that is not shown."""
        return {
            "media_type": self.media_type,
            "size_bytes": self.size_bytes,
            "sha256": self.blob_id,
            "blob_id": self.blob_id,
            "blob_route": self.route,
        }


async def read_blob(reader: GrantReader, blob_id: str, first: int) -> BlobContent:
    """Return a blob's facts and the text of its first bytes."""
    reply = await reader.blob(blob_id, first)
    told = label_of(reply.headers.get("content-type")) if reply.status < 400 else None
    media_type = told or OCTETS
    total = reply.headers.get("content-range", "").rpartition("/")[2]
    size = int(total) if total.isdecimal() else len(reply.body)
    text = None
    if is_text_media(media_type):
        text = decoded_text(reply.body[:first])
    return BlobContent(blob_id, media_type, size, text, size <= first)


def window_of(text: str, params: Mapping[str, Any]) -> TextWindow:
    """Return the window that the parameters of a field window choose."""
    window = chosen_window(text, params)
    if window is None:
        raise NotFound("This text does not hold the words of query.", param="q")
    return window
