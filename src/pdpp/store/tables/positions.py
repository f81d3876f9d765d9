"""Positions: where a feed's fields stand in the indexes.

The port speaks of fields by name. Here each compared field has a position in a record's array of
cells and in the ``cell`` table, and each searched field a position in the tables of postings. A
position never changes its meaning while records have it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pdpp.model.declaration import Kind
from pdpp.store.catalogue import Feed
from pdpp.store.cell import LONG_CHARS, TEXT_MARK, CellValue, converter_of, text_cell
from pdpp.store.scope import Reach


@dataclass(frozen=True, slots=True)
class IndexedFeed(Feed):
    """A feed with the position and kind of its compared fields and the position of its words."""

    cells: Mapping[str, tuple[int, Kind]]
    lexical: Mapping[str, int]


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


def cells_of(
    positions: Mapping[str, tuple[int, Kind]],
) -> Callable[[Mapping[str, Any]], list[CellValue]]:
    """Return the function that makes a record's cells, in the order of their positions."""
    size = max([position for position, _ in positions.values()], default=-1) + 1
    # No member of a record is called None: a place that has no field stays empty.
    names: list[Any] = [None] * size
    for name, (position, _) in positions.items():
        names[position] = name
    # Most compared fields are texts, which need no call to become cells.
    texts = [at for at, kind in positions.values() if kind is Kind.TEXT]
    others = [(at, converter_of(kind)) for at, kind in positions.values() if kind is not Kind.TEXT]

    def cells(data: Mapping[str, Any]) -> list[CellValue]:
        values: list[Any] = list(map(data.get, names))
        for position in texts:
            if type(text := values[position]) is not str:
                values[position] = None
            elif len(text) > LONG_CHARS or TEXT_MARK in text:
                values[position] = text_cell(text)
        for position, convert in others:
            if (value := values[position]) is not None:
                values[position] = convert(value)
        return values

    return cells
