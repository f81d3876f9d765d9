"""Makes up worlds in pairs: equal in what a grant shows, different in everything else.

The two sides differ in keys, emission times, the order of insertion, earlier and later lives of
records, hidden fields with what is declared of them, hidden records, streams and connections, and
in how many there are of each, and how long a hidden text is.
"""

import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from tests.promises.reference.world import (
    AccountChange,
    Allowed,
    Data,
    Granted,
    Place,
    World,
    Write,
)

from pdpp.model import instant

START = instant.parse("2026-08-01T08:00:00Z") or 0
RANGES = ["gte", "gt", "lte", "lt"]
WORDS = (
    "alpha", "alpha beta", "garden party", "when is the garden party?", "beta gamma delta",
    "invoice from the bank", "invoices", "we met Ada at noon", "the train leaves at seven",
    "gamma", "café in Lyon", "Ünï-códe", "holiday photographs", "delta delta delta", "bank",
    "lorem " * 40 + "alpha",
)  # fmt: skip
_LONG = WORDS[-1]
EXACT = (Decimal("0.100000000000000006"), Decimal("0.100000000000000007"))
"""Decimals that no float is; both stand next to 0.1."""
NAMES = ("Ada Byron", "Grace", "Alan", "Bank")
INSIDE = (
    "2026-03-01T00:00:00Z", "2026-03-05T12:30:00Z", "2026-03-05T12:30:00.5Z",
    "2026-04-01T08:00:00Z", "2026-04-30T23:59:59.999999Z",
)  # fmt: skip
OUTSIDE = (
    "2026-02-28T23:59:59.999999Z", "2026-05-01T00:00:00Z", "2019-01-01T00:00:00Z", None,
    "1970-01-01T00:00:00Z", "9999-12-31T23:59:59Z",
)  # fmt: skip
SINCE, UNTIL = instant.parse("2026-03-01"), instant.parse("2026-05-01")
POOL = (
    "id", "code", "title", "body", "who", "at", "seen", "amount", "size", "flag", "label",
    "thread", "extra", "up", "file",
)  # fmt: skip
BLOBS = (
    b"the minutes of the garden party", "\ufeffcafé, with a mark in front".encode(),
    b"\x89PNG\r\n\x1a\n and more", b"", b"alpha " * 30,
)  # fmt: skip
MEDIA = ("text/plain", "image/png", "application/octet-stream", "text/markdown")
ROLES = {"title": "primary-title", "body": "body", "who": "actor", "at": "event-time"}
_HIDDEN_ROLES = {
    "text": ("primary-title", "body", "secondary", "actor", "link"),
    "date-time": ("event-time",),
    "number": ("amount",),
    "integer": ("amount",),
}
_TYPES: dict[str, Data] = {
    "text": {"type": ["string", "null"]},
    "date-time": {"type": ["string", "null"], "format": "date-time"},
    "number": {"type": ["number", "null"]},
    "integer": {"type": ["integer", "null"]},
    "boolean": {"type": ["boolean", "null"]},
    "json": {},
    "blob": {"x_pdpp_type": "blob"},
}
_KINDS = {
    "at": "date-time", "seen": "date-time", "amount": "number", "size": "integer",
    "flag": "boolean", "extra": "json", "file": "blob",
}  # fmt: skip
_METRICS: dict[str, tuple[str, ...]] = {
    "sum": ("number", "integer"),
    "min": ("number", "integer", "date-time"),
    "max": ("number", "integer", "date-time"),
    "count_distinct": ("number", "integer", "date-time", "text", "boolean"),
    "group_by": ("number", "integer", "date-time", "text", "boolean"),
    "group_by_time": ("date-time",),
}


