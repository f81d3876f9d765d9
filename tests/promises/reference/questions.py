"""Makes up questions about a world: of every kind, about shown, hidden and unknown names."""

import random
from collections.abc import Iterator, Sequence

from tests.promises.reference.answers import METRICS, Ask
from tests.promises.reference.files import CONTENT, RANGES, shown_ids
from tests.promises.reference.generator import EXACT, INSIDE, OUTSIDE, POOL
from tests.promises.reference.phrasing import phrase
from tests.promises.reference.world import Feed

QUERIES = (
    "alpha", "beta alpha", "when is the garden party", "invoice bank", "ada", "who did Ada meet",
    "gamma delta -beta", "+alpha beta", '"garden party"', "gard*", "alpah", "invoyce", "from:grace",
    "alpha after:2026-03-04", "photos in March", "bank on 5 March 2026", "cafe", "unicode",
    "notes of alpha", "first notes", "zebra", "delta OR gamma", "train before:2026-04-01", "lorem",
)  # fmt: skip
_VALUES = (
    "a",
    "B",
    "1",
    "2.5",
    "-7",
    "true",
    "v1",
    "alpha",
    "0.1",
    str(EXACT[0]),
    *INSIDE[:3],
    *OUTSIDE[:2],
)
_SOUGHT = ("alpha", "DELTA", "bank", "garden", "lorem", "zebra", "ada", "v1", "noon")
"""Words that the texts hold as they stand, or not at all: no other form of them is there."""
_CALENDAR = ("minute", "hour", "day", "week", "month", "month", "quarter", "year")
_ZONES = ("UTC", "Europe/Lisbon", "Asia/Kathmandu", "Pacific/Kiritimati", "America/St_Johns")
_RELATIONS = ("above", "below", "above,below", "beside")
_FIELDS = (*POOL, "nonsense", "x5")
_PATHS = {
    "records": "/v1/streams/{}/records",
    "changes": "/v1/streams/{}/records",
    "record": "/v1/streams/{}/records/{}",
    "window": "/v1/streams/{}/records/{}/field-window",
    "aggregate": "/v1/streams/{}/aggregate",
    "streams": "/v1/streams",
    "schema": "/v1/schema",
    "search": "/v1/search",
    "semantic": "/v1/search/semantic",
    "hybrid": "/v1/search/hybrid",
}


def path_of(ask: Ask) -> str:
    """Return the address of a question."""
    return _PATHS[ask.kind].format(ask.stream, ask.id)


