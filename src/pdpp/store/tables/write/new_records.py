"""New records: the rows of a batch by columns, as an engine takes all of them at once."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from pdpp.store.cell import CellValue
from pdpp.store.tables.records.dated import DatedColumns, dated_columns
from pdpp.store.tables.write.cell_order import CellOrder, cell_order


class Arrangement(NamedTuple):
    """Where the values of new records stand, by the places of the records among all that are new.

    It is the same wherever they are numbered from, and may be worked out ahead.
    """

    cells: CellOrder
    dated: DatedColumns


class NewRecords(NamedTuple):
    """New records of one feed and one version: a value of each column for each of them.

    ``places`` are those of the fields that get cells; ``cells`` has a value for every place.
    ``dated`` are those of the fields whose values are found by time too. ``arrangement`` is known
    where it was worked out ahead.
    """

    feed: int
    version: int
    places: Sequence[int]
    dated: Sequence[int]
    ids: Sequence[int]
    keys: Sequence[str]
    surrogates: Sequence[int]
    emitted: Sequence[int]
    times: Sequence[int | None]
    field_sets: Sequence[int]
    digests: Sequence[str]
    cells: Sequence[Sequence[CellValue]]
    data: Sequence[bytes]
    arrangement: Arrangement | None = None

    def fills(self, place: int) -> bool:
        """Tell whether one of them has a value at a place."""
        return any(values[place] is not None for values in self.cells)

    def cell_order(self) -> CellOrder:
        """Return in which order their cells lie in the table."""
        if self.arrangement is not None:
            return self.arrangement.cells.of(self.places)
        return cell_order(self.places, self.cells, self.surrogates)

    def dated_columns(self) -> DatedColumns:
        """Return where their values are and when, in the order of the table."""
        if self.arrangement is not None:
            return self.arrangement.dated.numbered(self.ids)
        return dated_columns(self.dated, self.cells, self.times, self.ids)

    def columns(self, cells: Sequence[str]) -> tuple[Sequence[Any], ...]:
        """Return what each record has of its own, with its cells as the engine writes them."""
        return (
            self.ids,
            self.keys,
            self.surrogates,
            self.emitted,
            self.times,
            self.field_sets,
            self.digests,
            cells,
            self.data,
        )
