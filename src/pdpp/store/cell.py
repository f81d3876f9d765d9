"""Cells: the typed value of a declared scalar, by which records are compared."""

from collections.abc import Callable, Mapping
from typing import Any

from pdpp.model import instant
from pdpp.model.declaration import TIMES, Kind

CellValue = str | int | float | None
"""Times are microseconds, booleans 0 or 1, anything of another kind is absent."""

_LARGEST = 2**63 - 1


def _text(value: Any) -> CellValue:
    return value if isinstance(value, str) else None


def _moment(value: Any) -> CellValue:
    return instant.parse(value) if isinstance(value, str) else None


def _truth(value: Any) -> CellValue:
    return int(value) if isinstance(value, bool) else None


def _number(value: Any) -> CellValue:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if isinstance(value, int) and abs(value) > _LARGEST else value


_CONVERTERS = {Kind.TEXT: _text, Kind.BOOLEAN: _truth, **dict.fromkeys(TIMES, _moment)}


def cells_of(
    places: Mapping[str, tuple[int, Kind]],
) -> Callable[[Mapping[str, Any]], list[CellValue]]:
    """Return what makes records' cells in the order of their places."""
    size = max([place for place, _ in places.values()], default=-1) + 1
    plan = [(name, place, _CONVERTERS.get(kind, _number)) for name, (place, kind) in places.items()]

    def cells(data: Mapping[str, Any]) -> list[CellValue]:
        made: list[CellValue] = [None] * size
        for name, place, convert in plan:
            value = data.get(name)
            if value is not None:
                made[place] = convert(value)
        return made

    return cells


def cell_json(kind: Kind, value: CellValue) -> str | int | float | bool | None:
    """Return a cell as JSON shows it."""
    if value is None or isinstance(value, str):
        return value
    if kind is Kind.DATE_TIME:
        return instant.to_text(int(value))
    if kind is Kind.DATE:
        return instant.to_date_text(int(value))
    return bool(value) if kind is Kind.BOOLEAN else value
