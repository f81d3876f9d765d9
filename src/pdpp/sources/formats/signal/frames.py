"""Frames: the lines of Signal's export, some of which are broken by a line feed in a text."""

from collections.abc import Iterator
from typing import NamedTuple

from pdpp.sources.item import Skipped
from pdpp.sources.reading.jsontext import NotJson, read_json
from pdpp.sources.reading.lines import ByteLine, lines
from pdpp.sources.reading.tree import FileEntry

_MOST_LINES = 500
_BEGINNINGS = (b'{"', b"{ ")


class SignalFrame(NamedTuple):
    """One object of the export and where it stands."""

    value: dict[str, object]
    where: str


def frames(entry: FileEntry) -> Iterator[SignalFrame | Skipped]:
    """Yield the objects; lines that are none by themselves are put together as long as needed."""
    pending: list[ByteLine] = []
    with entry.open() as stream:
        for line in lines(stream):
            if line.too_long:
                yield Skipped("a line that is too long", f"{entry.name} line {line.number:,}")
                continue
            if not line.text.strip() and not pending:
                continue
            if pending and line.text.startswith(_BEGINNINGS) and _parsed(line.text) is not None:
                yield _broken(entry, pending, cut=False)
                pending = []
            pending.append(line)
            frame = _frame(entry, pending)
            if frame is not None:
                yield frame
                pending = []
            elif len(pending) > _MOST_LINES:
                yield _broken(entry, pending, cut=False)
                pending = []
    if pending:
        yield _broken(entry, pending, cut=True)


def _frame(entry: FileEntry, pending: list[ByteLine]) -> SignalFrame | None:
    if not pending[-1].text.rstrip().endswith(b"}"):
        return None
    value = _parsed(b"\n".join(line.text for line in pending))
    return None if value is None else SignalFrame(value, f"{entry.name} line {pending[0].number:,}")


def _parsed(text: bytes) -> dict[str, object] | None:
    try:
        value = read_json(text)
    except NotJson:
        return None
    return value if isinstance(value, dict) else {}


def _broken(entry: FileEntry, pending: list[ByteLine], *, cut: bool) -> Skipped:
    reason = "a last line that is cut off" if cut else "a line that is not JSON"
    return Skipped(reason, f"{entry.name} line {pending[0].number:,}", cut=cut)
