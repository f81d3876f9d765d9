"""Display: a record's values as a person reads them."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from pdpp.evidence.amount import size_in_words
from pdpp.evidence.binary import Binary, describe
from pdpp.evidence.budget import cut
from pdpp.evidence.fence import visible
from pdpp.evidence.presentation import Presentation, present
from pdpp.evidence.text import field_text
from pdpp.model import instant
from pdpp.model.declaration import Kind
from pdpp.pages.dates import Dates
from pdpp.pages.room import fitting, sent_bytes
from pdpp.store.numbers import read_data
from pdpp.store.query import Record
from pdpp.store.scope import roles_of

_MOST_OF_ONE = 1_500


@dataclass(frozen=True, slots=True)
class Value:
    """One field as it is shown; ``left`` is how many characters of it are not.

    ``field`` and ``next`` say how to read on: the field's own name, and where to go on in its text.
    """

    name: str
    text: str
    left: int = 0
    binary: bool = False
    field: str = ""
    next: int = 0


def presentation_of(record: Record) -> Presentation:
    """Return a record's title, time and so on by its declared roles."""
    reach = record.reach
    return present(
        read_data(record.data),
        roles_of(reach),
        label=reach.feed.connection.display_name,
        stream=reach.stream.name,
        emitted_at=instant.to_text(record.emitted_at),
    )


def values_of(record: Record, most: int) -> list[Value]:
    """Return the fields of a record that hold something, each within so many characters."""
    return [_value(record, name, value, most) for name, value in _present(record)]


def fitting_values(
    record: Record, left_out: Collection[str], dates: Dates, most: int
) -> list[Value]:
    """Return the fields of a record for its page, times in the reader's zone, all within a room."""
    values, room = [], most
    for name, value in _present(record):
        if name in left_out:
            continue
        declared = record.reach.stream.fields.get(name)
        if declared is not None and declared.kind is Kind.DATE_TIME and isinstance(value, str):
            value = dates.exact(value)
        whole = _value(record, name, value, room)
        kept = fitting(whole.text, min(room, _MOST_OF_ONE))
        room -= sent_bytes(kept)
        values.append(_shortened(whole, kept, name, value))
    return values


def _shortened(whole: Value, kept: str, name: str, value: object) -> Value:
    if kept == whole.text and not whole.left:
        return whole
    # Only a text is read on where it was cut; anything else is read as JSON, from its beginning.
    following = len(kept) if isinstance(value, str) and value.startswith(kept) else 0
    return replace(
        whole, text=kept, left=whole.left + len(whole.text) - len(kept), field=name, next=following
    )


def _present(record: Record) -> Iterator[tuple[str, object]]:
    data: Mapping[str, object] = read_data(record.data)
    fields = record.reach.stream.fields
    names = [name for name in fields if name in data] + [n for n in data if n not in fields]
    return ((name, data[name]) for name in names if data[name] is not None)


def _value(record: Record, name: str, value: object, most: int) -> Value:
    declared = record.reach.stream.fields.get(name)
    binary = describe(value, declared.kind if declared is not None else None)
    label = visible(name, lines=False)
    if binary is not None:
        return Value(label, in_words(binary), binary=True)
    text = _plain(value)
    kept, _ = cut(text, most)
    return Value(label, visible(kept), len(text) - len(kept))


def _plain(value: object) -> str:
    """Return a value as text; a list of texts is easier to read without its JSON."""
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return ", ".join(value)
    return field_text(value)


def in_words(binary: Binary) -> str:
    """Return the facts about content that the page does not show."""
    size = "" if binary.size_bytes is None else f", {size_in_words(binary.size_bytes)}"
    return visible(binary.media_type, lines=False) + size
