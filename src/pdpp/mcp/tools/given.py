"""Given: the arguments of each tool once they were checked, as types.

``definition`` declares what a tool takes, ``argument`` checks it; a test holds these types to that.
"""

from collections.abc import Mapping
from typing import Required, TypedDict

Filter = Mapping[str, object]
"""By field a value, or bounds by operator."""


class SchemaArguments(TypedDict, total=False):
    """What schema takes."""

    stream: str
    connection_id: str
    detail: str


class QueryArguments(TypedDict, total=False):
    """What query_records takes."""

    stream: Required[str]
    connection_id: str
    filter: Filter
    fields: list[str]
    view: str
    sort: str
    order: str
    limit: int
    cursor: str
    count: str
    changes_since: str
    expand: list[str]
    expand_limit: Mapping[str, int]


class AggregateArguments(TypedDict, total=False):
    """What aggregate takes."""

    stream: Required[str]
    metric: Required[str]
    field: str
    group_by: str
    group_by_time: str
    granularity: str
    time_zone: str
    filter: Filter
    limit: int
    connection_id: str


class SearchArguments(TypedDict, total=False):
    """What search takes."""

    query: Required[str]
    streams: list[str]
    connection_id: str
    filter: Filter
    mode: str
    limit: int
    cursor: str


class FetchArguments(TypedDict, total=False):
    """What fetch takes."""

    id: Required[str]
    connection_id: str
    fields: list[str]
    expand: list[str]
    expand_limit: Mapping[str, int]


class FieldSelection(TypedDict, total=False):
    """Which piece of which field."""

    field_path: str
    offset_chars: int
    cursor: str
    query: str
    limit_chars: int
    before_chars: int
    after_chars: int


class FieldArguments(FieldSelection, total=False):
    """What read_record_field takes."""

    id: str
    connection_id: str
    stream: str
    record_id: str
