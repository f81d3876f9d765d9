"""The terminal: sheets fitted to its width, with colour unless the person wants none."""

import os
from collections.abc import Sequence

import click

from pdpp.cli.fold import folded, untabbed
from pdpp.cli.grid import grid
from pdpp.cli.reading.mark import Piece, lines_of
from pdpp.cli.reading.sheet import Cell, text_of
from pdpp.cli.screen import Span, columns
from pdpp.evidence.fence import CLOSING, OPENING, PREFIX

_STYLES = {"mark": "1;30;43", "id": "36", "title": "1", "quiet": "2", "command": "32"}
_NARROWEST = 20


class TerminalSheet:
    """Writes to a terminal; lines fold at its edge, commands stay whole to be copied."""

    def __init__(self) -> None:
        self.coloured = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "unknown"

    @property
    def _width(self) -> int:
        return max(_NARROWEST, columns())

    def line(self, *spans: Cell, indent: int = 0, hang: int = 0) -> None:
        """Write a line, folded with its indent kept."""
        self._fold(list(map(_span, spans)), Span(" " * indent), hang)

    def command(self, what: str, command: str, indent: int = 0) -> None:
        """Write a command to copy; a terminal folds it itself, without a break in it."""
        text = Span(text_of(command), "command")
        self._write([Span(" " * indent), Span(f"{what}: ", "quiet"), text])

    def table(self, headings: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
        """Write rows in columns that share the width there is."""
        heading = [Span(heading, "quiet") for heading in headings]
        for line in grid([heading, *(list(map(_span, row)) for row in rows)], self._width):
            self._write(line)

    def passage(self, pieces: Sequence[Piece]) -> None:
        """Write a text of a record, each line of the screen behind the mark of a record's text."""
        self._write([Span(OPENING, "quiet")])
        for line in lines_of(pieces):
            spans = [Span(piece.text, "mark" if piece.matched else "") for piece in line]
            self._fold(list(untabbed(spans)), Span(PREFIX, "quiet"))
        self._write([Span(CLOSING, "quiet")])

    def _fold(self, spans: Sequence[Span], margin: Span, hang: int = 0) -> None:
        room = max(_NARROWEST // 2, self._width - len(margin.text))
        for line in folded(spans, room, hang):
            self._write([margin, *line])

    def _write(self, spans: Sequence[Span]) -> None:
        click.echo("".join(self._shown(span) for span in spans), color=True)

    def _shown(self, span: Span) -> str:
        if not (self.coloured and span.style and span.text):
            return span.text
        return f"\x1b[{_STYLES[span.style]}m{span.text}\x1b[0m"


def _span(cell: Cell) -> Span:
    return Span(text_of(cell), "" if isinstance(cell, str) else cell.style)
