"""The terminal: sheets fitted to its width, with colour unless the person wants none."""

import os
import sys
from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from pdpp.cli.reading.mark import Piece, lines_of
from pdpp.cli.reading.sheet import Cell, text_of
from pdpp.evidence.fence import CLOSING, OPENING, PREFIX

_STYLES = {
    "": "",
    "mark": "bold black on yellow",
    "id": "cyan",
    "title": "bold",
    "quiet": "dim",
    "command": "green",
}
_NARROWEST = 20


class TerminalSheet:
    """Writes to a terminal; lines fold at its edge, commands stay whole to be copied."""

    def __init__(self) -> None:
        self._console = Console(
            file=sys.stdout,
            color_system=None if os.environ.get("NO_COLOR") else "auto",
            highlight=False,
            markup=False,
            emoji=False,
        )
        self.coloured = self._console.color_system is not None

    @property
    def _width(self) -> int:
        return max(_NARROWEST, self._console.width)

    def line(self, *spans: Cell, indent: int = 0) -> None:
        """Write a line, folded with its indent kept."""
        for folded in self._folded(_styled(spans), self._width - indent):
            self._print(Text(" " * indent) + folded)

    def command(self, what: str, command: str, indent: int = 0) -> None:
        """Write a command to copy; a terminal folds it itself, without a break in it."""
        text = Text(" " * indent)
        text.append(f"{what}: ", _STYLES["quiet"])
        text.append(text_of(command), _STYLES["command"])
        self._print(text)

    def table(self, headings: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
        """Write rows in columns that share the width there is."""
        grid = Table(box=None, pad_edge=False, header_style=_STYLES["quiet"], padding=(0, 2, 0, 0))
        for heading in headings:
            grid.add_column(heading, overflow="fold")
        for row in rows:
            grid.add_row(*(_styled([cell]) for cell in row))
        self._console.print(grid)

    def passage(self, pieces: Sequence[Piece]) -> None:
        """Write a text of a record, each line of the screen behind the mark of a record's text."""
        self._print(Text(OPENING, _STYLES["quiet"]))
        for line in lines_of(pieces):
            text = Text()
            for piece in line:
                text.append(piece.text, _STYLES["mark" if piece.matched else ""])
            text.expand_tabs(4)
            for folded in self._folded(text, self._width - len(PREFIX)):
                self._print(Text.assemble((PREFIX, _STYLES["quiet"]), folded))
        self._print(Text(CLOSING, _STYLES["quiet"]))

    def _folded(self, text: Text, width: int) -> Iterator[Text]:
        yield from text.wrap(self._console, max(_NARROWEST // 2, width)) or [Text()]

    def _print(self, text: Text) -> None:
        self._console.print(text, soft_wrap=True)


def _styled(spans: Sequence[Cell]) -> Text:
    text = Text()
    for span in spans:
        text.append(text_of(span), _STYLES["" if isinstance(span, str) else span.style])
    return text
