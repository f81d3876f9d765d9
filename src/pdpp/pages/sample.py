"""Samples: a few records exactly as a client would see them under a draft."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pdpp.authz.wording import label_of
from pdpp.evidence.fence import visible
from pdpp.pages.display import Value, presentation_of, values_of
from pdpp.store.port import PageQuery, Record, Store
from pdpp.store.scope import Reach

SAMPLES = 3
_VALUE_CHARS = 280


@dataclass(frozen=True, slots=True)
class Sample:
    """One record, by its title, where it is from, and every value that would be seen."""

    title: str
    account: str
    stream: str
    values: Sequence[Value]


def take_samples(
    store: Store, reaches: Sequence[Reach], counts: Mapping[int, int], most: int = SAMPLES
) -> list[Sample]:
    """Return the newest records of as many streams as there are samples, largest streams first."""
    filled = [reach for reach in reaches if counts.get(reach.feed.id)]
    filled.sort(key=lambda reach: -counts[reach.feed.id])
    piles = [list(_newest(store, reach, most)) for reach in filled[:most]]
    samples: list[Record] = []
    for rank in range(most):
        samples += [pile[rank] for pile in piles if rank < len(pile)]
    return [_sample(record) for record in samples[:most]]


def _newest(store: Store, reach: Reach, most: int) -> Sequence[Record]:
    return store.page(PageQuery(reaches=(reach,), limit=most)).records


def _sample(record: Record) -> Sample:
    reach = record.reach
    return Sample(
        title=visible(presentation_of(record).title, lines=False),
        account=visible(reach.feed.connection.display_name, lines=False),
        stream=label_of(reach.stream),
        values=values_of(record, _VALUE_CHARS),
    )
