"""The text half: for a model to read, one line a thing, the evidence first, the next call ready."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pdpp.evidence.fence import fence, quote, visible
from pdpp.evidence.text import field_text
from pdpp.mcp.spelling import call_line, escaped, label, plain, word
from pdpp.mcp.view import (
    AggregateView,
    Hit,
    NextCall,
    PageView,
    ProblemView,
    RecordView,
    SchemaView,
    SearchView,
    Shown,
    Source,
    WindowView,
)

_FLAG_HELP = (
    "flags: eq exact filter · r range filter · sort sortable · lex words searched · "
    "a what can be aggregated · role how it is shown"
)

_FETCH_HELP = (
    "whole record: fetch with an id as it is shown; connection_id only where it is shown apart"
)


def _unavailable(children: Iterable[Mapping[str, Any]]) -> list[str]:
    return [
        f"unavailable: {word(str(child.get('connection_id')))} ({plain(str(child.get('code')))})"
        for child in children
    ]


def _calls(calls: Iterable[NextCall]) -> list[str]:
    return [call_line(call) for call in calls]


def _source(source: Source) -> list[str]:
    known = (source.connector_key, source.display_name, source.stream)
    return [label(part) for part in known if part]


# search


def search_text(view: SearchView) -> str:
    """Return the hits, evidence first, then what there is in all and how to go on."""
    lines = [drawn.text for drawn in view.hits]
    if not view.hits:
        lines.append("no hits.")
    lines.append(_total(view))
    sources = [drawn.hit.source for drawn in view.hits]
    if len({source.connection_id for source in sources}) > 1:
        lines.append(_mix(sources))
    lines += _unavailable(view.unavailable)
    lines += [f"note: {plain(note)}" for note in view.notes]
    if view.hits:
        lines.append(_FETCH_HELP)
    if view.next is not None:
        lines.append(call_line(view.next))
    return "\n".join(lines)


def hit_text(number: int, hit: Hit) -> str:
    """Return one hit: where the match stands, the passage, how to read on, what it is."""
    labels = [quote(hit.title), *_source(hit.source)]
    if hit.event_time and hit.event_time not in hit.title:
        labels.append(plain(hit.event_time))
    if hit.evidence is None:
        matched = ", ".join(plain(name) for name in hit.matched_fields)
        where = f" · matched in {matched} only, no body evidence" if matched else " · no evidence"
        head = f"{number}. {word(hit.id)}{where}"
    else:
        part = hit.evidence
        span = f" {part.start}–{part.end} of {part.total}" if part.start is not None else ""
        where = f"{plain(part.field_path)}{span} in {word(hit.id)}"
        head = f"{number}. {where}\n   {quote(part.preview)}"
    return f"{head}\n   {call_line(hit.read)}\n   {' · '.join(labels)}"


def _total(view: SearchView) -> str:
    shown = "1 hit" if len(view.hits) == 1 else f"{len(view.hits)} hits"
    if view.total is not None:
        whole = view.total == len(view.hits)
        total = shown if whole else f"{len(view.hits)} of {view.total} hits"
        return f"{total}, all matches ranked."
    if view.complete is False:
        return f"{shown}; more match than were ranked: the newest of each stream were."
    return f"{shown}."


def _mix(sources: Iterable[Source]) -> str:
    counts = Counter(
        f"{label(source.display_name or '?')} ({word(source.connection_id or '?')})"
        for source in sources
    )
    return "sources: " + ", ".join(f"{name} {count}" for name, count in counts.items()) + "."


# records


def page_text(view: PageView) -> str:
    """Return the records of a page, then counts, bookmark and cursor."""
    lines: list[str] = []
    for number, record in enumerate(view.records, 1):
        lines += record_lines(record, f"{number}. ")
    if not view.records:
        lines.append("no records.")
    lines.append(f"{len(view.records)} records of {plain(view.stream)}{_counted(view.envelope)}.")
    lines += [f"note: {plain(note)}" for note in view.notes]
    if view.next is not None:
        lines.append(call_line(view.next))
    elif view.envelope.get("has_more") is not True:
        lines.append("end of list.")
    if view.resume is not None:
        lines.append(call_line(view.resume))
    return "\n".join(lines)


def _counted(envelope: Mapping[str, Any]) -> str:
    meta = envelope.get("meta")
    count = meta.get("count") if isinstance(meta, Mapping) else None
    if isinstance(count, Mapping) and isinstance(count.get("value"), int):
        return f" of {count['value']} ({plain(str(count.get('kind')))} count)"
    return ""


def record_lines(record: RecordView, mark: str = "", indent: str = "") -> list[str]:
    """Return one record: its id and title, then a line a field."""
    labels = [word(record.id)]
    if record.title:
        labels.append(quote(record.title))
    labels += [label(part) for part in (record.source.display_name,) if part]
    if record.deleted_at is not None:
        labels.append(f"deleted at {plain(record.deleted_at)}")
    lines = [f"{indent}{mark}{' · '.join(labels)}"]
    lines += [f"{indent}   {_field(name, shown)}" for name, shown in record.fields.items()]
    names = [word(name) for name in record.omitted]
    if record.unnamed:
        names.append(f"{record.unnamed} more, which schema lists")
    if names:
        lines.append(f"{indent}   not shown, ask with fields: {', '.join(names)}")
    for name, related in record.expanded.items():
        lines += _related(name, related, indent + "   ")
    return lines


def _related(name: str, related: Mapping[str, Any], indent: str) -> list[str]:
    more = ", more exist" if related.get("has_more") else ""
    if related.get("left_out"):
        more += f", {related['left_out']} left out to fit"
    lines = [f"{indent}{plain(name)} ({len(related['records'])} shown{more}):"]
    for record in related["records"]:
        lines += record_lines(record, "- ", indent)
    if related.get("more") is not None:
        lines.append(f"{indent}{call_line(related['more'])}")
    return lines


def _field(name: str, shown: Shown) -> str:
    if shown.binary is not None:
        about = binary_text(shown.binary.media_type, shown.binary.size_bytes, shown.binary.sha256)
        return f"{plain(name)}: {about}" + (f"; {call_line(shown.read)}" if shown.read else "")
    value = shown.value
    text = quote(value) if isinstance(value, str) else escaped(value)
    if shown.cut is None:
        return f"{plain(name)}: {text}"
    part = shown.cut
    return (
        f"{plain(name)}: {text} ({part.served_chars} of {part.total_chars} chars; "
        f"{call_line(part.read)})"
    )


def binary_text(media_type: str, size: int | None, sha256: str | None = None) -> str:
    """Return the facts about binary content in words."""
    facts = [plain(media_type), f"{size if isinstance(size, int) else 'unknown'} bytes"]
    if sha256 is not None:
        facts.append(f"sha256 {plain(sha256)}")
    return f"[{', '.join(facts)}, not shown]"


# one field


def window_text(view: WindowView) -> str:
    """Return a piece of a field between fences, with where it is and how to read on."""
    head = f"{word(view.id)} · {plain(view.field_path)}"
    if view.window is None:
        return "\n".join([head, *_binary_lines(view.binary or {}), *_calls(view.calls)])
    window = view.window
    ended = "whole field" if window.get("complete") else "end reached"
    state = "more follows" if window.get("has_more") else ended
    line = (
        f"{head} · chars {window['start_chars']}–{window['end_chars']} of "
        f"{window['total_chars']}, {state}"
    )
    lines = [line if view.digest is None else f"{line} · digest {plain(view.digest)}"]
    if isinstance(window.get("match_count"), int):
        lines.append(
            f"match 1 of {window['match_count']} at {window.get('match_start_chars')}–"
            f"{window.get('match_end_chars')}{_other_matches(window)}"
        )
    return "\n".join([*lines, *_calls(view.calls), fence(str(window.get("text", "")))])


def _other_matches(window: Mapping[str, Any]) -> str:
    matches = window.get("matches")
    listed = [m for m in matches if isinstance(m, Mapping)] if isinstance(matches, list) else []
    others = [f"{m.get('start_chars')}–{m.get('end_chars')}" for m in listed[1:]]
    if not others:
        return ""
    cut_off = window["match_count"] - len(others) - 1
    return "; others at " + ", ".join(others) + (f" and {cut_off} more" if cut_off else "")


def _binary_lines(facts: Mapping[str, Any]) -> list[str]:
    lines = [
        binary_text(str(facts.get("media_type")), facts.get("size_bytes")),
        f"sha256 {plain(str(facts.get('sha256')))}",
    ]
    if facts.get("blob_route"):
        lines.append(
            f"bytes, for a program and not for reading: GET {plain(str(facts['blob_route']))}"
        )
    return lines


# schema


def schema_text(view: SchemaView) -> str:
    """Return the index of what may be read, or the fields of one stream."""
    connectors = [c for c in view.body.get("connectors", []) if isinstance(c, Mapping)]
    lines = _index(view, connectors) if view.stream is None else _scoped(connectors)
    lines += _unavailable(view.unavailable)
    if view.body.get("note"):
        lines.append(f"note: {view.body['note']}")
    return "\n".join([*lines, *_calls(view.calls)])


def _index(view: SchemaView, connectors: Sequence[Mapping[str, Any]]) -> list[str]:
    connections = sum(len(c.get("granted_connections", [])) for c in connectors)
    lines = [
        f"{len(connectors)} connectors, {connections} connections, "
        f"{view.body.get('stream_count', 0)} streams."
    ]
    for connector in connectors:
        granted = ", ".join(_connection(c) for c in connector.get("granted_connections", []))
        lines.append(f"{plain(str(connector.get('connector_key', '?')))}: {granted}")
        several = len(connector.get("granted_connections", [])) > 1
        rows = [_stream(row, several) for row in connector.get("streams", [])]
        lines.append("  " + (" · ".join(rows) or f"{_left_out(connector)} streams"))
    return lines


def _left_out(connector: Mapping[str, Any]) -> int:
    return int(connector.get("stream_names_left_out", 0))


def _connection(connection: Mapping[str, Any] | str) -> str:
    if isinstance(connection, str):
        return word(connection)
    identity = word(str(connection.get("connection_id", "?")))
    name = connection.get("display_name")
    return f"{label(str(name))} ({identity})" if name else identity


def _stream(row: Mapping[str, Any] | str, several: bool) -> str:
    if isinstance(row, str):
        return word(row)
    counts = row.get("record_counts", {})
    name = plain(str(row.get("name", "?")))
    if not several or not counts:
        total = next(iter(counts.values()), None)
        return name if total is None else f"{name} {total:,}"
    parts = [f"{word(c)} {n:,}" if n is not None else word(c) for c, n in counts.items()]
    return f"{name} ({', '.join(parts)})"


def _scoped(connectors: Sequence[Mapping[str, Any]]) -> list[str]:
    lines: list[str] = []
    for connector in connectors:
        names = {
            c.get("connection_id"): c.get("display_name")
            for c in connector.get("granted_connections", [])
        }
        for row in connector.get("streams", []):
            lines += _stream_lines(connector, names, row)
    return [*lines, _FLAG_HELP]


def _stream_lines(
    connector: Mapping[str, Any], names: Mapping[Any, Any], row: Mapping[str, Any]
) -> list[str]:
    counts = row.get("record_counts") or {row.get("connection_id"): row.get("record_count")}
    places = ", ".join(
        f"{label(str(names.get(c) or c))} ({word(str(c))}, {_number(n)} records)"
        for c, n in counts.items()
    )
    head = [plain(str(row.get("name"))), plain(str(connector.get("connector_key"))), places]
    if row.get("label"):
        head.append(f"label {quote(str(row['label']))}")
    head.append(f"key {', '.join(plain(k) for k in row.get('primary_key', []))}")
    if row.get("default_sort"):
        head.append(f"sorted by {plain(str(row['default_sort']))}")
    head.append(f"count {'|'.join(map(plain, row.get('count', []))) or 'none'}")
    lines = [" · ".join(head)]
    for name, facts in row.get("fields", {}).items():
        lines.append(f"  {plain(name)}{_flags(facts)}")
    return [*lines, "  " + " · ".join(_offers(row))]


def _flags(facts: Any) -> str:
    if isinstance(facts, str):
        return "  " + " ".join(plain(facts).removeprefix("t=").split(","))
    return f": {escaped(facts)}"


def _offers(row: Mapping[str, Any]) -> list[str]:
    expand = [
        f"{plain(str(e.get('name')))} ({plain(str(e.get('cardinality')))}, "
        f"up to {e.get('max_limit')})"
        for e in row.get("expand", [])
    ]
    views = [plain(str(v.get("id") if isinstance(v, Mapping) else v)) for v in row.get("views", [])]
    return [
        "fields projection: any of these",
        f"expand: {', '.join(expand) or 'none'}",
        f"views: {', '.join(views) or 'none'}",
        f"search: {', '.join(map(plain, row.get('search', []))) or 'none'}",
        f"aggregate count: {'yes' if row.get('aggregate_count', True) else 'no'}",
    ]


# aggregate


def aggregate_text(view: AggregateView) -> str:
    """Return the number, or the groups with their numbers, on one line."""
    body = view.body
    of = f" of {plain(str(body['field']))}" if body.get("field") else ""
    head = f"{plain(str(body.get('metric')))}{of} of {plain(str(body.get('stream')))}"
    groups = body.get("groups")
    records = f"{_number(body.get('filtered_record_count'))} records"
    if not isinstance(groups, list):
        line = f"{head}: {_number(body.get('value'))} · {records}"
        return "\n".join([line, *_calls(view.calls)])
    shown = [_group(group) for group in groups if isinstance(group, Mapping)]
    line = " · ".join([*shown, f"other_count {_number(body.get('other_count', 0))}", records])
    notes = [f"note: {note}" for note in view.notes]
    return "\n".join([f"{head} by {_grouping(body)}: {line}", *notes, *_calls(view.calls)])


def _grouping(body: Mapping[str, Any]) -> str:
    if body.get("group_by_time"):
        zone = body.get("time_zone") or "UTC"
        return (
            f"{plain(str(body.get('granularity')))} of {plain(str(body['group_by_time']))} "
            f"({plain(str(zone))})"
        )
    return plain(str(body.get("group_by")))


def _group(group: Mapping[str, Any]) -> str:
    key = group.get("key")
    name = "(none)" if key is None else word(field_text(key))
    value = f" = {_number(group['value'])}" if "value" in group else ""
    return f"{name} {_number(group.get('count'))}{value}"


def _number(value: Any) -> str:
    return word(field_text(value))


# problems


def problem_text(view: ProblemView) -> str:
    """Return what went wrong in a line, then the calls that would do."""
    error = view.error
    message = " ".join(str(error.get("message")).split())
    said = visible(message, lines=False) if "example" in error else plain(message)
    lines = [f"{plain(str(error.get('code')))}: {said}"]
    told = [f"{plain(name)}: {word(field_text(error[name]))}" for name in error if _tells(name)]
    if told:
        lines.append(" · ".join(told))
    lines += _unavailable(c for c in error.get("unavailable_connections", []) if _is_object(c))
    lines += ["  " + call for call in _calls(view.calls)]
    if error.get("request_id"):
        lines.append(f"request {word(str(error['request_id']))}")
    return "\n".join(lines)


_TOLD_OTHERWISE = frozenset(
    {"type", "code", "message", "param", "request_id", "example"}
    | {"available_connections", "unavailable_connections"}
)


def _tells(name: str) -> bool:
    return name not in _TOLD_OTHERWISE


def _is_object(value: object) -> bool:
    return isinstance(value, Mapping)
