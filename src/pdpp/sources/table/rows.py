"""Rows: the records of a file as names with raw values, whatever the file is written in."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pdpp.sources.item import Skipped
from pdpp.sources.reading.csvtable import CsvTable, Row, find_table, lines_above, rows
from pdpp.sources.reading.jsonlines import JsonLine, events
from pdpp.sources.reading.jsonstream import elements
from pdpp.sources.reading.jsontext import NotJson, read_json
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.table.plan import CSV, JSON, NDJSON

_TOKEN = re.compile(rb'"((?:[^"\\]|\\.)*)"\s*(:?)|([\[{])|([\]}])', re.DOTALL)
_SUFFIXES = frozenset({".csv", ".tsv", ".txt", ".json", ".ndjson", ".jsonl", ""})
_MOST_LOOKED_AT = 300
_MARK = b"\xef\xbb\xbf"


class RawRow(NamedTuple):
    """One record as it stands in the file, and where."""

    where: str
    values: Mapping[str, Any]


class TableLayout(NamedTuple):
    """What a file is written in; ``path`` leads to the records of a JSON document."""

    kind: str
    path: str = ""


def tables(tree: Tree) -> Iterator[tuple[FileEntry, TableLayout]]:
    """Yield the files of a tree that hold records, looking into no more than a few hundred."""
    likely = [entry for entry in tree.entries if entry.suffix in _SUFFIXES and entry.size]
    for entry in likely[:_MOST_LOOKED_AT]:
        layout = layout_of(entry)
        if layout is not None:
            yield entry, layout


def layout_of(entry: FileEntry) -> TableLayout | None:
    """Find out by its beginning what a file is written in."""
    head = entry.head().removeprefix(_MARK).lstrip()
    if head.startswith(b"{") and _holds_lines(entry, head):
        return TableLayout(NDJSON)
    if head[:1] in (b"[", b"{"):
        path = _path_of(head)
        return None if path is None else TableLayout(JSON, path)
    return None if find_table(entry) is None else TableLayout(CSV)


def _holds_lines(entry: FileEntry, head: bytes) -> bool:
    lines = [line for line in head.split(b"\n") if line.strip()]
    if len(lines) == 1 and entry.suffix not in (".ndjson", ".jsonl"):
        return False
    return all(_is_object(line) for line in lines[: max(1, min(3, len(lines) - 1))])


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(read_json(line), dict)
    except NotJson:
        return False


def _path_of(head: bytes) -> str | None:
    """Return the path of the first array of objects, at the top or one member below it."""
    name, depth, before = "", 0, b""
    for token in _TOKEN.finditer(head):
        text, colon, opening, closing = token.groups()
        if opening == b"{" and before == b"[" and depth in (1, 2):
            return "item" if depth == 1 else f"{name}.item"
        if colon and depth == 1:
            name = text.decode("utf-8", "replace")
        depth += bool(opening) - bool(closing)
        before = opening or b""
    return None


def read_rows(entry: FileEntry, layout: TableLayout) -> Iterator[RawRow | Skipped]:
    """Yield the records of a file."""
    if layout.kind == CSV:
        return _csv_rows(entry)
    if layout.kind == NDJSON:
        return _lines(entry)
    return _elements(entry, layout.path)


def _csv_rows(entry: FileEntry) -> Iterator[RawRow | Skipped]:
    table = find_table(entry)
    if table is None:
        yield Skipped("a file that is no table", entry.name, cut=True)
        return
    for line in lines_above(entry, table):
        yield Skipped("a line above the table", f"{entry.name} line {line:,}")
    names = column_names(table)
    nameless = set(names) - set(table.header)
    for row in rows(entry, table):
        if isinstance(row, Row):
            named = zip(names, row.cells, strict=True)
            values = {name: cell for name, cell in named if cell.strip() or name not in nameless}
            yield RawRow(f"{entry.name} line {row.line:,}", values)
        else:
            yield row


def column_names(table: CsvTable) -> tuple[str, ...]:
    """Return the names of the columns; one without a name is called by its number."""
    return tuple(name or f"column {number}" for number, name in enumerate(table.header, 1))


def _lines(entry: FileEntry) -> Iterator[RawRow | Skipped]:
    for event in events(entry):
        yield RawRow(event.where, event.value) if isinstance(event, JsonLine) else event.skipped


def _elements(entry: FileEntry, path: str) -> Iterator[RawRow | Skipped]:
    with entry.open() as stream:
        for element in elements(stream, path, passed_by="a member beside the records"):
            if isinstance(element, Skipped):
                yield element._replace(example=f"{entry.name} {element.example[:60]}")
            elif isinstance(element.value, dict):
                yield RawRow(f"{entry.name} {element.path} {element.number:,}", element.value)
            else:
                yield Skipped(
                    "an element that is not an object", f"{entry.name} {element.number:,}"
                )