class Questioner:
    """Makes up questions from a seed about what a grant shows."""

    def __init__(self, seed: str, feeds: Sequence[Feed], *, meaning: bool) -> None:
        self._meaning = meaning
        self._chance = random.Random(f"ask {seed}")
        self._feeds = feeds
        self._shown = list(feeds[0].kinds)

    def questions(self, many: int) -> Iterator[Ask]:
        """Yield so many questions, of each kind in turn."""
        yield Ask("streams", params={})
        described = {"stream": "notes", "detail": "full"}
        yield Ask("schema", "notes", described, meaning=self._meaning)
        search, records = self._search, self._records
        kinds = [records, search, self._aggregate, search, self._window, self._record]
        for number in range(many):
            yield kinds[number % len(kinds)]()
        yield self._search("semantic")
        yield self._search("hybrid")

    def files(self, hidden: Sequence[str]) -> Iterator[tuple[str, str]]:
        """Yield the names of files with a range of them: of shown ones, and of others."""
        ids = [*shown_ids(self._feeds), *hidden, *CONTENT, "f" * 64]
        for _ in range(2):
            yield self._chance.choice(ids), self._chance.choice(RANGES)

    def _name(self) -> str:
        """Return the name of a field: mostly one that is shown."""
        return self._chance.choice(self._shown if self._chance.random() < 0.8 else _FIELDS)

    def _maybe(self, name: str, *pool: str, odds: float = 0.3) -> dict[str, str]:
        return {name: self._chance.choice(pool)} if self._chance.random() < odds else {}

    def _connection(self, odds: float = 0.3) -> dict[str, str]:
        ids = [feed.connection_id for feed in self._feeds]
        return self._maybe("connection_id", *ids, *ids, "c0z", odds=odds)

    def _filters(self) -> dict[str, str]:
        if self._chance.random() < 0.6:
            return {}
        operator = self._chance.choice(("", "", "[gte]", "[lt]", "[gt]", "[lte]"))
        return {f"filter[{self._name()}]{operator}": self._chance.choice(_VALUES)}

    def _records(self) -> Ask:
        name = self._name()
        params = {
            **self._maybe("sort", name, f"-{name}", odds=0.6),
            **self._maybe("limit", "1", "2", "100", odds=0.8),
            **self._maybe("count", "exact", odds=0.5),
            **self._maybe("fields", self._name(), odds=0.2),
            **self._maybe("expand", *_RELATIONS, odds=0.3),
            **self._connection(),
            **self._filters(),
        }
        if "sort" not in params:
            params |= self._maybe("order", "asc", "desc")
        if "fields" not in params:
            params |= self._maybe("view", "short", "secret", odds=0.1)
        return Ask("records", self._stream(), params)

    def _stream(self) -> str:
        return "notes" if self._chance.random() < 0.95 else self._chance.choice(("h0", "none"))

    def _search(self, kind: str = "search") -> Ask:
        named = f"{self._chance.choice(self._feeds).connection_id} alpha"
        query = named if self._chance.random() < 0.1 else self._query()
        params = {
            "q": query,
            "time_zone": "UTC",
            **self._maybe("limit", "1", "2", "3", odds=0.6),
            **self._maybe("match", "all", odds=0.15),
            **self._maybe("sort", "time", odds=0.15),
            **self._connection(0.1),
        }
        return Ask(kind, params={**params, **self._filters()}, meaning=self._meaning)

    def _query(self) -> str:
        return self._chance.choice(QUERIES) if self._chance.random() < 0.4 else phrase(self._chance)

    def _aggregate(self) -> Ask:
        metric = self._chance.choice(("count", *METRICS[:4]))
        params = {"metric": metric, **self._connection(), **self._filters()}
        if metric != "count":
            params["field"] = self._name()
        if self._chance.random() < 0.4:
            params["group_by"] = self._name()
        elif self._chance.random() < 0.4:
            params |= {"group_by_time": self._name(), "granularity": self._chance.choice(_CALENDAR)}
            params |= self._maybe("time_zone", *_ZONES, odds=0.5)
        if "group_by" in params or "group_by_time" in params:
            params |= self._maybe("limit", "1", "2")
        return Ask("aggregate", self._stream(), params)

    def _id(self) -> str:
        """Return the id of a record: one that is shown, one that is not, or one of another."""
        ids = [row.id for feed in self._feeds for row in feed.rows]
        ids += [gone.id for feed in self._feeds for gone in feed.gone]
        if ids and self._chance.random() < 0.85:
            return self._chance.choice(ids)
        return self._chance.choice(("v0", "v1", "aleft1", "~right2", "A" * 27))

    def _record(self) -> Ask:
        params = {
            **self._maybe("fields", self._name(), odds=0.2),
            **self._maybe("expand", *_RELATIONS, odds=0.4),
            **self._connection(0.5),
        }
        return Ask("record", self._stream(), params, id=self._id())

    def _window(self) -> Ask:
        if self._chance.random() < 0.4:
            params = {
                "field": self._name(),
                "q": self._chance.choice(_SOUGHT),
                **self._maybe("before_chars", "0", "5", odds=0.4),
                **self._maybe("after_chars", "0", "7", odds=0.4),
                **self._connection(0.6),
            }
            return Ask("window", "notes", params, id=self._id())
        params = {
            "field": self._name(),
            **self._maybe("offset_chars", "0", "3", "900", odds=0.5),
            **self._maybe("limit_chars", "1", "7", odds=0.4),
            **self._connection(0.6),
        }
        return Ask("window", "notes", params, id=self._id())
