"""Neighbours: the records before and after one in time, and those of the same conversation."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pdpp.model.errors import PdppError
from pdpp.pages.dates import Dates
from pdpp.pages.page_reader import PageReader
from pdpp.pages.records.record_line import RecordLine, record_line
from pdpp.store.catalogue import Feed

_MOST_TIES = 20
_MOST_IN_THREAD = 50


class Neighbours(NamedTuple):
    """The record before and the one after, where there are such."""

    earlier: RecordLine | None
    later: RecordLine | None


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
) -> Sequence[RecordLine]:
    """Return the records of the conversation that a record belongs to, in order of time."""
    thread, field = feed.stream.thread_field, feed.stream.consent_time_field
    value = None if thread is None else answer["data"].get(thread)
    if field is None or value is None:
        return ()
    query = {
        "connection_id": answer["connection_id"],
        f"filter[{thread}]": value,
        "sort": field,
        "limit": _MOST_IN_THREAD,
    }
    records = await _records(reader, answer["stream"], query)
    return [record_line(reader, record, dates) for record in records] if len(records) > 1 else ()


async def _records(
    reader: PageReader, stream: str, query: Mapping[str, str | int]
) -> list[Mapping[str, Any]]:
    try:
        return list((await reader.operate("listRecords", {"stream": stream}, query))["data"])
    except PdppError:
        return []  # a stream that does not compare this field has no such neighbours
