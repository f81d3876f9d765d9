"""What a server answers, made from what a grant shows and from nothing else."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Context, Decimal, InvalidOperation
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

import orjson
from tests.promises.reference.files import CONTENT, TEXTS
from tests.promises.reference.ranking import ranked, texts_of_meaning
from tests.promises.reference.world import BLOB, SCALARS, TEXT, TIME, Feed, Gone, Row, canonical

from pdpp.evidence.language.question import parse_question
from pdpp.model import instant
from pdpp.model.errors import PdppError

METRICS = ("sum", "min", "max", "count_distinct", "group_by", "group_by_time")
_DEFAULT_LIMIT = 25
_WINDOW_CHARS = 4_096

Cell = str | int | Decimal | None
Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Ask:
    """One question: what is asked for, of which stream, and the parameters as they are written.

    ``since`` is for changes: the moment of an earlier reading, None from the beginning.
    """

    kind: str
    stream: str = ""
    params: Mapping[str, str] = field(default_factory=dict)
    id: str = ""
    since: int | None = None
    today: str = "2026-09-01"
    meaning: bool = False
    """Whether the server has a model of meaning."""


class Refused(Exception):
    """A question that is not answered: its status and its code."""

    def __init__(self, status: int, code: str) -> None:
        super().__init__(status, code)
        self.status = status
        self.code = code


@dataclass(frozen=True, slots=True)
class Answer:
    """A status, and either the code of an error or what the body holds."""

    status: int
    body: Body


def answer(feeds: Sequence[Feed], ask: Ask) -> Answer:
    """Return the answer to a question."""
    try:
        return Answer(200, _KINDS[ask.kind](feeds, ask))
    except Refused as refused:
        return Answer(refused.status, {"code": refused.code})


def _reached(feeds: Sequence[Feed], ask: Ask) -> list[Feed]:
    wanted = ask.params.get("connection_id")
    some = [
        feed for feed in feeds if feed.stream == ask.stream and wanted in (None, feed.connection_id)
    ]
    if not some:
        raise Refused(403, "grant_stream_not_allowed")
    return some


def _require(feed: Feed, name: str) -> str:
    """Return the kind of a field; what is hidden is refused as what does not exist."""
    if name not in feed.kinds:
        raise Refused(400, "unknown_field") if feed.whole else Refused(403, "field_not_granted")
    return feed.kinds[name]


def _sortable(feed: Feed, name: str) -> bool:
    declared = feed.declared
    named = {*declared["ranges"], declared["cursor_field"], declared["consent_time_field"]}
    for names in declared["aggregations"].values():
        named |= set(names)
    return feed.kinds[name] in SCALARS and name in named


def _default_sort(feed: Feed) -> str | None:
    for name in (feed.declared["cursor_field"], feed.declared["consent_time_field"]):
        if name is not None and _sortable(feed, name):
            return str(name)
    return None


def cell(kind: str, value: Any) -> Cell:
    """Return a value as it is compared: times are microseconds, truths numbers."""
    if value is None:
        return None
    if kind == TIME:
        return instant.parse(value)
    if kind == "number":
        return Decimal(str(value))  # a float stands for the decimal that it is written as
    return int(value) if kind == "boolean" else value


def _shown(kind: str, value: Cell) -> Any:
    if kind == TIME and value is not None:
        return instant.to_text(int(value))
    if isinstance(value, Decimal):
        return _number(Fraction(value))
    return bool(value) if kind == "boolean" and value is not None else value


# Which records

_COMPARES: Mapping[str, Callable[[Any, Any], bool]] = {
    "eq": lambda a, b: a == b,
    "gte": lambda a, b: a >= b,
    "gt": lambda a, b: a > b,
    "lte": lambda a, b: a <= b,
    "lt": lambda a, b: a < b,
}


def _filtered(feed: Feed, ask: Ask) -> list[Row]:
    """Return the rows that meet the filters of a question."""
    rows = list(feed.rows)
    for name, operator, text in _filters(ask):
        kind = _require(feed, name)
        if operator == "eq":
            body = feed.declared["properties"][name].get("x_pdpp_role") == "body"
            usable = kind in SCALARS and not body
        else:
            usable = operator in feed.declared["ranges"].get(name, [])
        value = _written(kind, text) if usable else None
        if value is None:
            raise Refused(400, "invalid_filter")
        rows = [
            row
            for row in rows
            if (held := cell(kind, row.data.get(name))) is not None
            and _COMPARES[operator](held, value)
        ]
    _check_time(feed, ask)
    return rows


def _filters(ask: Ask) -> list[tuple[str, str, str]]:
    found = []
    for param, text in ask.params.items():
        if param.startswith("filter["):
            name, _, rest = param[len("filter[") :].partition("]")
            found.append((name, rest.strip("[]") or "eq", text))
    return found


def _written(kind: str, text: str) -> Cell:
    """Return what a caller wrote as a value of a kind, None where it is none."""
    if kind == TEXT:
        return text
    if kind == TIME:
        return instant.parse(text)
    if kind == "boolean":
        return {"true": 1, "false": 0}.get(text)
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return Decimal(text) if kind == "number" else None
    except InvalidOperation:
        return None


def _check_time(feed: Feed, ask: Ask) -> None:
    """Refuse a question about a time that lies wholly outside the grant."""
    if feed.since is None and feed.until is None:
        return
    low, high = feed.since, feed.until
    for name, operator, text in _filters(ask):
        at = instant.parse(text) if name == feed.timed_by else None
        if at is None:
            continue
        if operator in ("eq", "gte", "gt"):
            least = at + (operator == "gt")
            low = least if low is None else max(low, least)
        if operator in ("eq", "lte", "lt"):
            most = at + (operator != "lt")
            high = most if high is None else min(high, most)
    if low is not None and high is not None and low >= high:
        raise Refused(403, "grant_time_range_exceeded")


def _chosen(feeds: Sequence[Feed], ask: Ask) -> frozenset[str] | None:
    names, view = ask.params.get("fields"), ask.params.get("view")
    if view is not None:
        views = [one for feed in feeds for one in feed.declared["views"] if one["id"] == view]
        if not views:
            raise Refused(400, "invalid_request")
        return frozenset(name for one in views for name in one["fields"])
    if names is None:
        return None
    for name in names.split(","):
        if not any(name in feed.kinds for feed in feeds):
            _require(feeds[0], name)
    return frozenset(names.split(","))


# Envelopes


def _source(feed: Feed) -> Body:
    return {
        "connection_id": feed.connection_id,
        "connector_key": feed.connector_key,
        "display_name": feed.display_name,
    }


def _record(feed: Feed, row: Row, chosen: frozenset[str] | None) -> Body:
    return {
        "object": "record",
        "id": row.id,
        "stream": feed.stream,
        **_source(feed),
        "data": {n: v for n, v in row.data.items() if chosen is None or n in chosen},
        "emitted_at": row.emitted_at,
        "version": row.version,
    }


def _records(feeds: Sequence[Feed], ask: Ask) -> Body:
    some = _reached(feeds, ask)
    chosen = _chosen(some, ask)
    relations = _relations(some, ask)
    rows = [(feed, row) for feed in some for row in _filtered(feed, ask)]
    asked = ask.params.get("sort")
    for feed in some:
        if asked is not None:
            _require(feed, asked.lstrip("-"))
            if not _sortable(feed, asked.lstrip("-")):
                raise Refused(400, "invalid_request")
    down = asked.startswith("-") if asked is not None else ask.params.get("order") != "asc"

    def place(item: tuple[Feed, Row]) -> tuple[Any, ...]:
        feed, row = item
        name = asked.lstrip("-") if asked is not None else _default_sort(feed)
        value = None if name is None else cell(feed.kinds[name], row.data.get(name))
        filled = value if value is not None else 0
        return isinstance(value, str), filled, feed.connection_id, row.order, value is None

    ordered = sorted(rows, key=place, reverse=down)
    ordered.sort(key=lambda item: place(item)[-1])  # what has no value comes last, either way
    count = ask.params.get("count", "none")
    counted = {"kind": "none"} if count == "none" else {"kind": "exact", "value": len(rows)}
    return {
        "data": [{**_record(*item, chosen), **_related(*item, relations)} for item in ordered],
        "count": counted,
    }


def _relations(feeds: Sequence[Feed], ask: Ask) -> list[str]:
    """Return the relations that are asked for; one that nothing shown makes is refused."""
    names = [name for name in ask.params.get("expand", "").split(",") if name]
    for name in names:
        if not any(_relation(feed, name) for feed in feeds):
            raise Refused(400, "invalid_expand")
    return names


def _relation(feed: Feed, name: str) -> Mapping[str, Any] | None:
    """Return a relation whose both ends are shown: ids, and the field that names them."""
    for one in feed.declared["relationships"]:
        if one["name"] == name and feed.keyed and one["foreign_key"] in feed.kinds:
            return dict(one)
    return None


def _related(feed: Feed, row: Row, names: Sequence[str]) -> Body:
    """Return the shown records that a record is related to."""
    if not names:
        return {}
    expanded: Body = {}
    for name in names:
        relation = _relation(feed, name)
        if relation is None:
            continue
        key = relation["foreign_key"]
        if relation["cardinality"] == "belongs_to":
            above = [r for r in feed.rows if r.id == row.data.get(key)]
            expanded[name] = _record(feed, above[0], None) if above else None
            continue
        below = [r for r in feed.rows if r.data.get(key) == row.id]
        below.sort(key=lambda r: (*_moment(feed, r), r.order))
        limit = relation["limits"]["default_limit"]
        expanded[name] = {
            "object": "list",
            "data": [_record(feed, r, None) for r in below[:limit]],
            "has_more": len(below) > limit,
            "limit": limit,
        }
    return {"expanded": expanded}


def _moment(feed: Feed, row: Row) -> tuple[bool, int]:
    value = row.data.get(feed.timed_by) if feed.timed_by is not None else None
    return value is not None, (instant.parse(value) or 0) if value is not None else 0


def _one(feeds: Sequence[Feed], ask: Ask) -> tuple[Feed, Row | None]:
    some = _reached(feeds, ask)
    holding = [(feed, row) for feed in some for row in feed.rows if row.id == ask.id]
    if len(some) > 1 and not holding:
        raise Refused(404, "not_found")
    if len(holding) > 1:
        raise Refused(409, "ambiguous_connection")
    return holding[0] if holding else (some[0], None)


def _single(feeds: Sequence[Feed], ask: Ask) -> Body:
    feed, row = _one(feeds, ask)
    chosen = _chosen([feed], ask)
    relations = _relations([feed], ask)
    if row is None:
        raise Refused(404, "not_found")
    return {**_record(feed, row, chosen), **_related(feed, row, relations)}


def _window(feeds: Sequence[Feed], ask: Ask) -> Body:
    feed, row = _one(feeds, ask)
    name = ask.params["field"]
    kind = _require(feed, name)
    value = None if row is None else row.data.get(name)
    if row is None or value is None:
        raise Refused(404, "not_found")
    text = _blob_text(value) if kind == BLOB else _field_text(value)
    if "q" in ask.params:
        place, facts = _around(text, ask)
        start, end, limit = place
        return _window_body(feed, row, kind, name, text, start, end, limit, facts)
    limit = int(ask.params.get("limit_chars", _WINDOW_CHARS))
    start = min(int(ask.params.get("offset_chars", 0)), len(text))
    end = min(start + limit, len(text))
    return _window_body(feed, row, kind, name, text, start, end, limit, {})


def _around(text: str, ask: Ask) -> tuple[tuple[int, int, int], Body]:
    """Return where the window around the first of some whole words lies, and where they stand."""
    word = re.escape(ask.params["q"])
    spans = [m.span() for m in re.finditer(rf"(?<!\w){word}(?!\w)", text, re.IGNORECASE)]
    if not spans:
        raise Refused(404, "not_found")
    before, after = (int(ask.params.get(f"{side}_chars", 512)) for side in ("before", "after"))
    first, last = spans[0]
    start, end = max(0, first - before), min(len(text), last + after)
    facts = {
        "match_start_chars": first,
        "match_end_chars": last,
        "match_count": len(spans),
        "matches": [{"start_chars": s, "end_chars": e} for s, e in spans[:20]],
    }
    return (start, end, before + (last - first) + after), facts


def _window_body(
    feed: Feed,
    row: Row,
    kind: str,
    name: str,
    text: str,
    start: int,
    end: int,
    limit: int,
    facts: Body,
) -> Body:
    return {
        "object": "field_window",
        "stream": feed.stream,
        "record_id": row.id,
        "connection_id": feed.connection_id,
        "field": {
            "path": name,
            "type": kind,
            **({"media_type": row.data[name]["mime_type"]} if kind == BLOB else {}),
        },
        "version": row.version,
        "digest": hashlib.sha256(text.encode()).hexdigest()[:16],
        "window": {
            "text": text[start:end],
            "start_chars": start,
            "end_chars": end,
            "total_chars": len(text),
            "limit_chars": limit,
            "complete": (start, end) == (0, len(text)),
            "has_more": end < len(text),
            "next_offset_chars": end if end < len(text) else None,
            "previous_offset_chars": max(0, start - limit) if start else None,
            **facts,
        },
    }


def _blob_text(held: Mapping[str, Any]) -> str:
    """Return the text of a file; of one that is none, only what it is can be said."""
    if held["mime_type"] not in TEXTS:
        raise Refused(422, "field_not_text")
    return CONTENT[held["blob_id"]].decode("utf-8-sig", "replace")


def _field_text(value: Any) -> str:
    return value if isinstance(value, str) else _json_text(value)


def _json_text(value: Any) -> str:
    if isinstance(value, Decimal):
        return str(value)
    plain = orjson.loads(canonical(value))
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":"))


def _changes(feeds: Sequence[Feed], ask: Ask) -> Body:
    some = _reached(feeds, ask)
    if len(some) > 1:
        raise Refused(409, "ambiguous_connection")
    (feed,), since = some, ask.since
    chosen = _chosen(some, ask)
    items: list[Row | Gone] = [row for row in feed.rows if since is None or row.changed > since]
    items += [gone for gone in feed.gone if since is not None and gone.changed > since]
    items.sort(key=lambda item: (item.changed, item.order))
    data = [
        _record(feed, item, chosen) if isinstance(item, Row) else _tombstone(feed, item)
        for item in items
    ]
    return {"data": data}


def _tombstone(feed: Feed, gone: Gone) -> Body:
    return {
        "object": "record",
        "id": gone.id,
        "stream": feed.stream,
        **_source(feed),
        "emitted_at": gone.emitted_at,
        "deleted": True,
        "deleted_at": gone.deleted_at,
    }


# Numbers


def _aggregate(feeds: Sequence[Feed], ask: Ask) -> Body:
    some = _reached(feeds, ask)
    metric, name = ask.params.get("metric", "count"), ask.params.get("field")
    grouped, by_time = ask.params.get("group_by"), ask.params.get("group_by_time")
    if (metric == "count") is (name is not None):
        raise Refused(400, "invalid_request")
    for feed in some:
        used = ((name, metric), (grouped, "group_by"), (by_time, "group_by_time"))
        for field_name, use in used:
            if field_name is not None:
                _require(feed, field_name)
                if field_name not in feed.declared["aggregations"].get(use, []):
                    raise Refused(400, "invalid_request")
    groups: dict[Cell, list[Cell]] = {}
    key = grouped or by_time
    for feed in some:
        for row in _filtered(feed, ask):
            named = None if key is None else cell(feed.kinds[key], row.data.get(key))
            if by_time is not None and named is not None:
                named = _bucket(int(named), ask)
            measured = None if name is None else cell(feed.kinds[name], row.data.get(name))
            groups.setdefault(named, []).append(measured)
    kinds = some[0].kinds
    body: Body = {"filtered_record_count": sum(map(len, groups.values()))}
    measured_kind = kinds[name] if name is not None else TEXT
    if key is None:
        return {**body, "value": _metric(metric, measured_kind, groups.get(None, []))}
    limit = int(ask.params.get("limit", _DEFAULT_LIMIT))
    if by_time is not None:
        items = sorted(groups.items(), key=lambda item: (item[0] is None, str(item[0])))
    else:
        shown_as = {group: str(_shown("", group)) for group in groups}
        items = sorted(groups.items(), key=lambda i: (-len(i[1]), i[0] is None, shown_as[i[0]]))
    shown = []
    for group, values in items[:limit]:
        told: Body = {"key": group if by_time else _shown(kinds[key], group), "count": len(values)}
        if metric != "count":
            told["value"] = _metric(metric, measured_kind, values)
        shown.append(told)
    return {**body, "groups": shown, "other_count": sum(len(v) for _, v in items[limit:])}


def _bucket(at: int, ask: Ask) -> str:
    """Return the name of the stretch of the calendar in which a moment lies, at a place."""
    place = ZoneInfo(ask.params.get("time_zone", "UTC"))
    moment = datetime.fromtimestamp(at // 1_000_000, UTC)
    with suppress(OverflowError):  # At the edges of the calendar there is only UTC.
        moment = moment.astimezone(place)
    granularity = ask.params["granularity"]
    if granularity in ("minute", "hour"):
        begun = moment.replace(minute=moment.minute if granularity == "minute" else 0, second=0)
        shift = begun.strftime("%z") or "+0000"
        zone = "Z" if shift == "+0000" else f"{shift[:3]}:{shift[3:5]}"
        return begun.strftime("%Y-%m-%dT%H:%M") + zone
    if granularity == "week":
        moment -= timedelta(days=moment.weekday())
    if granularity == "quarter":
        return f"{moment:%Y}-Q{1 + (moment.month - 1) // 3}"
    form = {"year": "%Y", "month": "%Y-%m", "day": "%Y-%m-%d", "week": "%Y-%m-%d"}
    return moment.strftime(form[granularity])


def _metric(metric: str, kind: str, values: Sequence[Cell]) -> Any:
    present: list[Any] = [value for value in values if value is not None]
    if metric == "count":
        return len(values)
    if metric == "count_distinct":
        return len(set(present))
    if metric == "sum":
        return _sum(present)
    if not present:
        return None
    return _shown(kind, min(present) if metric == "min" else max(present))


def _sum(values: Sequence[Any]) -> int | float | str:
    """Return an exact sum: as a number where it stays what it is, else as its digits."""
    return _number(sum((Fraction(str(value)) for value in values), Fraction(0)))


def _number(total: Fraction) -> int | float | str:
    if total.denominator == 1:
        return int(total)
    if Fraction(repr(float(total))) == total:
        return float(total)
    digits = Context(prec=800).divide(Decimal(total.numerator), Decimal(total.denominator))
    return f"{digits:f}"


# What there is


def _streams(feeds: Sequence[Feed], ask: Ask) -> Body:
    rows = []
    for feed in feeds:
        sort = _default_sort(feed)
        times = (
            [] if sort is None else [cell(feed.kinds[sort], r.data.get(sort)) for r in feed.rows]
        )
        newest = max((at for at in times if at is not None), default=None)
        dated = sort is not None and feed.kinds[sort] == TIME
        rows.append(
            {
                "object": "stream",
                "name": feed.stream,
                "label": feed.declared["label"],
                **_source(feed),
                "record_count": len(feed.rows),
                "freshness": {"newest_record_at": _shown(TIME, newest) if dated else None},
            }
        )
    return {"data": rows}


def _schema(feeds: Sequence[Feed], ask: Ask) -> Body:
    """Return what is said of one stream in full."""
    some = _reached(feeds, ask)
    if len(some) > 1:
        raise Refused(409, "ambiguous_schema_detail")
    (feed,), declared = some, some[0].declared
    fields = {}
    for name, schema in declared["properties"].items():
        used = [use for use in METRICS if name in declared["aggregations"].get(use, [])]
        role = schema.get("x_pdpp_role")
        scalar = feed.kinds[name] in SCALARS
        fields[name] = {
            "granted": True,
            "type": feed.kinds[name],
            "schema": schema,
            "exact_filter": _offer(scalar and role != "body"),
            "range_filter": {
                **_offer(name in declared["ranges"]),
                "operators": declared["ranges"].get(name, []),
            },
            "sortable": _sortable(feed, name),
            "lexical_search": _offer(name in declared["lexical"]),
            "semantic_search": _offer(ask.meaning and _has_vectors(feed, name)),
            "aggregation": {use: _offer(True) for use in used},
            **({} if role is None else {"role": role}),
        }
    row = {
        "name": feed.stream,
        "connection_id": feed.connection_id,
        "record_count": len(feed.rows),
        "label": declared["label"],
        "description": declared["description"],
        "detail": declared["detail"],
        "semantics": declared["semantics"],
        "primary_key": declared["primary_key"],
        "cursor_field": declared["cursor_field"],
        "consent_time_field": declared["consent_time_field"],
        "default_sort": _default_sort(feed),
        "field_capabilities": fields,
        "views": declared["views"],
    }
    if feed.since is not None or feed.until is not None:
        ends = ("since", feed.since), ("until", feed.until)
        row["time_range"] = {n: None if at is None else instant.to_text(at) for n, at in ends}
    return {
        "grant_id": feed.grant_id,
        "source": feed.source,
        "source_name": feed.source_name,
        "row": row,
    }


def _has_vectors(feed: Feed, name: str) -> bool:
    """Tell whether a shown record has a text in a field that is searched by meaning."""
    texts = [text for row in feed.rows for text in texts_of_meaning(feed, row)]
    return bool(texts) and any(name == field_name for field_name, _ in texts)


def _offer(declared: bool) -> Body:
    return {"declared": declared, "usable": declared}


def _search(feeds: Sequence[Feed], ask: Ask) -> Body:
    try:  # What a question means follows from its text alone, and so does that it means nothing.
        parse_question(ask.params["q"], date.fromisoformat(ask.today))
    except PdppError as problem:
        raise Refused(problem.status, problem.code) from None
    streams = ask.params.get("streams[]")
    connection_id = ask.params.get("connection_id")
    some = [feed for feed in feeds if connection_id in (None, feed.connection_id)]
    if streams is not None:
        some = [feed for feed in some if feed.stream == streams]
    if not some:
        raise Refused(403, "grant_stream_not_allowed")
    meeting = {id(feed): {row.id for row in _filtered(feed, ask)} for feed in some}
    mode = ask.kind if ask.meaning else "search"
    return ranked(some, ask.params["q"], ask.params, meeting, ask.today, mode)


_KINDS: Mapping[str, Callable[[Sequence[Feed], Ask], Body]] = {
    "records": _records,
    "record": _single,
    "window": _window,
    "changes": _changes,
    "aggregate": _aggregate,
    "streams": _streams,
    "schema": _schema,
    "search": _search,
    "semantic": _search,
    "hybrid": _search,
}
