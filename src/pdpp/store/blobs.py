"""Blobs: files that records refer to, how they are named, and read piece by piece."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple, Protocol

from pdpp.evidence.binary import OCTETS
from pdpp.store.scope import Reach

CHUNK = 1 << 18
MEDIA_TYPE = re.compile(
    r"(?=.{1,200}\Z)[\w.+-]+/[\w.+-]+(?:[ \t]*;[ \t]*[\w.+-]+=[\w.+\"-]+)*\Z", re.ASCII
)
"""It stands in a header of answers: a record must not end that header with a break of its own."""


@dataclass(frozen=True, slots=True)
class Blob:
    """A stored file, named by the sha-256 of its bytes."""

    blob_id: str
    media_type: str
    size_bytes: int


class BlobBatch(Protocol):
    """Files that are received one by one and stored together."""

    def keep(self, source: BinaryIO, media_type: str, limit: int) -> Blob:
        """Receive one file; it is stored when the batch is settled."""
        ...

    def settle(self) -> None:
        """Store them, in this thread or another, all of them or none that a record may name."""
        ...

    def close(self) -> None:
        """Remove what was received and not stored."""
        ...


class BlobUse(NamedTuple):
    """A record that refers to a blob: where it is seen, in which field, as what media type."""

    reach: Reach
    id: str
    field: str
    media_type: str


def media_type_of(reference: object) -> str:
    """Return the media type that a record's own reference to a blob names."""
    named = reference.get("mime_type") if isinstance(reference, dict) else None
    return named if isinstance(named, str) and MEDIA_TYPE.match(named) else OCTETS


def chunks(source: BinaryIO) -> Iterator[bytes]:
    """Yield a stream piece by piece."""
    while chunk := source.read(CHUNK):
        yield chunk
