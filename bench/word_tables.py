"""Make the packed word tables of ``pdpp/evidence/language/data`` from public word frequencies.

Run once when the analyser changes: ``python -m bench.word_tables RELATED``, where RELATED is a file
of related English stems (JSON, xz). Needs the package ``wordfreq`` (data: CC BY-SA 4.0), which is
no dependency of the server.
"""

import json
import lzma
import math
import sys
from collections import defaultdict
from pathlib import Path

from pdpp.evidence.language.stems import ALGORITHMS, stems_of
from pdpp.evidence.language.terms import pieces

TARGET = Path("src/pdpp/evidence/language/data")
_NAMES = """
    ar ca cs da de el en es fa fi fr he hi hu id it ja ko lt nb nl pl pt ro ru sr sv ta tr uk vi zh
"""
LANGUAGES = _NAMES.split()
COMMON = 200
LARGEST = 25_000
UNSPACED = frozenset({"ja", "ko", "zh"})


def main(related: str) -> None:
    """Write one table of frequencies for each language, the common words, and the related stems."""
    from wordfreq import get_frequency_dict  # type: ignore[import-not-found, unused-ignore]

    TARGET.mkdir(parents=True, exist_ok=True)
    common: dict[str, list[str]] = {}
    for language in LANGUAGES:
        words: dict[str, float] = get_frequency_dict(language, "small")
        folded = [piece for word in list(words)[:400] if len(piece := " ".join(pieces(word))) > 0]
        if language not in UNSPACED:
            common[language] = [word for word in dict.fromkeys(folded) if " " not in word][:COMMON]
        _write(f"frequency-{language}", "\n".join(_lines(_frequencies(language, words))))
    _write("common", json.dumps(common, ensure_ascii=False, separators=(",", ":")))
    with lzma.open(related, "rt") as file:
        pairs: dict[str, list[tuple[str, float]]] = json.load(file)
    lines = (
        " ".join([stem, *(f"{other}:{round(100 * cosine)}" for other, cosine in others)])
        for stem, others in sorted(pairs.items())
    )
    _write("related-en", "\n".join(lines))


def _frequencies(language: str, words: dict[str, float]) -> dict[str, float]:
    stem = stems_of(language if language in ALGORITHMS else None)
    totals: dict[str, float] = defaultdict(float)
    for word, frequency in words.items():
        for piece in pieces(word):
            totals[stem[piece]] += frequency
    best = sorted(totals.items(), key=lambda item: (-item[1], item[0]))[:LARGEST]
    return dict(best)


def _lines(frequencies: dict[str, float]) -> list[str]:
    """Return stems by how rare they are, in hundredths of a power of ten, a line for each step."""
    steps: dict[int, list[str]] = defaultdict(list)
    for stem, frequency in frequencies.items():
        steps[round(-100 * math.log10(frequency))].append(stem)
    return [f"{step} {' '.join(sorted(stems))}" for step, stems in sorted(steps.items())]


def _write(name: str, text: str) -> None:
    packed = lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME)
    (TARGET / f"{name}.xz").write_bytes(packed)
    print(name, len(text), len(packed))


if __name__ == "__main__":
    main(sys.argv[1])
