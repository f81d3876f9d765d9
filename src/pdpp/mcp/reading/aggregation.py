"""Aggregations: a number, or numbers by group, from whichever server counts."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pdpp.wire.members import Json, objects_in, text_in

Scalar = str | int | float | bool | None


class AggregateGroup(NamedTuple):
    """One group: its key, how many records it has, and its value where one was asked for."""

    key: Any
    records: Scalar
    value: Scalar = None
    has_value: bool = False


class Aggregation(NamedTuple):
    """An aggregation; ``groups`` is None where one number was asked for."""

    raw: Json
    stream: str
    metric: str
    field: str | None
    group_by: str | None
    group_by_time: str | None
    granularity: str | None
    time_zone: str | None
    value: Scalar
    groups: Sequence[AggregateGroup] | None
    other_count: Scalar
    records: Scalar


def read_aggregation(body: Json, asked: Mapping[str, Any]) -> Aggregation:
    """Read an aggregation; what a server leaves out is what was asked for."""
    merged = {**{k: v for k, v in asked.items() if isinstance(v, str)}, **body}
    groups = None
    if isinstance(body.get("groups"), list):
        groups = [
            AggregateGroup(
                group.get("key"), group.get("count"), group.get("value"), "value" in group
            )
            for group in objects_in(body, "groups")
        ]
    return Aggregation(
        raw=body,
        stream=text_in(merged, "stream") or "?",
        metric=text_in(merged, "metric") or "?",
        field=text_in(merged, "field"),
        group_by=text_in(merged, "group_by"),
        group_by_time=text_in(merged, "group_by_time"),
        granularity=text_in(merged, "granularity"),
        time_zone=text_in(merged, "time_zone"),
        value=body.get("value"),
        groups=groups,
        other_count=body.get("other_count"),
        records=body.get("filtered_record_count"),
    )
