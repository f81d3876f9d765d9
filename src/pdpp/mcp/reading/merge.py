"""Merging: what several grants found, as one list with one cursor."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from pdpp.evidence.fence import has_hidden
from pdpp.mcp.reading.choices import ConnectionChoice
from pdpp.mcp.reading.list_meta import ListMeta, SentWarning, read_meta
from pdpp.mcp.reading.package_cursor import ChildPosition, PackageCursor
from pdpp.mcp.reading.reader import ChildGrant
from pdpp.mcp.reading.search_answer import SearchAnswer, ServerHit
from pdpp.wire.verbatim import Verbatim, all_json

T = TypeVar("T")

_MOST_WARNINGS = 12
_NOTHING_THEN = "nothing_then"


class ChildAnswers(NamedTuple, Generic[T]):
    """What several children answered, who gave nothing, and who cannot be asked this way.

    Those of ``late`` gave nothing this time and may answer when they are asked again.
    """

    answers: list[tuple[ChildGrant, T]]
    unavailable: list[ConnectionChoice]
    unfit: list[ChildGrant]
    late: list[ChildGrant]


class RankedHit(NamedTuple):
    """A hit with what it is ranked by: best first, in turn where children are equal."""

    rank: tuple[float, int, int]
    grant_id: str
    hit: ServerHit


class MergedSearch:
    """What several children answered as one list.

    ``ended`` children were not asked: all of their hits are on earlier pages.
    """

    def __init__(
        self,
        answers: ChildAnswers[SearchAnswer],
        positions: Mapping[str, ChildPosition],
        cursor: PackageCursor,
        ended: int = 0,
    ) -> None:
        self.unavailable = answers.unavailable
        self._answers = answers
        self._positions = positions
        self._cursor = cursor
        self._ended = ended
        self._ranked = sorted(self._hits(), key=lambda ranked: ranked.rank)

    def _hits(self) -> Iterator[RankedHit]:
        for order, (child, answer) in enumerate(self._answers.answers):
            position = self._positions[child.grant_id]
            first = position.before + position.taken
            for index, hit in enumerate(answer.hits[position.taken :], first):
                yield RankedHit((-hit.score, index, order), child.grant_id, hit)

    @property
    def hits(self) -> list[ServerHit]:
        """Return the hits in their order."""
        return [ranked.hit for ranked in self._ranked]

    def used_up(self, limit: int) -> list[ChildGrant]:
        """Return the children all of whose hits so far are on a page, and that have more."""
        taken = Counter(ranked.grant_id for ranked in self._ranked[:limit])
        return [
            child
            for child, answer in self._answers.answers
            if answer.next_cursor is not None
            and taken[child.grant_id] == len(answer.hits) - self._positions[child.grant_id].taken
        ]

    def with_more(self, more: ChildAnswers[SearchAnswer]) -> "MergedSearch":
        """Return the merge with further answers of some children in place of their earlier ones."""
        longer = {child.grant_id: answer for child, answer in more.answers}
        answers = [(c, longer.get(c.grant_id, answer)) for c, answer in self._answers.answers]
        replaced = self._answers._replace(answers=answers)
        return MergedSearch(replaced, self._positions, self._cursor, self._ended)

    def page(self, limit: int) -> SearchAnswer:
        """Return the first hits, and the cursor of those that follow."""
        taken = self._ranked[:limit]
        ahead = self._ahead(Counter(ranked.grant_id for ranked in taken))
        cursor = self._cursor.close(ahead) if ahead else None
        sent = all_json(ranked.hit.sent for ranked in taken)
        envelope: dict[str, object] = {"object": "list", "data": sent, "has_more": bool(ahead)}
        if cursor is not None:
            envelope["next_cursor"] = cursor
        envelope["meta"] = self._meta()
        return SearchAnswer(
            [ranked.hit for ranked in taken],
            cursor,
            read_meta(envelope),
            Verbatim(envelope),
            hidden_characters=has_hidden(sent),
        )

    def _meta(self) -> dict[str, object]:
        metas = [answer.meta for _, answer in self._answers.answers]
        totals = [meta.exact_total for meta in metas]
        counted = [total for total in totals if total is not None]
        exact = len(counted) == len(metas)
        warnings = all_json(_warnings(metas, silent=self._ended + len(self._answers.late)))
        if self._answers.unfit:
            warnings.append(_unfit_warning(self._answers.unfit))
        meta: dict[str, object] = {
            "count": {"kind": "exact", "value": sum(counted)} if exact else {"kind": "none"},
            "warnings": warnings,
        }
        recalls = [meta for meta in metas if meta.complete is not None]
        if recalls:
            meta["recall"] = _recall(recalls)
        return meta

    def _ahead(self, used: Mapping[str, int]) -> dict[str, ChildPosition]:
        """Return where each child goes on: on the page it is on, or on its next one.

        One that was late this time is asked again from where it stood: its hits are not lost.
        """
        ahead = {child.grant_id: self._positions[child.grant_id] for child in self._answers.late}
        for child, answer in self._answers.answers:
            position = self._positions[child.grant_id]
            taken = position.taken + used.get(child.grant_id, 0)
            if taken < len(answer.hits):
                ahead[child.grant_id] = position._replace(taken=taken)
            elif answer.next_cursor is not None:
                before = position.before + len(answer.hits)
                ahead[child.grant_id] = ChildPosition(before, 0, answer.next_cursor)
        return ahead


def _warnings(metas: Sequence[ListMeta], silent: int) -> list[Verbatim]:
    """Return what the servers warn of, each warning once.

    That nothing is of a time which a question names is true only if it is so in every account: not
    where some are ``silent``, whose records may be of that time.
    """
    warnings: list[SentWarning] = []
    for warning in (warning for meta in metas for warning in meta.sent_warnings):
        everywhere = not silent and all(warning in meta.sent_warnings for meta in metas)
        if (everywhere or warning.code != _NOTHING_THEN) and warning not in warnings:
            warnings.append(warning)
    return [warning.sent for warning in warnings[:_MOST_WARNINGS]]


def _recall(metas: Sequence[ListMeta]) -> dict[str, object]:
    return {
        "complete": all(meta.complete for meta in metas),
        "ranked": sum(meta.ranked or 0 for meta in metas),
    }


def _unfit_warning(children: Sequence[ChildGrant]) -> dict[str, str]:
    sources = ", ".join(child.connection_id for child in children)
    return {
        "code": "source_cannot_filter",
        "message": f"These have no such filter and were left out: {sources}.",
        "param": "filter",
    }
