"""CSV tables: found out, not assumed: the encoding, the delimiter, and where the header stands."""

import csv
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import dropwhile, takewhile
from typing import NamedTuple

from pdpp.model.errors import DamagedFile
from pdpp.sources.item import Skipped
from pdpp.sources.reading.textfile import WESTERN, DecodedLine, encoding_of, text_lines
from pdpp.sources.reading.tree import FileEntry

HeaderTest = Callable[[tuple[str, ...]], bool]
CellTest = Callable[[str], bool]
_DELIMITERS = ",;\t|"
_SAMPLE_LINES = 60
_MOST_COLUMNS = 1_000
_MOST_LINES_A_ROW = 2_000
_MOST_SAMPLE_CHARS = 1 << 21
"""A header and the rows below it are shorter. Of other files the first line may be all there is."""
_LONGEST_ROW = 16 << 20
"""In letters, as many as a line of a log has bytes: the module takes four bytes for each, and as
much again where a cell grows."""
# Left to itself the module refuses a cell of more than 128 KiB, as a long message or note is.
csv.field_size_limit(_LONGEST_ROW)
_WORDS = {
    "cp1250": ("kwota", "waluta", "částka", "měna", "účet", "összeg", "dátum"),
    "cp1251": ("дата", "сумма"),
    "cp1253": ("ημερομηνία",),
    "cp1255": ("תאריך",),
    "cp1256": ("تاريخ",),
    "cp874": ("วันที่",),
    "cp932": ("取引", "残高", "金額", "年月日", "日付"),
    "gb18030": ("交易", "金额", "日期"),
}
"""Words that tables of some languages have, and that other bytes do not spell by chance."""
_NUMBER = "#"
"""What a column with the numbers of the rows may be called."""
_LABELLED = re.compile(r".*\S ?: \S.*", re.DOTALL)
"""What a name with its value looks like, as banks write them above a table."""
_SEPARATOR = re.compile("sep=.?", re.IGNORECASE)
"""The line that tells a spreadsheet what divides the cells."""
_REPEATS = 4
"""Of so many names of columns one may stand there before."""


@dataclass(frozen=True, slots=True)
class CsvTable:
    """How a file of rows is written; ``header_line`` is the line its column names stand in.

    Rows end before ``end_line``, if there is one: below it stands another table. ``title`` is what
    such another table is called above its header.
    """

    encoding: str
    delimiter: str
    header_line: int
    header: tuple[str, ...]
    quote: str = '"'
    end_line: int | None = None
    title: str = ""


class Row(NamedTuple):
    """One row below the header; ``line`` is where it ends."""

    line: int
    cells: tuple[str, ...]


def find_table(entry: FileEntry) -> CsvTable | None:
    """Return how a file is written, or None where it is no table with a header."""
    encoding = _encoding(entry.head())
    sample = _sample(entry, encoding)
    # No encoding of ours fits, so that this is some binary file.
    if any("\ufffd" in line for line in sample):
        return None
    best: CsvTable | None = None
    best_score = 0
    for delimiter in _DELIMITERS:
        header = _header(sample, delimiter)
        if header is not None and header.score > best_score:
            best = CsvTable(encoding, delimiter, header.line, header.cells)
            best_score = header.score
    return best


def _encoding(head: bytes) -> str:
    """Return the encoding of a table; where it is not UTF-8, words of the header tell it."""
    found = encoding_of(head)
    if found == WESTERN:
        for encoding, words in _WORDS.items():
            text = head.decode(encoding, "replace").casefold()
            if any(word in text for word in words):
                return encoding
    return found


def _first(lines: Iterable[DecodedLine], count: int) -> Iterator[DecodedLine]:
    for line, _ in zip(lines, range(count), strict=False):
        yield line


def _sample(entry: FileEntry, encoding: str) -> list[str]:
    """Return the first lines of a file, those empty that are longer than a table begins with."""
    sample: list[str] = []
    left = _MOST_SAMPLE_CHARS
    for line in _first(text_lines(entry, encoding), _SAMPLE_LINES):
        text = line.text if len(line.text) <= left else ""
        left -= len(text)
        sample.append(text)
    return sample


def find_named_table(entry: FileEntry, is_header: HeaderTest) -> CsvTable | None:
    """Return the table below the first row that is a header by its names.

    Of a statement with few rows their width tells nothing: more lines may stand above them.
    """
    encoding = _encoding(entry.head())
    sample = _sample(entry, encoding)
    for delimiter in _DELIMITERS:
        for line, cells in _sample_rows(sample, delimiter):
            names = _unlike(tuple(cell.strip() for cell in cells))
            if _names_columns(names) and is_header(names):
                return CsvTable(encoding, delimiter, line, names)
    return None


