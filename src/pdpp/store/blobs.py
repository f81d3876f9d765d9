"""Blobs: how files that records refer to are named, and read piece by piece."""

import re
from collections.abc import Iterator
from typing import BinaryIO

from pdpp.evidence.binary import OCTETS

CHUNK = 1 << 18
MEDIA_TYPE = re.compile(
    r"(?=.{1,200}\Z)[\w.+-]+/[\w.+-]+(?:\s*;\s*[\w.+-]+=[\w.+\"-]+)*\Z", re.ASCII
)


def media_type_of(reference: object) -> str:
    """Return the media type that a record's own reference to a blob names."""
    named = reference.get("mime_type") if isinstance(reference, dict) else None
    return named if isinstance(named, str) and MEDIA_TYPE.match(named) else OCTETS


def chunks(source: BinaryIO) -> Iterator[bytes]:
    """Yield a stream piece by piece."""
    while chunk := source.read(CHUNK):
        yield chunk
