"""Display: a record's values as a person reads them."""

from collections.abc import Mapping
from dataclasses import dataclass

from pdpp.evidence.amount import size_in_words
from pdpp.evidence.binary import Binary, describe
from pdpp.evidence.budget import cut
from pdpp.evidence.fence import visible
from pdpp.evidence.presentation import Presentation, present
from pdpp.evidence.text import field_text
from pdpp.model import instant
from pdpp.store.numbers import read_data
from pdpp.store.port import Record
from pdpp.store.scope import roles_of


@dataclass(frozen=True, slots=True)
class Value:
    """One field as it is shown; ``left`` is how many characters of it are not."""

    name: str
    text: str
    left: int = 0
    binary: bool = False


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
    data: Mapping[str, object] = read_data(record.data)
    fields = record.reach.stream.fields
    names = [name for name in fields if name in data] + [n for n in data if n not in fields]
    return [_value(record, name, data[name], most) for name in names if data[name] is not None]


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
    """Return what is told about content that is not shown."""
    size = "" if binary.size_bytes is None else f", {size_in_words(binary.size_bytes)}"
    return visible(binary.media_type, lines=False) + size
