"""Cells: the typed value of a declared scalar, by which records are compared."""

from collections.abc import Mapping
from typing import Any

from pdpp.model import instant
from pdpp.model.declaration import TIMES, Kind

CellValue = str | int | float | None
"""Times are microseconds, booleans 0 or 1, anything of another kind is absent."""

_LARGEST = 2**63 - 1


def cell_value(kind: Kind, value: Any) -> CellValue:
    """Return a field's value as it is compared, or None where it is absent or of another kind."""
    if value is None:
        return None
    if kind is Kind.TEXT:
        return value if isinstance(value, str) else None
    if kind in TIMES:
        return instant.parse(value) if isinstance(value, str) else None
    if kind is Kind.BOOLEAN:
        return int(value) if isinstance(value, bool) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if isinstance(value, int) and abs(value) > _LARGEST else value


def cell_values(places: Mapping[str, tuple[int, Kind]], data: Mapping[str, Any]) -> list[CellValue]:
    """Return a record's cells in the order of their places."""
    cells: list[CellValue] = [None] * (max([place for place, _ in places.values()], default=-1) + 1)
    for name, (place, kind) in places.items():
        value = data.get(name)
        if value is not None:
            cells[place] = cell_value(kind, value)
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
