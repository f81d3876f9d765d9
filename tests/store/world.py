"""What the store's tests share: a clock to set, declarations, and a naive model of every read."""

import operator
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from tests.engine import open_store, ordered_surrogate
from tests.made_once import parse_once

from pdpp.model import instant
from pdpp.model.declaration import Declaration, Kind
from pdpp.model.grant import Allowance, Interval
from pdpp.store.batch import Line, WriteResult
from pdpp.store.catalogue import Feed
from pdpp.store.cell import CellValue, converter_of
from pdpp.store.port import Store
from pdpp.store.pseudonym import FeedSeal, GrantKeys
from pdpp.store.query import PageQuery, Record, Tombstone
from pdpp.store.scope import Condition, Reach

MEMORY = Path("/dev/shm")  # noqa: S108 - a private folder is made inside
NOW = 1_772_366_400 * instant.SECOND
Data = dict[str, Any]
OPERATORS = {
    "eq": operator.eq,
    "gte": operator.ge,
    "gt": operator.gt,
    "lte": operator.le,
    "lt": operator.lt,
}
TEXT = {"type": ["string", "null"]}
MESSAGE: Data = {
    "id": {"type": "string"},
    "subject": {**TEXT, "x_pdpp_role": "primary-title"},
    "body": {**TEXT, "x_pdpp_role": "body"},
    "at": {"type": ["string", "null"], "format": "date-time", "x_pdpp_role": "event-time"},
    "day": {"type": ["string", "null"], "format": "date"},
    "size": {"type": ["integer", "null"]},
    "weight": {"type": ["number", "null"]},
    "read": {"type": ["boolean", "null"]},
    "note": TEXT,
    "thread": TEXT,
    "file": {"type": ["object", "null"], "x_pdpp_type": "blob"},
}
RANGES = ["gte", "gt", "lte", "lt"]
QUERY: Data = {
    "range_filters": dict.fromkeys(("subject", "at", "day", "size", "weight"), RANGES),
    "search": {"lexical_fields": ["subject", "body"]},
    "aggregations": {
        "count": True,
        "sum": ["size", "weight"],
        "min": ["size", "weight", "at", "day"],
        "max": ["size", "weight", "at", "day"],
        "count_distinct": ["subject", "size", "weight", "read", "thread"],
        "group_by": ["subject", "size", "read", "thread"],
        "group_by_time": ["at", "day"],
    },
}


@dataclass(slots=True)
class Clock:
    """A clock that stands still until it is set."""

    now: int = NOW

    def __call__(self) -> int:
        return self.now

    def pass_by(self, seconds: int = 1) -> int:
        self.now += seconds * instant.SECOND
        return self.now


class Engine(Protocol):
    """A way to open a store in a folder."""

    def __call__(self, folder: Path, clock: instant.Clock) -> Store: ...


ENGINES: Mapping[str, Engine] = {"sqlite": partial(open_store, surrogate_of=ordered_surrogate)}


def stream(
    name: str = "messages",
    properties: Data | None = None,
    query: Data | None = None,
    **members: Any,
) -> Data:
    return {
        "name": name,
        "semantics": "mutable_state",
        "schema": {"type": "object", "properties": MESSAGE if properties is None else properties},
        "primary_key": ["id"],
        "consent_time_field": "at",
        "query": QUERY if query is None else query,
        **members,
    }


def declare(*streams: Data, key: str = "mail", source: str = "", version: str = "1") -> Declaration:
    return parse_once(
        {
            "protocol_version": "0.1.0",
            "source": {"kind": "connector", "id": source or f"https://example.org/{key}"},
            "connector_key": key,
            "declaration_version": version,
            "publisher": {"id": "https://example.org"},
            "display": {"name": key.title()},
            "streams": list(streams or (stream(),)),
        }
    )


