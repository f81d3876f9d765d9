"""Reading records: a page of them, or one."""

from collections.abc import Mapping, Sequence
from functools import partial

import orjson

from pdpp.model.errors import InvalidRequest
from pdpp.receipts.served import of_records
from pdpp.resource.answers import ListJson, RecordJson, TombstoneJson
from pdpp.resource.call import Call, chosen_fields, no_record
from pdpp.resource.changes import asks_for_changes, list_changes
from pdpp.resource.envelope import list_envelope, record_envelope, record_envelopes
from pdpp.resource.filters import apply_filters
from pdpp.resource.page_cursor import opened_position, sealed_position
from pdpp.resource.relation import RelationExpander, chosen_relations
from pdpp.service.runner import leave_loop
from pdpp.store.query import PAGE_BYTES, PagePosition, PageQuery, Record
from pdpp.store.scope import Reach, pick


def list_records(call: Call) -> ListJson[RecordJson | TombstoneJson]:
    """Answer ``GET /v1/streams/{stream}/records``."""
    if asks_for_changes(call):
        return list_changes(call)
    reaches = call.stream_reaches()
    select = chosen_fields(call, reaches)
    relations = chosen_relations(call, reaches)
    reaches, warnings = apply_filters(reaches, call.query.filters)
    sort, descending = _order(call, reaches)
    limit = call.query.integer("limit") or 0
    query = PageQuery(
        reaches=reaches,
        limit=limit,
        sort=sort,
        descending=descending,
        after=_position(call, reaches, sort, descending),
        select=None if relations else select,
    )
    page = call.store.page(query)
    leave_loop(sum([len(record[2]) for record in page.records]))
    if relations:
        data = _expanded(call, page.records, select, relations)
        if len(data) < len(page.records):
            page = call.store.page(query._replace(limit=len(data)))
    else:
        data = record_envelopes(page.records)
    call.served.append(partial(of_records, page.records, select))
    next_cursor = None
    if page.next is not None:
        position = sealed_position(page.next)
        next_cursor = call.signer.seal("page", _bound(call, descending), position)
    count = None
    if call.query.text("count") != "none":
        count = sum(call.store.count(reach) for reach in reaches)
    return list_envelope(call, data, next_cursor=next_cursor, count=count, warnings=warnings)


def _bound(call: Call, descending: bool) -> tuple[str, ...]:
    return call.bound("desc" if descending else "asc")


def _position(
    call: Call, reaches: Sequence[Reach], sort: str | None, descending: bool
) -> PagePosition | None:
    cursor = call.query.text("cursor")
    if cursor is None:
        return None
    parts = call.signer.open("page", _bound(call, descending), cursor)
    return opened_position(call, reaches, sort, descending, parts)


def _order(call: Call, reaches: Sequence[Reach]) -> tuple[str | None, bool]:
    """Return the field to sort by, None for each stream's own, and the direction."""
    asked, order = call.query.text("sort"), call.query.text("order")
    if asked is None:
        return None, order != "asc"
    if order is not None and asked.startswith("-"):
        raise InvalidRequest(
            "Give the direction once: sort=-field, or sort with order.", param="order"
        )
    field = asked.removeprefix("-")
    for reach in reaches:
        reach.field(field, "sort")
        if not reach.compares(field):
            offered = ", ".join(name for name in reach.names() if reach.compares(name))
            raise InvalidRequest(
                f"{reach.full_name} cannot be sorted by {field!r}. Sort by one of: {offered}.",
                param="sort",
            )
    return field, asked.startswith("-") or order == "desc"


def get_record(call: Call) -> RecordJson:
    """Answer ``GET /v1/streams/{stream}/records/{record_id}``."""
    key = call.path["record_id"]
    reach = call.reach_holding(key)
    select = chosen_fields(call, [reach])
    relations = chosen_relations(call, [reach])
    wanted = None if relations else select
    record = call.store.record(reach, key, wanted)
    if record is None and call.principal.is_owner:
        # A citation names a record as its grant did; its owner can open it for ever.
        cited = call.store.cited(reach, key)
        record = None if cited is None else call.store.record(reach, cited.id, wanted)
    if record is None:
        raise no_record(call.stream, key)
    leave_loop(len(record.data))
    call.served.append(partial(of_records, (record,), select))
    if not relations:
        return record_envelope(record)
    return _expanded(call, (record,), select, relations)[0]


def _expanded(
    call: Call,
    records: Sequence[Record],
    select: frozenset[str] | None,
    relations: Mapping[str, int],
) -> list[RecordJson]:
    """Return records with their related ones, as many as fit into a page, and at least one."""
    answers: list[RecordJson] = []
    total = 0
    expander = RelationExpander(call, relations)
    for record in records:
        served = len(call.served)
        data = record.data if select is None else pick(record.data, select)
        expanded = expander.expand(record, PAGE_BYTES - len(data))
        answer = record_envelope(record._replace(data=data), expanded)
        total += len(orjson.dumps(answer))
        if answers and total > PAGE_BYTES:
            del call.served[served:]  # what the next page will show is served then
            break
        answers.append(answer)
    return answers
