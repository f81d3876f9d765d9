"""Sessions: what the logs of coding agents share, a growing file of JSON lines for each one."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from pdpp.evidence.amount import counted
from pdpp.sources.guard import attempt
from pdpp.sources.item import Found, Item, Place
from pdpp.sources.keys import safe_key
from pdpp.sources.logs import Event, events
from pdpp.sources.source import Confidence
from pdpp.sources.talk import Talk
from pdpp.sources.tree import Entry, Tree

_LOOKED_AT = 20


def logs_of(tree: Tree) -> list[Entry]:
    """Return the files that may be logs."""
    return [entry for entry in tree.entries if entry.suffix == ".jsonl" and entry.size]


class Sighting(NamedTuple):
    """What the first logs say of themselves: how many there are in words, and which layouts."""

    confidence: Confidence
    sessions: str
    layouts: list[str]


def look_at(tree: Tree, layouts: Callable[[Entry], set[str]]) -> Sighting | None:
    """Look at the first logs; ``layouts`` is empty where one is not of the kind that is meant."""
    logs = logs_of(tree)
    found = [seen for entry in logs[:_LOOKED_AT] if (seen := layouts(entry))]
    if not found:
        return None
    certain = len(found) == min(len(logs), _LOOKED_AT)
    return Sighting(
        Confidence.CERTAIN if certain else Confidence.LIKELY,
        counted(len(logs), "session"),
        sorted(set().union(*found)),
    )


class Session(ABC):
    """Reads one log. Keys begin with the log's own name: a resumed session repeats old lines."""

    def __init__(self, entry: Entry) -> None:
        self._entry = entry
        self._id = safe_key(entry.base.removesuffix(".jsonl"))

    def read(self, place: Place) -> Iterator[Found]:
        """Yield what the lines hold, and the session itself at the end."""
        talk = Talk(**place.state)
        for found in events(self._entry, place.offset):
            talk.lines += 1
            if isinstance(found, Event):
                yield from attempt(self._event(found, talk), found.where)
            else:
                yield found.skipped
            if found.closed:
                yield Place(found.end, talk.state())
        if talk.messages:
            yield Item("sessions", self._id, talk.record(self._id), talk.last)

    @abstractmethod
    def _event(self, event: Event, talk: Talk) -> Iterator[Found]:
        """Yield what one line holds."""

    def _item(self, stream: str, name: str, at: str, data: dict[str, Any]) -> Item:
        key = safe_key(self._id, name)
        return Item(stream, key, {"id": key, "session_id": self._id, "sent_at": at, **data}, at)
