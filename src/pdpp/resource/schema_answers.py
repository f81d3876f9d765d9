"""Answers about the schema: what a token opens and what may be asked of it."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Generic, Literal, NotRequired, TypedDict, TypeVar

from pdpp.model.declaration import RANGE_OPERATORS, Cardinality, Kind, Role, Semantics
from pdpp.model.json_types import Moment, Size
from pdpp.resource.answers import COUNT_KINDS


class BearerJson(TypedDict):
    """Whose token it is."""

    scope: Annotated[str, ("owner", "grant", "package")]
    token_kind: str
    grant_id: str | None
    client_id: str | None


class OfferJson(TypedDict):
    """Whether a caller may ask something of a field."""

    declared: bool
    usable: bool


class RangeOffer(OfferJson):
    """Which comparisons a caller may ask of a field."""

    operators: list[Annotated[str, RANGE_OPERATORS]]


class FieldJson(TypedDict):
    """What a caller may ask of a field: the reference server's members and a few of ours."""

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
    """A stream with everything that a caller may ask of it."""

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
