"""Cells: the typed value of a declared scalar, by which records are compared."""

import hashlib
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from pdpp.model import instant
from pdpp.model.declaration import TIMES, Kind
from pdpp.store.number_key import LARGEST, near, number_json

CellValue = str | int | float | Decimal | None
"""Times are microseconds, booleans 0 or 1, anything of another kind is absent."""

_WHOLE = 2.0**53

LONG_CHARS = 8_192
"""A text with more characters has a short form, in its record's row and where it is compared."""

TEXT_MARK = "\x01"
"""Stands between the beginning of a long text and its size."""

SHORT_FORM = re.compile(rf"{TEXT_MARK}(e?)(\d+):[0-9a-f]{{64}}\Z")
"""How the short form of a value ends; an ``e`` says that it is a list with decimals."""

_BEGINNING = 480


def text_cell(text: str) -> str:
    """Return a text as it stands in its record's row, and as it is compared.

    A long one is its beginning, its size in bytes and its digest: equal texts stay equal, and only
    long ones that begin alike are not sorted by what follows. A text that only looks like such a
    short form gets one as well, so that it is not taken for one.
    """
    if len(text) <= LONG_CHARS and not (TEXT_MARK in text and SHORT_FORM.search(text)):
        return text
    encoded = text.encode("utf-8", "surrogatepass")
    digest = hashlib.sha256(encoded).hexdigest()
    return f"{text[:_BEGINNING]}{TEXT_MARK}{len(encoded)}:{digest}"


def _text(value: Any) -> CellValue:
    return text_cell(value) if isinstance(value, str) else None


def _moment(value: Any) -> CellValue:
    return instant.parse(value) if type(value) is str else None


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


def column_converter(kind: Kind) -> Callable[[Sequence[Any]], Sequence[CellValue]]:
    """Return the function that makes the cells of some JSON values of a kind."""
    if kind in TIMES:
        return _moments
    convert = converter_of(kind)
    return lambda values: [None if value is None else convert(value) for value in values]


def _moments(values: Sequence[Any]) -> Sequence[CellValue]:
    if set(map(type, values)) == {str}:
        return instant.parse_each(values)
    return [*map(_moment, values)]


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
