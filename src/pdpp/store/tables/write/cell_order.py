"""Cell order: how the cells of new records lie in their table."""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from pdpp.store.cell import CellValue


class CellOrder(NamedTuple):
    """The fields that are the same in all of some records, and the order of each other field.

    A field stands as its place. An order has the places of the records among all that are new.
    """

    same: Sequence[tuple[int, CellValue]]
    ordered: Sequence[tuple[int, Sequence[int]]]

    def of(self, places: Collection[int]) -> "CellOrder":
        """Return the order of some of the fields alone."""
        return CellOrder(
            [field for field in self.same if field[0] in places],
            [field for field in self.ordered if field[0] in places],
        )


def cell_order(
    places: Sequence[int], cells: Sequence[Sequence[CellValue]], surrogates: Sequence[int]
) -> CellOrder:
    """Return how the cells of some records lie in their table, field by field."""
    same: list[tuple[int, CellValue]] = []
    ordered: list[tuple[int, Sequence[int]]] = []
    columns = [*zip(*cells, strict=True)]
    numbers = range(len(surrogates))
    by_surrogate = sorted(numbers, key=surrogates.__getitem__)
    for place in places:
        column = columns[place]
        kinds = len(set(column))
        # Equal values of different kinds, such as 1 and 1.0, are two.
        if kinds == 1 and len(set(map(type, column))) == 1:
            same.append((place, column[0]))
            continue
        # What is sorted already is sorted again in no time: different values mostly come in order,
        # and equal ones are in the order of surrogates.
        first = by_surrogate if 2 * kinds < len(column) else numbers
        ordered.append((place, [*_in_order(first, column)]))
    return CellOrder(same, ordered)


def _in_order(numbers: Sequence[int], column: Sequence[CellValue]) -> Iterator[int]:
    """Yield the numbers of values in the order of the table, which has absent ones last."""
    absent: list[int] = []
    if None in column:
        absent = [at for at in numbers if column[at] is None]
        numbers = [at for at in numbers if column[at] is not None]
    # The values of one field are of one kind.
    yield from sorted(numbers, key=column.__getitem__)  # type: ignore[arg-type]
    yield from absent
