"""Messages as Outlook saves them, written for the tests of their reader."""

import struct
from collections.abc import Mapping
from typing import Any

END, FREE, TABLE = 0xFFFFFFFE, 0xFFFFFFFF, 0xFFFFFFFD
SECTOR, SMALL, CUTOFF = 512, 64, 4_096

Storage = Mapping[str, Any]
"""Streams as bytes and storages as mappings, by their names."""


def compound_file(root: Storage) -> bytes:
    """Return a compound file with some streams and storages."""
    entries: list[list[Any]] = [["Root Entry", 5, FREE, FREE, FREE, 0, 0]]
    small, large = bytearray(), bytearray()
    small_next: list[int] = []
    large_next: list[int] = []

    def chain(content: bytes, size: int, into: bytearray, following: list[int]) -> int:
        start, count = len(following), max(1, -(-len(content) // size))
        into.extend(content.ljust(count * size, b"\0"))
        following.extend([*range(start + 1, start + count), END])
        return start

    def put(inside: Storage) -> int:
        """Write the entries of a storage as a list, each to the right of the one before."""
        first = FREE
        for name, held in [*inside.items()][::-1]:
            if isinstance(held, bytes):
                places = (
                    (SMALL, small, small_next)
                    if len(held) < CUTOFF
                    else (SECTOR, large, large_next)
                )
                entry = [name, 2, FREE, first, FREE, chain(held, *places), len(held)]
            else:
                entry = [name, 1, FREE, first, put(held), 0, 0]
            entries.append(entry)
            first = len(entries) - 1
        return first

    entries[0][4] = put(root)
    entries[0][5], entries[0][6] = chain(bytes(small), SECTOR, large, large_next), len(small)
    raw_small = b"".join(number.to_bytes(4, "little") for number in small_next)
    small_table = chain(raw_small, SECTOR, large, large_next)
    directory = chain(b"".join(map(_entry, entries)), SECTOR, large, large_next)
    tables = 1
    while (len(large_next) + tables) * 4 > tables * SECTOR:
        tables += 1
    first_table = len(large_next)
    following = [*large_next, *[TABLE] * tables]
    raw = b"".join(number.to_bytes(4, "little") for number in following)
    head = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16)
    head += struct.pack("<5H6x", 0x3E, 3, 0xFFFE, 9, 6)
    counts = (0, tables, directory, 0, CUTOFF, small_table, -(-len(raw_small) // SECTOR), END, 0)
    head += struct.pack("<9I", *counts)
    places = [first_table + number for number in range(tables)]
    head += struct.pack("<109I", *places, *[FREE] * (109 - tables))
    return head + bytes(large) + raw.ljust(tables * SECTOR, b"\xff")


def _entry(entry: list[Any]) -> bytes:
    name, kind, left, right, child, start, size = entry
    wide = f"{name}\0".encode("utf-16-le")
    head = wide.ljust(64, b"\0") + struct.pack("<HBB3I", len(wide), kind, 1, left, right, child)
    return head + bytes(36) + struct.pack("<IQ", start, size)


def properties(head: int, **numbers: tuple[int, int]) -> bytes:
    """Return a list of properties that are numbers, as hexadecimal names with a type and value."""
    listed = [
        struct.pack("<HHIQ", kind, int(name.removeprefix("x"), 16), 6, value)
        for name, (kind, value) in numbers.items()
    ]
    return bytes(head) + b"".join(listed)


def texts(**named: str | bytes) -> dict[str, bytes]:
    """Return properties that are texts, or bytes, by their hexadecimal names."""
    return {
        f"__substg1.0_{name.removeprefix('x')}{'0102' if isinstance(text, bytes) else '001F'}": (
            text if isinstance(text, bytes) else text.encode("utf-16-le")
        )
        for name, text in named.items()
    }
