"""Stamps: when what a reach shows of a record last changed.

A record that was written more than once remembers, for each field, the write that last changed it,
and the times that it was moved away from. With these any reach can be answered as if the fields it
does not show did not exist.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import orjson

from pdpp.store.scope import Reach
from pdpp.store.tables.records.long_values import long_name

CREATED = b"\x00"
MOVED = b"\x01"
"""What stands in ``edit`` in place of a field's name; no name is a blob."""

Stamp = tuple[int, int]
"""The version of a write and the emission that came with it."""

Move = tuple[int, int, int | None]
"""A stamp, and the time that a record was moved away from."""


@dataclass(slots=True)
class Stamps:
    """The later writes of one record."""

    fields: dict[str, Stamp] = field(default_factory=dict)
    moves: list[Move] = field(default_factory=list)
    earlier: dict[str, tuple[int, list[Move]]] = field(default_factory=dict)
    """The moves by a field that is the time no more, and the last write that they know of."""

    @classmethod
    def parse(cls, text: str | None) -> "Stamps":
        """Read stamps as they are stored."""
        return cls() if text is None else cls(**orjson.loads(text))

    def text(self) -> str:
        """Return stamps as they are stored."""
        kept = {"fields": self.fields, "moves": self.moves}
        return orjson.dumps({**kept, "earlier": self.earlier} if self.earlier else kept).decode()

    def move(self, version: int, emitted: int, time: int | None) -> None:
        """Remember that a record was moved away from a time.

        However many moves there are, none is forgotten that a stretch of time can still tell: a
        move that is forgotten would show as a change to those who see neither end of it.
        """
        self.moves = _telling([*self.moves, (version, emitted, time)])

    def date_by(self, before: str | None, after: str | None) -> None:
        """Let another field be the time that a record is moved in, None where there is none.

        Where the record was before that field last changed is not known: it was outside every
        stretch. What the field that was the time knows is kept for when it is the time again.
        """
        if before is not None:
            last = max((version for version, _ in self.fields.values()), default=0)
            self.earlier[before] = (last, self.moves)
        self.moves = []
        if after is None:
            return
        known_to, self.moves = self.earlier.pop(after, (0, []))
        changed = self.fields.get(after)
        if changed is not None and changed[0] > known_to:
            self.moves = [(*changed, None)]

    def edits(self, created: int) -> Iterator[tuple[str | bytes, int]]:
        """Yield what ``edit`` holds of a record that has stamps."""
        yield CREATED, created
        for name, (version, _) in self.fields.items():
            yield long_name(name), version
        for version, *_ in self.moves:
            yield MOVED, version


def last_visible(reach: Reach, created: int, emitted: int, stamps: str) -> Stamp:
    """Return the last write that changed what a reach shows of a record.

    Coming into the reach's time is such a write, even where the time itself is hidden. The stamps
    are taken as they are stored: a page of edited records reads a hundred of them.
    """
    stored, fields = orjson.loads(stamps), reach.fields
    latest: Stamp = (created, emitted)
    for name, stamp in stored["fields"].items():
        # A stamp of a hidden field is passed over even where it is the latest: the version shown
        # must not move with it.
        if stamp[0] > latest[0] and (fields is None or name in fields):
            latest = stamp
    if reach.time is None:
        return latest
    for version, at, time in stored["moves"]:
        # Before this move it was outside: the reach saw it come in then at the earliest.
        if version > latest[0] and not reach.time.holds(time):
            latest = (version, at)
    return latest


def _telling(moves: list[Move]) -> list[Move]:
    """Return the moves that any stretch of time can still tell apart.

    A record is outside a stretch when its time is before it or after it. A move away from a time
    tells nothing more where the record was later moved away from an earlier time or the same, and
    from a later time or the same: whoever did not see it then did not see it at one of these.
    """
    kept: list[Move] = []
    least: int | None = None
    most: int | None = None
    for move in reversed(moves):
        time = move[2]
        if time is None:  # outside every stretch: nothing before it matters
            kept.append(move)
            break
        if least is None or most is None or time < least or time > most:
            kept.append(move)
        least = time if least is None else min(least, time)
        most = time if most is None else max(most, time)
    return kept[::-1]
