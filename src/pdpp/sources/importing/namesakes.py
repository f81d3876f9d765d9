"""Namesakes: different things that an export calls alike, told apart by what the account holds.

Notes of Evernote have no id: only a title and the second in which they were made. Two of them that
agree in both lie in one notebook or in two, which come in one file or in several, today or next
month, and the file of a notebook may have got another name since. So a note is the one that the
account holds under this name if it lies in the same place or says much the same. Otherwise it is
another one and gets a number. What comes twice from one file is two things in any case.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any, NamedTuple

from pdpp.model.vocabulary import Role
from pdpp.sources.item import START, Finding, Item
from pdpp.sources.keys import KeySealer, RecordKey, digest_key
from pdpp.sources.source import AnyPart, ExportPart, plain_name
from pdpp.store.numbers import read_data
from pdpp.store.port import Store
from pdpp.store.scope import Reach, owner_reaches

_PIECE_CHARS = 8
_MOST_CHARS = 2_000
_SAME_SHARE = 0.5
"""So many of the pieces of the shorter text stand in the longer one too if a note was changed.
Pieces of eight letters are longer than most words, which texts of one language share."""

_MOST_GONE = 4
"""So many things of one name in a row may have been deleted: those behind them are known still."""


class _Holder(NamedTuple):
    """A thing that has a name: where it lies, how its text begins, and a digest of all of it."""

    place: str
    beginning: str
    digest: str
    part: int | None = None
    """The part that gave it the name; none of this import did so to a thing that is stored."""


class Namesakes:
    """The names that things of one import get which their export calls alike."""

    def __init__(
        self, store: Store, connection_id: str, sealer: KeySealer, places: Mapping[str, str]
    ) -> None:
        self._store = store
        self._sealer = sealer
        self._places = places
        """Streams of such things, each with the field that tells where a thing lies."""
        self._reaches = {
            reach.stream.name: reach
            for reach in owner_reaches(store.catalogue())
            if reach.connection_id == connection_id
        }
        self._bodies = {name: _body_of(reach) for name, reach in self._reaches.items()}
        self._known: dict[tuple[str, str], dict[int, _Holder]] = {}

    def parts(self, parts: Sequence[AnyPart]) -> Sequence[AnyPart]:
        """Return the parts of the export, whose things have names of their own."""
        if not self._places:
            return parts
        return [
            ExportPart(part.entry, partial(self._findings, part, number))
            for number, part in enumerate(parts)
        ]

    def _findings(self, part: AnyPart, number: int) -> Iterator[Finding]:
        renamed: dict[str, RecordKey] = {}
        for finding in part.findings(START):
            if not isinstance(finding, Item):
                yield finding
            elif finding.stream in self._places:
                name = self._name(finding, number)
                renamed = {} if name == finding.key else {finding.key: name}
                yield _renamed(finding, name, renamed)
            else:
                yield _belonging(finding, renamed)

    def _name(self, item: Item, part: int) -> RecordKey:
        """Return the name of a thing, with a number where another thing has that name."""
        holders = self._holders(item.stream, item.key)
        thing = self._holder(item.stream, item.data, part)
        number = _number_of(thing, holders) or next(n for n in count(1) if n not in holders)
        holders[number] = thing
        return _numbered(item.key, number)

    def _holders(self, stream: str, name: str) -> dict[int, _Holder]:
        """Return who has a name, by number: in the account, or from this import."""
        holders = self._known.get((stream, name))
        if holders is None:
            holders = self._known[stream, name] = {}
            number, last = 1, _MOST_GONE
            while number <= last:
                if holder := self._stored(stream, name, number):
                    holders[number] = holder
                    last = number + _MOST_GONE
                number += 1
        return holders

    def _stored(self, stream: str, name: str, number: int) -> _Holder | None:
        reach = self._reaches.get(stream)
        if reach is None:
            return None
        record = self._store.record(reach, self._sealer.key_of(_numbered(name, number)))
        return None if record is None else self._holder(stream, read_data(record.data))

    def _holder(self, stream: str, data: Mapping[str, Any], part: int | None = None) -> _Holder:
        place = str(data.get(self._places[stream], ""))
        text = str(data.get(self._bodies.get(stream, ""), ""))
        return _Holder(place, text[:_MOST_CHARS], digest_key(text), part)


def _body_of(reach: Reach) -> str:
    fields = reach.stream.fields.items()
    return next((name for name, field in fields if field.role is Role.BODY), "")


def _numbered(name: str, number: int) -> RecordKey:
    return RecordKey(name if number == 1 else f"{name}-{number}")


def _number_of(thing: _Holder, holders: Mapping[int, _Holder]) -> int:
    """Return the number of the one that a thing is; 0 where it is another one."""
    told = {number: holder for number, holder in holders.items() if holder.part != thing.part}
    same = [number for number, holder in told.items() if _says_the_same(holder, thing)]
    if same:
        return next((number for number in same if told[number].place == thing.place), same[0])
    likeness = {number: _likeness(holder, thing) for number, holder in told.items()}
    best = max(likeness, key=likeness.__getitem__, default=0)
    return best if likeness.get(best) else 0


def _says_the_same(holder: _Holder, thing: _Holder) -> bool:
    return holder.digest == thing.digest and bool(thing.beginning)


def _likeness(holder: _Holder, thing: _Holder) -> float:
    """Return how much speaks for a thing to be one that says something else; 0 is another one.

    A note that was moved, or whose file was renamed, may have been changed since. Two that come
    together from two places are two notes, unless the places are called alike but for a day.
    """
    share = _shared(holder.beginning, thing.beginning)
    if holder.place == thing.place:
        return 1 + share
    if holder.part is not None and plain_name(holder.place) != plain_name(thing.place):
        return 0
    return share if share >= _SAME_SHARE else 0


def _shared(stored: str, text: str) -> float:
    """Return how much of the shorter of two texts stands in the other one.

    Something may have been written since where nothing stood, but nothing that is there is taken
    away by an empty text.
    """
    if not stored:
        return _SAME_SHARE
    one, other = _pieces(stored), _pieces(text)
    return len(one & other) / max(1, min(len(one), len(other)))


def _pieces(text: str) -> set[str]:
    plain = " ".join(text.casefold().split())
    last = max(1, len(plain) - _PIECE_CHARS + 1) if plain else 0
    return {plain[start : start + _PIECE_CHARS] for start in range(last)}


def _renamed(item: Item, name: RecordKey, renamed: Mapping[str, RecordKey]) -> Item:
    if not renamed:
        return item
    return item._replace(key=name, data=_replaced(item.data, {item.key: name}))


def _belonging(item: Item, renamed: Mapping[str, RecordKey]) -> Item:
    """Return what belongs to a thing with the name that this has got."""
    names = [value for value in item.data.values() if type(value) is RecordKey]
    owner = next((name for name in names if name in renamed), None)
    if owner is None:
        return item
    name = digest_key(renamed[owner], item.key)
    return item._replace(key=name, data=_replaced(item.data, {**renamed, item.key: name}))


def _replaced(data: Mapping[str, Any], names: Mapping[str, RecordKey]) -> dict[str, Any]:
    return {
        member: names.get(value, value) if type(value) is RecordKey else value
        for member, value in data.items()
    }
