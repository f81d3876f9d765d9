"""The files of the model: which are shown, and the bytes and headers that tell them."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tests.promises.reference.generator import BLOBS
from tests.promises.reference.world import BLOB, Feed

CONTENT = {hashlib.sha256(content).hexdigest(): content for content in BLOBS}
"""What a name stands for: it is the hash of the bytes, so whoever is shown it may know them."""

TEXTS = ("text/plain", "text/markdown")
RANGES = ("", "bytes=0-3", "bytes=-2", "bytes=5-", "bytes=900-", "bytes=2-1", "bytes=x")
_RANGE = re.compile(r"bytes=(\d*)-(\d*)\Z")


class FileAnswer(NamedTuple):
    """What a server says of a file: a status, some headers, and the bytes of a ``GET``."""

    status: int
    headers: Mapping[str, str]
    content: bytes


def shown_ids(feeds: Sequence[Feed]) -> list[str]:
    """Return the names of all files that a grant shows."""
    return [held["blob_id"] for held in _references(feeds)]


def _references(feeds: Sequence[Feed]) -> list[dict[str, Any]]:
    """Return what shown records hold of files: by stream, by field, then by their numbers."""
    return [
        held
        for feed in feeds
        for name in sorted(feed.kinds, key=list(feed.declared["properties"]).index)
        if feed.kinds[name] == BLOB
        for row in sorted(feed.rows, key=lambda row: row.order)
        if (held := row.data.get(name)) is not None
    ]


def file_answer(feeds: Sequence[Feed], blob_id: str, asked: str) -> FileAnswer:
    """Return the answer to a request for a file, or a range of it."""
    held = next((one for one in _references(feeds) if one["blob_id"] == blob_id), None)
    if held is None:
        return FileAnswer(404, {}, b"")
    content = CONTENT[blob_id]
    headers = {"content-type": held["mime_type"], "etag": f'"{blob_id}"', "accept-ranges": "bytes"}
    start, end = _span(asked, len(content))
    if asked and start >= end and _RANGE.match(asked):
        return FileAnswer(416, {"content-range": f"bytes */{len(content)}"}, b"")
    headers["content-length"] = str(end - start)
    if (start, end) == (0, len(content)):
        return FileAnswer(200, headers, content)
    headers["content-range"] = f"bytes {start}-{end - 1}/{len(content)}"
    return FileAnswer(206, headers, content[start:end])


def _span(asked: str, size: int) -> tuple[int, int]:
    match = _RANGE.match(asked)
    if match is None:
        return 0, size
    first, last = match.groups()
    if not first:
        return max(0, size - int(last)), size
    return int(first), min(int(last) + 1, size) if last else size
