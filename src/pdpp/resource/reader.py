"""Reading records: pages, one record, what is related, and what changed."""

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import orjson

from pdpp.model.declaration import Cardinality, Kind, Relationship
from pdpp.model.errors import CursorExpired, InvalidExpand, InvalidRequest
from pdpp.receipts.served import of_changes, of_records
from pdpp.resource.call import Call, chosen_fields, no_record
from pdpp.resource.envelope import (
    list_envelope,
    record_envelope,
    record_envelopes,
    tombstone_envelope,
)
from pdpp.resource.filters import apply_filters
from pdpp.store.port import ChangeQuery, PageQuery, Position, Record, Tombstone
from pdpp.store.scope import Reach, pick

_LAST_KEY = "\U0010ffff"
"""Sorts after every key."""

_NUMBER = re.compile(r"-?\d{1,19}\Z", re.ASCII)
_TOO_LARGE = 2**63


def list_records(call: Call) -> dict[str, Any]:
    """Answer ``GET /v1/streams/{stream}/records``."""
    if call.query.text("changes_since") is not None:
        return list_changes(call)
    reaches = call.stream_reaches()
    select = chosen_fields(call, reaches)
    relations = _relations(call, reaches)
    reaches, warnings = apply_filters(reaches, call.query.filters)
    sort, descending = _order(call, reaches)
    limit = call.query.integer("limit") or 0
    page = call.store.page(
        PageQuery(
            reaches=reaches,
            limit=limit,
            sort=sort,
            descending=descending,
            after=_position(call, descending),
            select=None if relations else select,
        )
    )
    call.shown.append(partial(of_records, page.records, select))
    data = (
        [_answer(call, record, select, relations) for record in page.records]
        if relations
        else record_envelopes(page.records)
    )
    next_cursor = None
    if page.next is not None:
        place = page.next
        next_cursor = call.signer.seal(
            "page", _bound(call, descending), [place.value, place.connection_id, place.key]
        )
    count = None
    if call.query.text("count") != "none":
        count = sum(call.store.count(reach) for reach in reaches)
    return list_envelope(call, data, next_cursor=next_cursor, count=count, warnings=warnings)


def _bound(call: Call, descending: bool) -> tuple[str, ...]:
    return call.bound("desc" if descending else "asc")


def _position(call: Call, descending: bool) -> Position | None:
    cursor = call.query.text("cursor")
    if cursor is None:
        return None
    value, connection_id, key = call.signer.open("page", _bound(call, descending), cursor)
    return Position(value, connection_id, key)


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
        if reach.cell(field) is None:
            offered = ", ".join(name for name in reach.names() if reach.cell(name) is not None)
            raise InvalidRequest(
                f"{reach.stream.name} cannot be sorted by {field!r}; it can by: {offered}.",
                param="sort",
            )
    return field, asked.startswith("-") or order == "desc"


def get_record(call: Call) -> orjson.Fragment:
    """Answer ``GET /v1/streams/{stream}/records/{record_id}``."""
    key = call.path["record_id"]
    reach = call.reach_holding(key)
    select = chosen_fields(call, [reach])
    relations = _relations(call, [reach])
    record = call.store.record(reach, key, None if relations else select)
    if record is None:
        raise no_record(call.stream, key)
    call.shown.append(partial(of_records, (record,), select))
    return _answer(call, record, select, relations)


def _answer(
    call: Call,
    record: Record,
    select: frozenset[str] | None,
    relations: Mapping[str, int],
) -> orjson.Fragment:
    if not relations:
        return record_envelope(record)
    expanded = _expand(call, record, relations)
    data = record.data if select is None else pick(record.data, select)
    return record_envelope(record._replace(data=data), expanded)


# What is related


def _relations(call: Call, reaches: Sequence[Reach]) -> dict[str, int]:
    """Return the relations to expand, each with how many records at most."""
    limits = call.query.limits
    names = call.query.items("expand")
    for name in limits:
        if name not in names:
            raise InvalidExpand(
                f"expand_limit[{name[:80]}] needs expand={name[:80]}.",
                param=f"expand_limit[{name[:80]}]",
            )
    chosen: dict[str, int] = {}
    for name in names:
        offered = [offer for reach in reaches if (offer := expandable(call, reach).get(name))]
        if not offered:
            listed = ", ".join(sorted({n for r in reaches for n in expandable(call, r)})) or "none"
            raise InvalidExpand(
                f"{reaches[0].stream.name} cannot expand {name[:80]!r}; it can: {listed}.",
                param="expand",
            )
        most = min(relation.max_limit for relation in offered)
        wanted = limits.get(name, offered[0].default_limit)
        if wanted > most:
            _warn_once(
                call,
                {
                    "code": "limit_clamped",
                    "message": f"expand_limit[{name}] is at most {most}; {most} was used.",
                    "param": f"expand_limit[{name}]",
                },
            )
        chosen[name] = min(wanted, most)
    return chosen


def _warn_once(call: Call, warning: dict[str, Any]) -> None:
    """Add a warning, also when a read that took too long is run again."""
    if warning not in call.query.warnings:
        call.query.warnings.append(warning)


