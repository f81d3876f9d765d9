"""A world with all its history, and the part of it that a grant shows.

``look`` is the whole promise: it is the only function here that is given hidden things, and every
answer of the model is made from what it returns. It is written to be obvious, not to be quick.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import orjson

from pdpp.model import instant
from pdpp.store import cell

Data = dict[str, Any]
Place = tuple[str, str]
"""A connection and a stream."""

SCALARS = ("text", "integer", "number", "boolean", "date-time")
TEXT, TIME, BLOB = "text", "date-time", "blob"


@dataclass(frozen=True, slots=True)
class Write:
    """One line of one batch: what a record became at a moment, or None where it was deleted."""

    at: int
    place: Place
    key: str
    data: Data | None
    emitted: int


@dataclass(frozen=True, slots=True)
class AccountChange:
    """What the owner does with an account at a moment: merges it into another, or removes it."""

    at: int
    connection_id: str
    into: str | None = None


@dataclass(slots=True)
class World:
    """Everything a store holds and ever held. ``surrogates`` are by place and key."""

    documents: dict[str, Data] = field(default_factory=dict)
    connections: dict[str, tuple[str, str]] = field(default_factory=dict)
    """The source and the name of each connection."""
    writes: list[Write] = field(default_factory=list)
    surrogates: dict[tuple[Place, str], int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Allowed:
    """What a grant shows of one stream of one connection."""

    place: Place
    fields: tuple[str, ...]
    whole: bool = False
    since: int | None = None
    until: int | None = None
    keys: frozenset[str] | None = None

    @property
    def timed(self) -> bool:
        return self.since is not None or self.until is not None

    def holds(self, moment: int | None) -> bool:
        """Tell whether a moment lies in the time of the grant."""
        if not self.timed:
            return True
        after = moment is not None and (self.since is None or moment >= self.since)
        return after and (self.until is None or (moment or 0) < self.until)


@dataclass(frozen=True, slots=True)
class Granted:
    """A grant, as far as answers depend on it."""

    id: str
    client_id: str
    allowed: tuple[Allowed, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """What is shown of a record. ``order`` is its random number, by which ties are broken."""

    id: str
    data: Data
    version: str
    emitted_at: str
    changed: int
    order: int


@dataclass(frozen=True, slots=True)
class Gone:
    """What is shown of a record that was shown once and is no more."""

    id: str
    emitted_at: str
    deleted_at: str
    changed: int
    order: int


@dataclass(frozen=True, slots=True)
class Feed:
    """What a grant shows of one stream of one connection: every answer is made from these."""

    connection_id: str
    connector_key: str
    display_name: str
    source: Mapping[str, Any]
    source_name: str
    stream: str
    declared: Mapping[str, Any]
    """The declaration of the stream, without the fields that are not shown."""
    kinds: Mapping[str, str]
    whole: bool
    since: int | None
    until: int | None
    listed: bool
    keyed: bool
    timed_by: str | None
    """The field that says when a record happened, where it is shown."""
    grant_id: str
    rows: tuple[Row, ...]
    gone: tuple[Gone, ...]


NameOf = Callable[[str, Place, int], str]
"""Gives a record its id under a grant: the grant, the place, and the record's random number."""


def look(world: World, granted: Granted, name_of: NameOf) -> tuple[Feed, ...]:
    """Return what a grant shows of a world. Nothing else of the world reaches an answer."""
    feeds = []
    for allowed in granted.allowed:
        connection_id, stream = allowed.place
        key, display_name = world.connections[connection_id]
        document = world.documents[key]
        declared = next(one for one in document["streams"] if one["name"] == stream)
        properties = declared["schema"]["properties"]
        shown = frozenset(allowed.fields)
        consent = declared.get("consent_time_field")
        keyed = all(name in shown for name in declared["primary_key"])
        exact = consent in shown or (consent is None and shown >= properties.keys())
        call = _Caller(granted.id, allowed, keyed, exact, consent, name_of)
        rows, gone = call.see(world)
        feeds.append(
            Feed(
                connection_id,
                key,
                display_name,
                document["source"],
                document["display"]["name"],
                stream,
                _visible(declared, shown),
                {name: kind_of(properties[name]) for name in properties if name in shown},
                allowed.whole,
                allowed.since,
                allowed.until,
                allowed.keys is not None,
                keyed,
                consent if consent in shown else None,
                granted.id,
                tuple(rows),
                tuple(gone),
            )
        )
    return tuple(sorted(feeds, key=lambda f: (f.connector_key, f.connection_id, f.stream)))


