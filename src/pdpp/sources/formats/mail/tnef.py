"""Outlook's own wrapping: the text and the files inside a ``winmail.dat`` (TNEF)."""

import re
import struct
from collections.abc import Iterator
from typing import NamedTuple

from pdpp.sources.formats.mail.charset import guessed

_SIGNATURE = 0x223E9F78
_HEAD = struct.Struct("<IH")
_ATTRIBUTE = struct.Struct("<BII")
_CHECKSUM_BYTES = 2
_TEXT, _PROPERTIES = 0x800C, 0x9003
_NEW_FILE, _TITLE, _CONTENT, _FILE_PROPERTIES = 0x9002, 0x8010, 0x800F, 0x9005
_LONG_NAME, _PAGE = 0x3707, 0x1013
_TEXT_KIND, _WIDE_KIND, _BINARY_KIND = 0x1E, 0x1F, 0x102


class Unwrapped(NamedTuple):
    """What a message in Outlook's wrapping says, and its files by name."""

    text: str
    page: str
    files: list[tuple[str, bytes]]


def unwrapped(content: bytes) -> Unwrapped:
    """Return what is inside the wrapping; of one that is damaged, as far as it can be read."""
    text, page = "", ""
    files: list[tuple[str, bytes]] = []
    for kind, value in _attributes(content):
        if kind == _TEXT:
            text = guessed(value.rstrip(b"\0"), "")
        elif kind == _PROPERTIES:
            page = guessed(_property(value, _BINARY_KIND, _PAGE), "")
        elif kind == _NEW_FILE:
            files.append((f"file {len(files) + 1}", b""))
        elif files and kind == _TITLE:
            files[-1] = (guessed(value.rstrip(b"\0"), "") or files[-1][0], files[-1][1])
        elif files and kind == _CONTENT:
            files[-1] = (files[-1][0], value)
        elif files and kind == _FILE_PROPERTIES:
            files[-1] = (_long_name(value) or files[-1][0], files[-1][1])
    return Unwrapped(text.replace("\r\n", "\n").strip(), page, files)


def _attributes(content: bytes) -> Iterator[tuple[int, bytes]]:
    if len(content) < _HEAD.size or _HEAD.unpack_from(content)[0] != _SIGNATURE:
        return
    at = _HEAD.size
    while at + _ATTRIBUTE.size <= len(content):
        _, kind, length = _ATTRIBUTE.unpack_from(content, at)
        at += _ATTRIBUTE.size
        yield kind & 0xFFFF, content[at : at + length]
        at += length + _CHECKSUM_BYTES


def _long_name(properties: bytes) -> str:
    wide = _property(properties, _WIDE_KIND, _LONG_NAME)
    if wide:
        return wide.decode("utf-16-le", "replace").rstrip("\0")
    return guessed(_property(properties, _TEXT_KIND, _LONG_NAME).rstrip(b"\0"), "")


def _property(properties: bytes, kind: int, number: int) -> bytes:
    """Return the one value of a property, found by its mark: kind, number and how many."""
    mark = struct.pack("<HHI", kind, number, 1)
    found = re.search(re.escape(mark) + b"(.{4})", properties, re.DOTALL)
    if found is None:
        return b""
    length = int.from_bytes(found.group(1), "little")
    return properties[found.end() : found.end() + length]
