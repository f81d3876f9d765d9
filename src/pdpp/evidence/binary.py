"""Binary values: what is told about content that is never shown as text."""

import base64
import binascii
import hashlib
import re
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

from pdpp.evidence.text import field_text
from pdpp.model.vocabulary import Kind

OCTETS = "application/octet-stream"
MIN_BASE64_CHARS = 1024

_DATA_URI = re.compile(r"data:([^;,\s]*)((?:;[^;,\s]*)*?);base64,", re.IGNORECASE)
# Possessive (``++``): a text of megabytes that is nearly base64 must not be tried again from every
# position.
_ALPHABET = re.compile(r"(?:[A-Za-z0-9+/\r\n]++|[A-Za-z0-9_\-\r\n]++)={0,2}+[\r\n]*+\Z")
_CASES = (re.compile("[A-Z]"), re.compile("[a-z]"), re.compile("[0-9]"))
_MIN_LINE_CHARS = 60
_LOOKED_AT = 8192
_MIN_DISTINCT = 16
_MIN_SHARE = 0.04

_MAGIC = (
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (8, b"WAVE", "audio/wav"),
    (0, b"%PDF-", "application/pdf"),
    (0, b"PK\x03\x04", "application/zip"),
    (0, b"\x1f\x8b\x08", "application/gzip"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"\xff\xfb", "audio/mpeg"),
    (0, b"OggS", "audio/ogg"),
    (4, b"ftyp", "video/mp4"),
)
_TEXT_MEDIA = re.compile(
    r"text/.+|.+\+(?:json|xml|yaml)|application/(?:x-)?(?:csv|ecmascript|graphql|javascript|json"
    r"|jsonlines|ndjson|rtf|sh|sql|toml|www-form-urlencoded|xml|yaml)"
)


class Binary(NamedTuple):
    """The kind, size and name of binary content; a size or hash is None where nobody gave it."""

    media_type: str
    size_bytes: int | None
    sha256: str | None
    blob_id: str | None = None


def is_text_media(media_type: str) -> bool:
    """Tell whether content of a media type is text that may be read as such."""
    bare = media_type.partition(";")[0].strip().lower()
    return _TEXT_MEDIA.fullmatch(bare) is not None


def decoded_text(content: bytes) -> str:
    """Return the text of content that is kept apart; what is no UTF-8 in it is seen to be none."""
    return content.decode("utf-8-sig", "replace")


def sniff(content: bytes) -> str:
    """Return the media type that the first bytes of some content show."""
    kinds = (kind for at, magic, kind in _MAGIC if content[at : at + len(magic)] == magic)
    return next(kinds, OCTETS)


def _of_bytes(content: bytes, media_type: str = "") -> Binary:
    sha256 = hashlib.sha256(content).hexdigest()
    return Binary(media_type or sniff(content), len(content), sha256)


def _of_reference(value: Mapping[str, object]) -> Binary | None:
    blob_id, media = value.get("blob_id"), value.get("mime_type")
    size, sha256 = value.get("size_bytes"), value.get("sha256")
    if not isinstance(blob_id, str) or not {"mime_type", "size_bytes", "sha256"} & value.keys():
        return None
    return Binary(
        media if isinstance(media, str) and media else OCTETS,
        size if isinstance(size, int) else None,
        sha256 if isinstance(sha256, str) else None,
        blob_id,
    )


def _decoded(text: str) -> bytes | None:
    """Return the bytes of base64 or base64url text, or None when it is neither."""
    if not _ALPHABET.match(text):
        return None
    bare = text.replace("\r", "").replace("\n", "")
    if "=" not in bare and ("-" in bare or "_" in bare):
        bare += "=" * (-len(bare) % 4)
    try:
        return base64.b64decode(bare.translate({45: "+", 95: "/"}), validate=True)
    except binascii.Error:
        return None


def _of_data_uri(text: str) -> Binary | None:
    head = _DATA_URI.match(text)
    content = _decoded(text[head.end() :]) if head else None
    if head is None or content is None:
        return None
    return _of_bytes(content, head[1].lower())


def _is_wrapped_evenly(text: str) -> bool:
    """Tell whether the lines of a text are as an encoder breaks them, or there is only one."""
    widths = {len(line) for line in text.rstrip("\r\n").splitlines()[:-1]}
    return not widths or (len(widths) == 1 and min(widths) >= _MIN_LINE_CHARS)


def _case(char: str) -> str:
    return "U" if char.isupper() else "l" if char.islower() else "9"


def _looks_random(text: str) -> bool:
    """Tell whether letter cases follow each other as in encoded bytes and not as in words."""
    # In random base64 upper and lower case follow each other in any order, each pair with about a
    # sixth of all places; in words "lU" and "UU" are rare.
    pairs = Counter(map("".join, pairwise(map(_case, text))))
    enough = _MIN_SHARE * len(text)
    return len(set(text)) >= _MIN_DISTINCT and all(
        pairs[pair] >= enough for pair in ("UU", "Ul", "lU", "ll")
    )


def _of_base64(text: str) -> Binary | None:
    if len(text) < MIN_BASE64_CHARS or not _ALPHABET.match(text) or not _is_wrapped_evenly(text):
        return None
    # A thousand letters without a capital or without a digit are words, or hexadecimal.
    if not all(case.search(text) for case in _CASES):
        return None
    content = _decoded(text)
    if content is None or (sniff(content) == OCTETS and not _looks_random(text[:_LOOKED_AT])):
        return None
    return _of_bytes(content)


def _of_declared(value: object) -> Binary:
    text = field_text(value)
    content = _decoded(text) if isinstance(value, str) else None
    if content is None:
        content = text.encode("utf-8", "surrogatepass")
    return _of_bytes(content)


def describe(value: object, kind: Kind | None = None) -> Binary | None:
    """Return what is told about a value instead of its content, or None when it is not binary."""
    if isinstance(value, Mapping):
        description = _of_reference(value)
    elif isinstance(value, str):
        description = _of_data_uri(value) or _of_base64(value)
    else:
        description = None
    if description is None and kind in (Kind.BINARY, Kind.BLOB) and value is not None:
        return _of_declared(value)
    return description
