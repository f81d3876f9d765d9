"""Positions: where a feed's fields stand in the indexes.

The port speaks of fields by name. Here each compared field has a position in a record's array of
cells and in the ``cell`` table, and each searched field a position in the tables of postings. A
position never changes its meaning while records have it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pdpp.model.declaration import Kind
from pdpp.store.catalogue import Feed
from pdpp.store.cell import CellValue, column_converter
from pdpp.store.scope import Reach


@dataclass(frozen=True, slots=True)
class IndexedFeed(Feed):
    """A feed with the position and kind of its compared fields and the position of its words.

    ``dated`` are the positions of the compared fields whose values are found by time too. ``kept``
    is the text that all of this was read from.
    """

    cells: Mapping[str, tuple[int, Kind]]
    lexical: Mapping[str, int]
    dated: tuple[int, ...]
    kept: str = field(compare=False, repr=False)

    @property
    def compared_places(self) -> Sequence[int]:
        """Return the positions of all compared fields."""
        return [place for place, _ in self.cells.values()]


def indexed(feed: Feed) -> IndexedFeed:
    """Return a feed as the catalogue here made it."""
    if not isinstance(feed, IndexedFeed):
        raise TypeError(f"the feed {feed.address} is not from the catalogue of this store")
    return feed


def cell_position(reach: Reach, name: str) -> int | None:
    """Return the position of a field that a reach may compare, None where it may not."""
    return indexed(reach.feed).cells[name][0] if reach.compares(name) else None


def searched_positions(reach: Reach) -> Mapping[int, str]:
    """Return the fields that a reach may search, by their position."""
    return reach.once(_searched_positions)


def actor_positions(reach: Reach) -> Mapping[int, str]:
    """Return the fields that name an actor and that a reach shows, by their position."""
    return reach.once(_actor_positions)


def _searched_positions(reach: Reach) -> Mapping[int, str]:
    positions = indexed(reach.feed).lexical
    return {positions[name]: name for name in reach.searched_fields()}


def _actor_positions(reach: Reach) -> Mapping[int, str]:
    positions = indexed(reach.feed).lexical
    return {positions[name]: name for name in reach.actor_fields()}


CellsOf = Callable[[Sequence[Mapping[str, Any]]], list[tuple[CellValue, ...]]]
"""Returns the cells of some records."""


def cells_of(positions: Mapping[str, tuple[int, Kind]], *, short: bool = False) -> CellsOf:
    """Return the function that makes records' cells, in the order of their positions.

    ``short`` says that no text is so long, or looks so odd, that its cell has a short form.
    """
    size = max([position for position, _ in positions.values()], default=-1) + 1
    column_of = {
        position: _texts if kind is Kind.TEXT and short else column_converter(kind)
        for position, kind in positions.values()
    }
    names = {position: name for name, (position, _) in positions.items()}

    def cells(records: Sequence[Mapping[str, Any]]) -> list[tuple[CellValue, ...]]:
        if not size:
            return [()] * len(records)
        # Column by column: fewer calls, and times are read some at once.
        columns: list[Sequence[CellValue]] = [(None,) * len(records)] * size
        for position, name in names.items():
            columns[position] = column_of[position]([data.get(name) for data in records])
        return list(zip(*columns, strict=True))

    return cells


def _texts(values: Sequence[Any]) -> Sequence[CellValue]:
    return [value if type(value) is str else None for value in values]
