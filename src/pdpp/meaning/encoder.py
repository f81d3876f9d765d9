"""The encoder: texts to vectors of bytes, in this process, without any network."""

import threading
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pdpp.meaning.wordpiece import WordPiece

MODEL_FILE = "model.onnx"
VOCABULARY_FILE = "vocabulary.txt"
MOST_PIECES = 128
"""Pieces of a text that the model reads; what follows does not count for its meaning."""

_LARGEST = 127
_HIDDEN = -1e4

MODEL_FOLDER = "model"
"""Where a data folder keeps the model."""


class Encoder:
    """Turns texts into vectors whose products say how near two texts are in meaning."""

    def __init__(self, folder: Path) -> None:
        import onnxruntime  # type: ignore[import-not-found, import-untyped, unused-ignore]

        options = onnxruntime.SessionOptions()
        # A search must not take the cores that other requests need.
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False
        self._session: Any = onnxruntime.InferenceSession(
            str(folder / MODEL_FILE), options, providers=["CPUExecutionProvider"]
        )
        self._words = WordPiece((folder / VOCABULARY_FILE).read_text("utf-8").splitlines())

    def encode_one(self, text: str) -> bytes:
        """Return the vector of a text."""
        return self.encode([text])[0]

    def encode(self, texts: Sequence[str]) -> list[bytes]:
        """Return a vector, of signed bytes, for each text."""
        import numpy as np

        ids = [self._words.ids(text, MOST_PIECES) for text in texts]
        length = max(map(len, ids))
        pieces = np.zeros((len(ids), length), dtype=np.int64)
        mask = np.zeros((len(ids), length), dtype=np.float32)
        for at, row in enumerate(ids):
            pieces[at, : len(row)] = row
            mask[at, : len(row)] = 1
        given = {
            "pieces": pieces,
            "places": np.arange(length, dtype=np.int64),
            "hidden": ((1 - mask) * _HIDDEN)[:, None, None, :].astype(np.float32),
        }
        out = self._session.run(None, given)[0]
        pooled = (out * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        pooled /= np.linalg.norm(pooled, axis=1, keepdims=True) + 1e-9
        return [row.tobytes() for row in np.rint(pooled * _LARGEST).astype(np.int8)]


class LazyEncoder:
    """The encoder of a data folder, loaded when it is first needed; there may be none."""

    def __init__(self, data: Path) -> None:
        self._folder = data / MODEL_FOLDER
        self._encoder: Encoder | None = None
        self._lock = threading.Lock()

    @property
    def installed(self) -> bool:
        """Tell whether there is a model and what runs it."""
        there = (self._folder / MODEL_FILE).is_file()
        return there and find_spec("onnxruntime") is not None

    def load(self) -> Encoder | None:
        """Return the encoder, None where no model is installed."""
        with self._lock:
            if self._encoder is None and self.installed:
                self._encoder = Encoder(self._folder)
        return self._encoder
