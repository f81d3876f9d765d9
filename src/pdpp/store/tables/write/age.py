"""Age: which of two states of a record was there first, by what the record says of itself."""

from collections.abc import Iterator, Mapping
from typing import Any

from pdpp.model import instant
from pdpp.model.declaration import TIMES
from pdpp.store.batch import CHANGED_AT
from pdpp.store.catalogue import Feed
from pdpp.store.numbers import read_data
from pdpp.store.tables.search.entry import whole_number

_MESSAGES = "message_count"


def is_older(feed: Feed, text: bytes, other: bytes) -> bool:
    """Tell whether a record says itself that it is an earlier state than another one."""
    names, order = list(_change_fields(feed)), feed.stream.thread_order
    if not names and order is None:
        return False
    before, after = read_data(other), read_data(text)  # no time is a long value
    moments = [_moments(before.get(name), after.get(name)) for name in names]
    if any(stored is not None and (new is None or new < stored) for stored, new in moments):
        return True
    # An export of a part of a talk, such as its last messages, may end where the whole one does.
    same = all(stored == new for stored, new in moments)
    return same and (
        _count(after) < _count(before) or (order is not None and _is_lower(order, before, after))
    )


def _is_lower(order: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Tell whether a record differs by a lower place in its conversation, and by nothing else.

    An export that begins in the middle of a minute numbers what was said in it from there.
    """
    lower = whole_number(after.get(order)) < whole_number(before.get(order))
    return lower and {**before, order: None} == {**after, order: None}


def _count(data: Mapping[str, Any]) -> int:
    count = data.get(_MESSAGES)
    return count if isinstance(count, int) else 0


def _change_fields(feed: Feed) -> Iterator[str]:
    fields = feed.stream.fields
    # A talk ends with its last message, so far; a visit or a track that ends earlier was corrected.
    names = (*CHANGED_AT, "ended_at") if _MESSAGES in fields else CHANGED_AT
    return (name for name in names if name in fields and fields[name].kind in TIMES)


def _moments(known: Any, new: Any) -> tuple[int | None, int | None]:
    """Return the moments that a field names in two states.

    A clock of a place that nobody tells may be hours off: what may be one moment counts as one.
    """
    if isinstance(known, str) and isinstance(new, str) and instant.may_be_one(known, new):
        return 0, 0
    return _moment(known), _moment(new)


def _moment(value: Any) -> int | None:
    """Return the moment that a field names; a day is its beginning."""
    if not isinstance(value, str):
        return None
    return instant.parse(value) or instant.parse(f"{value}T00:00:00Z")
