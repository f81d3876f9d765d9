"""Scope: a grant and a request become one predicate that every read goes through.

A *reach* is what a caller may see of one stream of one connection, narrowed by what the request
asked for. The store takes nothing but reaches, so there is no way to read past a grant.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any, TypeVar

import orjson

from pdpp.model.declaration import Field, Kind, Role, Stream
from pdpp.model.errors import FieldNotGranted, UnknownField
from pdpp.model.grant import Allowance, Grant, Interval
from pdpp.store.catalogue import Catalogue, Feed
from pdpp.store.numbers import is_exact, read_data, write_data

_T = TypeVar("_T")
_DIGEST_CHARS = 16
"""64 bits: a version tells two states of one record apart and need not resist an attacker."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A comparison of one visible field with a value already parsed to the field's kind."""

    field: str
    kind: Kind
    operator: str
    value: str | int | float | Decimal


@dataclass(frozen=True, slots=True, eq=False)
class Reach:
    """What a caller sees of one feed. ``fields`` None is the owner, who sees everything.

    ``unfiltered`` is the reach before a request narrowed it; what follows from a grant is worked
    out there once and kept for as long as the reach itself.
    """

    feed: Feed
    stream: Stream
    fields: frozenset[str] | None
    whole: bool
    time: Interval | None = None
    keys: frozenset[str] | None = None
    conditions: tuple[Condition, ...] = ()
    grant_id: str | None = None
    unfiltered: "Reach | None" = None
    _derived: dict[Callable[["Reach"], Any], Any] = field(default_factory=dict, init=False)

    def once(self, make: Callable[["Reach"], _T]) -> _T:
        """Return what a function makes of the unfiltered reach; it is called once for it."""
        reach = self.unfiltered or self
        try:
            # Kept on the unfiltered reach, which lives as long as its principal: a filtered one is
            # made anew for each request, and a cache by it would only grow.
            value: _T = reach._derived[make]
        except KeyError:
            value = reach._derived[make] = make(reach)
        return value

    @property
    def connection_id(self) -> str:
        """Return the connection this reach is in."""
        return self.feed.connection.connection_id

    @property
    def full_name(self) -> str:
        """Return the stream's name with its connection; streams of one name may differ there."""
        return f"{self.stream.name} of {self.connection_id}"

    @property
    def restricted(self) -> bool:
        """Tell whether some records of the feed are outside."""
        return self.time is not None or self.keys is not None

    def shows(self, name: str) -> bool:
        """Tell whether a field is visible."""
        return self.fields is None or name in self.fields

    def names(self) -> list[str]:
        """Return the visible declared fields in declared order."""
        return [name for name in self.stream.fields if self.shows(name)]

    def field(self, name: str, param: str) -> Field:
        """Return a visible field, or refuse the same way whether it is hidden or does not exist."""
        declared = self.stream.fields.get(name)
        if declared is not None and self.shows(name):
            return declared
        # A field that exists and is hidden gets the same words as one that does not exist.
        offered = ", ".join(self.names()[:40])
        if self.whole:
            raise UnknownField(
                f"{self.full_name} has no field {name!r}. Its fields: {offered}.", param=param
            )
        raise FieldNotGranted(
            f"{name!r} is not among the fields this grant shows of {self.full_name}: {offered}.",
            param=param,
        )

    def opens_blob(self, name: str) -> bool:
        """Tell whether a field is visible and was declared to be a blob when this was granted."""
        declared = self.stream.fields.get(name)
        return declared is not None and declared.kind is Kind.BLOB and self.shows(name)

    @property
    def shows_time(self) -> bool:
        """Tell whether the time that records are kept by now is a field this reach shows."""
        consent = self.feed.stream.consent_time_field
        return (
            consent == self.stream.consent_time_field
            and consent is not None
            and self.shows(consent)
        )

    @property
    def shows_emission(self) -> bool:
        """Tell whether records are shown with the moment they were emitted at.

        That moment is mostly the event's own, so it is shown only beside the event time, or where
        a stream has none and all of its fields are shown.
        """
        return self.once(_shows_emission)

    @property
    def shows_key(self) -> bool:
        """Tell whether records are shown under their keys: their fields are all shown."""
        return self.once(_shows_key)

    def compares(self, name: str) -> bool:
        """Tell whether records can be filtered and sorted by a visible field, as its kind."""
        declared = self.stream.fields.get(name)
        if declared is None or self.feed.compared.get(name) is not declared.kind:
            return False
        return self.shows(name)

    def searched_fields(self) -> tuple[str, ...]:
        """Return the visible fields whose words a search looks through."""
        return self.once(_searched_fields)

    def actor_fields(self) -> tuple[str, ...]:
        """Return the visible fields that name an actor and are searched for names."""
        return self.once(_actor_fields)

    @property
    def shows_thread(self) -> bool:
        """Tell whether this reach shows which conversation a record belongs to, and when it was.

        A list of records is no conversation: what stands between them is not shown.
        """
        thread = self.stream.thread_field
        same = thread == self.feed.stream.thread_field
        shows_field = thread is not None and same and self.shows(thread)
        return shows_field and self.shows_time and self.keys is None

    @property
    def shows_order(self) -> bool:
        """Tell whether this reach shows what records of one time in a conversation are ordered by.

        That is a declared field, or else the number that a key ends in.
        """
        order = self.stream.thread_order
        if order != self.feed.stream.thread_order:
            return False
        return self.shows_key if order is None else self.shows(order)

    def default_sort(self) -> str | None:
        """Return the field pages are ordered by when the caller names none: a visible one."""
        for name in (self.stream.cursor_field, self.stream.consent_time_field):
            if name is not None and self.compares(name):
                return name
        return None

    def narrowed(self, conditions: Iterable[Condition]) -> "Reach":
        """Return this reach with further conditions on visible fields."""
        return replace(
            self,
            conditions=(*self.conditions, *conditions),
            unfiltered=self.unfiltered or self,
        )

    def cuts(
        self, field_set: frozenset[str] | None, select: frozenset[str] | None
    ) -> tuple[frozenset[str] | None, frozenset[str] | None]:
        """Return what records of a set of fields are cut to: what is granted, then what is asked.

        None is no cut: the stored JSON is passed on unparsed, with the digest that was stored
        beside it. A set that is not known may hold anything.
        """
        granted = self.fields
        if field_set is None:
            return granted, select
        return (
            None if granted is None or field_set <= granted else granted,
            None if select is None or field_set <= select else select,
        )


