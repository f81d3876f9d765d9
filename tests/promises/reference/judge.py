"""Asks both stores the same, compares their bytes, and compares what they say with the model."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from tests.promises.caller import Caller, Params, Reply
from tests.promises.observer import Interference, seen
from tests.promises.reference.answers import Answer, Ask, answer
from tests.promises.reference.files import file_answer
from tests.promises.reference.questions import path_of
from tests.promises.reference.stage import Actor, Stage
from tests.promises.reference.world import Feed

from pdpp.model.decimals import read_json

_MOST_PAGES = 40
_SCORE_STEP = 2e-6
"""Scores are compared in millionths; two that differ by less may stand in either order."""

_MONTHS = {"PDPP-Months": "1"}
"""Asks a search for the months of all records that answer, as a page that draws bars does."""

Body = dict[str, Any]


class Departure(AssertionError):
    """An answer is not what the model says."""


@dataclass(slots=True)
class Judge:
    """Judges the answers about one world."""

    stage: Stage
    number: int
    counts: Counter[str] = field(default_factory=Counter)
    bookmark: str | None = None
    bookmark_at: int = 0
    feeds: tuple[Feed, ...] = ()

    def callers(self) -> list[Caller]:
        return [actor.under(self.number) for actor in self.stage.both]

    def look(self) -> tuple[Feed, ...]:
        """Look at what the grant shows now, which must be the same on both sides."""
        left, right = (actor.feeds(self.number) for actor in self.stage.both)
        assert shown(left) == shown(right), "the two worlds differ in what the grant shows"
        self.feeds = left
        return left

    def hidden_files(self) -> list[str]:
        """Return the names of files that only one of the two sides holds."""
        sides = [actor.sides[self.number] for actor in self.stage.both]
        return [hashlib.sha256(secret).hexdigest() for side in sides for secret in side.secrets]

    def file(self, blob_id: str, asked: str) -> None:
        """Ask both for a file and for what it is, and compare with the model."""
        expected = file_answer(self.feeds, blob_id, asked)
        headers = {"Range": asked} if asked else {}
        for method in ("GET", "HEAD"):
            path = f"/v1/blobs/{blob_id}"
            reply = self.same(path, (), (method, path, asked), "file", method, headers)
            told = {name.decode(): value.decode() for name, value in reply.headers}
            content = expected.content if method == "GET" else b""
            shown = {name: told.get(name) for name in expected.headers}
            if (reply.status, shown) != expected[:2]:
                raise Departure(f"{method} {path} {asked}: {reply}, not {expected}")
            if reply.status < 300 and reply.body != content:
                raise Departure(f"{method} {path} {asked}: {reply}, not {expected}")

    def same(
        self,
        path: str,
        params: Params,
        what: object,
        kind: str,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """Ask both; return the one answer."""
        if headers is None:
            headers = _MONTHS if asks_months(kind, dict(params).get("q", "")) else {}
        if self.stage.left.sides[self.number].plan.packaged:
            replies = [
                self._through_package(actor, method, path, params, headers)
                for actor in self.stage.both
            ]
            self.counts["package"] += 1
        else:
            callers = self.callers()
            replies = [seen(one.exchange(method, path, params, headers)) for one in callers]
        self.counts[kind] += 1
        if replies[0] != replies[1]:
            raise Interference(f"{what} {params}\n{replies[0]}\n{replies[1]}")
        return replies[0]

    def _through_package(
        self, actor: Actor, method: str, path: str, params: Params, headers: Mapping[str, str]
    ) -> Reply:
        """Ask with a token that many grants are behind, of which one is chosen."""
        caller, chosen = actor.in_package(self.number)
        return seen(caller.exchange(method, path, params, {**chosen, **headers}))

    def ask(self, ask: Ask) -> Answer:
        """Ask a question of both, through all its pages, and compare with the model."""
        expected = answer(self.feeds, ask)
        params = list(ask.params.items())
        if ask.kind == "changes":
            params.append(("changes_since", self._since(ask)))
        reply = self.same(path_of(ask), params, ask, ask.kind)
        body = read_json(reply.body)
        if reply.status != expected.status:
            raise Departure(f"{ask}: {reply.status} {body}, not {expected}")
        if reply.status != 200:
            if body["error"]["code"] != expected.body["code"]:
                raise Departure(f"{ask}: {body}, not {expected}")
            return expected
        pages = [body, *self._rest(ask, params, body)]
        _COMPARISONS[ask.kind](ask, pages, expected.body)
        if ask.kind == "changes":
            self.bookmark = pages[-1]["next_changes_since"]
            self.bookmark_at = self.stage.left.clock()
        return expected

    def changes(self, connection_id: str, limit: str) -> None:
        """Read what changed since the last time, or from the beginning."""
        since = None if self.bookmark is None else self.bookmark_at
        params = {"connection_id": connection_id, "limit": limit}
        self.ask(Ask("changes", "notes", params, since=since))

    def _since(self, ask: Ask) -> str:
        return "beginning" if ask.since is None else self.bookmark or ""

    def _rest(self, ask: Ask, params: Params, body: Body) -> list[Body]:
        """Return the pages after the first."""
        pages: list[Body] = []
        while "next_cursor" in body:
            assert len(pages) < _MOST_PAGES, ask
            following = [*params, ("cursor", body["next_cursor"])]
            body = read_json(self.same(path_of(ask), following, ask, ask.kind).body)
            pages.append(body)
        return pages


def asks_months(kind: str, q: str) -> bool:
    """Tell whether a search is asked for months too: one that names no days."""
    return kind == "search" and not any(sign in q for sign in ("after:", "before:", "on:"))


def shown(feeds: Sequence[Feed]) -> list[Feed]:
    """Return feeds whose rows stand in one order: that of insertion is hidden."""
    return [
        replace(
            feed,
            rows=tuple(sorted(feed.rows, key=lambda row: row.order)),
            gone=tuple(sorted(feed.gone, key=lambda gone: gone.order)),
        )
        for feed in feeds
    ]


def _must(ask: Ask, real: object, expected: object) -> None:
    if real != expected:
        raise Departure(f"{ask}\n{real}\nnot\n{expected}")


def _rows(pages: Sequence[Body]) -> list[Any]:
    return [row for page in pages for row in page["data"]]


def _listed(ask: Ask, pages: Sequence[Body], expected: Body) -> None:
    _must(ask, _rows(pages), expected["data"])
    if "count" in expected:
        _must(ask, pages[0]["meta"]["count"], expected["count"])
    limit = int(ask.params.get("limit", 25))
    if any(len(page["data"]) != limit for page in pages[:-1]):
        raise Departure(f"{ask}: pages of {[len(page['data']) for page in pages]}")


def _changed(ask: Ask, pages: Sequence[Body], expected: Body) -> None:
    rows = [
        {n: v for n, v in row.items() if not row.get("deleted") or n != "version"}
        for row in _rows(pages)
    ]
    _must(ask, rows, expected["data"])


def _whole(ask: Ask, pages: Sequence[Body], expected: Body) -> None:
    _must(ask, {name: pages[0].get(name) for name in expected}, expected)


def _described(ask: Ask, pages: Sequence[Body], expected: Body) -> None:
    (connector,) = pages[0]["connectors"]
    (row,) = connector["streams"]
    _must(ask, {name: row.get(name) for name in expected["row"]}, expected["row"])
    named = (pages[0]["bearer"]["grant_id"], connector["source"], connector["display_name"])
    _must(ask, named, (expected["grant_id"], expected["source"], expected["source_name"]))


def _found(ask: Ask, pages: Sequence[Body], expected: Body) -> None:
    """Compare hits: the same ones, in an order that the model's scores allow."""
    hits, wanted = _rows(pages), expected["hits"]
    by_id = {(hit["connection_id"], hit["id"]): hit for hit in wanted}
    real = [(hit["connection_id"], hit["record_key"]) for hit in hits]
    _must(ask, sorted(real), sorted(by_id))
    _must(ask, pages[0]["meta"]["count"], {"kind": "exact", "value": len(wanted)})
    _must(ask, pages[0]["meta"].get("repaired", {}), expected["repaired"])
    if asks_months(ask.kind, ask.params["q"]):
        _must(ask, pages[0]["meta"].get("months", {}), expected["months"])
    for hit, place in zip(hits, real, strict=True):
        model = by_id[place]
        names = ("stream", "emitted_at", "matched", "missing")
        _must(ask, {n: hit[n] for n in names}, {n: model[n] for n in names})
        if abs(hit["score"]["value"] + model["place"][0]) > 0.0015:
            raise Departure(f"{ask}: {hit} has another score than {model}")
    places = [by_id[place]["place"] for place in real]
    for one, other in pairwise(places):
        rounded = abs(one[0] - other[0]) < _SCORE_STEP
        if one > other and not (rounded and one[0] != other[0]):
            raise Departure(f"{ask}: {one} stands before {other}")


_COMPARISONS = {
    "records": _listed,
    "changes": _changed,
    "record": _whole,
    "window": _whole,
    "aggregate": _whole,
    "streams": _listed,
    "schema": _described,
    "search": _found,
    "semantic": _found,
    "hybrid": _found,
}


def handles(expected: Answer) -> list[str]:
    """Return the handles that an answer of the model names, in order."""
    rows: Sequence[Mapping[str, Any]] = expected.body.get("data") or expected.body.get("hits", [])
    return [f"{row['connection_id']}/{row['stream']}:{row['id']}" for row in rows if "id" in row]
