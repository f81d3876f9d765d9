"""Wrapping: styled text broken into lines that fit the width of a terminal.

A whole renderer takes longer to import than a read takes to be answered; of rich only the table
of character widths is needed here.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from rich.cells import cell_len, chop_cells

from pdpp.cli.terminal import StyledText

_WORD = re.compile(r"\s*\S+\s*")
_TAB = 4


def wrapped(spans: Sequence[StyledText], width: int, hang: int = 0) -> Iterator[list[StyledText]]:
    """Yield the lines of a text, broken between words, inside one that is too long itself.

    Every line but the first hangs in by so many columns.
    """
    text = "".join(span.text for span in spans)
    edges = [0, *breaks(text, width, hang), len(text)]
    margin = [StyledText(" " * hang)] if hang else []
    for start, end in pairwise(edges):
        stop = end if end == len(text) else start + len(text[start:end].rstrip())
        yield [*(margin if start else []), *_between(spans, start, stop)]


def breaks(text: str, width: int, hang: int = 0) -> Iterator[int]:
    """Yield where a text is broken so that no line is wider than there is room."""
    room, used = width, 0
    for word in _WORD.finditer(text):
        bare = word[0].rstrip()
        length = cell_len(bare)
        if used and used + length > room:
            yield word.start()
            room, used = width - hang, 0
        place = word.start()
        *whole, rest = (length > room and chop_cells(bare, width - hang)) or [bare]
        for part in whole:
            place += len(part)
            yield place
            room, used = width - hang, 0
        used += cell_len(rest) + len(word[0]) - len(bare)


def _between(spans: Sequence[StyledText], start: int, end: int) -> Iterator[StyledText]:
    """Yield the spans between two positions of their joined text."""
    at = 0
    for span in spans:
        part = span.text[max(0, start - at) : max(0, end - at)]
        if part:
            yield StyledText(part, span.style)
        at += len(span.text)


def untabbed(spans: Sequence[StyledText]) -> Iterator[StyledText]:
    """Yield spans with each tab as the spaces that reach the next stop."""
    at = 0
    for span in spans:
        parts = []
        for part in re.split(r"(\t)", span.text):
            parts.append(" " * (_TAB - at % _TAB) if part == "\t" else part)
            at += cell_len(parts[-1])
        yield StyledText("".join(parts), span.style)
