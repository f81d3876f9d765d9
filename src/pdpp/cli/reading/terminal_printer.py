"""The terminal printer: text wrapped to the terminal's width, coloured unless NO_COLOR is set."""

import os
from collections.abc import Sequence

import click

from pdpp.cli.reading.mark import TextPiece, lines_of
from pdpp.cli.reading.printer import Cell, text_of
from pdpp.cli.table_layout import lay_out
from pdpp.cli.terminal import StyledText, columns
from pdpp.cli.wrapping import untabbed, wrapped
from pdpp.evidence.fence import CLOSING, OPENING, PREFIX

_STYLES = {"mark": "1;30;43", "id": "36", "title": "1", "quiet": "2", "command": "32"}
_NARROWEST = 20


class TerminalPrinter:
    """Writes to a terminal; lines wrap at its edge, commands stay whole for copying."""

    def __init__(self) -> None:
        self.coloured = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "unknown"

    @property
    def _width(self) -> int:
        return max(_NARROWEST, columns())

    def line(self, *spans: Cell, indent: int = 0, hang: int = 0) -> None:
        """Write a line, wrapped with its indent kept."""
        self._fold(list(map(_span, spans)), StyledText(" " * indent), hang)

    def command(self, what: str, command: str, indent: int = 0) -> None:
        """Write a command to copy; the terminal wraps it, so copying it adds no line break."""
        text = StyledText(text_of(command), "command")
        self._write([StyledText(" " * indent), StyledText(f"{what}: ", "quiet"), text])

    def table(self, headings: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
        """Write rows in columns that share the width there is."""
        heading = [StyledText(heading, "quiet") for heading in headings]
        for line in lay_out([heading, *(list(map(_span, row)) for row in rows)], self._width):
            self._write(line)

    def passage(self, pieces: Sequence[TextPiece]) -> None:
        """Write a text of a record, each line of the screen behind the mark of a record's text."""
        self._write([StyledText(OPENING, "quiet")])
        for line in lines_of(pieces):
            spans = [StyledText(piece.text, "mark" if piece.matched else "") for piece in line]
            self._fold(list(untabbed(spans)), StyledText(PREFIX, "quiet"))
        self._write([StyledText(CLOSING, "quiet")])

    def _fold(self, spans: Sequence[StyledText], margin: StyledText, hang: int = 0) -> None:
        room = max(_NARROWEST // 2, self._width - len(margin.text))
        for line in wrapped(spans, room, hang):
            self._write([margin, *line])

    def _write(self, spans: Sequence[StyledText]) -> None:
        click.echo("".join(self._styled(span) for span in spans), color=True)

    def _styled(self, span: StyledText) -> str:
        if not (self.coloured and span.style and span.text):
            return span.text
        return f"\x1b[{_STYLES[span.style]}m{span.text}\x1b[0m"


def _span(cell: Cell) -> StyledText:
    return StyledText(text_of(cell), "" if isinstance(cell, str) else cell.style)
