"""Drafts: a plan and a declaration made from what a file holds, for the owner to approve."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pdpp.model.declaration import TIMES, Kind, Role
from pdpp.model.errors import ImportRefused
from pdpp.sources.item import Skipped
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.table.guess import ColumnGuess, decimal_of
from pdpp.sources.table.plan import TableColumn, TablePlan
from pdpp.sources.table.rows import TableLayout, read_rows, tables

SAMPLE = 20_000
_MOST_COLUMNS = 300
_MOST_SEARCHED = 100
_RANGES = ["gte", "gt", "lte", "lt"]
_NUMBERS = frozenset({Kind.INTEGER, Kind.NUMBER})
_TYPES = {Kind.INTEGER: "integer", Kind.NUMBER: "number", Kind.BOOLEAN: "boolean"}
_TIME_FORMATS = {Kind.DATE: "date", Kind.DATE_TIME: "date-time"}
_KEY_NAMES = ("id", "uuid", "guid", "key")
_ROLE_NAMES: Mapping[Role, tuple[str, ...]] = {
    Role.EVENT_TIME: ("date", "time", "when", "created", "sent", "at", "day", "datum"),
    Role.TITLE: ("title", "subject", "name", "summary", "headline", "titel"),
    Role.BODY: ("body", "text", "content", "message", "description", "note", "notes", "comment"),
    Role.ACTOR: ("from", "author", "sender", "user", "payee", "merchant", "person", "customer"),
    Role.AMOUNT: ("amount", "total", "price", "sum", "value", "betrag"),
}


@dataclass(frozen=True, slots=True)
class TableDraft:
    """A plan with what it was made from."""

    plan: TablePlan
    rows: int
    whole: bool
    notes: tuple[str, ...]
    roles: Mapping[str, Role]


@dataclass(frozen=True, slots=True)
class _Seen:
    """The columns of a sample."""

    guesses: Sequence[ColumnGuess]
    rows: int
    whole: bool


def draft(tree: Tree, key: str | None, settings: Mapping[str, str]) -> TableDraft:
    """Look at the first rows of a file and say what they seem to be."""
    entry, layout = _first_table(tree)
    seen = _look(entry, layout)
    month_first = settings.get("month_first") == "yes"
    columns = _columns(seen.guesses, month_first)
    identity = _key_columns(seen, columns)
    if identity != ("id",):  # There the record has a name of its own.
        columns = _columns(seen.guesses, month_first, ("id",))
    roles = _roles(seen.guesses, columns)
    name = key or slug(entry.base.removesuffix(entry.suffix)) or "table"
    time = next((field for field, role in roles.items() if role is Role.EVENT_TIME), "")
    document = _declaration(name, entry.base, seen.guesses, columns, roles, time)
    plan = TablePlan(layout.kind, layout.path, "records", identity, time, columns, document)
    return TableDraft(plan, seen.rows, seen.whole, tuple(_notes(seen, plan)), roles)


def _first_table(tree: Tree) -> tuple[FileEntry, TableLayout]:
    table = next(tables(tree), None)
    if table is None:
        raise ImportRefused(
            f"{tree.path.name} holds no CSV with a header, no JSON array of objects and no NDJSON: "
            f"it is {tree.sight()}"
        )
    return table


def _look(entry: FileEntry, layout: TableLayout) -> _Seen:
    guesses: dict[str, ColumnGuess] = {}
    count, whole = 0, True
    for row in read_rows(entry, layout):
        if isinstance(row, Skipped):
            continue
        if count == SAMPLE:
            whole = False
            break
        count += 1
        for name, value in row.values.items():
            if name not in guesses and len(guesses) >= _MOST_COLUMNS:
                raise ImportRefused(f"{entry.name} has more than {_MOST_COLUMNS} columns")
            guesses.setdefault(name, ColumnGuess(name)).see(value)
    if not count:
        raise ImportRefused(f"{entry.name} holds no rows")
    return _Seen(list(guesses.values()), count, whole)


def slug(text: str) -> str:
    """Return a name of small letters, digits and underscores."""
    plain = unicodedata.normalize("NFKD", text.casefold()).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "_", plain).strip("_")[:60]


def _columns(
    guesses: Sequence[ColumnGuess], month_first: bool, reserved: Iterable[str] = ()
) -> tuple[TableColumn, ...]:
    taken: set[str] = {"floating", *reserved}
    decimal = decimal_of(guesses)
    columns = []
    for guess in guesses:
        base = slug(guess.name) or "column"
        field, number = base, 2
        while field in taken:
            field, number = f"{base}_{number}", number + 1
        taken.add(field)
        kind, form = guess.kind(month_first=month_first, decimal=decimal)
        columns.append(TableColumn(guess.name, field, str(kind), form))
    return tuple(columns)


def _key_columns(seen: _Seen, columns: Sequence[TableColumn]) -> tuple[str, ...]:
    """Return the field that tells records apart: one named like an id, filled and never twice."""
    candidates = [
        column.field
        for guess, column in zip(seen.guesses, columns, strict=True)
        if guess.unique and guess.filled == seen.rows and column.kind in (Kind.TEXT, Kind.INTEGER)
    ]
    ranked = sorted(candidates, key=_key_rank)
    return (ranked[0],) if ranked and _key_rank(ranked[0]) < len(_KEY_NAMES) + 1 else ()


def _key_rank(field: str) -> int:
    words = field.split("_")
    if field in _KEY_NAMES:
        return _KEY_NAMES.index(field)
    return len(_KEY_NAMES) if {*_KEY_NAMES, "no", "number"} & set(words) else len(_KEY_NAMES) + 1


def _roles(guesses: Sequence[ColumnGuess], columns: Sequence[TableColumn]) -> dict[str, Role]:
    """Give each role to the first column whose name and values suit it."""
    roles: dict[str, Role] = {}
    for role in (*_ROLE_NAMES, Role.LINK):
        for guess, column in zip(guesses, columns, strict=True):
            if column.field not in roles and _suits(role, guess, column):
                roles[column.field] = role
                break
    return roles


def _suits(role: Role, guess: ColumnGuess, column: TableColumn) -> bool:
    named = bool(set(column.field.split("_")) & set(_ROLE_NAMES.get(role, ())))
    is_text = column.kind == Kind.TEXT and not guess.is_link
    if role is Role.EVENT_TIME:
        return column.kind in TIMES
    if role is Role.AMOUNT:
        return named and column.kind in _NUMBERS
    if role is Role.LINK:
        return guess.is_link
    if role is Role.BODY:
        return is_text and (named or guess.is_prose)
    return is_text and named


def _declaration(
    key: str,
    file: str,
    guesses: Sequence[ColumnGuess],
    columns: Sequence[TableColumn],
    roles: Mapping[str, Role],
    time: str,
) -> dict[str, Any]:
    title = file.rpartition(".")[0] or file
    stream: dict[str, Any] = {
        "name": "records",
        "description": f"The rows of {file}.",
        "display": {"label": title, "detail": f"The rows of {file}"},
        "semantics": "mutable_state",
        "schema": _schema(columns, roles),
        "primary_key": ["id"],
        "query": _query(guesses, columns, roles),
    }
    if time:
        stream |= {"cursor_field": time, "consent_time_field": time}
    return {
        "protocol_version": "0.1.0",
        "source": {"kind": "connector", "id": f"urn:pdpp:own:{key}"},
        "connector_key": key,
        "declaration_version": "1",
        "publisher": {"id": "urn:pdpp:owner"},
        "display": {"name": title[:100]},
        "streams": [stream],
    }


def _schema(columns: Sequence[TableColumn], roles: Mapping[str, Role]) -> dict[str, Any]:
    properties: dict[str, Any] = {"id": {"type": "string", "description": "Name of the record"}}
    for column in columns:
        role = {"x_pdpp_role": str(roles[column.field])} if column.field in roles else {}
        described = {"description": column.name[:200]}
        if column.field != "id":
            properties[column.field] = _type(Kind(column.kind)) | described | role
    properties["floating"] = {
        "type": "boolean",
        "description": "Its times are local and their zone is not known",
    }
    return {
        "type": "object",
        "properties": properties,
        "required": ["id"],
        "additionalProperties": False,
    }


def _type(kind: Kind) -> dict[str, Any]:
    if kind is Kind.JSON:
        return {}
    schema: dict[str, Any] = {"type": [_TYPES.get(kind, "string"), "null"]}
    return schema | {"format": _TIME_FORMATS[kind]} if kind in TIMES else schema


def _query(
    guesses: Sequence[ColumnGuess], columns: Sequence[TableColumn], roles: Mapping[str, Role]
) -> dict[str, Any]:
    pairs = [(guess, column) for guess, column in zip(guesses, columns, strict=True)]
    own = [(guess, column) for guess, column in pairs if column.field != "id"]
    numbers = [column.field for _, column in own if column.kind in _NUMBERS]
    times = [column.field for _, column in own if column.kind in TIMES]
    texts = [
        column.field for guess, column in own if column.kind == Kind.TEXT and not guess.is_link
    ]
    choices = [
        column.field
        for guess, column in own
        if column.kind == Kind.BOOLEAN
        or (column.kind == Kind.TEXT and (guess.is_choice or roles.get(column.field) is Role.ACTOR))
    ]
    return {
        "range_filters": dict.fromkeys(numbers + times, _RANGES),
        "search": {"lexical_fields": texts[:_MOST_SEARCHED]},
        "aggregations": {
            "count": True,
            "sum": numbers,
            "min": numbers + times,
            "max": numbers + times,
            "count_distinct": choices,
            "group_by": choices,
            "group_by_time": times,
        },
    }


def _notes(seen: _Seen, plan: TablePlan) -> Iterable[str]:
    if not seen.whole:
        yield f"Only the first {seen.rows:,} rows were looked at; what differs later will be told."
    if not plan.key:
        yield "No column tells the rows apart, so a changed row comes in as a new record."
    for guess in seen.guesses:
        if guess.ambiguous_days:
            yield f"{guess.name}: the day is read first, unless you say --set month_first=yes."
