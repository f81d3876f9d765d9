"""Samples: a few records exactly as a client would see them under a draft."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pdpp.authz.choice import FeedKey
from pdpp.authz.wording import label_of
from pdpp.evidence.fence import visible
from pdpp.pages.display import Value, presentation_of, values_of
from pdpp.pages.page_reader import PageReader
from pdpp.pages.record_title import record_of

SAMPLES = 3
_VALUE_CHARS = 280
_SAMPLE_CHARS = 1_000
_FIELD_CHARS = 40
"""What the markup of a field takes beside its text."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One record: its title, where it is from, its first values, and how many fields follow."""

    title: str
    account: str
    stream: str
    values: Sequence[Value]
    left: int = 0


async def take_samples(reader: PageReader, counts: Mapping[FeedKey, int]) -> list[Sample]:
    """Return the newest records of as many streams as there are samples, largest streams first."""
    largest = sorted((place for place in counts if counts[place]), key=lambda place: -counts[place])
    piles = [await _newest(reader, place) for place in largest[:SAMPLES]]
    answers = [pile[rank] for rank in range(SAMPLES) for pile in piles if rank < len(pile)]
    return [_sample(reader, answer) for answer in answers[:SAMPLES]]


async def _newest(reader: PageReader, place: FeedKey) -> Sequence[Mapping[str, Any]]:
    connection_id, stream = place
    query: dict[str, str | int] = {"connection_id": connection_id, "limit": SAMPLES}
    answer = await reader.operate("listRecords", {"stream": stream}, query)
    return list(answer["data"])


def _sample(reader: PageReader, answer: Mapping[str, Any]) -> Sample:
    record = record_of(reader.catalogue, answer)
    reach = record.reach
    values = values_of(record, _VALUE_CHARS)
    first_values = _first(values)
    return Sample(
        title=visible(presentation_of(record).title, lines=False),
        account=visible(reach.feed.connection.display_name, lines=False),
        stream=label_of(reach.stream),
        values=first_values,
        left=len(values) - len(first_values),
    )


def _first(values: Sequence[Value]) -> Sequence[Value]:
    """Return as many values as a page has room for."""
    room = _SAMPLE_CHARS
    for count, value in enumerate(values):
        room -= len(value.name) + len(value.text) + _FIELD_CHARS
        if room < 0:
            return values[: max(1, count)]
    return values
