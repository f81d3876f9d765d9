"""Pictures: small valid PNG files drawn from two colours, the same bytes on every machine."""

import struct
import zlib

WIDTH = 24
HEIGHT = 16

_SHADES = bytes(range(256)) + bytes(range(WIDTH))
"""Every shade, and the first ones again."""

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_HEADER = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)


def png(sky: bytes, sea: bytes, horizon: int) -> bytes:
    """Return a picture of a sky above the sea; the horizon is the sea's first row."""
    rows = b"".join(b"\0" + _row(sky if y < horizon else sea, y) for y in range(HEIGHT))
    parts = ((b"IHDR", _HEADER), (b"IDAT", _stored(rows)), (b"IEND", b""))
    return _SIGNATURE + b"".join(_chunk(kind, content) for kind, content in parts)


def _row(colour: bytes, y: int) -> bytes:
    row = bytearray(len(colour) * WIDTH)
    for at, part in enumerate(colour):
        first = (part + 3 * y) % 256
        row[at :: len(colour)] = _SHADES[first : first + WIDTH]
    return bytes(row)


def _chunk(kind: bytes, content: bytes) -> bytes:
    check = struct.pack(">I", zlib.crc32(kind + content))
    return struct.pack(">I", len(content)) + kind + content + check


def _stored(content: bytes) -> bytes:
    """Wrap bytes in zlib framing uncompressed, since compressors differ between versions."""
    size = struct.pack("<HH", len(content), len(content) ^ 0xFFFF)
    return b"\x78\x01\x01" + size + content + struct.pack(">I", zlib.adler32(content))
