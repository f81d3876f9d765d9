"""MiniLM: the published weights of all-MiniLM-L6-v2, rebuilt once with one byte for each number.

Six layers of a transformer with 384 numbers for each piece. The matrices are kept as signed bytes
with one scale for each column, and inputs become bytes as they come: a quarter of the memory, and
faster where a processor multiplies bytes.
"""

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pdpp.meaning import onnx

WIDTH = 384
LAYERS = 6
HEADS = 12
_EPSILON = 1e-12
_LARGEST = 127

Array = NDArray[Any]


def read_safetensors(data: bytes) -> dict[str, Array]:
    """Return the arrays of a file of weights."""
    length = int.from_bytes(data[:8], "little")
    head = json.loads(data[8 : 8 + length])
    body = memoryview(data)[8 + length :]
    return {
        name: np.frombuffer(body[slice(*item["data_offsets"])], "<f4").reshape(item["shape"])
        for name, item in head.items()
        if name != "__metadata__" and item["dtype"] == "F32"
    }


class _Graph:
    """Collects the operations and constants of the model."""

    def __init__(self, weights: Mapping[str, Array]) -> None:
        self._weights = weights
        self.nodes: list[bytes] = []
        self.constants: list[bytes] = []
        self._count = 0

    def op(self, op: str, *inputs: str, outputs: int = 1, **attributes: Any) -> str:
        """Add an operation; return the name of its first output, others end in ``.1`` and so on."""
        self._count += 1
        name = f"v{self._count}"
        names = [name, *(f"{name}.{more}" for more in range(1, outputs))]
        self.nodes.append(onnx.node(op, inputs, names, **attributes))
        return name

    def constant(self, value: Array) -> str:
        """Add a constant."""
        self._count += 1
        self.constants.append(onnx.tensor(f"c{self._count}", value))
        return f"c{self._count}"

    def weight(self, name: str) -> str:
        """Add a constant of the weights as it is."""
        return self.constant(self._weights[name].astype(np.float32))

    def norm(self, value: str, name: str) -> str:
        """Add the normalisation that follows each step."""
        scale, bias = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        return self.op("LayerNormalization", value, scale, bias, axis=-1, epsilon=_EPSILON)

    def linear(self, value: str, name: str) -> str:
        """Add a multiplication by a matrix of bytes."""
        matrix = self._weights[f"{name}.weight"].T
        scale = np.maximum(np.abs(matrix).max(axis=0), 1e-9) / _LARGEST
        bytes_ = self.constant(np.rint(matrix / scale).astype(np.int8))
        quantised = self.op("DynamicQuantizeLinear", value, outputs=3)
        product = self.op("MatMulInteger", quantised, bytes_, f"{quantised}.2")
        scales = self.op("Mul", f"{quantised}.1", self.constant(scale.astype(np.float32)))
        floats = self.op("Mul", self.op("Cast", product, to=1), scales)
        return self.op("Add", floats, self.weight(f"{name}.bias"))

    def embedded(self) -> str:
        """Add the first step: the vectors of pieces and places."""
        table = self._weights["embeddings.word_embeddings.weight"]
        scale = np.maximum(np.abs(table).max(axis=1, keepdims=True), 1e-9) / _LARGEST
        bytes_ = self.constant(np.rint(table / scale).astype(np.int8))
        pieces = self.op("Cast", self.op("Gather", bytes_, "pieces"), to=1)
        scales = self.op("Gather", self.constant(scale.astype(np.float32)), "pieces")
        types = self._weights["embeddings.token_type_embeddings.weight"][0]
        places = self._weights["embeddings.position_embeddings.weight"] + types
        places_ = self.op("Gather", self.constant(places.astype(np.float32)), "places")
        joined = self.op("Add", self.op("Mul", pieces, scales), places_)
        return self.norm(joined, "embeddings.LayerNorm")

    def heads(self, value: str, order: tuple[int, ...]) -> str:
        """Add the split of a value into its heads."""
        shape = self.constant(np.array([0, 0, HEADS, WIDTH // HEADS], dtype=np.int64))
        return self.op("Transpose", self.op("Reshape", value, shape), perm=order)

    def layer(self, value: str, name: str, hidden: str) -> str:
        """Add one layer: attention, then two matrices."""
        own = f"{name}.attention.self"
        query = self.heads(self.linear(value, f"{own}.query"), (0, 2, 1, 3))
        key = self.heads(self.linear(value, f"{own}.key"), (0, 2, 3, 1))
        content = self.heads(self.linear(value, f"{own}.value"), (0, 2, 1, 3))
        root = self.constant(np.array(1 / math.sqrt(WIDTH // HEADS), dtype=np.float32))
        scores = self.op("Mul", self.op("MatMul", query, key), root)
        weights = self.op("Softmax", self.op("Add", scores, hidden), axis=-1)
        mixed = self.op("Transpose", self.op("MatMul", weights, content), perm=(0, 2, 1, 3))
        joined = self.op("Reshape", mixed, self.constant(np.array([0, 0, WIDTH], dtype=np.int64)))
        attended = self.linear(joined, f"{name}.attention.output.dense")
        value = self.norm(self.op("Add", attended, value), f"{name}.attention.output.LayerNorm")
        inner = self._gelu(self.linear(value, f"{name}.intermediate.dense"))
        outer = self.op("Add", self.linear(inner, f"{name}.output.dense"), value)
        return self.norm(outer, f"{name}.output.LayerNorm")

    def _gelu(self, value: str) -> str:
        root, one, half = (
            self.constant(np.array(number, dtype=np.float32)) for number in (math.sqrt(2), 1, 0.5)
        )
        erf = self.op("Add", self.op("Erf", self.op("Div", value, root)), one)
        return self.op("Mul", self.op("Mul", value, erf), half)


def build(weights: Mapping[str, Array]) -> bytes:
    """Return the model as an ONNX file that takes pieces, places and which of them are hidden."""
    graph = _Graph(weights)
    value = graph.embedded()
    for number in range(LAYERS):
        value = graph.layer(value, f"encoder.layer.{number}", "hidden")
    graph.nodes.append(onnx.node("Identity", [value], ["vectors"]))
    inputs: list[onnx.Argument] = [
        ("pieces", "int64", ("texts", "length")),
        ("places", "int64", ("length",)),
        ("hidden", "float32", ("texts", 1, 1, "length")),
    ]
    outputs: list[onnx.Argument] = [("vectors", "float32", ("texts", "length", WIDTH))]
    return onnx.model(graph.nodes, graph.constants, inputs, outputs)