def cut_all(
    texts: Sequence[bytes],
    digests: Sequence[str],
    granted: frozenset[str] | None,
    asked: frozenset[str] | None,
) -> tuple[Sequence[bytes], Sequence[str]]:
    """Return the JSON of the fields that are granted and asked for, and the versions of that."""
    # The digest must be of the visible part: a version that changed with a hidden field would tell
    # that something changed there.
    if granted is not None:
        texts = pick_all(texts, granted)
        digests = digests_of(texts)
    if asked is not None:
        texts = pick_all(texts, asked)
    return texts, digests


def digest_of(data: bytes) -> str:
    """Return the version of a record whose visible part is this JSON."""
    return hashlib.sha256(data).hexdigest()[:_DIGEST_CHARS]


def digests_of(texts: Iterable[bytes]) -> list[str]:
    """Return the versions of some records."""
    sha256 = hashlib.sha256
    return [sha256(text).hexdigest()[:_DIGEST_CHARS] for text in texts]


def pick(data: bytes, names: frozenset[str]) -> bytes:
    """Return the JSON object with only the named members."""
    return pick_all((data,), names)[0]


def pick_all(texts: Sequence[bytes], names: frozenset[str]) -> list[bytes]:
    """Return some JSON objects with only the named members."""
    if any(map(is_exact, texts)):
        return [
            write_data({name: value for name, value in read_data(text).items() if name in names})
            for text in texts
        ]
    loads, dumps = orjson.loads, orjson.dumps
    return [
        dumps({name: value for name, value in loads(text).items() if name in names})
        for text in texts
    ]


def grant_reaches(grant: Grant, catalogue: Catalogue) -> tuple[Reach, ...]:
    """Return what a grant opens of the streams that exist now, in a stable order."""
    reaches = []
    for allowance in grant.allowances:
        feed = catalogue.feeds.get((allowance.connection_id, allowance.stream))
        declaration = catalogue.revisions.get(allowance.revision)
        stream = declaration.streams.get(allowance.stream) if declaration else None
        # A grant shows nothing rather than too much: where the stream is gone or is dated by
        # another field now, what the owner agreed to can no longer be told.
        if feed is None or stream is None or _time_moved(allowance, stream, feed):
            continue
        reaches.append(
            Reach(
                feed=feed,
                stream=stream,
                fields=frozenset(allowance.fields),
                whole=allowance.whole,
                time=allowance.time,
                keys=allowance.keys,
                grant_id=grant.id,
            )
        )
    return in_order(reaches)


def _time_moved(allowance: Allowance, stream: Stream, feed: Feed) -> bool:
    """Tell whether a time limit is by a field that no longer says when a record happened."""
    limited = allowance.time is not None
    return limited and stream.consent_time_field != feed.stream.consent_time_field


def owner_reaches(catalogue: Catalogue) -> tuple[Reach, ...]:
    """Return everything, for the owner."""
    return in_order(Reach(feed, feed.stream, None, True) for feed in catalogue.feeds.values())


def in_order(reaches: Iterable[Reach]) -> tuple[Reach, ...]:
    """Return reaches in the order every answer lists them."""
    return tuple(
        sorted(
            reaches,
            key=lambda reach: (
                reach.feed.connection.connector_key,
                reach.connection_id,
                reach.stream.name,
            ),
        )
    )


def _shows_emission(reach: Reach) -> bool:
    if reach.fields is None or reach.shows_time:
        return True
    without_time = reach.feed.stream.consent_time_field is None
    return without_time and all(map(reach.shows, reach.feed.stream.fields))


def _shows_key(reach: Reach) -> bool:
    """Tell whether a reach shows what keys are made of, when it was granted and now."""
    declared = (*reach.stream.primary_key, *reach.feed.stream.primary_key)
    return reach.fields is None or all(map(reach.shows, declared))


def _searched_fields(reach: Reach) -> tuple[str, ...]:
    declared = reach.stream.fields
    return tuple(
        name
        for name in reach.feed.searched
        if reach.shows(name) and name in declared and declared[name].lexical
    )


def _actor_fields(reach: Reach) -> tuple[str, ...]:
    searched = reach.feed.searched
    return tuple(
        name
        for name, declared in reach.stream.fields.items()
        if declared.role is Role.ACTOR and name in searched and reach.shows(name)
    )


def roles_of(reach: Reach) -> Mapping[str, str]:
    """Return the declared roles of the visible fields."""
    return reach.once(_roles)


def _roles(reach: Reach) -> Mapping[str, str]:
    return {
        name: declared.role.value
        for name, declared in reach.stream.fields.items()
        if declared.role is not None and reach.shows(name)
    }
