"""Neighbours: the records before and after one in time, and those of the same conversation."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pdpp.model.errors import PdppError
from pdpp.pages.dates import Dates
from pdpp.pages.page_reader import PageReader
from pdpp.pages.records.record_line import RecordLine, record_line
from pdpp.store.catalogue import Feed

_MOST_TIES = 20
_MOST_ON_A_SIDE = 8
_FEWEST = 2


class Neighbours(NamedTuple):
    """The record before and the one after, where there are such."""

    earlier: RecordLine | None
    later: RecordLine | None


class ThreadLines(NamedTuple):
    """Records of a conversation around one of them, and whether there may be more."""

    lines: Sequence[RecordLine]
    more: bool


async def neighbours(
    reader: PageReader, feed: Feed, answer: Mapping[str, Any], dates: Dates
) -> Neighbours:
    """Return the records of the same stream next to one in time."""
    field = feed.stream.consent_time_field
    value = None if field is None else answer["data"].get(field)
    if field is None or not isinstance(value, str):
        return Neighbours(None, None)
    return Neighbours(
        await _next(reader, answer, dates, f"-{field}", {f"filter[{field}][lte]": value}),
        await _next(reader, answer, dates, field, {f"filter[{field}][gte]": value}),
    )


async def _next(
    reader: PageReader,
    answer: Mapping[str, Any],
    dates: Dates,
    sort: str,
    narrowed: Mapping[str, str],
) -> RecordLine | None:
    """Return what follows a record in an order that begins at its moment."""
    query = {"connection_id": answer["connection_id"], "sort": sort, **narrowed}
    records = await _records(reader, answer["stream"], {**query, "limit": _MOST_TIES})
    places = [number for number, record in enumerate(records) if record["id"] == answer["id"]]
    following = records[places[0] + 1 :] if places else records
    return record_line(reader, following[0], dates) if following else None


async def thread_of(
    reader: PageReader, feed: Feed, answer: Mapping[str, Any], dates: Dates
) -> ThreadLines:
    """Return the nearest records of the conversation that a record belongs to, in order of time."""
    thread, field = feed.stream.thread_field, feed.stream.consent_time_field
    value = None if thread is None else answer["data"].get(thread)
    if field is None or value is None:
        return ThreadLines((), False)
    query = {
        "connection_id": answer["connection_id"],
        f"filter[{thread}]": value,
        "limit": _MOST_ON_A_SIDE,
    }
    at = answer["data"].get(field)
    earlier = {"sort": f"-{field}", f"filter[{field}][lte]": at} if at else {"sort": f"-{field}"}
    later = {"sort": field, f"filter[{field}][gte]": at} if at else {"sort": field}
    before = await _records(reader, answer["stream"], query | earlier)
    after = await _records(reader, answer["stream"], query | later)
    records = {record["id"]: record for record in (*reversed(before), *after)}
    if len(records) < _FEWEST:
        return ThreadLines((), False)
    lines = [record_line(reader, record, dates) for record in records.values()]
    return ThreadLines(lines, _MOST_ON_A_SIDE in (len(before), len(after)))


async def _records(
    reader: PageReader, stream: str, query: Mapping[str, str | int]
) -> list[Mapping[str, Any]]:
    try:
        return list((await reader.operate("listRecords", {"stream": stream}, query))["data"])
    except PdppError:
        return []  # a stream that does not compare this field has no such neighbours
