"""Marks: a text in pieces, those that matched apart from those that did not."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pdpp.client.result import Excerpt, Span
from pdpp.evidence.fence import PREFIX, fence
from pdpp.evidence.mark import CLOSE, OPEN


class TextPiece(NamedTuple):
    """A stretch of text that matched, or did not."""

    text: str
    matched: bool = False


def pieces_of(text: str, start: int, matches: Sequence[Span]) -> list[TextPiece]:
    """Return a text that begins at ``start`` of its field, cut at the edges of the matches."""
    pieces, at = [], 0
    for first, last in sorted(matches):
        low, high = max(at, first - start), min(len(text), last - start)
        if low < high:
            pieces += [TextPiece(text[at:low]), TextPiece(text[low:high], True)]
            at = high
    return [piece for piece in (*pieces, TextPiece(text[at:])) if piece.text]


def excerpt_pieces(part: Excerpt) -> list[TextPiece]:
    """Return a preview without its marks, cut where they were; as it stands where they are odd."""
    if part.start_chars is None:
        return [TextPiece(part.preview_text)]
    pieces, at, place = [], 0, part.start_chars
    for first, last in part.matches:
        opening = at + first - place
        inside = opening + len(OPEN)
        closing = inside + last - first
        if (
            part.preview_text[opening:inside] != OPEN
            or part.preview_text[closing : closing + len(CLOSE)] != CLOSE
        ):
            return [TextPiece(part.preview_text)]
        pieces += [
            TextPiece(part.preview_text[at:opening]),
            TextPiece(part.preview_text[inside:closing], True),
        ]
        at, place = closing + len(CLOSE), last
    return [piece for piece in (*pieces, TextPiece(part.preview_text[at:])) if piece.text]


def lines_of(pieces: Sequence[TextPiece]) -> Iterator[list[TextPiece]]:
    """Yield the pieces line by line, with every hidden character spelled out as in a fence."""
    line: list[TextPiece] = []
    for piece in pieces:
        first, *others = (part.removeprefix(PREFIX) for part in fence(piece.text).split("\n")[1:-1])
        line.append(TextPiece(first, piece.matched))
        for other in others:
            yield line
            line = [TextPiece(other, piece.matched)]
    yield line
