"""Printers: lines, tables and passages for a person, on a terminal or in a file.

Every text goes through a printer, which makes each hidden character visible: nothing in a record
reaches a terminal as a control sequence.
"""

from collections.abc import Sequence
from typing import Protocol

import click

from pdpp.cli.output import table
from pdpp.cli.reading.mark import TextPiece
from pdpp.cli.terminal import StyledText as StyledText
from pdpp.cli.terminal import is_terminal
from pdpp.client.result import Excerpt
from pdpp.evidence.fence import fence, quote, visible

Cell = StyledText | str


class Printer(Protocol):
    """Where a command writes what a person reads."""

    coloured: bool

    def line(self, *spans: Cell, indent: int = 0, hang: int = 0) -> None:
        """Write a line, wrapped where it is too long; wrapped lines are indented by ``hang``."""
        ...

    def command(self, what: str, command: str, indent: int = 0) -> None:
        """Write a command to copy, never wrapped."""
        ...

    def table(self, headings: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
        """Write rows in columns."""
        ...

    def passage(self, pieces: Sequence[TextPiece]) -> None:
        """Write a text of a record as a block whose every line shows that it is one."""
        ...


class PlainPrinter:
    """Plain text for a file or another program: nothing wrapped, nothing coloured."""

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

    def passage(self, pieces: Sequence[TextPiece]) -> None:
        """Write the text between fences."""
        click.echo(fence("".join(piece.text for piece in pieces)))


def text_of(cell: Cell) -> str:
    """Return a text as one line without hidden characters."""
    return visible(cell if isinstance(cell, str) else cell.text, lines=False)


def make_printer() -> Printer:
    """Return the printer for a terminal, or for a file or pipe."""
    if not is_terminal():
        return PlainPrinter()
    from pdpp.cli.reading.terminal_printer import TerminalPrinter

    return TerminalPrinter()


def quoted(part: Excerpt, pieces: Sequence[TextPiece], *, coloured: bool) -> list[StyledText]:
    """Return a preview as one quoted line, its matches coloured, else in the server's marks."""
    if not coloured:
        return [StyledText(quote(part.preview_text))]
    inside = [StyledText(quote(p.text)[1:-1], "mark" if p.matched else "") for p in pieces]
    return [StyledText('"'), *inside, StyledText('"')]
