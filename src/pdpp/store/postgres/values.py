"""Values as PostgreSQL takes them in its binary form: each with the number of its type."""

import struct
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from pdpp.store.tables.records.predicate import OwnerId

BOOL, BYTEA, INT8, TEXT, FLOAT8 = 16, 17, 20, 25, 701
TEXTS = frozenset({TEXT, 1043})
"""The types of texts, of a bounded length too."""
BYTEA_ARRAY, TEXT_ARRAY, INT8_ARRAY = 1001, 1009, 1016
_ITEM = {BYTEA_ARRAY: BYTEA, TEXT_ARRAY: TEXT, INT8_ARRAY: INT8}

_ESCAPE = "\U0010ffff"
_int8 = struct.Struct(">q")
_float8 = struct.Struct(">d")
_length = struct.Struct(">i")
_header = struct.Struct(">iiiii")
NOTHING = b"{}"
"""An array without items, of any kind; it is sent as a text."""
_NULL = _length.pack(-1)
_INT8_BYTES = 8
_INT8_LENGTH = _length.pack(_INT8_BYTES)


class Packed(NamedTuple):
    """A value that is in its binary form already."""

    data: bytes
    type: int


def escaped(text: str) -> str:
    """Return a text without NULs, of which PostgreSQL knows none: each is two other characters."""
    if "\0" in text or _ESCAPE in text:
        return text.replace(_ESCAPE, f"{_ESCAPE}1").replace("\0", f"{_ESCAPE}0")
    return text


def unescaped(text: str) -> str:
    """Return a text as it was before it was written."""
    if _ESCAPE in text:
        return text.replace(f"{_ESCAPE}0", "\0").replace(f"{_ESCAPE}1", _ESCAPE)
    return text


def with_texts(rows: list[Any], columns: Sequence[int]) -> list[Any]:
    """Return rows with the texts of some columns as they were before they were written.

    Nearly none was written otherwise: to look for those costs a twentieth of reading each text here
    and not in the compiled part of the driver.
    """
    if not any(_ESCAPE in (row[at] or "") for at in columns for row in rows):
        return rows
    return [
        tuple(
            unescaped(value) if at in columns and value is not None else value
            for at, value in enumerate(row)
        )
        for row in rows
    ]


def dumped(values: Iterable[Any], owner: int | None) -> tuple[list[Any], tuple[int, ...]]:
    """Return values as they are sent, and their types; 0 is of what type the statement takes it.

    ``owner`` stands wherever the one owner of a session is meant.
    """
    data: list[Any] = []
    types: list[int] = []
    for value in values:
        kind = type(value)
        if kind is int:
            data.append(_int8.pack(value))
            types.append(INT8)
        elif kind is str:
            data.append(escaped(value).encode())
            types.append(TEXT)
        elif kind is OwnerId:
            data.append(_int8.pack(owner))
            types.append(INT8)
        elif value is None:
            data.append(None)
            types.append(0)
        else:
            packed = _packed(value)
            data.append(packed.data)
            types.append(packed.type)
    return data, tuple(types)


def _packed(value: Any) -> Packed:
    """Return a value of one of the rarer kinds."""
    if isinstance(value, Packed):
        return value
    if isinstance(value, bytes | bytearray | memoryview):
        return Packed(bytes(value), BYTEA)
    if isinstance(value, bool):
        return Packed(b"\x01" if value else b"\x00", BOOL)
    if isinstance(value, float):
        return Packed(_float8.pack(value), FLOAT8)
    if isinstance(value, int):
        return Packed(_int8.pack(value), INT8)
    if isinstance(value, str):
        return Packed(escaped(value).encode(), TEXT)
    # What numpy holds it gives as a list or a number; it is not loaded here for its name.
    return _packed(value.tolist()) if hasattr(value, "tolist") else array(value)


def _numbers(values: Sequence[int]) -> Packed:
    """Return whole numbers as an array, packed in one go."""
    count = len(values)
    items = [_INT8_BYTES] * (2 * count)
    items[1::2] = values
    return Packed(_head(count, INT8) + struct.pack(f">{'iq' * count}", *items), INT8_ARRAY)


def array(values: Sequence[Any]) -> Packed:
    """Return values of one kind as an array."""
    if not values:
        return Packed(NOTHING, 0)
    first = next((value for value in values if value is not None), None)
    if isinstance(first, str):
        return array_of(values, TEXT)
    if isinstance(first, bytes):
        return array_of(values, BYTEA)
    return array_of(values, INT8)


def array_of(values: Sequence[Any], type_: int) -> Packed:
    """Return values of a kind as an array; None stays what it is."""
    if not values:
        return Packed(NOTHING, 0)
    if None in values:
        items = _with_nothing(values, type_)
    elif type_ == INT8:
        return _numbers(values)
    else:
        # Thousands of values, and hardly a step of the interpreter for each.
        data = _texts(values) if type_ == TEXT else values
        items = [b""] * (2 * len(data))
        items[::2] = map(_length.pack, map(len, data))
        items[1::2] = data
    packed = b"".join((_head(len(values), type_), *items))
    return Packed(packed, next(of for of, item in _ITEM.items() if item == type_))


def _texts(values: Sequence[str]) -> list[bytes]:
    every = "".join(values)
    if "\0" in every or _ESCAPE in every:
        values = [escaped(value) for value in values]
    return [value.encode() for value in values]


def _with_nothing(values: Sequence[Any], type_: int) -> list[bytes]:
    """Return the items of an array, some of which are None."""
    items: list[bytes] = []
    for value in values:
        if value is None:
            items.append(_NULL)
        elif type_ == INT8:
            items.append(_INT8_LENGTH + _int8.pack(value))
        else:
            data = escaped(value).encode() if type_ == TEXT else value
            items += (_length.pack(len(data)), data)
    return items


def _head(count: int, type_: int) -> bytes:
    """Return the head of an array: dimensions, whether some items are NULL, type, size, start."""
    return _header.pack(1, 1, type_, count, 1)
