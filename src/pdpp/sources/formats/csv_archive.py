"""Archives of tables: exports that are a folder of CSV files whose columns are known."""

import csv
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple

from pdpp.sources.item import Finding, Skipped
from pdpp.sources.keys import Ordinals
from pdpp.sources.reading.csvtable import CsvTable, rows
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.textfile import encoding_of, text_lines
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import (
    EXPECTED,
    Confidence,
    ExportPart,
    OwnerChoices,
    Recognition,
    Source,
)

_MOST_NOTES = 12
"""So many lines may stand before the names of the columns."""

Cells = Mapping[str, str]
CellReader = Callable[[Cells, str], Iterator[Finding]]
"""Yields what one row holds; it is given the cells by their columns in small letters."""


class TableKind(NamedTuple):
    """One table of an archive: its columns in small letters, what a row is, what reads a table."""

    pattern: str
    columns: frozenset[str]
    noun: str
    new_reader: Callable[[], CellReader]


def plain(read: CellReader) -> Callable[[], CellReader]:
    """Return what makes a reader of rows that are known by themselves."""
    return lambda: read


def numbered(read: Callable[[Ordinals, Cells, str], Iterator[Finding]]) -> Callable[[], CellReader]:
    """Return what makes a reader that numbers equal rows, in each table anew."""
    return lambda: partial(read, Ordinals())


def find_columns(
    entry: FileEntry, wanted: Collection[str], most_notes: int = _MOST_NOTES
) -> CsvTable | None:
    """Return how a table is written that has these columns in one of its first lines."""
    encoding = encoding_of(entry.head())
    for line in text_lines(entry, encoding):
        if line.number > most_notes:
            return None
        try:
            cells = next(csv.reader([line.text]), [])
        except csv.Error:
            return None
        names = tuple(cell.strip().strip("\ufeff").lower() for cell in cells)
        if set(names) >= set(wanted):
            return CsvTable(encoding, ",", line.number, names)
    return None


def find_tables(
    tree: Tree, kinds: Iterable[TableKind]
) -> list[tuple[FileEntry, TableKind, CsvTable]]:
    """Return the tables of an archive that are known."""
    tables: list[tuple[FileEntry, TableKind, CsvTable]] = []
    for kind in kinds:
        for entry in tree.named(kind.pattern):
            table = find_columns(entry, kind.columns)
            if table is not None and not any(entry is other for other, _, _ in tables):
                tables.append((entry, kind, table))
    return tables


def expected_files(kinds: Iterable[TableKind]) -> dict[str, str]:
    """Return the names of known tables: one without its columns is told, not passed over."""
    return dict.fromkeys((kind.pattern for kind in kinds), EXPECTED)


def read_table(entry: FileEntry, table: CsvTable, noun: str, read: CellReader) -> Iterator[Finding]:
    """Yield what the rows of a table hold; ``noun`` is what a row is."""
    empty = True
    for row in rows(entry, table):
        empty = False
        if isinstance(row, Skipped):
            yield row
        else:
            where = f"{entry.name} line {row.line:,}"
            cells = dict(zip(table.header, (cell.strip() for cell in row.cells), strict=True))
            yield from account(read(cells, where), where, noun)
    if empty and not entry.head().endswith((b"\n", b"\r")):
        yield Skipped("a table that ends in its header", entry.name, cut=True)


def utc_text(text: str) -> str | None:
    """Return a time of such a table, which is in UTC unless it says otherwise."""
    try:
        moment = datetime.fromisoformat(text.strip().removesuffix(" UTC"))
    except ValueError:
        return None
    if moment.tzinfo is None:
        return f"{moment.isoformat()}Z"
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


class KnownTables(Source):
    """A source of tables whose columns are known; unless it says more, each is whole by itself."""

    lies_among_others = True
    kinds: tuple[TableKind, ...]
    """The tables that are known. A file is of the first kind that fits it."""

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | None:  # noqa: ARG002
        """Look for tables by their columns."""
        kinds = {kind for _, kind, _ in find_tables(tree, self.kinds)}
        if not any(self.is_telling(kind) for kind in kinds):
            return None
        name = self.owner_name(tree)
        return Recognition(
            Confidence.CERTAIN,
            ", ".join(sorted({kind.noun for kind in kinds})),
            account=f"{self.label} ({name})" if name else self.label,
            identity=name,
            owner_known=bool(name),
        )

    def is_telling(self, kind: TableKind) -> bool:  # noqa: ARG002 - for sources that need it
        """Tell whether others have no such table, so that it alone says whose format it is."""
        return True

    def owner_name(self, tree: Tree) -> str:  # noqa: ARG002 - for sources that know it
        """Return the name of the person whose tables they are, empty where none is said."""
        return ""

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:  # noqa: ARG002
        """Return one part for each table."""
        for entry, kind, table in find_tables(tree, self.kinds):
            read = partial(read_table, entry, table, kind.noun, kind.new_reader())
            yield ExportPart(entry, read)
