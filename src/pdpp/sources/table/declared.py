"""Declared tables: the plan that a declaration of the owner's own makes for a file."""

from collections.abc import Mapping
from typing import Any

from pdpp.model.declaration import SCALARS, Kind, Stream
from pdpp.model.errors import ImportRefused
from pdpp.model.validation import parse_declaration
from pdpp.sources.item import Skipped
from pdpp.sources.reading.tree import Tree
from pdpp.sources.table.draft import slug
from pdpp.sources.table.guess import ColumnGuess, decimal_of
from pdpp.sources.table.plan import TableColumn, TablePlan
from pdpp.sources.table.rows import read_rows, tables

_SAMPLE = 2_000


def declared_plan(tree: Tree, document: Mapping[str, Any], stream_name: str | None) -> TablePlan:
    """Match the columns of a file with the fields that the owner declared, by name."""
    stream = _stream(document, stream_name)
    for entry, layout in tables(tree):
        guesses: dict[str, ColumnGuess] = {}
        for row, _ in zip(read_rows(entry, layout), range(_SAMPLE), strict=False):
            if not isinstance(row, Skipped):
                for name, value in row.values.items():
                    guesses.setdefault(name, ColumnGuess(name)).see(value)
        decimal = decimal_of(guesses.values())
        found = (_column(guess, stream, decimal) for guess in guesses.values())
        columns = tuple(column for column in found if column is not None)
        if columns:
            key = tuple(name for name in stream.primary_key if name != "id" or _has(columns, "id"))
            time = stream.consent_time_field or ""
            return TablePlan(layout.kind, layout.path, stream.name, key, time, columns, document)
    raise ImportRefused(
        f"{tree.path.name} holds no table with a column named like a field of {stream.name!r}"
    )


def _has(columns: tuple[TableColumn, ...], field: str) -> bool:
    return any(column.field == field for column in columns)


def _stream(document: Mapping[str, Any], name: str | None) -> Stream:
    streams = parse_declaration(document).streams
    if name is None and len(streams) == 1:
        return next(iter(streams.values()))
    if name is None or name not in streams:
        raise ImportRefused(f"say which stream the records are of: {', '.join(streams)}")
    return streams[name]


def _column(guess: ColumnGuess, stream: Stream, decimal: str) -> TableColumn | None:
    """Return the field that a column is named like, read as it is declared."""
    field = stream.fields.get(guess.name) or stream.fields.get(slug(guess.name))
    if field is None:
        return None
    guessed, form = guess.kind(decimal=decimal)
    kind = field.kind if field.kind in SCALARS else Kind.JSON
    return TableColumn(guess.name, field.name, str(kind), form if guessed is kind or form else "")