@dataclass(frozen=True, slots=True)
class _Caller:
    grant_id: str
    allowed: Allowed
    keyed: bool
    exact: bool
    consent: str | None
    name_of: NameOf

    def see(self, world: World) -> tuple[list[Row], list[Gone]]:
        """Return the records shown now, and those that were shown once."""
        histories: dict[str, list[Write]] = {}
        for write in world.writes:
            if write.place == self.allowed.place:
                histories.setdefault(write.key, []).append(write)
        rows, gone = [], []
        for key, writes in histories.items():
            if self.allowed.keys is not None and key not in self.allowed.keys:
                continue
            last, visible, was_shown = None, None, False
            for write in writes:
                after = self._shown(write.data)
                if canonical(after) != canonical(visible):
                    last, visible = write, after
                    was_shown = was_shown or after is not None
            if last is None or not was_shown:
                continue
            number = world.surrogates[self.allowed.place, key]
            id = key if self.keyed else self.name_of(self.grant_id, self.allowed.place, number)
            day = last.at - last.at % instant.DAY
            if visible is None:
                # What a record became outside the time of a grant was emitted out of its sight.
                told = last.at if self.allowed.timed else last.emitted
                when, deleted = (
                    instant.to_text(moment if self.exact else day) for moment in (told, last.at)
                )
                gone.append(Gone(id, when, deleted, last.at, number))
            else:
                when = instant.to_text(last.emitted if self.exact else day)
                digest = hashlib.sha256(canonical(shortened(visible))).hexdigest()[:16]
                rows.append(Row(id, visible, digest, when, last.at, number))
        return rows, gone

    def _shown(self, data: Data | None) -> Data | None:
        """Return the visible part of a record, None where it is not shown at all."""
        if data is None:
            return None
        moment = data.get(self.consent) if self.consent is not None else None
        if not self.allowed.holds(instant.parse(moment) if isinstance(moment, str) else None):
            return None
        return {name: value for name, value in data.items() if name in self.allowed.fields}


def shortened(visible: Data) -> Data:
    """Return data as its version is made of: a long value counts by its size and its digest.

    What becomes of a value follows from the value alone, never from others beside it.
    """
    short: Data = {}
    for name, value in visible.items():
        text = (
            value.encode() if isinstance(value, str) else canonical(value).replace(b"{ ", b"{", 1)
        )
        long = len(value) if isinstance(value, str) else len(text)
        short[name] = value
        if isinstance(value, str | list | dict) and long > cell.LONG_CHARS:
            begun = value[:480] if isinstance(value, str) else ""
            exact = "e" if not isinstance(value, str) and _has_decimal(value) else ""
            short[name] = f"{begun}\x01{exact}{len(text)}:{hashlib.sha256(text).hexdigest()}"
    return short


def _has_decimal(value: Any) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return isinstance(value, Decimal) or any(map(_has_decimal, inner))


def canonical(data: Any) -> bytes:
    """Return data as one JSON text; one that holds a decimal no float is has a space in front."""
    try:
        return orjson.dumps(data, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        digits = orjson.dumps(data, option=orjson.OPT_SORT_KEYS, default=_digits)
        return b"{ " + digits[1:] if isinstance(data, dict) else digits


def _digits(value: object) -> orjson.Fragment:
    assert isinstance(value, Decimal), value
    return orjson.Fragment(f"{value:f}")


def kind_of(schema: Mapping[str, Any]) -> str:
    """Return the kind of a property."""
    if schema.get("format") == TIME:
        return TIME
    if schema.get("x_pdpp_type") == BLOB:
        return BLOB
    declared = schema.get("type")
    names = declared if isinstance(declared, list) else [declared]
    name = next((name for name in names if name != "null"), None)
    known = {"string": TEXT, "integer": "integer", "number": "number", "boolean": "boolean"}
    return known.get(name or "", "json")


def _visible(declared: Mapping[str, Any], shown: frozenset[str]) -> dict[str, Any]:
    """Return a stream's declaration as if the other fields had never been declared."""
    query = declared.get("query", {})

    def kept(names: Sequence[str]) -> list[str]:
        return [name for name in names if name in shown]

    views = [{**view, "fields": kept(view["fields"])} for view in declared.get("views", [])]
    return {
        **{name: declared[name] for name in ("name", "semantics")},
        "label": declared.get("display", {}).get("label") or declared["name"],
        "description": declared.get("description", ""),
        "detail": declared.get("display", {}).get("detail", ""),
        "properties": {n: s for n, s in declared["schema"]["properties"].items() if n in shown},
        "primary_key": kept(declared["primary_key"]),
        "cursor_field": _only(declared.get("cursor_field"), shown),
        "consent_time_field": _only(declared.get("consent_time_field"), shown),
        "thread": _only(declared.get("thread"), shown),
        "views": [view for view in views if view["fields"]],
        "ranges": {n: ops for n, ops in query.get("range_filters", {}).items() if n in shown},
        "lexical": kept(query.get("search", {}).get("lexical_fields", [])),
        "semantic": kept(query.get("search", {}).get("semantic_fields", [])),
        "aggregations": {
            metric: kept(names)
            for metric, names in query.get("aggregations", {}).items()
            if metric != "count"
        },
        "relationships": [
            {**one, "limits": limit}
            for one in declared.get("relationships", [])
            for limit in query.get("expand", [])
            if limit["name"] == one["name"] and one["foreign_key"] in shown
        ],
    }


def _only(name: str | None, shown: frozenset[str]) -> str | None:
    return name if name in shown else None
