"""Filters: what a caller wrote becomes conditions, checked against what each reach offers."""

import math
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal

from pdpp.model import instant
from pdpp.model.decimals import read_fraction
from pdpp.model.declaration import TIMES, Field, Kind
from pdpp.model.errors import (
    FieldNotGranted,
    InvalidFilter,
    PdppError,
    TimeRangeExceeded,
    UnknownField,
)
from pdpp.model.grant import Interval
from pdpp.resource.answers import WarningJson
from pdpp.resource.parameter import RawFilter
from pdpp.store.scope import Condition, Reach

_DECIMAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?\Z", re.ASCII)
_MOST_CHARS = 60
_LEAST, _MOST = Decimal("1e-307"), Decimal("1.7e308")
"""Between these a number is compared to its last digit; no record holds one that is beyond."""

_INTEGER = re.compile(r"[+-]?\d{1,19}\Z", re.ASCII)
_SMALLEST, _LARGEST = -(2**63), 2**63 - 1
"""Whole numbers are kept and compared in 64 bits, exactly."""


def apply_filters(
    reaches: Sequence[Reach], filters: Sequence[RawFilter]
) -> tuple[tuple[Reach, ...], list[WarningJson]]:
    """Narrow each reach that has the fields; a reach that lacks one can match nothing.

    Refused when no reach has them. The second value warns of reaches that were left out.
    """
    if not filters:
        return tuple(reaches), []
    narrowed: list[Reach] = []
    left_out: list[Reach] = []
    refusal: PdppError | None = None
    for reach in reaches:
        try:
            conditions = [parse_condition(reach, raw) for raw in filters]
        except (UnknownField, FieldNotGranted, InvalidFilter) as problem:
            refusal = refusal or problem
            left_out.append(reach)
            continue
        # Refused rather than answered with nothing: the caller would take an empty page for "there
        # are no such records".
        _check_time(reach, conditions)
        narrowed.append(reach.narrowed(conditions))
    # Only the first refusal is told: it names fields that one reach shows, and no others.
    if refusal is not None and not narrowed:
        raise refusal
    return tuple(narrowed), [_left_out_warning(left_out)] if left_out else []


def _left_out_warning(reaches: Iterable[Reach]) -> WarningJson:
    sources = sorted({f"{reach.connection_id}/{reach.stream.name}" for reach in reaches})
    return {
        "code": "source_cannot_filter",
        "message": "These have no such filter and were left out: " + ", ".join(sources) + ".",
        "param": "filter",
    }


def parse_condition(reach: Reach, raw: RawFilter) -> Condition:
    """Return one comparison, if the reach shows the field and its declaration allows it."""
    param = f"filter[{raw.field}]" + ("" if raw.operator == "eq" else f"[{raw.operator}]")
    declared = reach.field(raw.field, param)
    if raw.operator == "eq":
        if not declared.exact:
            raise InvalidFilter(f"{raw.field} cannot be filtered by value.", param=param)
    elif raw.operator not in declared.ranges:
        offered = ", ".join(declared.ranges) or "none"
        raise InvalidFilter(
            f"{raw.field} takes the range operators: {offered}. Not {raw.operator[:20]!r}.",
            param=param,
        )
    return Condition(raw.field, declared.kind, raw.operator, parse_value(declared, raw.text, param))


def parse_value(declared: Field, text: str, param: str) -> str | int | float | Decimal:
    """Return a filter's text as a value of the field's kind."""
    value: str | int | float | Decimal | None = None
    if declared.kind is Kind.TEXT:
        value = text
    elif declared.kind in TIMES:
        value = instant.parse(text)
    elif declared.kind is Kind.BOOLEAN:
        value = {"true": 1, "false": 0}.get(text)
    elif declared.kind is Kind.INTEGER:
        value = _integer(text)
    else:
        value = _number(text)
    if value is None:
        raise InvalidFilter(
            f"{declared.name} is compared with {_form(declared.kind)}.", param=param
        )
    return value


def _integer(text: str) -> int | None:
    """Return a whole number that a record can hold."""
    number = int(text) if _INTEGER.match(text) else None
    return number if number is not None and _SMALLEST <= number <= _LARGEST else None


def _number(text: str) -> int | float | Decimal | None:
    whole = _integer(text)
    if whole is not None:
        return whole
    if len(text) > _MOST_CHARS or not _DECIMAL.match(text):
        return None
    number = read_fraction(text)
    if isinstance(number, float):
        return number if math.isfinite(number) else None
    return number if _LEAST <= number.copy_abs() < _MOST else None


def _form(kind: Kind) -> str:
    return {
        Kind.DATE_TIME: "a time such as 2026-01-31T08:00:00Z or a date",
        Kind.DATE: "a date such as 2026-01-31",
        Kind.BOOLEAN: "true or false",
        Kind.INTEGER: "a whole number of 64 bits",
        Kind.NUMBER: "a number",
    }.get(kind, "text")


def _check_time(reach: Reach, conditions: Iterable[Condition]) -> None:
    """Refuse a question about a time that is entirely outside the grant."""
    if reach.time is None:
        return
    asked = Interval()
    for condition in conditions:
        if condition.field == reach.stream.consent_time_field:
            asked = asked.intersect(_interval(condition))
    if reach.time.intersect(asked).empty:
        raise TimeRangeExceeded(
            f"The grant shows {reach.stream.name} {describe_interval(reach.time)}; "
            "ask about a time inside it.",
            param=f"filter[{reach.stream.consent_time_field}]",
        )


def _interval(condition: Condition) -> Interval:
    at = int(condition.value)
    return {
        "eq": Interval(at, at + 1),
        "gte": Interval(at, None),
        "gt": Interval(at + 1, None),
        "lte": Interval(None, at + 1),
        "lt": Interval(None, at),
    }[condition.operator]


def describe_interval(interval: Interval) -> str:
    """Say a stretch of time in words."""
    since = f"from {instant.to_text(interval.since)}" if interval.since is not None else ""
    until = f"before {instant.to_text(interval.until)}" if interval.until is not None else ""
    return " ".join(part for part in (since, until) if part)
