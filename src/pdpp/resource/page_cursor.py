"""Page cursors: where a page of records ended, always in few characters.

A page ends at a sort value and a record. Where the value is a long text only its beginning goes
into the cursor, with a digest of the whole: the value itself is read again from the record. Where
that record has gone or changed since, the next page begins with the first record whose value has
the same beginning, so that nothing is missed and only records that share it can be shown again.
"""

import hashlib
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from pdpp.model.decimals import digits_of
from pdpp.resource.call import Call
from pdpp.store.cell import text_cell
from pdpp.store.numbers import read_data
from pdpp.store.query import PagePosition
from pdpp.store.scope import Reach

_MOST_CHARS = 40
_AFTER_ALL = "\U0010ffff"
"""Sorts after every text with the same beginning."""


def sealed_position(position: PagePosition) -> list[Any]:
    """Return a position as it goes into a cursor."""
    value, connection_id, surrogate = position
    if isinstance(value, Decimal):
        return [[digits_of(value)], connection_id, surrogate]
    if not isinstance(value, str) or len(value) <= _MOST_CHARS:
        return [value, connection_id, surrogate]
    return [value[:_MOST_CHARS], connection_id, surrogate, _digest(value)]


def opened_position(
    call: Call, reaches: Sequence[Reach], sort: str | None, descending: bool, parts: list[Any]
) -> PagePosition:
    """Return the position that a cursor holds."""
    value, connection_id, surrogate, *digest = parts
    if isinstance(value, list):
        value = Decimal(value[0])
    position = PagePosition(value, connection_id, surrogate)
    if not digest:
        return position
    whole = _value_now(call, reaches, sort, position)
    if whole is not None and _digest(whole) == digest[0]:
        return position._replace(value=whole)
    return position._replace(value=value + _AFTER_ALL) if descending else position


def _value_now(
    call: Call, reaches: Sequence[Reach], sort: str | None, position: PagePosition
) -> str | None:
    """Return the text that a record is sorted by now, if the caller still sees it."""
    for reach in reaches:
        name = sort or reach.default_sort()
        if name is None:
            continue
        record = call.store.record_at(reach, position, frozenset({name}))
        if record is not None:
            value = read_data(record.data).get(name)
            return text_cell(value) if isinstance(value, str) else None
    return None


def _digest(value: str) -> str:
    return hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()[:16]
