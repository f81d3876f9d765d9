"""Related records: those whose field has a value, for one value after another."""

from array import array
from collections import defaultdict

from pdpp.store.cell import CellValue, text_cell
from pdpp.store.query import PAGE_BYTES, RelatedPage
from pdpp.store.scope import Condition, Reach
from pdpp.store.tables.database import TableReader
from pdpp.store.tables.positions import cell_position
from pdpp.store.tables.records.predicate import (
    CellRange,
    Sql,
    along_span,
    count_cells,
    dated_span,
    records_where,
    value_of,
    value_span,
)
from pdpp.store.tables.records.projection import (
    COLUMNS,
    CountBytes,
    Projectors,
    Row,
    fetched,
)
from pdpp.store.tables.records.visible_way import VisibleWay

_Groups = dict[CellValue, list[int]]
"""The numbers of records by the value of a field, in the order in which they are shown."""


class RelatedReader:
    """Reads the records of one reach by the values of one field, for all records of a page."""

    def __init__(
        self,
        db: TableReader,
        reach: Reach,
        field: str,
        projector: Projectors,
        count: CountBytes,
    ) -> None:
        self._db = db
        self._reach = reach
        self._field = field
        self._place = cell_position(reach, field)
        self._projector = projector
        self._count = count
        self._way = VisibleWay(db, reach)
        self._groups: _Groups | None = None
        # An order by time would tell a hidden time.
        self._order = "r.time, r.surrogate" if reach.shows_time else "r.surrogate"

    def first(self, value: str | int, limit: int, most_bytes: int = PAGE_BYTES) -> RelatedPage:
        """Return the first records whose field has a value, by time where that is visible."""
        if self._place is None:
            return RelatedPage((), more=False)
        rows = self._rows(self._place, value, limit + 1)
        records = self._projector(self._reach, None).records(rows[:limit], most_bytes)
        return RelatedPage(tuple(records), more=len(rows) > len(records))

    def _rows(self, place: int, value: str | int, most: int) -> list[Row]:
        """Return the first visible rows whose field has a value, by the shortest way to them."""
        dated = None if self._reach.keys is not None else dated_span(self._reach, place, value)
        if dated is not None:
            return self._along(dated, self._with(value), most)
        cell = text_cell(value) if isinstance(value, str) else value
        span = value_span(self._reach, place, cell)
        if self._groups is None and self._way.is_shorter(
            lambda most: count_cells(self._db, span, most)
        ):
            self._groups = self._grouped()
        if self._groups is None:
            return self._along(span, self._reach, most)
        return self._numbered(self._groups.get(cell, [])[:most])

    def _with(self, value: str | int) -> Reach:
        """Return the reach with the condition that the field has a value."""
        kind = self._reach.stream.fields[self._field].kind
        return self._reach.narrowed([Condition(self._field, kind, "eq", value)])

    def _along(self, span: CellRange, reach: Reach, most: int) -> list[Row]:
        """Return the first visible rows along a way."""
        sql = Sql(f"SELECT NULL, {COLUMNS} FROM") + along_span(span, reach)
        sql += Sql(f"ORDER BY {self._order} LIMIT ?", (most,))
        return fetched(self._db.execute(sql.text, sql.values), self._count)

    def _grouped(self) -> _Groups:
        """Return all visible records by their values."""
        value = value_of(self._reach, self._field)
        sql = Sql("SELECT") + value + Sql("AS value, r.id FROM") + self._way.source()
        groups: _Groups = defaultdict(list)
        for cell, number in self._db.execute(f"{sql.text} ORDER BY {self._order}", sql.values):
            groups[cell].append(number)
        return groups

    def _numbered(self, numbers: list[int]) -> list[Row]:
        """Return some visible rows by their numbers."""
        if not numbers:
            return []
        where = records_where(self._reach)
        rows = self._db.execute(
            f"SELECT NULL, {COLUMNS} FROM carray(?) AS c CROSS JOIN record r ON r.id = c.value"
            f" WHERE {where.text} ORDER BY {self._order}",
            (self._db.array(array("q", numbers)), *where.values),
        )
        return fetched(rows, self._count)
