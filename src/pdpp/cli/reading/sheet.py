"""Sheets: what a command shows a person, as lines, tables and passages on whatever there is.

Every text goes through the sheet, and the sheet makes each hidden character visible: nothing that
a record holds reaches a terminal as a command to it.
"""

from collections.abc import Sequence
from typing import Protocol

import click

from pdpp.cli.output import table
from pdpp.cli.reading.mark import Piece
from pdpp.cli.screen import Span as Span
from pdpp.cli.screen import is_terminal
from pdpp.client.result import Excerpt
from pdpp.evidence.fence import fence, quote, visible

Cell = Span | str


class Sheet(Protocol):
    """Where a command writes what a person reads."""

    coloured: bool

    def line(self, *spans: Cell, indent: int = 0, hang: int = 0) -> None:
        """Write a line, folded where it is too long; what is folded hangs in a little more."""
        ...

    def command(self, what: str, command: str, indent: int = 0) -> None:
        """Write a command to copy, never folded."""
        ...

    def table(self, headings: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
        """Write rows in columns."""
        ...

    def passage(self, pieces: Sequence[Piece]) -> None:
        """Write a text of a record as a block whose every line shows that it is one."""
        ...


class PlainSheet:
    """Plain text for a file or another program: nothing folded, nothing coloured."""

    coloured = False

    def line(self, *spans: Cell, indent: int = 0, hang: int = 0) -> None:  # noqa: ARG002 - its form
        """Write a line as it is."""
        click.echo(" " * indent + "".join(text_of(span) for span in spans))

    def command(self, what: str, command: str, indent: int = 0) -> None:
        """Write a command to copy."""
        self.line(f"{what}: {command}", indent=indent)

    def table(self, headings: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
        """Write rows in columns as wide as they are."""
        cells = [[text_of(cell) for cell in row] for row in rows]
        for line in table([[heading.upper() for heading in headings], *cells]):
            click.echo(line)

    def passage(self, pieces: Sequence[Piece]) -> None:
        """Write the text between fences."""
        click.echo(fence("".join(piece.text for piece in pieces)))


def text_of(cell: Cell) -> str:
    """Return what is shown of a text: one line, with nothing hidden in it."""
    return visible(cell if isinstance(cell, str) else cell.text, lines=False)


def sheet() -> Sheet:
    """Return the sheet for where the output goes; only a terminal gets the renderer."""
    if not is_terminal():
        return PlainSheet()
    from pdpp.cli.reading.terminal import TerminalSheet

    return TerminalSheet()


def quoted(part: Excerpt, pieces: Sequence[Piece], *, coloured: bool) -> list[Span]:
    """Return a preview as one quoted line, its matches coloured, else in the server's marks."""
    if not coloured:
        return [Span(quote(part.preview_text))]
    inside = [Span(quote(p.text)[1:-1], "mark" if p.matched else "") for p in pieces]
    return [Span('"'), *inside, Span('"')]
