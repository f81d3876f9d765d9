"""Two stores that are equal in what a grant shows and differ in everything else.

A *sight* is a grant and what it leaves visible. ``Twins`` writes the same visible history into two
stores, and into each of them its own hidden one: other fields, records outside the time or the
keys, other streams and connections, later declarations, files, other people's grants and reads.
"""

import io
import random
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from tests.engine import copy_store, open_store, revoke_grant, surrogate_by_key
from tests.made_once import parse_once
from tests.promises.caller import Caller, calling
from tests.promises.letters import MESSAGE_FIELDS, declaration, later_declaration
from tests.promises.sights import (
    INSIDE,
    OUTSIDE,
    STRAY_KEYS,
    VISIBLE_KEYS,
    WORDS,
    Sight,
    Template,
    wrap,
)
from tests.serving import UNLIMITED, SetClock, approve

from pdpp.app import make_app
from pdpp.authz.selection import Selection
from pdpp.model import instant
from pdpp.store.batch import Line
from pdpp.store.port import Store

Side = Literal["left", "right"]
Data = dict[str, Any]


class Invention:
    """Makes up values; two inventions from one seed make up the same."""

    def __init__(self, seed: str, blob_ids: Sequence[str]) -> None:
        self.chance = random.Random(seed)
        self._blob_ids = blob_ids

    def moment(self, pool: Sequence[str | None]) -> str | None:
        """Return a time of a pool."""
        return self.chance.choice(pool)

    def data(self, stream: str) -> Data:
        """Return the fields of a record, some of them null or missing."""
        pick = self.chance.choice
        made: Data = {
            "subject": pick((*WORDS, None)),
            "body": pick((*WORDS, "beta " * 90 + "alpha", "")),
            "note": pick((*WORDS, None)),
            "sender": pick(("Ada", "Grace", None)),
            "sent_at": pick(INSIDE + OUTSIDE),
            "seen_at": pick(INSIDE + OUTSIDE),
            "amount": pick((None, 1, 1.0, 2.5, 0.1, 0.2, 0.3, 1e16, -3, 1e-9)),
            "size": pick((None, 0, 1, 7, -7, 2**40)),
            "starred": pick((None, True, False)),
            "label": pick((None, "a", "b", "B", "é", "")),
            "thread_id": pick((None, *VISIBLE_KEYS)),
            "extra": pick((None, 5, "five", [1, {"b": 1, "a": 2.0}], {"z": "alpha"})),
            "attachment": pick((None, {"blob_id": pick(self._blob_ids)})),
        }
        if stream != "messages":
            made = {name: made[name] for name in ("subject", "note", "sent_at")}
        return {name: value for name, value in made.items() if self.chance.random() < 0.9}


@dataclass(slots=True)
class Twin:
    """One of the two stores, and what is in it."""

    store: Store
    clock: SetClock
    caller: Caller
    other: Caller
    own: Invention
    held: dict[tuple[str, str, str], Data] = field(default_factory=dict)

    def write(
        self, connection_id: str, stream: str, lines: Sequence[tuple[str, Data | None, int]]
    ) -> None:
        """Write one batch of keys with their data, or None to delete, and their emission."""
        feed = self.store.catalogue().feeds[(connection_id, stream)]
        batch = [Line(i, key, at, data) for i, (key, data, at) in enumerate(lines)]
        self.store.write(feed, batch)
        for key, data, _ in lines:
            self.held.pop((connection_id, stream, key), None)
            if data is not None:
                self.held[(connection_id, stream, key)] = data


