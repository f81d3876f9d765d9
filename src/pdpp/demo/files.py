"""Read the demo's data files as declarations, record lines and blobs."""

from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from pdpp.demo.picture import png

Line = dict[str, Any]

FOLDER = Path(__file__).parent / "data"
BATCH_LINES = 250

_SOURCES = ("mail", "chat", "notes", "bank", "calendar", "photos", "shop")


@dataclass(frozen=True, slots=True)
class DemoSource:
    """A source declaration and its connections, as (connection_id, display_name)."""

    declaration: dict[str, Any]
    connections: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class DemoBatch:
    """Lines to ingest into one stream of one connection."""

    connection_id: str
    stream: str
    lines: list[Line]


@dataclass(frozen=True, slots=True)
class DemoBlob:
    """Content that records point to; ``blob_id`` is the sha256 of it."""

    blob_id: str
    media_type: str
    content: bytes


def sources() -> tuple[DemoSource, ...]:
    """Return every source with its connections; the caller may change what it gets."""
    documents = (_source(name) for name in _SOURCES)
    return tuple(
        DemoSource(document["declaration"], tuple(document["connections"].items()))
        for document in documents
    )


def batches() -> Iterator[DemoBatch]:
    """Yield every record as lines to ingest, one stream after the other."""
    for name in _SOURCES:
        for path in _source(name)["records"]:
            yield from _stream_batches(name, path)


def blobs() -> Iterator[DemoBlob]:
    """Yield every piece of content that records point to, each once."""
    for item in _json_lines(FOLDER / "blobs.jsonl"):
        content = _content(item)
        yield DemoBlob(sha256(content).hexdigest(), item["media_type"], content)


def _source(name: str) -> dict[str, Any]:
    document: dict[str, Any] = orjson.loads((FOLDER / name / "source.json").read_bytes())
    return document


def _stream_batches(source: str, path: str) -> Iterator[DemoBatch]:
    """Yield one file as batches small enough for one request each.

    A name such as ``messages.later`` is the stream ``messages`` again: later versions of records
    that an earlier file holds, in batches of their own so that they are written after them.
    """
    connection_id, _, file_name = path.partition("/")
    stream = file_name.partition(".")[0]
    lines = [_ingest_line(record) for record in _json_lines(FOLDER / source / f"{path}.jsonl")]
    for start in range(0, len(lines), BATCH_LINES):
        yield DemoBatch(connection_id, stream, lines[start : start + BATCH_LINES])


def _ingest_line(record: dict[str, Any]) -> Line:
    data = record["data"]
    return {"key": data["id"], "data": data, "emitted_at": record["emitted_at"]}


def _content(item: dict[str, Any]) -> bytes:
    if "text" in item:
        return str(item["text"]).encode()
    if "file" in item:
        return FOLDER.joinpath(item["file"]).read_bytes()
    if "latin1" in item:
        return str(item["latin1"]).encode("latin-1")
    if "base64" in item:
        return b64decode(item["base64"])
    picture = item["picture"]
    return png(bytes.fromhex(picture["sky"]), bytes.fromhex(picture["sea"]), picture["horizon"])


def _json_lines(path: Path) -> Iterator[dict[str, Any]]:
    # Splitting on "\n" alone: splitlines() would also cut at characters that text may hold.
    return (orjson.loads(line) for line in path.read_bytes().split(b"\n") if line)