def expandable(call: Call, reach: Reach) -> dict[str, Relationship]:
    """Return the relations of a reach whose other side and whose key the caller also sees."""
    return {
        name: relation
        for name, relation in reach.stream.relationships.items()
        if relation.expandable and _linked(call, reach, relation) is not None
    }


def _linked(call: Call, reach: Reach, relation: Relationship) -> Reach | None:
    for other in call.principal.reaches:
        if other.connection_id == reach.connection_id and other.stream.name == relation.stream:
            holder = reach if relation.cardinality is Cardinality.BELONGS_TO else other
            return other if holder.cell(relation.foreign_key) is not None else None
    return None


def _expand(call: Call, record: Record, relations: Mapping[str, int]) -> dict[str, Any]:
    offered = expandable(call, record.reach)
    expanded: dict[str, Any] = {}
    for name, limit in relations.items():
        relation = offered.get(name)
        other = _linked(call, record.reach, relation) if relation is not None else None
        if relation is None or other is None:
            continue
        if relation.cardinality is Cardinality.BELONGS_TO:
            expanded[name] = _belonging(call, record, relation, other)
        else:
            expanded[name] = _having(call, record, relation, other, limit)
    return expanded


def _belonging(
    call: Call, record: Record, relation: Relationship, other: Reach
) -> orjson.Fragment | None:
    value = orjson.loads(record.data).get(relation.foreign_key)
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    found = call.store.record(other, str(value))
    if found is None:
        return None
    call.shown.append(partial(of_records, (found,)))
    return record_envelope(found)


def _having(
    call: Call, record: Record, relation: Relationship, other: Reach, limit: int
) -> dict[str, Any] | orjson.Fragment | None:
    numbered = other.stream.fields[relation.foreign_key].kind is Kind.INTEGER
    value = _as_number(record.key) if numbered else record.key
    if value is None:
        return None
    single = relation.cardinality is Cardinality.HAS_ONE
    found = call.store.related(other, relation.foreign_key, value, 1 if single else limit + 1)
    call.shown.append(partial(of_records, found[:limit]))
    if single:
        return record_envelope(found[0]) if found else None
    return {
        "object": "list",
        "data": record_envelopes(found[:limit]),
        "has_more": len(found) > limit,
        "limit": limit,
    }


def _as_number(key: str) -> int | None:
    """Return the whole number that is written as this key, where a record can hold it."""
    if not _NUMBER.match(key):
        return None
    number = int(key)
    return number if str(number) == key and -_TOO_LARGE <= number < _TOO_LARGE else None


# What changed


def list_changes(call: Call) -> dict[str, Any]:
    """Answer ``GET /v1/streams/{stream}/records?changes_since=…``."""
    for name in ("filter", "sort", "order", "expand"):
        if call.query.values.get(name):
            raise InvalidRequest(f"{name} cannot be combined with changes_since.", param=name)
    reach = call.one_reach(f"{call.stream!r} is")
    select = chosen_fields(call, [reach])
    session = _session(call, reach)
    page = call.store.changes(
        ChangeQuery(
            reach=reach,
            limit=call.query.integer("limit") or 0,
            after=session.after,
            horizon=session.horizon,
            tombstones=session.gone_before is None,
            select=select,
        )
    )
    call.shown.append(partial(of_changes, page.changes, select))
    data = [
        tombstone_envelope(change) if isinstance(change, Tombstone) else record_envelope(change)
        for change in page.changes
    ]
    if page.has_more:
        place = [*page.last, session.horizon, session.gone_before]
        cursor = call.signer.seal("changes", _page_bound(call, reach), place)
        return list_envelope(call, data, next_cursor=cursor)
    version, key = max(page.last, (session.gone_before or 0, _LAST_KEY))
    bookmark = call.signer.seal("bookmark", _stream_bound(call, reach), [version, key, call.now])
    return list_envelope(call, data, next_changes_since=bookmark)


class _Session(NamedTuple):
    """Pages of changes that belong together.

    ``horizon`` is where they end; ``gone_before`` is, for a first reading, the version up to which
    what went away was never seen.
    """

    after: tuple[int, str]
    horizon: int
    gone_before: int | None


def _stream_bound(call: Call, reach: Reach) -> tuple[str, ...]:
    return call.principal.binding, reach.connection_id, reach.stream.name


def _page_bound(call: Call, reach: Reach) -> tuple[str, ...]:
    return (*_stream_bound(call, reach), call.query.binding())


def _session(call: Call, reach: Reach) -> _Session:
    """Return where to go on."""
    cursor, since = call.query.text("cursor"), call.query.text("changes_since")
    if cursor is not None:
        place = call.signer.open("changes", _page_bound(call, reach), cursor)
        version, key, horizon, gone_before = place
        return _Session((version, key), horizon, gone_before)
    horizon = max(call.now, call.store.latest_version(reach))
    if since == "beginning":
        return _Session((0, ""), horizon, call.store.latest_trace(reach))
    bound = _stream_bound(call, reach)
    version, key, issued = call.signer.open("bookmark", bound, since or "", "changes_since")
    if issued < call.now - call.settings.bookmark_life:
        raise CursorExpired(
            "This bookmark is too old; read again with changes_since=beginning.",
            param="changes_since",
        )
    return _Session((version, key), horizon, None)