def value(chance: random.Random, name: str, kind: str) -> Any:
    """Return a value for a field, sometimes none."""
    pick = chance.choice
    if chance.random() < 0.1:
        return None
    if name == "who":
        return pick(NAMES)
    if name == "thread":
        return pick(("t1", "t1", "t2"))
    if name == "up":
        return pick(("v0", "v0", "v1", "v2", "nobody"))
    if name == "label":
        return pick(("a", "b", "B", "é", ""))
    if kind == "date-time":
        return pick(INSIDE + OUTSIDE)
    if kind == "blob":
        return reference(pick(BLOBS), pick(MEDIA))
    pools: dict[str, tuple[Any, ...]] = {
        "text": WORDS,
        "number": (1, 1.0, 2.5, 0.1, 0.2, -3, 1e-9, 19.99, 1e16, *EXACT),
        "integer": (0, 1, 7, -7, 2**40),
        "boolean": (True, False),
        "json": (5, "five", [1, {"b": 1, "a": 2.0}], {"z": "alpha"}),
    }
    return pick(pools[kind])


def reference(content: bytes, media_type: str) -> Data:
    """Return what a record holds of a file."""
    digest = hashlib.sha256(content).hexdigest()
    size = len(content)
    return {"blob_id": digest, "mime_type": media_type, "size_bytes": size, "sha256": digest}


@dataclass(slots=True)
class Plan:
    """What both sides of a pair have in common: what the grant shows, and when it is written."""

    number: int
    chance: random.Random
    shown: tuple[str, ...] = ()
    whole: bool = False
    timed: bool = False
    listed: bool = False
    dated: bool = True
    cursor: str | None = None
    threaded: bool = True
    meant: frozenset[str] = frozenset()
    """The shown fields that are searched by meaning, where they are searched at all."""
    steps: list[tuple[int, Place, dict[str, Data | None], int]] = field(default_factory=list)

    @property
    def key(self) -> str:
        return f"s{self.number}"

    @property
    def grant_id(self) -> str:
        return f"grt_{self.number:016x}"

    @property
    def packaged(self) -> bool:
        """Tell whether the grant is one of a package, and read through it."""
        return self.number % 3 == 1

    @property
    def places(self) -> list[Place]:
        connections = [f"c{self.number}a", f"c{self.number}b"]
        return [(name, "notes") for name in connections[: 1 + (self.number % 3 == 0)]]

    @property
    def names(self) -> list[str]:
        return [f"v{at}" for at in range(2 + self.number % 5)]

    @property
    def exact(self) -> bool:
        """Tell whether the grant shows when records were emitted."""
        return ("at" in self.shown and self.dated) or (self.whole and not self.dated)


def plan(number: int, seed: str) -> Plan:
    """Make up what a grant shows."""
    chance = random.Random(f"{seed} {number}")
    made = Plan(number, chance)
    made.whole = chance.random() < 0.2
    count = chance.randint(1, len(POOL) - 1)
    some = POOL if made.whole else chance.sample(POOL, count)
    made.shown = tuple(name for name in POOL if name in some)
    made.dated = chance.random() < 0.85
    made.timed = made.dated and chance.random() < 0.5
    made.listed = chance.random() < 0.25
    made.threaded = chance.random() < 0.8
    made.meant = frozenset(name for name in made.shown if chance.random() < 0.8)
    made.cursor = chance.choice([n for n in ("at", "size", "seen") if n in made.shown] or [None])
    shown_now: set[tuple[Place, str]] = set()
    for step in range(chance.choice((2, 2, 2, 3, 4))):
        place = chance.choice(made.places)
        lines: dict[str, Data | None] = {}
        for name in chance.sample(made.names, chance.randint(1, len(made.names))):
            goes = (place, name) in shown_now and chance.random() < 0.25
            (shown_now.discard if goes else shown_now.add)((place, name))
            lines[name] = None if goes else _seen(made, name)
        if chance.random() < 0.3:
            _repeat(made, lines)
        emitted = START - chance.randint(0, 400) * 86_400 * instant.SECOND
        made.steps.append((step, place, lines, emitted))
    return made


def _seen(made: Plan, name: str) -> Data:
    """Return the visible part of a record."""
    data: Data = {}
    for field_name in made.shown:
        if field_name == "id":
            data["id"] = name
        elif field_name == "at" and made.timed:
            data["at"] = made.chance.choice(INSIDE)
        elif made.chance.random() < 0.9:
            data[field_name] = value(made.chance, field_name, _KINDS.get(field_name, "text"))
    return data


