"""Exact times: what a record tells of its moments that an export in fewer words does not."""

from collections.abc import Mapping
from typing import Any

from pdpp.model import instant
from pdpp.sources.item import Item

_MINUTE = len("2026-01-01T10:15")
_SECOND = len("2026-01-01T10:15:32")
_FLOATING = "floating"


def is_inexact(item: Item) -> bool:
    """Tell whether a record may tell the times of an item in more words."""
    return bool(item.minutes) or any(_floats(item.data.get(name)) for name in item.floating)


def with_exact_times(item: Item, told: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data of an item, with what a record tells of its times and the item cannot."""
    data = dict(item.data)
    for name in item.minutes:
        if _is_same_minute(told.get(name), data.get(name)):
            data[name] = _with_seconds(data[name], told[name])
    zoned = [name for name in item.floating if _is_zoned(told.get(name), data.get(name))]
    data.update({name: told[name] for name in zoned})
    # Whether they float is told of all times of a record.
    if zoned and _FLOATING in data:
        del data[_FLOATING]
        data.update({_FLOATING: told[_FLOATING]} if _FLOATING in told else {})
    return data


def _is_zoned(known: object, new: object) -> bool:
    """Tell whether a record has the zone of a time that may be the same one without it."""
    return _floats(new) and isinstance(known, str) and instant.may_be_one(str(new), known)


def _is_same_minute(one: object, other: object) -> bool:
    """Tell whether two times are of one minute of one clock, wherever that is."""
    return isinstance(one, str) and isinstance(other, str) and one[:_MINUTE] == other[:_MINUTE]


def _with_seconds(new: str, known: str) -> str:
    return f"{new[:_MINUTE]}{known[_MINUTE:_SECOND]}{new[_SECOND:]}"


def _floats(time: object) -> bool:
    return isinstance(time, str) and instant.floats(time)
