"""Merging: what several grants found, as one list with one cursor."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from pdpp.mcp.reading.choices import ConnectionChoice
from pdpp.mcp.reading.package_cursor import ChildPosition, PackageCursor
from pdpp.mcp.reading.reader import ChildGrant
from pdpp.mcp.reading.resource_client import ServerAnswer, hits_of

T = TypeVar("T")


class ChildAnswers(NamedTuple, Generic[T]):
    """What several children answered, who gave nothing, and who cannot be asked this way."""

    answers: list[tuple[ChildGrant, T]]
    unavailable: list[ConnectionChoice]
    unfit: list[ChildGrant]


class MergedSearch:
    """What several children answered as one list: best first, in turn where they are equal."""

    def __init__(
        self,
        found: ChildAnswers[ServerAnswer],
        places: Mapping[str, ChildPosition],
        seal: PackageCursor,
    ) -> None:
        self.unavailable = found.unavailable
        self._found = found
        self._unfit = found.unfit
        self._places = places
        self._seal = seal
        self._queues = [
            (child, answer.body, hits_of(answer.body)) for child, answer in found.answers
        ]
        self._ranked = sorted(self._hits(), key=lambda item: item[:3])

    def _hits(self) -> Iterator[tuple[float, int, int, str, Mapping[str, Any]]]:
        for order, (child, _, hits) in enumerate(self._queues):
            place = self._places[child.grant_id]
            for index, hit in enumerate(hits[place.shown :], place.before + place.shown):
                yield -_score(hit), index, order, child.grant_id, hit

    @property
    def hits(self) -> list[Mapping[str, Any]]:
        """Return the hits in their order."""
        return [hit for *_, hit in self._ranked]

    @property
    def record_page(self) -> str | None:
        """Return where a person opens a record, if the server told."""
        return next((a.record_page for _, a in self._found.answers if a.record_page), None)

    def used_up(self, limit: int) -> list[ChildGrant]:
        """Return the children all of whose hits so far are on a page, and that have more."""
        taken = Counter(grant_id for *_, grant_id, _ in self._ranked[:limit])
        return [
            child
            for child, body, hits in self._queues
            if isinstance(body.get("next_cursor"), str)
            and taken[child.grant_id] == len(hits) - self._places[child.grant_id].shown
        ]

    def with_more(self, more: "ChildAnswers[ServerAnswer]") -> "MergedSearch":
        """Return the merge with further answers of some children in place of their earlier ones."""
        longer = {child.grant_id: answer for child, answer in more.answers}
        answers = [(c, longer.get(c.grant_id, answer)) for c, answer in self._found.answers]
        return MergedSearch(self._found._replace(answers=answers), self._places, self._seal)

    def page(self, limit: int) -> dict[str, Any]:
        """Return the first hits, and the cursor of those that follow."""
        taken = self._ranked[:limit]
        ahead = self._ahead(Counter(grant_id for *_, grant_id, _ in taken))
        envelope: dict[str, Any] = {
            "object": "list",
            "data": [hit for *_, hit in taken],
            "has_more": bool(ahead),
        }
        if ahead:
            envelope["next_cursor"] = self._seal.close(ahead)
        envelope["meta"] = _meta([body for _, body, _ in self._queues])
        if self._unfit:
            envelope["meta"]["warnings"].append(_unfit_warning(self._unfit))
        return envelope

    def _ahead(self, used: Mapping[str, int]) -> dict[str, ChildPosition]:
        """Return where each child goes on: on the page it is on, or on its next one."""
        ahead: dict[str, ChildPosition] = {}
        for child, body, hits in self._queues:
            place = self._places[child.grant_id]
            shown = place.shown + used.get(child.grant_id, 0)
            if shown < len(hits):
                ahead[child.grant_id] = place._replace(shown=shown)
            elif isinstance(body.get("next_cursor"), str):
                ahead[child.grant_id] = ChildPosition(
                    place.before + len(hits), 0, body["next_cursor"]
                )
        return ahead


def _score(hit: Mapping[str, Any]) -> float:
    score = hit.get("score")
    value = score.get("value") if isinstance(score, Mapping) else score
    return float(value) if isinstance(value, int | float) else 0.0


def _meta(bodies: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    metas = [body.get("meta") for body in bodies]
    told = [meta for meta in metas if isinstance(meta, Mapping)]
    recalls = [meta["recall"] for meta in told if isinstance(meta.get("recall"), Mapping)]
    counts = [meta["count"] for meta in told if isinstance(meta.get("count"), Mapping)]
    exact = len(counts) == len(bodies) and all(c.get("kind") == "exact" for c in counts)
    meta: dict[str, Any] = {
        "count": {"kind": "exact", "value": sum(c.get("value", 0) for c in counts)}
        if exact
        else {"kind": "none"},
        "warnings": [w for m in told for w in m.get("warnings", [])][:12],
    }
    if recalls:
        meta["recall"] = {
            "complete": all(r.get("complete") for r in recalls),
            "ranked": sum(r.get("ranked", 0) for r in recalls),
        }
    return meta


def _unfit_warning(children: Sequence[ChildGrant]) -> dict[str, str]:
    sources = ", ".join(child.connection_id for child in children)
    return {
        "code": "source_cannot_filter",
        "message": f"These have no such filter and were left out: {sources}.",
        "param": "filter",
    }
