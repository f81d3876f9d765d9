"""Findings: what a source finds in an export, one thing at a time."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, BinaryIO, NamedTuple

NO_STATE: Mapping[str, Any] = MappingProxyType({})


class Attachment(NamedTuple):
    """Bytes that become a blob; the reference to it lands in ``field`` of the item's data."""

    field: str
    open: Callable[[], BinaryIO]
    media_type: str


class Item(NamedTuple):
    """One record to bring in.

    It counts as emitted when it is imported: its own date is a field of ``data``, which a grant
    can hide. ``key`` and the members of ``data`` that name records are ``RecordKey``. A ``weak``
    one leaves a record that is there as it is, because that came from where more is told; an
    ``older`` one, of an older export, only if it does not say itself that it was changed later; one
    that ``lacks`` a field, such as that of a file, only a record that has this field. One that
    ``keeps`` a field takes the place of the record, but for what only that says there. Of times in
    ``minutes`` it tells no seconds, and of those in ``floating`` perhaps no zone: a record that
    tells them of the same moment keeps them.
    """

    stream: str
    key: str
    data: dict[str, Any]
    attachments: tuple[Attachment, ...] = ()
    weak: bool = False
    lacks: str = ""
    keeps: str = ""
    minutes: tuple[str, ...] = ()
    floating: tuple[str, ...] = ()
    older: bool = False


class Skipped(NamedTuple):
    """Something understood and not brought in.

    ``reason`` is a fixed phrase that is counted; ``example`` tells the place, never the content.
    ``cut`` says that the rest of the part is missing or cannot be read: at the end of a log that
    grows nothing is wrong with that. ``lost`` says that this alone was to come in and cannot.
    """

    reason: str
    example: str
    cut: bool = False
    lost: bool = False


class Unknown(NamedTuple):
    """Something of a shape that the source does not know; told like what is skipped."""

    reason: str
    example: str


class Seen(NamedTuple):
    """One unit of the input, such as a message or a line; what became of it follows."""

    kind: str


class ResumePoint(NamedTuple):
    """An offset in a growing part: everything before it has been yielded.

    ``state`` is small JSON data that the reader wants back when it goes on from here.
    """

    offset: int = 0
    state: Mapping[str, Any] = NO_STATE


START = ResumePoint()

Finding = Item | Skipped | Unknown | Seen | ResumePoint


def with_file(
    item: Item, opener: Callable[[], BinaryIO] | None, media_type: str, field: str = "file"
) -> Item:
    """Return an item with its file; one whose file is not here leaves a record that has it.

    A later export may lack what an earlier one held, or be only a part of what was sent.
    """
    if opener is None:
        return item._replace(lacks=field)
    return item._replace(attachments=(Attachment(field, opener, media_type),))


def present(data: Mapping[str, Any], *nothing: object) -> dict[str, Any]:
    """Return data without the members that have no value, or one that counts as ``nothing``."""
    return {
        name: value for name, value in data.items() if value is not None and value not in nothing
    }
