"""Answers: the shapes that the operations of ``/v1`` build and the OpenAPI document describes.

What is built elsewhere has its shape there: windows and excerpts with the evidence, what an ingest
did with the store, a job with the jobs, an error with the errors.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Generic, Literal, NotRequired, TypedDict, TypeVar

import orjson

from pdpp.evidence.excerpt import ExcerptJson
from pdpp.evidence.window import WindowJson
from pdpp.model.declaration import Kind
from pdpp.model.json_types import Digest, Keyword, Moment, Scalar, Sha256, Size
from pdpp.resource.calendar import GRANULARITIES
from pdpp.service.accounts import MergePreviewJson, RemovalPreviewJson

COUNT_KINDS = ("none", "estimated", "exact")
METRICS = ("count", "sum", "min", "max", "count_distinct")
MOST_EXCERPTS = 1

Item = TypeVar("Item")


class WarningJson(TypedDict):
    """A note to the caller about an answer that is not quite what was asked for."""

    code: str
    message: str
    param: NotRequired[str]


class SourceJson(TypedDict):
    """Who a record comes from."""

    connection_id: str
    connector_key: str
    display_name: str


class CountJson(TypedDict):
    """How many there are, if the caller asked for the count."""

    kind: Annotated[str, COUNT_KINDS]
    value: NotRequired[Size]


class TryNextJson(TypedDict):
    words: list[str]
    streams_searched: Annotated[list[str], "The streams that were searched, the first of many."]
    stream_count: Annotated[Size, "How many streams were searched."]
    schema: str


Repaired = Annotated[
    dict[str, list[str]], "Words that no visible record holds, and what they were read as."
]

Months = Annotated[
    dict[str, Size],
    "How many records of each month answer; for the owner's pages, which draw bars.",
]

SearchHints = TypedDict(
    "SearchHints",
    {
        "repaired": NotRequired[Repaired],
        "try": NotRequired[TryNextJson],
        "months": NotRequired[Months],
    },
)
"""What helps to ask again; only an answer to a search has it."""


class ListMetaJson(SearchHints):
    """What a list says beside its rows."""

    count: CountJson
    warnings: Sequence[WarningJson]


class ListLinks(TypedDict, total=False):
    """Where to read on."""

    next: str


class ListPaging(TypedDict, total=False):
    """How to read on."""

    next_cursor: Annotated[str, "Give it as cursor; absent on the last page."]
    next_changes_since: Annotated[
        str, "Give it as changes_since later; on the last page of changes only."
    ]


class ListJson(ListPaging, Generic[Item]):
    """A page of a list."""

    object: Literal["list"]
    url: str
    data: Sequence[Item]
    has_more: bool
    meta: ListMetaJson
    links: ListLinks


class Freshness(TypedDict):
    """How new the newest record is."""

    newest_record_at: str | None


class StreamJson(SourceJson):
    """A stream of a connection, as lists of streams have it."""

    object: Literal["stream"]
    name: str
    label: str
    record_count: Annotated[Size, "How many the token shows."]
    freshness: Freshness


class RecordHead(SourceJson):
    """What records and the traces of deleted ones have in common."""

    object: Literal["record"]
    id: Annotated[str, "The key of the record in its stream."]
    stream: str
    emitted_at: Moment | datetime
    version: str


class RecordJson(RecordHead):
    """A record; its data is passed on as it is stored."""

    data: dict[str, Any] | orjson.Fragment
    expanded: NotRequired["Expanded"]


class TombstoneJson(RecordHead):
    """What is left of a record that was deleted."""

    deleted: Literal[True]
    deleted_at: Moment


class RelatedList(TypedDict):
    """The records of a relation to many."""

    object: Literal["list"]
    data: list[RecordJson]
    has_more: bool
    limit: Size


Related = RecordJson | RelatedList | None
Expanded = dict[str, Related]


class ScoreJson(TypedDict):
    """How well a hit answers."""

    kind: Annotated[str, ("lexical", "hybrid", "semantic")]
    value: float
    order: Literal["desc"]


class SearchResultJson(SourceJson):
    """A hit of a search."""

    object: Literal["search_result"]
    id: Annotated[str, "connection_id/stream:record_id."]
    record_key: str
    stream: str
    title: str
    event_time: str | None
    emitted_at: Moment
    record_url: str
    matched_fields: list[str]
    matched: Annotated[list[str], "The asked words that the record holds."]
    missing: Annotated[list[str], "The asked words that it does not hold."]
    score: ScoreJson
    evidence_excerpts: Annotated[list[ExcerptJson], Keyword("maxItems", MOST_EXCERPTS)]


class WindowedField(TypedDict):
    """The field that a window is of."""

    path: str
    type: Annotated[str, Kind]
    media_type: NotRequired[str]


class FieldWindowJson(TypedDict):
    """A stretch of a field's text."""

    object: Literal["field_window"]
    stream: str
    record_id: str
    connection_id: str
    field: WindowedField
    version: str
    digest: Annotated[Digest, "The same for every window of one text."]
    window: WindowJson


class GroupJson(TypedDict):
    """One group of an aggregation."""

    key: Scalar
    count: Size
    value: NotRequired[Scalar]


class NumbersJson(TypedDict, total=False):
    """One number, or the groups with one each."""

    value: Annotated[Scalar, "Without groups."]
    groups: list[GroupJson]
    limit: Size
    other_count: Annotated[Size, "The records of the groups not listed."]


class AggregationMeta(TypedDict):
    """What an aggregation says beside its numbers."""

    warnings: Sequence[WarningJson]


class AggregationNotes(TypedDict, total=False):
    """The warnings of an aggregation, where there are any."""

    meta: AggregationMeta


class AggregationJson(NumbersJson, AggregationNotes):
    """One number, or one for each group."""

    object: Literal["aggregation"]
    stream: str
    metric: Annotated[str, METRICS]
    field: str | None
    group_by: str | None
    group_by_time: str | None
    granularity: Annotated[str, GRANULARITIES] | None
    time_zone: str | None
    filtered_record_count: Size
    approximate: bool


class BlobJson(TypedDict):
    """Bytes that were stored."""

    object: Literal["blob"]
    blob_id: Sha256
    mime_type: str
    size_bytes: Size
    sha256: Sha256


class RenamedAccountJson(TypedDict):
    """An account with another name."""

    object: Literal["account_change"]
    status: Literal["renamed"]
    connection_id: str
    display_name: str
    previous_name: str
    seen_by: list[str]


class RemovalJson(RemovalPreviewJson):
    """What the removal of an account would do, or did."""

    object: Literal["account_change"]


class MergeJson(MergePreviewJson):
    """What a merge of accounts would do."""

    object: Literal["account_change"]


AccountChange = RenamedAccountJson | RemovalJson | MergeJson
"""What happens to accounts, or would happen."""
