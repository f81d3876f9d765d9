"""Session logs of VS Code: a whole session in the first line, and a change of it in each other."""

from collections.abc import Iterator, Sequence
from typing import Any

from pdpp.sources.item import Skipped, Unknown
from pdpp.sources.reading.guard import SURPRISES, surprise
from pdpp.sources.reading.jsonlines import LogGap, events
from pdpp.sources.reading.tree import FileEntry

WHOLE, SET, PUSH, DELETE = range(4)
"""What a line does, as VS Code numbers it."""


class SessionLog:
    """A session as the lines of its log leave it."""

    def __init__(self, entry: FileEntry) -> None:
        self._entry = entry
        self.session: Any = {}

    def replay(self) -> Iterator[Skipped | Unknown]:
        """Apply every line; yield what cannot be applied."""
        for event in events(self._entry):
            if isinstance(event, LogGap):
                yield event.skipped
                continue
            try:
                self._apply(event.value)
            except SURPRISES as problem:
                yield surprise(problem, event.where)

    def _apply(self, line: dict[str, Any]) -> None:
        kind = line["kind"]
        if kind == WHOLE:
            self.session = line["v"]
            return
        *way, last = line["k"]
        holder = self._at(way)
        if kind == SET:
            _put(holder, last, line.get("v"))
        elif kind == DELETE:
            holder.pop(last)
        elif kind == PUSH:
            if isinstance(holder, dict):
                holder.setdefault(last, [])
            listed = holder[last]
            del listed[line.get("i", len(listed)) :]
            listed += line.get("v") or []
        else:
            raise ValueError(kind)

    def _at(self, way: Sequence[str | int]) -> Any:
        found = self.session
        for step in way:
            found = found[step]
        return found


def _put(holder: Any, place: str | int, value: Any) -> None:
    if isinstance(holder, list) and place == len(holder):
        holder.append(value)
    else:
        holder[place] = value