@dataclass(slots=True)
class World:
    """A store with a clock, and short words to fill it and look into it."""

    store: Store
    clock: Clock = field(default_factory=Clock)
    written: dict[int, str] = field(default_factory=dict)

    def settle(self, declaration: Declaration | None = None, *connections: str) -> "World":
        """Register a declaration and connect accounts to it, ``c1`` where none is named."""
        chosen = declaration or declare()
        self.store.register(chosen)
        for connection_id in connections or ("c1",):
            self.store.connect(connection_id, chosen.connector_key, connection_id.title())
        return self

    def feed(self, connection_id: str = "c1", name: str = "messages") -> Feed:
        return self.store.catalogue().feeds[connection_id, name]

    def put(self, records: Mapping[str, Data | None], connection_id: str = "c1") -> WriteResult:
        """Write a batch; None deletes."""
        return self.write(records, self.feed(connection_id))

    def write(self, records: Mapping[str, Data | None], feed: Feed) -> WriteResult:
        self.written |= {ordered_surrogate(feed, key): key for key in records}
        lines = [
            Line(index, key, self.clock.now, data)
            for index, (key, data) in enumerate(records.items())
        ]
        return self.store.write(feed, lines)

    def reach(
        self,
        connection_id: str = "c1",
        name: str = "messages",
        *,
        fields: Iterable[str] | None = None,
        time: Interval | None = None,
        keys: Iterable[str] | None = None,
        conditions: tuple[Condition, ...] = (),
    ) -> Reach:
        feed = self.feed(connection_id, name)
        return Reach(
            feed=feed,
            stream=feed.stream,
            fields=None if fields is None else frozenset(fields),
            whole=fields is None,
            time=time,
            keys=None if keys is None else frozenset(keys),
            conditions=conditions,
        )

    def key(self, change: Record | Tombstone) -> str:
        """Return the key of a record that a reach shows, under whatever id."""
        reach = change.reach
        if reach.shows_key:
            return change.id
        keys = GrantKeys(self.store.secret(), reach.grant_id)
        surrogate = FeedSeal(keys, *reach.feed.address).open(change.id)
        assert surrogate is not None
        return self.written[surrogate]

    def id(self, reach: Reach, key: str) -> str:
        """Return what a record is called under a reach."""
        if reach.shows_key:
            return key
        keys = GrantKeys(self.store.secret(), reach.grant_id)
        return FeedSeal(keys, *reach.feed.address).seal(ordered_surrogate(reach.feed, key))

    def keys(self, reach: Reach | None = None) -> list[str]:
        """Return the keys a reach shows, by asking for each key there is."""
        return sorted(map(self.key, all_records(self.store, reach or self.reach())))


@contextmanager
def fresh(engine: Engine) -> Iterator[World]:
    """Open an empty store that is gone afterwards, in memory where the system offers that."""
    clock = Clock()
    memory = MEMORY if os.access(MEMORY, os.W_OK) else None
    with TemporaryDirectory(dir=memory, ignore_cleanup_errors=True) as folder:
        store = engine(Path(folder), clock)
        try:
            yield World(store, clock)
        finally:
            store.close()


def all_records(store: Store, reach: Reach) -> tuple[Record, ...]:
    return store.page(PageQuery((reach,), 10_000)).records


def condition(reach: Reach, name: str, operation: str, value: str | float | Decimal) -> Condition:
    return Condition(name, reach.stream.fields[name].kind, operation, value)


def allow(world: World, connection_id: str = "c1", name: str = "messages", **kw: Any) -> Allowance:
    """Return an allowance of a stream as it is declared now."""
    catalogue = world.store.catalogue()
    feed = catalogue.feeds[connection_id, name]
    revision = catalogue.sources[feed.connection.connector_key].revision
    fields = kw.pop("fields", tuple(feed.stream.fields))
    return Allowance(connection_id, name, revision, fields, **kw)


# The model: what a reach shows, worked out from plain dictionaries.


def cell(reach: Reach, name: str | None, data: Data) -> CellValue:
    """Return a field's value as it is compared."""
    if name is None:
        return None
    value = data.get(name)
    kind = reach.stream.fields[name].kind
    if kind is Kind.NUMBER:
        return meaning(value)
    return None if value is None else converter_of(kind)(value)


def meaning(value: CellValue) -> CellValue:
    """Return a number as the decimal that it is written as."""
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return Decimal(str(value))
    return value


def inside(interval: Interval | None, value: CellValue) -> bool:
    if interval is None:
        return True
    if not isinstance(value, int):
        return False
    since, until = interval.since, interval.until
    return (since is None or since <= value) and (until is None or value < until)


def shown(reach: Reach, records: Mapping[str, Data]) -> dict[str, Data]:
    """Return the records that a reach shows, whole."""
    return {key: data for key, data in records.items() if shows(reach, key, data)}


def shows(reach: Reach, key: str, data: Data) -> bool:
    if reach.keys is not None and key not in reach.keys:
        return False
    if not inside(reach.time, cell(reach, reach.stream.consent_time_field, data)):
        return False
    return all(_meets(item, cell(reach, item.field, data)) for item in reach.conditions)


def _meets(item: Condition, value: CellValue) -> bool:
    bound: Any = meaning(item.value) if item.kind is Kind.NUMBER else item.value
    return value is not None and bool(OPERATORS[item.operator](value, bound))


def projected(reach: Reach, data: Data, select: Iterable[str] | None = None) -> Data:
    """Return what a reach shows of a record, and of that what was asked for."""
    return {
        name: value
        for name, value in data.items()
        if reach.shows(name) and (select is None or name in select)
    }
