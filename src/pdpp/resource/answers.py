"""Answers: the shapes that the operations of ``/v1`` build and the OpenAPI document describes.

What is built elsewhere has its shape there: windows and excerpts with the evidence, what an ingest
did with the store, a job with the jobs, an error with the errors.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Generic, Literal, NotRequired, TypedDict, TypeVar

import orjson

from pdpp.evidence.excerpt import ExcerptJson
from pdpp.evidence.window import WindowJson
from pdpp.model.declaration import RANGE_OPERATORS, Cardinality, Kind, Role, Semantics
from pdpp.model.json_types import Digest, Keyword, Moment, Scalar, Sha256, Size
from pdpp.resource.calendar import GRANULARITIES
from pdpp.service.accounts import MergePreviewJson, RemovalPreviewJson

METRICS = ("count", "sum", "min", "max", "count_distinct")
COUNT_KINDS = ("none", "estimated", "exact")
MOST_EXCERPTS = 1

Item = TypeVar("Item")


class WarningJson(TypedDict):
    """What a caller should know of an answer that it got nevertheless."""

    code: str
    message: str
    param: NotRequired[str]


class SourceJson(TypedDict):
    """Who a record comes from."""

    connection_id: str
    connector_key: str
    display_name: str


class CountJson(TypedDict):
    """How many there are, where that was asked for."""

    kind: Annotated[str, COUNT_KINDS]
    value: NotRequired[Size]


class TryNextJson(TypedDict):
    words: list[str]
    streams_searched: list[str]
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
    """What is said of a list beside its rows."""

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
    data: Sequence[Item | orjson.Fragment] | orjson.Fragment
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
    emitted_at: Moment
    version: str


class RecordJson(RecordHead):
    """A record; ``envelope`` writes it as bytes, because a page has hundreds."""

    data: dict[str, Any]
    expanded: NotRequired["Expanded"]


class TombstoneJson(RecordHead):
    """What is left of a record that was deleted."""

    deleted: Literal[True]
    deleted_at: Moment


class RelatedList(TypedDict):
    """The records of a relation to many."""

    object: Literal["list"]
    data: list[RecordJson] | orjson.Fragment
    has_more: bool
    limit: Size


Related = RecordJson | RelatedList | orjson.Fragment | None
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


class BearerJson(TypedDict):
    """Whose token it is."""

    scope: Annotated[str, ("owner", "grant", "package")]
    token_kind: str
    grant_id: str | None
    client_id: str | None


class OfferJson(TypedDict):
    """Whether something may be asked of a field."""

    declared: bool
    usable: bool


class RangeOffer(OfferJson):
    """Which comparisons may be asked of a field."""

    operators: list[Annotated[str, RANGE_OPERATORS]]


class FieldJson(TypedDict):
    """What may be asked of a field, in the reference server's members and a few of ours."""

    granted: Literal[True]
    type: Annotated[str, Kind]
    schema: Mapping[str, Any] | bool
    exact_filter: OfferJson
    range_filter: RangeOffer
    sortable: bool
    lexical_search: OfferJson
    semantic_search: OfferJson
    aggregation: dict[str, OfferJson]
    role: NotRequired[Annotated[str, Role]]
    description: NotRequired[str]


class CompactRelation(TypedDict):
    """A relation that can be expanded, in the compact form."""

    name: str
    cardinality: Annotated[str, Cardinality]
    max_limit: Size


class RelationJson(CompactRelation):
    """A relation that can be expanded."""

    stream: str
    default_limit: Size


class ViewJson(TypedDict):
    """A declared view with the fields of it that the token shows."""

    id: str
    label: str | None
    fields: list[str]


class IntervalJson(TypedDict):
    """The time to which a grant is limited."""

    since: Moment | None
    until: Moment | None


SearchKinds = list[Annotated[str, ("lexical", "semantic")]]
CountKinds = list[Annotated[str, COUNT_KINDS]]


class CompactStream(TypedDict):
    """A stream in the compact form, which ``evidence.compact`` makes of any server's full form."""

    name: str
    record_counts: Annotated[dict[str, int | None], "Records under the grant, by connection_id."]
    label: NotRequired[str]
    primary_key: NotRequired[list[str]]
    default_sort: NotRequired[str]
    field_capabilities: NotRequired[
        dict[str, Annotated[str, "Flags, as field_capability_legend explains."]]
    ]
    views: NotRequired[list[str]]
    expand_capabilities: NotRequired[list[CompactRelation]]
    search: NotRequired[SearchKinds]
    count: NotRequired[CountKinds]
    aggregate_count: NotRequired[bool]


class StreamIndexRow(TypedDict):
    """A stream in the index that the compact form is made of."""

    name: str
    connection_id: str
    record_count: Size
    label: str


class FullStream(StreamIndexRow):
    """A stream with everything that may be asked of it."""

    description: str | None
    detail: str | None
    semantics: Annotated[str, Semantics]
    primary_key: list[str]
    cursor_field: str | None
    consent_time_field: str | None
    default_sort: str | None
    field_capabilities: dict[str, FieldJson]
    views: list[ViewJson]
    expand_capabilities: list[RelationJson]
    search: SearchKinds
    count: CountKinds
    aggregate_count: bool
    time_range: NotRequired[IntervalJson]


class ConnectionJson(TypedDict):
    """A connection that the token opens."""

    connection_id: str
    display_name: str


class OriginJson(TypedDict):
    """What a connector says of itself."""

    kind: str
    id: str


Row = TypeVar("Row")


class ConnectorJson(TypedDict, Generic[Row]):
    """A connector with its connections and streams."""

    connector_key: str
    connector_id: str
    display_name: str
    granted_connections: list[ConnectionJson]
    stream_count: Size
    streams: Sequence[Row]
    source: NotRequired[OriginJson]
    declaration: NotRequired[Mapping[str, Any]]


class SchemaJson(TypedDict, Generic[Row]):
    """What the token opens."""

    object: Literal["schema"]
    detail: Literal["compact", "full"]
    bearer: BearerJson
    connectors: Sequence[ConnectorJson[Row]]
    connector_count: Size
    stream_count: Size
    field_capability_legend: NotRequired[str]


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
    """What is said of an aggregation beside its numbers."""

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
