"""Filters: what a person types as a comparison, as the filter it means."""

import re
from collections.abc import Sequence
from typing import Any

import click

from pdpp.model.decimals import is_number, read_json

_COMPARISON = re.compile(r"([^<>=]+?)\s*(>=|<=|>|<|=)\s*(.*)\Z", re.DOTALL)
_OPERATORS = {">=": "gte", ">": "gt", "<=": "lte", "<": "lt"}
_EXAMPLE = 'such as status=open, sent_at>=2026-01-01 or \'{"size": {"gte": 10, "lt": 20}}\''


def filters_of(texts: Sequence[str]) -> dict[str, Any]:
    """Return all comparisons together; what contradicts another is refused."""
    filters: dict[str, Any] = {}
    for text in texts:
        for field, condition in _parse(text).items():
            _add(filters, field, condition)
    return filters


def _parse(text: str) -> dict[str, Any]:
    if text.lstrip().startswith("{"):
        return _parse_json(text)
    match = _COMPARISON.match(text)
    if match is None:
        raise _refuse(f"{text!r} is no filter; write one {_EXAMPLE}")
    field, operator, value = match.groups()
    return {field: value if operator == "=" else {_OPERATORS[operator]: value}}


def _parse_json(text: str) -> dict[str, Any]:
    try:
        data = read_json(text)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict) or not data or not all(map(_is_wanted, data.values())):
        raise _refuse(f"{text!r} is no filter; by field a value or bounds, {_EXAMPLE}")
    return data


def _is_wanted(value: Any) -> bool:
    if not isinstance(value, dict):
        return _is_scalar(value)
    known = set(_OPERATORS.values())
    return bool(value) and value.keys() <= known and all(map(_is_scalar, value.values()))


def _is_scalar(value: Any) -> bool:
    return isinstance(value, str) or is_number(value)


def _add(filters: dict[str, Any], field: str, condition: Any) -> None:
    earlier = filters.get(field)
    if earlier is None:
        filters[field] = condition
    elif (
        isinstance(earlier, dict)
        and isinstance(condition, dict)
        and not earlier.keys() & condition.keys()
    ):
        filters[field] = {**earlier, **condition}
    else:
        raise _refuse(f"two filters on {field!r} contradict each other; give one")


def _refuse(what: str) -> click.UsageError:
    return click.BadParameter(what, click.get_current_context(), param_hint="--filter")
