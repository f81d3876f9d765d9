"""A small embedder: it stands where the model of meaning stands, and what it knows is letters."""

from functools import cache
from pathlib import Path
from zlib import crc32

from pdpp.meaning.encoder import Encoder, LazyEncoder

WIDTH = 16
_LARGEST = 127


class LetterEncoder(Encoder):
    """Gives texts that share letters in a row vectors that are near."""

    def __init__(self) -> None:
        """Load nothing: no model is read."""

    def encode(self, text: str) -> bytes:
        """Return the vector of a text, of signed bytes."""
        return _vector(text)


def _vector(text: str) -> bytes:
    """Return how often each kind of three letters comes, some of them counted against others."""
    counts = [0] * WIDTH
    padded = f" {text.lower()[:400]} "
    for at in range(len(padded) - 2):
        kind = crc32(padded[at : at + 3].encode("utf-8", "surrogatepass"))
        counts[kind % WIDTH] += 1 if kind & 1024 else -1
    length = sum(count * count for count in counts) ** 0.5 or 1.0
    return bytes(round(_LARGEST * count / length) & 0xFF for count in counts)


class InstalledEncoder(LazyEncoder):
    """The embedder as a server finds it installed."""

    def __init__(self) -> None:
        super().__init__(Path())

    @property
    def installed(self) -> bool:
        """Say that there is one."""
        return True

    def load(self) -> Encoder:
        """Return it."""
        return LetterEncoder()


def nearness(question: str, text: str) -> float:
    """Return how near a text is to a question, from 0 to 1."""
    one, other = _numbers(question), _numbers(text)
    product = sum(a * b for a, b in zip(one, other, strict=True))
    return max(0.0, product / _LARGEST**2)


@cache
def _numbers(text: str) -> list[int]:
    return [byte - 256 if byte > _LARGEST else byte for byte in _vector(text)]
