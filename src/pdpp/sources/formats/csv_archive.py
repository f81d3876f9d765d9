"""Archives of tables: exports that are a folder of CSV files whose columns are known."""

import csv
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple

from pdpp.sources.item import Finding, Skipped
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
    """One table of an archive: its columns in small letters, what a row is, what reads it."""

    pattern: str
    columns: frozenset[str]
    noun: str
    read: CellReader


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


def read_table(entry: FileEntry, kind: TableKind, table: CsvTable) -> Iterator[Finding]:
    """Yield what the rows of a table hold."""
    empty = True
    for row in rows(entry, table):
        empty = False
        if isinstance(row, Skipped):
            yield row
        else:
            where = f"{entry.name} line {row.line:,}"
            cells = dict(zip(table.header, (cell.strip() for cell in row.cells), strict=True))
            yield from account(kind.read(cells, where), where, kind.noun)
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
    """A source of tables whose columns are known, each whole by itself; none says whose it is."""

    lies_among_others = True

    @abstractmethod
    def kinds(self) -> tuple[TableKind, ...]:
        """Return the tables that are known, with readers that have read nothing yet."""

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | None:  # noqa: ARG002
        """Look for tables by their columns."""
        tables = find_tables(tree, self.kinds())
        if not tables:
            return None
        nouns = ", ".join(sorted({kind.noun for _, kind, _ in tables}))
        return Recognition(Confidence.CERTAIN, nouns, account=self.label, owner_known=False)

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:  # noqa: ARG002
        """Return one part for each table, of which each numbers anew what is equal in it."""
        kinds = self.kinds()
        for entry, kind, table in find_tables(tree, kinds):
            fresh = self.kinds()[kinds.index(kind)]
            yield ExportPart(entry, partial(read_table, entry, fresh, table))
