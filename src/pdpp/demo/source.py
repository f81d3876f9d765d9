"""Sources, batches and blobs: the three shapes the demo data comes in."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

Line = dict[str, Any]

BATCH_LINES = 250


@dataclass(frozen=True, slots=True)
class Source:
    """A source declaration and its connections, as (connection_id, display_name)."""

    declaration: dict[str, Any]
    connections: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Batch:
    """Lines to ingest into one stream of one connection."""

    connection_id: str
    stream: str
    lines: list[Line]


@dataclass(frozen=True, slots=True)
class Blob:
    """Content that records point to; ``blob_id`` is the sha256 of it."""

    blob_id: str
    media_type: str
    content: bytes


def blob(media_type: str, content: bytes) -> Blob:
    """Return content under its content address."""
    return Blob(sha256(content).hexdigest(), media_type, content)


def blob_ref(item: Blob) -> dict[str, Any]:
    """Return what a record's blob field holds."""
    return {
        "blob_id": item.blob_id,
        "mime_type": item.media_type,
        "size_bytes": len(item.content),
        "sha256": item.blob_id,
    }


def line(data: dict[str, Any], emitted_at: str) -> Line:
    """Return one record as an ingest line; its key is its ``id``."""
    return {"key": data["id"], "data": data, "emitted_at": emitted_at}


def batched(connection_id: str, stream: str, lines: list[Line]) -> Iterator[Batch]:
    """Yield lines as batches small enough for one request each."""
    for start in range(0, len(lines), BATCH_LINES):
        yield Batch(connection_id, stream, lines[start : start + BATCH_LINES])
