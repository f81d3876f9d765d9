"""Cells: the typed value of a declared scalar, by which records are compared."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from pdpp.model import instant
from pdpp.model.declaration import TIMES, Kind
from pdpp.store.number_key import LARGEST, near, number_json

CellValue = str | int | float | Decimal | None
"""Times are microseconds, booleans 0 or 1, anything of another kind is absent."""

_WHOLE = 2.0**53


def _text(value: Any) -> CellValue:
    return value if isinstance(value, str) else None


def _moment(value: Any) -> CellValue:
    return instant.parse(value) if isinstance(value, str) else None


def _truth(value: Any) -> CellValue:
    return int(value) if isinstance(value, bool) else None


def _integer(value: Any) -> CellValue:
    return None if isinstance(value, Decimal) else _number(value)


def _number(value: Any) -> CellValue:
    """Return the number that is kept at hand: of a decimal, the one next to it."""
    kind = type(value)
    if kind is float:
        return value if -_WHOLE < value < _WHOLE else near(value)
    if kind is int:
        return value if -LARGEST - 1 <= value <= LARGEST else float(value)
    return near(value) if kind is Decimal else None


_CONVERTERS = {
    Kind.TEXT: _text,
    Kind.BOOLEAN: _truth,
    Kind.INTEGER: _integer,
    **dict.fromkeys(TIMES, _moment),
}


def converter_of(kind: Kind) -> Callable[[Any], CellValue]:
    """Return the function that makes a cell of a JSON value of a kind."""
    return _CONVERTERS.get(kind, _number)


def cell_json(kind: Kind, value: CellValue) -> str | int | float | bool | None:
    """Return a cell as JSON shows it."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Decimal):
        return number_json(value)
    if kind is Kind.DATE_TIME:
        return instant.to_text(int(value))
    if kind is Kind.DATE:
        return instant.to_date_text(int(value))
    return bool(value) if kind is Kind.BOOLEAN else value
