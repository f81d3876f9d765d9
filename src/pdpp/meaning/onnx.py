"""The few messages of an ONNX file that the model is made of, written without a library.

An ONNX file is a protocol buffer: fields with a number and a wire type (0 a whole number, 2 bytes
of a length, 5 a float). The numbers are those of the format's definition.
"""

import struct
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7}
_IR_VERSION = 8
_OPSET = 17
_FLOAT, _INT, _INTS = 1, 2, 7


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes | str) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def tensor(name: str, value: NDArray[Any]) -> bytes:
    """Return an array as a named constant."""
    dims = b"".join(_number(1, size) for size in value.shape)
    kind = _number(2, _TYPES[str(value.dtype)])
    return dims + kind + _bytes(8, name) + _bytes(9, np.ascontiguousarray(value).tobytes())


def node(op: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: Any) -> bytes:
    """Return one operation with its attributes."""
    data = b"".join(_bytes(1, name) for name in inputs)
    data += b"".join(_bytes(2, name) for name in outputs) + _bytes(4, op)
    for name, value in attributes.items():
        data += _bytes(5, _attribute(name, value))
    return data


def _attribute(name: str, value: Any) -> bytes:
    if isinstance(value, float):
        return (
            _bytes(1, name) + _varint(2 << 3 | 5) + struct.pack("<f", value) + _number(20, _FLOAT)
        )
    if isinstance(value, int):
        return _bytes(1, name) + _number(3, value) + _number(20, _INT)
    return _bytes(1, name) + b"".join(_number(8, item) for item in value) + _number(20, _INTS)


def _argument(name: str, kind: str, shape: Sequence[str | int]) -> bytes:
    dims = (_number(1, size) if isinstance(size, int) else _bytes(2, size) for size in shape)
    dimensions = b"".join(_bytes(1, dim) for dim in dims)
    typed = _number(1, _TYPES[kind]) + _bytes(2, dimensions)
    return _bytes(1, name) + _bytes(2, _bytes(1, typed))


Argument = tuple[str, str, Sequence[str | int]]


def model(
    nodes: Iterable[bytes],
    constants: Iterable[bytes],
    inputs: Sequence[Argument],
    outputs: Sequence[Argument],
) -> bytes:
    """Return the bytes of a whole file."""
    graph = b"".join(_bytes(1, item) for item in nodes) + _bytes(2, "model")
    graph += b"".join(_bytes(5, item) for item in constants)
    graph += b"".join(_bytes(11, _argument(*item)) for item in inputs)
    graph += b"".join(_bytes(12, _argument(*item)) for item in outputs)
    opset = _bytes(8, _bytes(1, "") + _number(2, _OPSET))
    return _number(1, _IR_VERSION) + _bytes(7, graph) + opset
