"""Aggregates: one number or one per group, under the grant and the filters."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import cache, partial
from typing import Any

from pdpp.model.declaration import Kind
from pdpp.model.errors import FieldNotGranted, InvalidRequest, UnknownField
from pdpp.receipts.served import of_numbers
from pdpp.resource.answers import AggregationJson, AggregationNotes, GroupJson, NumbersJson
from pdpp.resource.calendar import GRANULARITIES, bucketer, order_of, zone
from pdpp.resource.call import Call
from pdpp.resource.filters import apply_filters
from pdpp.store.aggregation import AggregateQuery, GroupTotal
from pdpp.store.cell import CellValue, cell_json
from pdpp.store.number_key import LARGEST
from pdpp.store.scope import Reach

_MOST_NAMED = 12
_WRITTEN_OUT = 10**21
"""Up to here a whole number that is too large is written out; past it the shorter form is exact."""


def aggregate(call: Call) -> AggregationJson:
    """Answer ``GET /v1/streams/{stream}/aggregate``."""
    reaches = call.stream_reaches()
    query = _query(call, reaches)
    granularity, place = _calendar(call, query, reaches)
    reaches, warnings = apply_filters(reaches, call.query.filters)
    query = AggregateQuery(reaches, query.metric, query.field, query.group_by, query.bucket_by)
    # A bucket is asked for by where it begins, for its end and again for its name.
    bucket = cache(bucketer(granularity, zone(place))) if granularity is not None else None
    totals = call.store.aggregate(query, bucket)
    numbers: NumbersJson
    notes: AggregationNotes = {}
    if query.group_by is None and query.bucket_by is None:
        numbers = {"value": _value(query, reaches, _sole(totals))}
    else:
        numbers = _groups(call, query, reaches, totals)
    fields = (query.field, query.group_by, query.bucket_by)
    call.served.append(partial(of_numbers, reaches, fields, numbers))
    if call.query.warnings or warnings:
        notes["meta"] = {"warnings": [*call.query.warnings, *warnings]}
    return {
        "object": "aggregation",
        "stream": call.stream,
        "metric": query.metric,
        "field": query.field,
        "group_by": query.group_by,
        "group_by_time": query.bucket_by,
        "granularity": granularity,
        "time_zone": place if granularity is not None else None,
        **numbers,
        "filtered_record_count": sum(total.count for total in totals.values()),
        "approximate": False,
        **notes,
    }


def _query(call: Call, reaches: Sequence[Reach]) -> AggregateQuery:
    metric = call.query.text("metric") or "count"
    field = call.query.text("field")
    group_by, bucket_by = call.query.text("group_by"), call.query.text("group_by_time")
    if group_by is not None and bucket_by is not None:
        raise InvalidRequest("Give group_by or group_by_time, not both.", param="group_by_time")
    if metric == "count" and field is not None:
        raise InvalidRequest("count has no field, because it counts records.", param="field")
    if metric != "count" and field is None:
        offers = [_offer(reach, metric) for reach in reaches[:1]]
        raise InvalidRequest(" ".join([f"{metric} needs a field.", *offers]), param="field")
    _refuse_unit(call, reaches, bucket_by)
    for reach in reaches:
        if not reach.stream.countable and metric == "count":
            raise InvalidRequest(f"{reach.full_name} cannot be counted.", param="metric")
        _require(reach, reaches, field, metric, "field")
        _require(reach, reaches, group_by, "group_by", "group_by")
        _require(reach, reaches, bucket_by, "group_by_time", "group_by_time")
    return AggregateQuery(tuple(reaches), metric, field, group_by, bucket_by)


def _refuse_unit(call: Call, reaches: Sequence[Reach], bucket_by: str | None) -> None:
    """Refuse a unit of the calendar where a field belongs, as in ``group_by_time=month``."""
    if bucket_by not in GRANULARITIES or call.query.text("granularity") is not None:
        return
    if not any(bucket_by in reach.names() for reach in reaches):
        raise InvalidRequest(
            f"group_by_time takes a field; {bucket_by} is a granularity: "
            f"granularity={bucket_by}. {_offer(reaches[0], 'group_by_time')}",
            param="group_by_time",
        )


def _require(
    reach: Reach, reaches: Sequence[Reach], name: str | None, aggregation: str, param: str
) -> None:
    if name is None:
        return
    try:
        declared = reach.field(name, param)
    except (UnknownField, FieldNotGranted) as problem:
        message = f"{problem.message}{_elsewhere(reaches, name, aggregation)}"
        raise type(problem)(message, param=param) from None
    if aggregation not in declared.aggregations:
        raise InvalidRequest(_offer(reach, aggregation), param=param)


def _elsewhere(reaches: Sequence[Reach], name: str, aggregation: str) -> str:
    """Return which of the connections offer a field that another lacks, in a sentence to add."""
    offering = [
        reach.connection_id
        for reach in reaches
        if name in reach.names() and aggregation in reach.stream.fields[name].aggregations
    ]
    if not offering:
        return ""
    some = ", ".join(offering[:_MOST_NAMED])
    return f" Give connection_id to ask one that has it: {some}."


def _offer(reach: Reach, aggregation: str) -> str:
    fields = reach.stream.fields
    offered = ", ".join(name for name in reach.names() if aggregation in fields[name].aggregations)
    return f"{reach.full_name} offers {aggregation} for: {offered or 'no field'}."


def _calendar(
    call: Call, query: AggregateQuery, reaches: Sequence[Reach]
) -> tuple[str | None, str]:
    granularity, place = call.query.text("granularity"), call.query.text("time_zone")
    if query.bucket_by is None:
        for name in ("granularity", "time_zone"):
            if call.query.text(name) is not None:
                raise InvalidRequest(f"{name} needs group_by_time.", param=name)
        return None, "UTC"
    if granularity is None:
        raise InvalidRequest(
            f"group_by_time needs granularity: {', '.join(GRANULARITIES)}.", param="granularity"
        )
    if place is not None:
        zone(place)
    if all(reach.stream.fields[query.bucket_by].kind is Kind.DATE for reach in reaches):
        return granularity, "UTC"
    return granularity, place or "UTC"


def _sole(totals: Mapping[CellValue, GroupTotal]) -> GroupTotal:
    return totals.get(None) or GroupTotal()


def _value(query: AggregateQuery, reaches: Sequence[Reach], total: GroupTotal) -> Any:
    """Return a total's number; a least or largest time is shown as the field shows it."""
    if query.metric == "count":
        return total.count
    if query.metric == "count_distinct":
        return len(total.distinct)
    if query.metric == "sum":
        return _sum(total.total)
    extreme = total.least if query.metric == "min" else total.most
    return cell_json(_kind(reaches, query.field), extreme)


