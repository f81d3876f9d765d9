"""The table source: files whose columns a plan knows."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from datetime import tzinfo
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from pdpp.evidence.amount import counted
from pdpp.model.declaration import Kind
from pdpp.sources.item import Finding, Item, Skipped, Unknown
from pdpp.sources.keys import Ordinals, digest_key, safe_key
from pdpp.sources.reading.csvtable import find_table
from pdpp.sources.reading.times import zone_named
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import Confidence, ExportPart, OwnerChoices, Recognition, Source
from pdpp.sources.table.form import ZONED, reader
from pdpp.sources.table.plan import CSV, TableColumn, TablePlan
from pdpp.sources.table.rows import RawRow, TableLayout, column_names, read_rows, tables

_LOOKED_AT = 50
_MOST_REMEMBERED = 500_000
SETTINGS: Mapping[str, str] = MappingProxyType(
    {
        "time_zone": "The zone of times that name none, such as Europe/Lisbon.",
        "month_first": "yes, where 02/03/2026 is the third of February.",
    }
)


class TableSource(Source):
    """A source that a plan describes."""

    settings = SETTINGS
    lies_among_others = True

    def __init__(self, plan: TablePlan) -> None:
        self._plan = plan
        self.connector_key = plan.connector_key
        self.label = str(plan.declaration["display"]["name"])

    def declaration(self) -> Mapping[str, Any]:
        """Return the declaration that the owner wrote or approved."""
        return self._plan.declaration

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | None:
        """Take the files that hold the columns of the plan; a table of just these is certain."""
        seen = {entry.name: _columns(entry, layout) for entry, layout in self._tables(tree)}
        known = {column.name for column in self._plan.columns}
        names = [name for name, held in seen.items() if known - self._rare() <= held.possible]
        if not names:
            return None
        same = self._plan.layout == CSV and all(seen[name].sure <= known for name in names)
        zone = choices.given.get("time_zone") or ""
        zone_named(zone)
        files = counted(len(names), "file")
        return Recognition(
            Confidence.CERTAIN if same else Confidence.LIKELY,
            version=f"{files} of {self._plan.layout} with the columns it had before",
            account=self.label,
            identity=self.connector_key,
            detail={"entries": names, "time_zone": zone},
        )

    def _tables(self, tree: Tree) -> Iterator[tuple[FileEntry, TableLayout]]:
        return (table for table in tables(tree) if table[1].kind == self._plan.layout)

    def _rare(self) -> set[str]:
        """Return the columns that a file may lack: none of a table, all but the key of objects."""
        columns = self._plan.columns
        if self._plan.layout == CSV or not self._plan.key:
            return set()
        return {column.name for column in columns if column.field not in self._plan.key}

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return one part for each file."""
        zone = zone_named(recognition.detail["time_zone"])
        return [
            ExportPart(entry, partial(_Reading(self._plan, zone).read, entry))
            for entry in tree.these(recognition.detail["entries"])
        ]


class _Columns(NamedTuple):
    """The columns of a file; those without a name may hold something or not."""

    sure: Set[str]
    possible: Set[str]


def _columns(entry: FileEntry, layout: TableLayout) -> _Columns:
    """Return the columns of a file: the header, or the members of its first objects."""
    if layout.kind == CSV:
        table = find_table(entry)
        if table is None:
            return _Columns(frozenset(), frozenset())
        return _Columns(set(table.header) - {""}, set(column_names(table)))
    names: set[str] = set()
    for row, _ in zip(read_rows(entry, layout), range(_LOOKED_AT), strict=False):
        if isinstance(row, RawRow):
            names |= row.values.keys()
    return _Columns(names, names)


@dataclass(slots=True)
class _Reading:
    """The reading of one file."""

    plan: TablePlan
    zone: tzinfo | None
    _readers: dict[str, tuple[TableColumn, Callable[[Any], Any]]] = field(init=False)
    _ordinals: Ordinals = field(default_factory=Ordinals)
    _floats: bool = field(init=False)
    _names_itself: bool = field(init=False)
    _reported_columns: set[str] = field(default_factory=set)
    _rows_by_key: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._readers = {
            column.name: (column, reader(column.kind, column.form, self.zone))
            for column in self.plan.columns
        }
        self._names_itself = self.plan.primary_key == self.plan.key
        self._floats = self.zone is None and any(
            column.kind == Kind.DATE_TIME and column.form != ZONED for column in self.plan.columns
        )

    def read(self, entry: FileEntry) -> Iterator[Finding]:
        """Yield a record for each row; a cell that does not fit is told and left out."""
        for row in read_rows(entry, TableLayout(self.plan.layout, self.plan.path)):
            if isinstance(row, RawRow):
                yield from self._record(row)
            else:
                yield row

    def _record(self, row: RawRow) -> Iterator[Finding]:
        data: dict[str, Any] = {}
        for name, raw in row.values.items():
            known = self._readers.get(name)
            if known is None:
                yield from self._undeclared(name, row.where)
            elif raw is not None and raw != "":
                column, read = known
                value = read(raw)
                if value is None:
                    yield Unknown(f"a value that is no {column.kind}", f"{row.where}, {name[:60]}")
                else:
                    data[column.field] = value
        key = self._key(data, row)
        if self._replaces(key, row):
            yield Unknown("a row that takes the place of one with the same key", row.where)
        if self._floats:
            data["floating"] = True
        yield Item(self.plan.stream, key, {**data, "id": key})

    def _undeclared(self, name: str, where: str) -> Iterator[Finding]:
        """Tell once of a column that the plan does not know."""
        if name not in self._reported_columns and len(self._reported_columns) < _LOOKED_AT:
            self._reported_columns.add(name)
            yield Skipped("a column that is not declared", f"{where}, {name[:60]}")

    def _replaces(self, key: str, row: RawRow) -> bool:
        """Tell whether a row before had the same key and other values; remember it."""
        if len(self._rows_by_key) >= _MOST_REMEMBERED:
            self._rows_by_key.clear()
        content = hash(repr(row.values))
        return self._rows_by_key.setdefault(key, content) != content

    def _key(self, data: Mapping[str, Any], row: RawRow) -> str:
        parts = [data.get(name) for name in self.plan.key]
        if parts and all(part is not None for part in parts):
            key = safe_key(*(str(part).strip() for part in parts))
            # A key that is its record's own primary key tells nothing more, and stays readable.
            return str(key) if self._names_itself else key
        content = [f"{name}={row.values[name]!r}" for name in sorted(row.values)]
        return self._ordinals.key(str(data.get(self.plan.time, "")), digest_key(*content))