def tables_of(
    entry: FileEntry, table: CsvTable, is_header: HeaderTest, is_day: CellTest
) -> list[CsvTable]:
    """Return a table and those below it in the same file, each under a header of its own.

    The first line below a gap, after the last row with a day, is the title of the next table.
    """
    lines = text_lines(entry, table.encoding)
    feeder = _Feeder(line for line in lines if line.number > table.header_line)
    reader = csv.reader(iter(feeder), delimiter=table.delimiter, quotechar=table.quote)
    found = [table]
    title, title_line, below_gap = "", 0, False
    with suppress(csv.Error, DamagedFile):
        for cells in reader:
            feeder.begin_row()
            names = tuple(cell.strip() for cell in cells)
            line = table.header_line + reader.line_num + len(feeder.too_long)
            if not any(names):
                below_gap = True
            elif any(map(is_day, names)):
                title, title_line, below_gap = "", 0, False
            elif _names_columns(names) and (
                (own := _unlike(names)) == table.header or is_header(own)
            ):
                found[-1] = replace(found[-1], end_line=title_line or line)
                found.append(replace(table, header_line=line, header=own, title=title))
                title, title_line, below_gap = "", 0, False
            elif below_gap and not title:
                title, title_line = names[0], line
    return found


class _Header(NamedTuple):
    score: int
    line: int
    cells: tuple[str, ...]


def _header(sample: list[str], delimiter: str) -> _Header | None:
    """Return the first row as wide as most rows are, if it names columns."""
    rows = _sample_rows(sample, delimiter)
    widths = [len(cells) for _, cells in rows if len(cells) > 1]
    if not widths:
        return None
    width = _width(widths)
    count = widths.count(width)
    # Some programs put a delimiter behind the last cell of each row, and none behind the header.
    open_ended = all(not cells[-1].strip() for _, cells in rows if len(cells) == width)
    fitting = (width, width - 1) if open_ended else (width,)
    first = next(at for at, (_, cells) in enumerate(rows) if len(cells) == width)
    if open_ended:  # What is told above the table may have names over it too.
        above = [at for at in range(first) if _is_header(rows[at][1], width - 1)]
        rows = rows[max(above, default=0) :]
    for line, cells in rows:
        names = tuple(cell.strip() for cell in cells)
        if len(names) in fitting and len(names) > 1 and _names_columns(names):
            # The delimiter that gives most rows the same width wins, then the one that gives more
            # columns; there are never more than a thousand.
            score = 1 if _is_miscut(names) else count * 1_000 + width
            return _Header(score, line, _unlike(names))
    # Some programs leave out what is empty at the end of each row.
    line, cells = rows[first - 1] if first and not open_ended else (0, [])
    names = tuple(cell.strip() for cell in cells)
    longer = len(names) > width > 2 and _names_columns(names)
    return _Header(count * 1_000 + width, line, _unlike(names)) if longer else None


def _is_miscut(names: tuple[str, ...]) -> bool:
    """Tell whether a row was cut at something else: a comma inside quotes, or one of a decimal."""
    inside = max(sum(name.count(other) for name in names) for other in _DELIMITERS)
    return inside >= len(names) or any('"' in name for name in names)


def _is_header(cells: Sequence[str], width: int) -> bool:
    return len(cells) == width and _names_columns(tuple(cell.strip() for cell in cells))