@dataclass(slots=True)
class Twins:
    """Two stores under one history that a sight shows and two that it does not."""

    sight: Sight
    left: Twin
    right: Twin
    shared: Invention
    start: int
    step: int = 0
    shown: set[tuple[str, str, str]] = field(default_factory=set)

    @property
    def both(self) -> tuple[Twin, Twin]:
        """Return both stores."""
        return self.left, self.right

    def live(self) -> None:
        """Let one more stretch of history pass in both, then bring their clocks together."""
        self.step += 1
        for twin in self.both:
            self._hidden_history(twin, after=1)
        self._set_clocks(20)
        self._visible_batch()
        for twin in self.both:
            self._hidden_history(twin, after=21)
        self._set_clocks(50)

    def _set_clocks(self, seconds: int) -> None:
        for twin in self.both:
            twin.clock.now = self.start + (self.step * 60 + seconds) * instant.SECOND

    def _visible_batch(self) -> None:
        connection_id, stream = self.shared.chance.choice(self.sight.feeds())
        pool = [key for key in VISIBLE_KEYS if self.sight.shows_key(key)]
        keys = self.shared.chance.sample(pool, self.shared.chance.randint(1, len(pool)))
        lines: dict[str, list[tuple[str, Data | None, int]]] = {"left": [], "right": []}
        for key in keys:
            emitted = self.start - self.shared.chance.randint(0, 5) * instant.SECOND
            place = (connection_id, stream, key)
            goes = place in self.shown and self.shared.chance.random() < 0.3
            (self.shown.discard if goes else self.shown.add)(place)
            seen = self.shared.data(stream)
            seen["sent_at"] = self.shared.moment(INSIDE if self.sight.timed else INSIDE + OUTSIDE)
            for side, twin in zip(lines, self.both, strict=True):
                data = (
                    self._gone(twin, stream, key)
                    if goes
                    else self._dressed(twin, stream, key, seen)
                )
                # What left a season was emitted as something that the sight does not show.
                unseen = goes and self.sight.timed
                at = twin.clock() - twin.own.chance.randint(0, 10**9) if unseen else emitted
                lines[side].append((key, data, at))
        for side, twin in zip(lines, self.both, strict=True):
            strays = self._strays(twin, stream)
            twin.write(connection_id, stream, [*lines[side], *strays])

    def _dressed(self, twin: Twin, stream: str, key: str, seen: Data) -> Data:
        """Return a visible record with hidden fields of the twin's own."""
        hidden = twin.own.data(stream)
        if self.sight.timed:
            hidden["sent_at"] = twin.own.moment(INSIDE)
        names = MESSAGE_FIELDS if stream == "messages" else ("subject", "note", "sent_at")
        mixed = {
            name: (seen if self.sight.shows(name) else hidden)[name]
            for name in names
            if name in (seen if self.sight.shows(name) else hidden)
        }
        return {**mixed, "id": key}

    def _gone(self, twin: Twin, stream: str, key: str) -> Data | None:
        """Return what a record becomes that goes away: nothing, or one outside the time."""
        if not self.sight.timed or twin.own.chance.random() < 0.5:
            return None
        return {**twin.own.data(stream), "id": key, "sent_at": twin.own.moment(OUTSIDE)}

    def _strays(self, twin: Twin, stream: str) -> list[tuple[str, Data | None, int]]:
        """Return hidden lines that go into a visible stream."""
        if not (self.sight.timed or self.sight.selection.keys):
            return []
        return [
            (key, self._stray(twin, stream, key), twin.clock() - twin.own.chance.randint(0, 10**9))
            for key in STRAY_KEYS
            if twin.own.chance.random() < 0.4
        ]

    def _stray(self, twin: Twin, stream: str, key: str) -> Data | None:
        if twin.own.chance.random() < 0.2:
            return None
        data = {**twin.own.data(stream), "id": key}
        if self.sight.timed:
            data["sent_at"] = twin.own.moment(OUTSIDE)
        return data

    # What the sight must not see

    def _hidden_history(self, twin: Twin, after: int) -> None:
        happenings = (
            self._edit_hidden_fields,
            self._write_strays,
            self._touch_what_is_gone,
            self._write_elsewhere,
            self._declare,
            self._connect,
            self._approve,
            self._keep,
            self._read,
        )
        for second in range(twin.own.chance.randint(0, 5)):
            twin.clock.now = self.start + (self.step * 60 + after + second) * instant.SECOND
            twin.own.chance.choice(happenings)(twin)

    def _edit_hidden_fields(self, twin: Twin) -> None:
        if not self.shown:
            return
        connection_id, stream, key = twin.own.chance.choice(sorted(self.shown))
        seen = twin.held[(connection_id, stream, key)]
        data = self._dressed(twin, stream, key, seen)
        twin.write(connection_id, stream, [(key, data, twin.clock())])

    def _write_strays(self, twin: Twin) -> None:
        connection_id, stream = twin.own.chance.choice(self.sight.feeds())
        twin.write(connection_id, stream, self._strays(twin, stream))

    def _touch_what_is_gone(self, twin: Twin) -> None:
        """Write a record outside the time under a key that is, was or will be visible."""
        if not self.sight.timed:
            return
        connection_id, stream = twin.own.chance.choice(self.sight.feeds())
        free = [k for k in VISIBLE_KEYS if (connection_id, stream, k) not in self.shown]
        if free:
            key = twin.own.chance.choice(free)
            twin.write(connection_id, stream, [(key, self._stray(twin, stream, key), twin.clock())])

    def _write_elsewhere(self, twin: Twin) -> None:
        visible = self.sight.feeds()
        feeds = [place for place in twin.store.catalogue().feeds if place not in visible]
        connection_id, stream = twin.own.chance.choice(sorted(feeds))
        key = twin.own.chance.choice(VISIBLE_KEYS + STRAY_KEYS)
        kind = "messages" if stream == "messages" else "threads"
        data = {**twin.own.data(kind), "id": key}
        twin.write(connection_id, stream, [(key, data, twin.clock())])

    def _declare(self, twin: Twin) -> None:
        chosen = twin.own.chance.choice((declaration, later_declaration))
        twin.store.register(parse_once(chosen()))

    def _connect(self, twin: Twin) -> None:
        twin.store.connect(twin.own.chance.choice(("aa", "zz")), "letters", "Hidden")

    def _approve(self, twin: Twin) -> None:
        made = approve(twin.store, Selection(), now=twin.clock())
        wrap(twin.store, Selection(), twin.clock())
        if twin.own.chance.random() < 0.5:
            revoke_grant(twin.store, made.grant_id)

    def _keep(self, twin: Twin) -> None:
        content = twin.own.chance.randbytes(20)
        twin.store.keep_blob(io.BytesIO(content), "text/plain", 1 << 20)

    def _read(self, twin: Twin) -> None:
        """Let somebody else read, who sees everything and leaves receipts."""
        query = twin.own.chance.choice(WORDS)
        twin.other.send("/v1/search", {"q": query, "limit": 1})


@contextmanager
def twins(
    template: Template, folder: Path, sight: Sight, seed: int, *, packaged: bool = False
) -> Iterator[Twins]:
    """Open two stores that begin alike, each with its server and its own hidden history."""
    token = template.token(sight, packaged=packaged)
    with ExitStack() as stack:
        made = [
            _twin(stack, template, folder, token, f"{side} {seed}") for side in ("left", "right")
        ]
        shared = Invention(f"shared {seed}", template.blob_ids)
        yield Twins(sight, made[0], made[1], shared, made[0].clock())


def _twin(stack: ExitStack, template: Template, folder: Path, token: str, seed: str) -> Twin:
    place = folder / seed
    copy_store(template.folder, place)
    clock = SetClock("2026-09-01T00:00:00Z")
    store = open_store(place, clock, surrogate_by_key)
    stack.callback(store.close)
    app = make_app(store, UNLIMITED, clock)
    caller = stack.enter_context(calling(app, token))
    own = Invention(seed, template.blob_ids)
    return Twin(store, clock, caller, caller.under(template.other), own)
