"""What is asked of a store, and the pages that answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, tzinfo
from typing import NamedTuple, Protocol

from pdpp.evidence.language.question import Question
from pdpp.store.cell import CellValue
from pdpp.store.scope import Reach

PAGE_BYTES = 4 << 20
"""A page ends before it has more bytes of what it shows; a longer record is a page by itself."""


class Record(NamedTuple):
    """A record as a reach shows it: ``data`` is the JSON of the visible fields only.

    ``id`` is the record's key, or its pseudonym where the reach does not show the key.
    """

    reach: Reach
    id: str
    data: bytes
    emitted_at: int
    version: str


@dataclass(frozen=True, slots=True)
class Tombstone:
    """A record that a reach used to show and no longer does."""

    reach: Reach
    id: str
    emitted_at: int
    deleted_at: int
    version: str


class PagePosition(NamedTuple):
    """Where a page ended: the sort value, the connection and the surrogate of its last record.

    Records of equal value follow each other in the order of their surrogates, which are random, so
    that no order tells anything about a hidden key. A position leaves the server only in a cursor,
    which seals all of it.
    """

    value: CellValue
    connection_id: str
    surrogate: int


class PageQuery(NamedTuple):
    """One page of records over several reaches, in one order."""

    reaches: tuple[Reach, ...]
    limit: int
    sort: str | None = None
    descending: bool = True
    after: PagePosition | None = None
    select: frozenset[str] | None = None


class RecordPage(NamedTuple):
    """Records in order, as many as were asked for or as fit; and where to go on if there are more.

    A page ends at ``PAGE_BYTES``.
    """

    records: tuple[Record, ...]
    next: PagePosition | None


class RelatedPage(NamedTuple):
    """The first of some related records, and whether there are more."""

    records: tuple[Record, ...]
    more: bool


class RelatedByValue(Protocol):
    """The records of one reach by the values of one field; one object serves a whole page.

    All its reads together cost no more than a few times what the reach shows.
    """

    def first(self, value: str | int, limit: int, most_bytes: int = PAGE_BYTES) -> RelatedPage:
        """Return the first records whose field has a value, by time where that is visible.

        There are as many as have so many bytes, and one at least where the limit allows it.
        """
        ...


class ChangePosition(NamedTuple):
    """Where a page of changes ended: a version and the mark of a record, None after all of it."""

    version: int
    mark: str | None


@dataclass(frozen=True, slots=True)
class ChangeQuery:
    """What changed in one reach after a version, up to a horizon that a session of pages shares."""

    reach: Reach
    limit: int
    after: ChangePosition
    horizon: int
    tombstones: bool
    select: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class ChangePage:
    """Changes in order of version, the place of the last one, and whether more follow.

    A page ends at ``PAGE_BYTES``.
    """

    changes: tuple[Record | Tombstone, ...]
    last: ChangePosition
    has_more: bool


class SearchPosition(NamedTuple):
    """Where a hit stands in the one order of hits; the score is in millionths.

    ``time`` is negative where the oldest come first.
    """

    score: int
    time: int
    handle: tuple[str, str, str]


class SearchQuery(NamedTuple):
    """A question to what the reaches show; ``zone`` is the calendar of the days it names."""

    reaches: tuple[Reach, ...]
    question: Question
    limit: int
    after: SearchPosition | None = None
    by_time: bool = False
    zone: tzinfo = UTC
    meaning: Callable[[str], bytes] | None = None
    """Makes the vector of a text: the best hits are ordered by nearness to the question's too."""
    by_meaning: bool = False
    """Whether nearness alone decides, whatever words a record holds."""
    months: bool = False
    """Whether to count by month all records that answer, whatever days the question names."""


class Hit(NamedTuple):
    """A matching record and where it stands.

    Its long texts are read when it is asked for, and not kept: a hundred of megabytes each must not
    be in memory at once. Ask under the snapshot of the search.
    """

    reach: Reach
    position: SearchPosition
    read: Callable[[], Record]

    @property
    def id(self) -> str:
        """What the record is called under its reach."""
        return self.position.handle[2]

    @property
    def record(self) -> Record:
        """The record, read now."""
        return self.read()


class HitPage(NamedTuple):
    """Hits in order, of ``ranked`` records that answer.

    ``suggested`` are visible words near to those of a question without hits; ``repaired`` says
    which visible words stand for one that no visible record holds. ``empty_times`` are the time
    expressions of the question in which no visible record happened.
    """

    hits: tuple[Hit, ...]
    has_more: bool
    ranked: int
    suggested: tuple[str, ...] = ()
    repaired: Mapping[str, tuple[str, ...]] = {}
    months: Mapping[str, int] = {}
    empty_times: tuple[str, ...] = ()