def _width(widths: Sequence[int]) -> int:
    """Return how wide the rows of a table are, of which others may stand before and after.

    A bank may put more lines before the header than a short statement has below it.
    """
    most = _most_common(widths)
    later = _most_common(widths[len(widths) // 2 :])
    last_most = len(widths) - 1 - widths[::-1].index(most)
    below = later > most and last_most < widths.index(later) and widths.count(later) > 1
    return later if below else most


def _most_common(widths: Sequence[int]) -> int:
    return max(Counter(widths).items(), key=lambda pair: (pair[1], pair[0]))[0]


def _sample_rows(sample: list[str], delimiter: str) -> list[tuple[int, list[str]]]:
    reader = csv.reader((f"{line}\n" for line in sample), delimiter=delimiter)
    rows: list[tuple[int, list[str]]] = []
    try:
        for cells in reader:
            rows.append((reader.line_num, cells))  # noqa: PERF401 - the line belongs to the row
    except csv.Error:
        return rows
    return rows


def _names_columns(names: tuple[str, ...]) -> bool:
    named = [name for name in names if name]
    worded = [name for name in named if name == _NUMBER or any(letter.isalpha() for letter in name)]
    # A name may come again, such as that of the currency behind each of two amounts.
    repeats = len(named) - len({name.casefold() for name in named})
    unlike = repeats <= len(named) // _REPEATS and len(named) <= _MOST_COLUMNS
    labelled = all(map(_LABELLED.fullmatch, named))
    return unlike and not labelled and len(named) > len(names) // 2 and len(worded) == len(named)


def _unlike(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return names of columns of which each is there once: the second gets a number."""
    counts: Counter[str] = Counter()
    unlike: list[str] = []
    for name in names:
        counts[name.casefold()] += 1
        number = counts[name.casefold()]
        unlike.append(f"{name} ({number})" if name and number > 1 else name)
    return tuple(unlike)


def lines_above(entry: FileEntry, table: CsvTable) -> Iterator[int]:
    """Yield the lines with words that stand above the header, of which none is a row."""
    lines = _first(text_lines(entry, table.encoding), table.header_line)
    above = _sample_rows([line.text for line in lines], table.delimiter)[:-1]
    for line, cells in above:
        if any(cell.strip() for cell in cells) and not _SEPARATOR.fullmatch("".join(cells)):
            yield line


@dataclass(slots=True)
class _Feeder:
    """Gives a CSV reader lines, and ends a row that never closes its quotes.

    ``row`` are the lines of the row that is being read, of so many letters in all as ``length``
    tells; ``left`` is the line after them.
    """

    lines: Iterator[DecodedLine]
    row: list[DecodedLine] = field(default_factory=list)
    length: int = 0
    too_long: list[int] = field(default_factory=list)
    left: DecodedLine | None = None

    def __iter__(self) -> Iterator[str]:
        self.left = next(self.lines, None)
        while (line := self.left) is not None:
            self.left = next(self.lines, None)
            self.row.append(line)
            self.length += 0 if line.too_long else len(line.text)
            if len(self.row) > _MOST_LINES_A_ROW or self.length > _LONGEST_ROW:
                raise DamagedFile(f"a row that does not end, near line {line.number:,}")
            if line.too_long:
                self.too_long.append(line.number)
                continue
            yield f"{line.text}\n"

    def begin_row(self) -> None:
        """Forget the lines of the row before."""
        self.row.clear()
        self.length = 0


def rows_of(
    entry: FileEntry, tables: Sequence[CsvTable]
) -> Iterator[tuple[CsvTable, Row | Skipped]]:
    """Yield the rows of tables that stand below each other, while the file is read once."""
    lines = text_lines(entry, tables[0].encoding)
    for table in tables:
        yield from ((table, row) for row in rows(entry, table, lines))


def rows(
    entry: FileEntry, table: CsvTable, lines: Iterator[DecodedLine] | None = None
) -> Iterator[Row | Skipped]:
    """Yield the rows below the header; a row that cannot be read is told and passed over.

    ``lines`` are those of the file that were not read yet, if some were.
    """
    lines = text_lines(entry, table.encoding) if lines is None else lines
    end = table.end_line or sys.maxsize
    below = dropwhile(lambda line: line.number <= table.header_line, lines)
    feeder = _Feeder(takewhile(lambda line: line.number < end, below))
    reader = csv.reader(iter(feeder), delimiter=table.delimiter, quotechar=table.quote)
    shortest, open_ended = len(table.header), False
    begun = below_gap = False
    while True:
        line = table.header_line + reader.line_num + len(feeder.too_long)
        feeder.begin_row()
        try:
            cells = next(reader, None)
        except csv.Error:
            yield Skipped("a row that is not CSV", f"{entry.name} after line {line:,}", lost=True)
            continue
        for number in feeder.too_long:
            yield Skipped("a line that is too long", f"{entry.name} line {number:,}", lost=True)
        if cells is None:
            return
        feeder.too_long.clear()
        line = table.header_line + reader.line_num
        blank = not cells or not cells[-1].strip()
        # What stands below an empty line is no row, but a note such as when it was downloaded.
        odd = (len(cells) < shortest and not below_gap) or (blank and not open_ended)
        if feeder.left is None and _is_cut(table, feeder.row, short=odd):
            yield Skipped("a last row that is cut off", f"{entry.name} line {line:,}", cut=True)
        elif any(cell.strip() for cell in cells):
            shortest = min(shortest, len(cells))
            open_ended |= blank
            begun, below_gap = True, False
            yield _row(entry, table, line, cells)
        else:
            below_gap = begun


def _is_cut(table: CsvTable, last: Sequence[DecodedLine], *, short: bool) -> bool:
    """Tell whether the last row of a file breaks off.

    It does where a quote is still open, so that one more line would belong to it; and where it has
    fewer cells than every row before it, or nothing in the last one, as no row before it, and not
    even its line is ended.
    """
    if short and not last[-1].whole:
        return True
    more = [*(f"{line.text}\n" for line in last if not line.too_long), "more\n"]
    try:
        reader = csv.reader(more, delimiter=table.delimiter, quotechar=table.quote)
        return sum(1 for _ in reader) == 1
    except csv.Error:  # The line went into a cell that was full.
        return True


def _row(entry: FileEntry, table: CsvTable, line: int, cells: list[str]) -> Row | Skipped:
    width = len(table.header)
    while len(cells) > width and not cells[-1].strip():
        cells.pop()
    if len(cells) > width:
        words = "a row with more cells than columns"
        return Skipped(words, f"{entry.name} line {line:,}", lost=True)
    return Row(line, tuple(cells) + ("",) * (width - len(cells)))
