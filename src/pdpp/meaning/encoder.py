"""The encoder: texts to vectors of bytes, in this process, without any network."""

import threading
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pdpp.meaning.wordpiece import WordPiece

MODEL_FILE = "model.onnx"
VOCABULARY_FILE = "vocabulary.txt"
MOST_PIECES = 128
"""Pieces of a text that the model reads; what follows does not count for its meaning."""

_LARGEST = 127

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

    def encode(self, text: str) -> bytes:
        """Return the vector of a text, of signed bytes.

        One text at a time: the model rounds numbers by the largest among all that it is given, so
        that in a batch the vector of a text would depend on the others, which may be hidden.
        """
        import numpy as np

        pieces = np.array([self._words.ids(text, MOST_PIECES)], dtype=np.int64)
        length = pieces.shape[1]
        given = {
            "pieces": pieces,
            "places": np.arange(length, dtype=np.int64),
            "hidden": np.zeros((1, 1, 1, length), dtype=np.float32),
        }
        pooled = self._session.run(None, given)[0][0].mean(axis=0)
        pooled /= np.linalg.norm(pooled) + 1e-9
        return bytes(np.rint(pooled * _LARGEST).astype(np.int8))


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
