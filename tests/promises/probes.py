"""Requests that try to see past a grant: every route, every parameter, every hidden name."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.promises.letters import MESSAGE_FIELDS
from tests.promises.sights import INSIDE, OUTSIDE, STRAY_KEYS, VISIBLE_KEYS

FIELDS = (*MESSAGE_FIELDS, "aside", "rank", "nonsense")
STREAMS = ("messages", "messages", "messages", "threads", "drafts", "outbox", "nonsense")
CONNECTIONS = ("home", "work", "other", "aa", "nonsense")
QUERIES = (
    "alpha",
    "beta",
    "alpha beta",
    '"alpha beta"',
    "al*",
    "delta",
    "京",
    "unicode",
    "ete",
    "*",
)
VALUES = (
    "a",
    "B",
    "1",
    "2.5",
    "-7",
    "true",
    "v1",
    "h1",
    "Ada",
    *(moment for moment in INSIDE + OUTSIDE if moment is not None),
)


@dataclass(frozen=True, slots=True)
class Probe:
    """One request; a list is followed to its end."""

    path: str
    params: list[tuple[str, str]] = field(default_factory=list)
    method: str = "GET"
    headers: dict[str, str] = field(default_factory=dict)


class Prober:
    """Makes up probes from a seed."""

    def __init__(self, seed: int, blob_ids: tuple[str, ...]) -> None:
        self._chance = random.Random(seed)
        self._blob_ids = blob_ids

    def probes(self, many: int) -> Iterator[Probe]:
        """Yield the probes that every sight must withstand, then as many of any kind."""
        yield from _every()
        kinds = (self._page, self._page, self._record, self._window, self._sum, self._search)
        for _ in range(many):
            yield self._chance.choice((*kinds, self._search, self._schema, self._blob))()

    def some(self, many: int) -> Iterator[Probe]:
        """Yield a few of the probes of every world, as many of any kind, and some that are odd."""
        yield from self._chance.sample(_EVERY, many)
        kinds = (self._page, self._page, self._record, self._window, self._sum, self._search)
        for _ in range(many):
            yield self._chance.choice((*kinds, self._search, self._schema, self._blob))()
        yield from self._chance.sample(_ODD, 2)

    def _maybe(self, name: str, pool: tuple[str, ...], odds: float = 0.3) -> list[tuple[str, str]]:
        return [(name, self._chance.choice(pool))] if self._chance.random() < odds else []

    def _filters(self) -> list[tuple[str, str]]:
        made: dict[str, str] = {}
        for _ in range(self._chance.choice((0, 0, 1, 1, 2))):
            operator = self._chance.choice(("", "", "[gte]", "[lt]", "[gt]", "[lte]"))
            made[f"filter[{self._chance.choice(FIELDS)}]{operator}"] = self._chance.choice(VALUES)
        return list(made.items())

    def _page(self) -> Probe:
        signed = (*FIELDS, *(f"-{name}" for name in FIELDS))
        return Probe(
            f"/v1/streams/{self._chance.choice(STREAMS)}/records",
            [
                *self._maybe("sort", signed, 0.5),
                *self._maybe("order", ("asc", "desc"), 0.2),
                *self._maybe("limit", ("1", "2", "3", "1000"), 0.8),
                *self._maybe("count", ("exact", "estimated"), 0.5),
                *self._maybe("fields", ("id", "subject,body", *FIELDS), 0.2),
                *self._maybe("view", ("short", "secret", "ranked"), 0.1),
                *self._maybe("expand", ("thread", "messages", "nonsense"), 0.2),
                *self._maybe("changes_since", ("beginning", "nonsense"), 0.1),
                *self._maybe("connection_id", CONNECTIONS),
                *self._filters(),
            ],
        )

    def _record(self) -> Probe:
        key = self._chance.choice(VISIBLE_KEYS + STRAY_KEYS)
        return Probe(
            f"/v1/streams/{self._chance.choice(STREAMS)}/records/{key}",
            [
                *self._maybe("expand", ("thread", "messages"), 0.4),
                *self._maybe("fields", FIELDS, 0.2),
                *self._maybe("connection_id", CONNECTIONS, 0.5),
            ],
        )

    def _window(self) -> Probe:
        key = self._chance.choice(VISIBLE_KEYS + STRAY_KEYS)
        by_match = self._chance.random() < 0.5
        return Probe(
            f"/v1/streams/messages/records/{key}/field-window",
            [
                ("field", self._chance.choice(FIELDS)),
                *(self._maybe("q", QUERIES, 1.0) if by_match else []),
                *([] if by_match else self._maybe("offset_chars", ("0", "3", "900"), 0.5)),
                *self._maybe("connection_id", CONNECTIONS[:3], 0.7),
            ],
        )

    def _sum(self) -> Probe:
        metric = self._chance.choice(("count", "sum", "min", "max", "count_distinct"))
        grouping = self._maybe("group_by", FIELDS, 0.4)
        if not grouping:
            grouping = self._maybe("group_by_time", FIELDS, 0.4)
            grouping += [("granularity", "month")] if grouping else []
        return Probe(
            f"/v1/streams/{self._chance.choice(STREAMS)}/aggregate",
            [
                ("metric", metric),
                *([] if metric == "count" else [("field", self._chance.choice(FIELDS))]),
                *grouping,
                *self._maybe("limit", ("1", "2")),
                *self._maybe("connection_id", CONNECTIONS),
                *self._filters(),
            ],
        )

    def _search(self) -> Probe:
        return Probe(
            self._chance.choice(("/v1/search", "/v1/search", "/v1/search/hybrid")),
            [
                ("q", self._chance.choice(QUERIES)),
                *self._maybe("limit", ("1", "2", "3"), 0.7),
                *self._maybe("streams[]", STREAMS, 0.3),
                *self._maybe("connection_id", CONNECTIONS, 0.2),
                *self._filters(),
            ],
        )

    def _schema(self) -> Probe:
        return Probe(
            "/v1/schema",
            [
                *self._maybe("stream", STREAMS, 0.7),
                *self._maybe("connection_id", CONNECTIONS),
                *self._maybe("detail", ("full",), 0.5),
            ],
        )

    def _blob(self) -> Probe:
        blob_id = self._chance.choice((*self._blob_ids, "f" * 64, "nonsense"))
        headers = {"Range": "bytes=2-5"} if self._chance.random() < 0.3 else {}
        return Probe(
            f"/v1/blobs/{blob_id}", method=self._chance.choice(("GET", "HEAD")), headers=headers
        )


_ODD = (
    Probe("/v1/streams", headers={"Authorization": "Bearer nonsense"}),
    Probe("/v1/streams", headers={"Authorization": ""}),
    Probe("/v1/streams", headers={"PDPP-Grant": "grt_0000000000000000"}),
    Probe("/v1/streams", headers={"PDPP-Version": "nonsense"}),
    Probe("/v1/streams/messages/records", [("cursor", "nonsense")]),
    Probe("/v1/streams/messages/records", [("limit", "0"), ("nonsense", "1")]),
    Probe("/v1/streams/messages/records/v1", method="DELETE"),
    Probe("/v1/search", [("q", "")]),
    Probe("/v1/search", [("q", "alpha"), ("cursor", "nonsense")]),
    Probe("/v1/nonsense"),
    Probe("/v1/connections"),
    Probe("/v1/sources"),
    Probe("/r/home/messages/v1"),
    Probe("/metrics"),
    Probe("/readyz"),
    Probe("/"),
)
"""Requests that are refused, or that are none of a client's business."""


def _every() -> Iterator[Probe]:
    """Yield what shows most of what a grant opens."""
    yield Probe("/v1/schema")
    yield Probe("/v1/streams")
    for stream in ("messages", "threads", "drafts", "nonsense"):
        yield Probe(
            "/v1/schema", [("stream", stream), ("detail", "full"), ("connection_id", "home")]
        )
        yield Probe(f"/v1/streams/{stream}")
        yield Probe(f"/v1/streams/{stream}/records", [("count", "exact"), ("limit", "3")])
        yield Probe(f"/v1/streams/{stream}/aggregate")
    for name in FIELDS:
        page = [("sort", name), ("limit", "2")]
        yield Probe("/v1/streams/messages/records", page)
        yield Probe("/v1/streams/messages/aggregate", [("group_by", name)])
        yield Probe("/v1/streams/messages/aggregate", [("metric", "max"), ("field", name)])
    for query in QUERIES:
        yield Probe("/v1/search", [("q", query), ("limit", "2")])
    yield Probe("/v1/streams/messages/records", [("expand", "thread"), ("limit", "100")])
    yield Probe("/v1/streams/threads/records", [("expand", "messages"), ("limit", "100")])


_EVERY = tuple(_every())