def _repeat(made: Plan, lines: dict[str, Data | None]) -> None:
    """Let all records of a batch say what one of them says, at some length."""
    some = [data for data in lines.values() if data is not None]
    texts = [field_name for data in some[:1] for field_name in data if data[field_name] in WORDS]
    if texts:
        said = {**some[0], made.chance.choice(texts): _LONG}
        own = {"id", "at"} if made.chance.random() < 0.8 else {"id", "at", "size", "amount"}
        for data in some:
            data.update({name: value for name, value in said.items() if name not in own})


class Side:
    """One of two worlds of a plan, with a hidden life of its own."""

    def __init__(self, plan: Plan, name: str, seed: str) -> None:
        self.plan = plan
        self.world = World()
        self.chance = random.Random(f"{seed} {plan.number} {name}")
        self._name = name
        self._keys: dict[tuple[Place, str], str] = {}
        self._held: dict[tuple[Place, str], Data] = {}
        self._moment = 0
        self._shown: dict[tuple[Place, str], Data] = {}
        self.hidden_kinds = self._hidden_kinds()
        self._declare()

    # What is declared

    def _hidden_kinds(self) -> dict[str, str]:
        """Return the hidden fields of this side, each with a kind of its own choice."""
        if self.plan.whole:
            return {}
        chance = self.chance
        names = [n for n in POOL if n not in self.plan.shown and chance.random() < 0.7]
        kinds = {name: chance.choice(list(_TYPES)) for name in names}
        if self.plan.dated and "at" not in self.plan.shown:
            kinds["at"] = "date-time"  # what a limit in time goes by
        kinds[f"x{chance.randint(0, 99)}"] = chance.choice([t for t in _TYPES if t != "blob"])
        return kinds

    def _declare(self) -> None:
        plan, world = self.plan, self.world
        streams = [self._stream()]
        for number in range(self.chance.randint(0, 2)):
            other = self._stream()
            streams.insert(self.chance.randint(0, len(streams)), {**other, "name": f"h{number}"})
        world.documents[plan.key] = {
            "protocol_version": "0.1.0",
            "source": {"kind": "connector", "id": f"https://{plan.key}.example/connector"},
            "connector_key": plan.key,
            "declaration_version": "1",
            "publisher": {"id": "https://example.org"},
            "display": {"name": plan.key.title()},
            "streams": streams,
        }
        for connection_id, _ in plan.places:
            world.connections[connection_id] = (plan.key, connection_id.title())
        for number in range(self.chance.choice((0, 0, 1, 1, 2, 3))):
            world.connections[f"c{plan.number}{self._name}{number}"] = (plan.key, "Hidden")

    def _stream(self) -> Data:
        plan, chance = self.plan, self.chance
        kinds = {name: _KINDS.get(name, "text") for name in plan.shown}
        order = list(plan.shown)
        for name in self.hidden_kinds:
            order.insert(chance.randint(0, len(order)), name)
        kinds = {name: {**kinds, **self.hidden_kinds}[name] for name in order}
        properties = {name: dict(_TYPES[kind]) for name, kind in kinds.items()}
        for name, role in ROLES.items():
            hidden_text = self.hidden_kinds.get(name) == "text" and name != "at"
            if name in plan.shown or (hidden_text and chance.random() < 0.5):
                properties[name]["x_pdpp_role"] = role
        hidden = list(self.hidden_kinds)
        for name in hidden:
            taken = {schema.get("x_pdpp_role") for schema in properties.values()}
            fitting = _HIDDEN_ROLES.get(self.hidden_kinds[name], ())
            free = [role for role in fitting if role not in taken]
            if free and name not in ROLES and chance.random() < 0.4:
                properties[name]["x_pdpp_role"] = chance.choice(free)
        named = [name for name in hidden if self.hidden_kinds[name] != "blob"]
        key = ["id"] if "id" in plan.shown else [chance.choice(named)]
        stream: Data = {
            "name": "notes",
            "semantics": "mutable_state",
            "schema": {"type": "object", "properties": properties},
            "primary_key": key,
            "query": self._query(kinds),
            "views": self._views(hidden),
        }
        needed = plan.timed or "at" in plan.shown
        if plan.dated and (needed or chance.random() < 0.5):
            stream["consent_time_field"] = "at"
        if plan.cursor is not None:
            stream["cursor_field"] = plan.cursor
        elif scalar := [n for n in hidden if self.hidden_kinds[n] not in ("json", "blob")]:
            stream["cursor_field"] = chance.choice(scalar)
        if kinds.get("up") == "text" and ("up" in plan.shown or chance.random() < 0.5):
            link = {"stream": "notes", "foreign_key": "up"}
            stream["relationships"] = [
                {"name": "above", "cardinality": "belongs_to", **link},
                {"name": "below", "cardinality": "has_many", **link},
            ]
            stream["query"]["expand"] = [
                {"name": "above"},
                {"name": "below", "default_limit": 2, "max_limit": 3},
            ]
        if "thread" in plan.shown and plan.threaded:
            stream["thread"] = "thread"
        elif (texts := [n for n in hidden if self.hidden_kinds[n] == "text"]) and (
            chance.random() < 0.5
        ):
            stream["thread"] = chance.choice(texts)
        return stream

    def _query(self, kinds: dict[str, str]) -> Data:
        def kept(names: list[str]) -> list[str]:
            """Leave out hidden ones now and then."""
            return [n for n in names if n in self.plan.shown or self.chance.random() < 0.6]

        ranged = [n for n, kind in kinds.items() if kind not in ("json", "boolean", "blob")]
        texts = [n for n, kind in kinds.items() if kind == "text" and n not in ("id", "label")]
        lexical = kept([n for n in texts if n != "who"])
        meant = [n for n in lexical if n in self.plan.meant or n not in self.plan.shown]
        return {
            "range_filters": dict.fromkeys(kept(ranged), RANGES),
            "search": {"lexical_fields": lexical, "semantic_fields": kept(meant)},
            "aggregations": {
                "count": True,
                **{
                    metric: kept([n for n, kind in kinds.items() if kind in fitting])
                    for metric, fitting in _METRICS.items()
                },
            },
        }

    def _views(self, hidden: list[str]) -> list[Data]:
        some = [n for n in hidden if self.chance.random() < 0.5]
        views = [{"id": "short", "label": "Short", "fields": [*self.plan.shown[:2], *some]}]
        if some:
            views.append({"id": "secret", "label": "Secret", "fields": some})
        return views

    # What happens

    def key_of(self, place: Place, name: str) -> str:
        """Return the key of a record: its name where that is shown, else one of this side."""
        if "id" in self.plan.shown:
            key = name
        else:
            key = self._keys.setdefault((place, name), f"k{self.chance.getrandbits(48):x}")
        tag = f"{self.plan.number} {place} {name}"
        self.world.surrogates[place, key] = random.Random(tag).getrandbits(63)
        return key

    def granted(self) -> Granted:
        """Return the grant, with keys as this side calls them."""
        plan = self.plan
        since, until = (SINCE, UNTIL) if plan.timed else (None, None)
        allowed = []
        for place in plan.places:
            keys = frozenset(self.key_of(place, name) for name in plan.names)
            own = keys if plan.listed else None
            allowed.append(Allowed(place, plan.shown, plan.whole, since, until, own))
        return Granted(plan.grant_id, "test-client", tuple(allowed))

    def others(self) -> Iterator[Granted]:
        """Yield further grants of the same client: of other fields, accounts, times and keys."""
        chance, (stream, *_) = self.chance, self.world.documents[self.plan.key]["streams"]
        fields = list(stream["schema"]["properties"])
        for number in range(chance.choice((0, 0, 1, 2))):
            some = tuple(name for name in fields if chance.random() < 0.7) or (fields[0],)
            accounts = [name for name in self.world.connections if chance.random() < 0.7]
            allowed = [Allowed((name, stream["name"]), some) for name in accounts]
            if allowed:
                yield Granted(
                    f"{self.plan.grant_id}{self._name}{number}", "test-client", tuple(allowed)
                )

    def visible_at(self, step: int) -> int:
        """Return the moment of the one batch of a step that the grant sees."""
        return START + (self.plan.number * 16 + step * 4 + 1) * 60 * instant.SECOND

    def batches(self, step: int) -> Iterator[list[Write] | AccountChange]:
        """Yield the batches of one step: some hidden ones, the visible one, and hidden ones."""
        _, place, lines, emitted = self.plan.steps[step]
        base = START + (self.plan.number * 16 + step * 4) * 60 * instant.SECOND
        self._moment = base
        for _ in range(self.chance.choice((0, 0, 0, 1, 4))):
            yield from self._hidden_batch()
        self._moment = base + 60 * instant.SECOND
        batch = [
            Write(
                self._moment, place, self.key_of(place, name), self._dressed(place, name, seen), at
            )
            for name, seen in lines.items()
            for at in (emitted if self._shows_emission(seen) else self._emission(),)
        ]
        batch += self._strays(place)
        self.chance.shuffle(batch)
        for name, seen in lines.items():
            self._shown.pop((place, name), None)
            if seen is not None:
                self._shown[place, name] = seen
        yield self._kept(batch)
        for _ in range(self.chance.choice((0, 0, 0, 1, 4))):
            yield from self._hidden_batch()

    def _kept(self, batch: list[Write]) -> list[Write]:
        self.world.writes += batch
        return batch

    def _shows_emission(self, seen: Data | None) -> bool:
        """Tell whether the grant shows when a line was emitted: not that of what left it."""
        return self.plan.exact and (seen is not None or not self.plan.timed)

    def _emission(self) -> int:
        return START - self.chance.randint(0, 10**9) * instant.SECOND

    def _hidden_data(self) -> Data:
        return {
            name: self._hidden_value(name, kind)
            for name, kind in self.hidden_kinds.items()
            if self.chance.random() < 0.8
        }

    def _hidden_value(self, name: str, kind: str) -> Any:
        """Return a value of a hidden field; a file is one of its own, or one that is shown too."""
        if kind == "blob" and self.chance.random() < 0.4:
            return reference(self.chance.choice(self.secrets), self.chance.choice(MEDIA))
        if kind == "text" and self.chance.random() < 0.03:
            # Of megabytes a test would be no other, only slower: what is long stands elsewhere.
            return self.chance.choice(WORDS) * self.chance.choice((50, 900))
        return value(self.chance, name if kind == "text" else "", kind)

    @property
    def secrets(self) -> list[bytes]:
        """Return the files that only hidden fields of this side hold."""
        return [f"{self._name} {self.plan.number} {n}".encode() for n in range(3)]

    def files(self, data: Data | None) -> Iterator[tuple[bytes, str]]:
        """Yield the files that a record refers to, each with the type it is uploaded as."""
        by_id = {hashlib.sha256(content).hexdigest(): content for content in self.known_files}
        for held in (data or {}).values():
            if isinstance(held, dict) and "blob_id" in held:
                yield by_id[held["blob_id"]], self.chance.choice(MEDIA)

    @property
    def known_files(self) -> list[bytes]:
        """Return all files that records of this side may refer to."""
        return [*BLOBS, *self.secrets]

    def _dressed(self, place: Place, name: str, seen: Data | None) -> Data | None:
        """Return a visible record with hidden fields, or what a record becomes that goes away."""
        if seen is None:
            away = self.plan.timed and self.chance.random() < 0.5
            return self._outside(self.key_of(place, name)) if away else None
        data = {**self._hidden_data(), **seen}
        if self.plan.timed and "at" not in self.plan.shown:
            data["at"] = self.chance.choice(INSIDE)
        items = list(data.items())
        self.chance.shuffle(items)
        return dict(items)

    def _outside(self, key: str) -> Data:
        """Return a record that lies outside the time of the grant, or outside its list."""
        data = self._hidden_data()
        for name in self.plan.shown:
            data[name] = value(self.chance, name, _KINDS.get(name, "text"))
        if "id" in self.plan.shown:
            data["id"] = key
        if self.plan.timed:
            data["at"] = self.chance.choice(OUTSIDE)
        return data

    def _strays(self, place: Place) -> list[Write]:
        """Return hidden lines of a visible stream."""
        if not (self.plan.timed or self.plan.listed):
            return []
        lines = []
        for _ in range(self.chance.choice((0, 1, 3, 9))):
            key = f"{self.chance.choice('az0~')}{self._name}{self.chance.randint(0, 9)}"
            tag = f"{self._name} {self.plan.number} {place} {key}"
            self.world.surrogates[place, key] = random.Random(tag).getrandbits(63)
            data = None if self.chance.random() < 0.15 else self._outside(key)
            lines.append(Write(self._moment, place, key, data, self._emission()))
        return list({line.key: line for line in lines}.values())

    def _hidden_batch(self) -> Iterator[list[Write] | AccountChange]:
        """Yield one batch that the grant must not see, a second after the last."""
        self._moment += instant.SECOND
        place = self.chance.choice(self.plan.places)
        kind = self.chance.choice(("edit", "strays", "life", "elsewhere", "account"))
        lines: list[Write] = []
        if kind == "edit":
            shown = [name for at, name in self._shown if at == place]
            for name in self.chance.sample(sorted(shown), min(len(shown), 2)):
                data = self._dressed(place, name, self._shown[place, name])
                lines.append(self._line(place, self.key_of(place, name), data))
        elif kind == "strays":
            lines = self._strays(place)
        elif kind == "life" and self.plan.timed:
            free = [n for n in self.plan.names if (place, n) not in self._shown]
            for name in self.chance.sample(free, min(len(free), 2)):
                key = self.key_of(place, name)
                gone = self.chance.random() < 0.3
                lines.append(self._line(place, key, None if gone else self._outside(key)))
        elif kind == "elsewhere":
            lines = self._elsewhere()
        elif kind == "account":
            yield from self._account_change()
        if lines:
            yield self._kept(lines)

    def _line(self, place: Place, key: str, data: Data | None) -> Write:
        return Write(self._moment, place, key, data, self._emission())

    def _account_change(self) -> Iterator[AccountChange]:
        """Yield what happens to a hidden account: it is merged into another, or removed.

        It goes into one that is shown only if it holds nothing of a stream that is.
        """
        shown = [connection_id for connection_id, _ in self.plan.places]
        hidden = [name for name in self.world.connections if name not in shown]
        if not hidden:
            return
        source = self.chance.choice(hidden)
        held = {write.place for write in self.world.writes}
        others = [name for name in hidden if name != source]
        if (source, "notes") not in held:
            others += shown
        into = self.chance.choice(others) if others and self.chance.random() < 0.7 else None
        del self.world.connections[source]
        moved = [write for write in self.world.writes if write.place[0] == source]
        for write in moved if into is not None else ():
            # A record keeps its number where it goes.
            place = (str(into), write.place[1])
            number = self.world.surrogates[write.place, write.key]
            self.world.surrogates.setdefault((place, write.key), number)
            self.world.writes.append(replace(write, at=self._moment, place=place))
        yield AccountChange(self._moment, source, into)

    def _elsewhere(self) -> list[Write]:
        """Return a batch of another stream or connection."""
        document = self.world.documents[self.plan.key]
        streams = [stream["name"] for stream in document["streams"]]
        places = [(c, s) for c in self.world.connections for s in streams]
        free = [place for place in places if place not in self.plan.places]
        if not free:
            return []
        place = self.chance.choice(free)
        lines = []
        for number in range(self.chance.choice((1, 3, 10))):
            key = f"v{number}"
            tag = f"{self._name} {place} {key}"
            self.world.surrogates[place, key] = random.Random(tag).getrandbits(63)
            lines.append(self._line(place, key, self._outside(key)))
        return lines
