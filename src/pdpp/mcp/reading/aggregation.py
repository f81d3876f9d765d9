"""Aggregations: a number, or numbers by group, from whichever server counts."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pdpp.mcp.reading.list_meta import read_meta
from pdpp.wire.answer import answer_without
from pdpp.wire.members import Json, Scalar, objects_in, scalar_in, text_in
from pdpp.wire.verbatim import Verbatim


class AggregateGroup(NamedTuple):
    """One group: its key, how many records it has, and its value where one was asked for."""

    key: object
    records: Scalar
    value: Scalar
    has_value: bool
    sent: Verbatim

    key_chars: int | None = None
    """How long a key is that is not shown whole."""

    def as_json(self) -> object:
        """Return the group as it was sent, but for a key that was cut."""
        if self.key_chars is None:
            return self.sent.as_json()
        return self.sent.with_members({"key": self.key, "key_chars": self.key_chars}).as_json()


class ServerAggregation(NamedTuple):
    """An aggregation; ``groups`` is None where one number was asked for."""

    sent: Verbatim
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
    warnings: Sequence[str] = ()

    def envelope(self) -> Verbatim:
        """Return the aggregation as it was sent, but for keys that were cut."""
        if self.groups is None:
            return self.sent
        return self.sent.with_members({"groups": [group.as_json() for group in self.groups]})


def read_aggregation(body: Json, asked: Mapping[str, object]) -> ServerAggregation:
    """Read an aggregation; what a server leaves out is what was asked for."""
    members = {k: v for k, v in body.items() if v is not None}
    if "value" not in body and "groups" not in members:
        raise answer_without("number and no groups")
    merged = {**{k: v for k, v in asked.items() if isinstance(v, str)}, **members}
    groups = None
    if isinstance(body.get("groups"), list):
        groups = [_group(row) for row in objects_in(body, "groups")]
    return ServerAggregation(
        sent=Verbatim(body),
        stream=text_in(merged, "stream") or "?",
        metric=text_in(merged, "metric") or "?",
        field=text_in(merged, "field"),
        group_by=text_in(merged, "group_by"),
        group_by_time=text_in(merged, "group_by_time"),
        granularity=text_in(merged, "granularity"),
        time_zone=text_in(merged, "time_zone"),
        value=scalar_in(body, "value"),
        groups=groups,
        other_count=scalar_in(body, "other_count"),
        records=scalar_in(body, "filtered_record_count"),
        warnings=read_meta(body).warnings,
    )


def _group(row: Json) -> AggregateGroup:
    counts = scalar_in(row, "count"), scalar_in(row, "value")
    return AggregateGroup(row.get("key"), *counts, "value" in row, Verbatim(row))
