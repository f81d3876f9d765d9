"""Cells: the typed value of a declared scalar, by which records are compared."""

from collections.abc import Callable
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


def converter_of(kind: Kind) -> Callable[[Any], CellValue]:
    """Return the function that makes a cell of a JSON value of a kind."""
    return _CONVERTERS.get(kind, _number)


def cell_json(kind: Kind, value: CellValue) -> str | int | float | bool | None:
    """Return a cell as JSON shows it."""
    if value is None or isinstance(value, str):
        return value
    if kind is Kind.DATE_TIME:
        return instant.to_text(int(value))
    if kind is Kind.DATE:
        return instant.to_date_text(int(value))
    return bool(value) if kind is Kind.BOOLEAN else value