def _sum(total: Decimal) -> int | float | str:
    """Return a sum as JSON says it; one that readers of JSON would round is a text."""
    size = total.copy_abs()  # abs() would round it
    if size <= LARGEST and total == total.to_integral_value():
        return int(total)
    nearest = float(total)
    if total == Decimal(repr(nearest)) and (size <= LARGEST or size > _WRITTEN_OUT):
        return nearest
    written = f"{total:f}"
    return written.rstrip("0").removesuffix(".") if "." in written else written


def _kind(reaches: Sequence[Reach], name: str | None) -> Kind:
    field = reaches[0].stream.fields.get(name) if name is not None and reaches else None
    return field.kind if field is not None else Kind.TEXT


def _groups(
    call: Call,
    query: AggregateQuery,
    reaches: Sequence[Reach],
    totals: Mapping[CellValue, GroupTotal],
) -> NumbersJson:
    """Return the first groups, by size or in time, and how many records the others hold."""
    limit = call.query.integer("limit") or 0
    items = list(totals.items())
    if query.bucket_by is not None:
        items.sort(key=lambda item: (item[0] is None, item[0] and order_of(str(item[0]))))
    else:
        items.sort(key=lambda item: (-item[1].count, item[0] is None, str(item[0])))
    kind = Kind.TEXT if query.bucket_by is not None else _kind(reaches, query.group_by)
    groups: list[GroupJson] = []
    for key, total in items[:limit]:
        group: GroupJson = {"key": cell_json(kind, key), "count": total.count}
        if query.metric != "count":
            group["value"] = _value(query, reaches, total)
        groups.append(group)
    return {
        "groups": groups,
        "limit": limit,
        "other_count": sum(total.count for _, total in items[limit:]),
    }
