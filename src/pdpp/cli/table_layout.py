"""Table layout: rows in columns that share the width of a terminal, or one field a line."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from rich.cells import cell_len

from pdpp.cli.terminal import StyledText
from pdpp.cli.wrapping import wrapped

_GAP = 2
_LEGIBLE = 20
"""A word of so many characters is not broken for the sake of a column."""

Row = Sequence[StyledText]


def lay_out(rows: Sequence[Row], width: int) -> Iterator[list[StyledText]]:
    """Yield the lines of a table no wider than there is room; the first row are its headings."""
    columns = list(zip(*rows, strict=True))
    widths = [max(cell_len(cell.text) for cell in column) for column in columns]
    words = list(map(_longest_word, columns))
    for floors in (words, [min(word, _LEGIBLE) for word in words]):
        rooms = shared(widths, floors, width)
        if _total(rooms) <= width:
            for row in rows:
                yield from _in_columns(row, rooms)
            return
    for row in rows[1:]:
        yield from _row_block(rows[0], row, width)


def shared(widths: Sequence[int], floors: Sequence[int], width: int) -> list[int]:
    """Return the widths of columns that fit together, as far as each can do with less.

    If there is too little room, the widest columns shrink, one after the other.
    """
    rooms = list(widths)
    while _total(rooms) > width:
        able = [place for place, room in enumerate(rooms) if room > floors[place]]
        if not able:
            break
        rooms[max(able, key=rooms.__getitem__)] -= 1
    return rooms


def _total(rooms: Sequence[int]) -> int:
    return sum(rooms) + _GAP * (len(rooms) - 1)


def _longest_word(column: Row) -> int:
    return max((cell_len(word) for cell in column for word in cell.text.split()), default=1)


def _in_columns(row: Row, rooms: Sequence[int]) -> Iterator[list[StyledText]]:
    cells = [wrapped([cell], room) for cell, room in zip(row, rooms, strict=True)]
    for lines in zip_longest(*cells, fillvalue=[]):
        yield list(_joined(lines, rooms))


def _joined(cells: Sequence[Row], rooms: Sequence[int]) -> Iterator[StyledText]:
    """Yield the cells of one line, each with the space to the next; none follows the last."""
    space = 0
    for cell, room in zip(cells, rooms, strict=True):
        if cell:
            yield StyledText(" " * space)
            space = 0
        yield from cell
        space += room - sum(cell_len(span.text) for span in cell) + _GAP


def _row_block(headings: Row, row: Row, width: int) -> Iterator[list[StyledText]]:
    """Yield one row as lines: its title, and below it the other cells."""
    yield from wrapped(row[:1], width)
    margin = _GAP + max(cell_len(heading.text) for heading in headings) + _GAP
    for heading, cell in zip(headings[1:], row[1:], strict=True):
        first = StyledText(" " * _GAP + heading.text.ljust(margin - _GAP), heading.style)
        for line in wrapped([cell], max(_GAP, width - margin)):
            if line:
                yield [first, *line]
            first = StyledText(" " * margin)
