"""The text half: for a model to read, one line a thing, the evidence first, the next call ready."""

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from pdpp.evidence.amount import counted
from pdpp.evidence.fence import fence, quote, visible
from pdpp.evidence.text import field_text
from pdpp.mcp.drawing.escaping import (
    call_line,
    call_lines,
    datum,
    escaped,
    label,
    number,
    plain,
    unavailable_lines,
    word,
)
from pdpp.mcp.drawing.view import (
    AggregateView,
    ErrorView,
    FieldView,
    HitView,
    PageView,
    RecordSource,
    RecordView,
    SearchView,
    WindowView,
)

_FETCH_HELP = (
    "whole record: fetch with an id as it is shown; connection_id only where it is shown apart"
)


@lru_cache(maxsize=1_024)
def _labels(*known: str | None) -> str:
    """Return the labels of a source on one line; a page has many hits of few sources."""
    return " · ".join(label(part) for part in known if part)


# search

_FEW_WORDS = 4


def search_text(view: SearchView) -> str:
    """Return the hits, evidence first, then what there is in all and how to go on."""
    lines = [drawn.text for drawn in view.hits]
    if not view.hits:
        lines.append("no hits. Try other words, or fewer +words and phrases.")
    lines.append(_total(view))
    sources = [drawn.hit.source for drawn in view.hits]
    if len({source.connection_id for source in sources}) > 1:
        lines.append(_mix(sources))
    lines += unavailable_lines(view.unavailable)
    lines += [f"note: {plain(note)}" for note in view.notes]
    if view.hits:
        lines.append(_FETCH_HELP)
    if view.next is not None:
        lines.append(call_line(view.next))
    return "\n".join(lines)


def hit_text(number: int, hit: HitView) -> str:
    """Return one hit: where the match stands, the passage, how to read on, what it is."""
    source = hit.source
    labels = _labels(source.connector_key, source.display_name, source.stream)
    if hit.event_time and hit.event_time not in hit.title:
        labels = f"{labels} · {plain(hit.event_time)}"
    if hit.evidence is None:
        head = f"{number}. {word(hit.id)} · {_matched(*hit.matched_fields)}"
    else:
        part = hit.evidence
        span = f" {part.start}–{part.end} of {part.total}" if part.start is not None else ""
        where = f"{plain(part.field_path)}{span} in {word(hit.id)}"
        head = f"{number}. {where}\n   {quote(part.preview)}"
    held = _held(tuple(hit.matched), tuple(hit.missing))
    return f"{head}\n   {call_line(hit.read)}\n   {quote(hit.title)} · {labels}{held}"


@lru_cache(maxsize=1_024)
def _held(matched: tuple[str, ...], missing: tuple[str, ...]) -> str:
    """Return which of the asked words a hit lacks; nothing where a server does not tell."""
    if not missing:
        return " · all words" if len(matched) > 1 else ""
    few = ", ".join(plain(one) for one in missing[:_FEW_WORDS])
    more = f" +{len(missing) - _FEW_WORDS}" if len(missing) > _FEW_WORDS else ""
    return f" · lacks {few}{more}"


@lru_cache(maxsize=1_024)
def _matched(*names: str) -> str:
    """Return where a hit without evidence matched."""
    matched = ", ".join(plain(name) for name in names)
    return f"matched in {matched} only, no body evidence" if matched else "no evidence"


def _total(view: SearchView) -> str:
    shown = counted(len(view.hits), "hit")
    if view.total is not None:
        whole = view.total == len(view.hits)
        total = shown if whole else f"{len(view.hits)} of {view.total} hits"
        return f"{total}, all matches ranked."
    if view.complete is False:
        return f"{shown}; more match than were ranked: the newest of each stream were."
    return f"{shown}."


def _mix(sources: Iterable[RecordSource]) -> str:
    counts = Counter(
        f"{label(source.display_name or '?')} ({word(source.connection_id or '?')})"
        for source in sources
    )
    return "sources: " + ", ".join(f"{name} {count}" for name, count in counts.items()) + "."


# records


def page_text(view: PageView) -> str:
    """Return the records of a page, then counts, bookmark and cursor."""
    lines: list[str] = []
    for place, record in enumerate(view.records, 1):
        lines += record_lines(record, f"{place}. ")
    if not view.records:
        lines.append("no records.")
    shown = counted(len(view.records), "record")
    lines.append(f"{shown} of {plain(view.stream)}{_counted(view.envelope)}.")
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


def _field(name: str, shown: FieldView) -> str:
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
        return "\n".join([head, *_binary_lines(view.binary or {}), *call_lines(view.calls)])
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
    return "\n".join([*lines, *call_lines(view.calls), fence(str(window.get("text", "")))])


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


# aggregate


def aggregate_text(view: AggregateView) -> str:
    """Return the number, or the groups with their numbers, on one line."""
    body = view.body
    of = f" of {plain(str(body['field']))}" if body.get("field") else ""
    head = f"{plain(str(body.get('metric')))}{of} of {plain(str(body.get('stream')))}"
    groups = body.get("groups")
    records = number(body.get("filtered_record_count"), "record")
    if not isinstance(groups, list):
        line = f"{head}: {number(body.get('value'))} · {records}"
        return "\n".join([line, *call_lines(view.calls)])
    shown = [_group(group) for group in groups if isinstance(group, Mapping)]
    line = " · ".join([*shown, f"other_count {number(body.get('other_count', 0))}", records])
    notes = [f"note: {note}" for note in view.notes]
    return "\n".join([f"{head} by {_grouping(body)}: {line}", *notes, *call_lines(view.calls)])


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
    name = "(none)" if key is None else datum(field_text(key))
    figure = f" = {number(group['value'])}" if "value" in group else ""
    return f"{name} {number(group.get('count'))}{figure}"


# problems


def error_text(view: ErrorView) -> str:
    """Return what went wrong in a line, then the calls that would do."""
    error = view.error
    message = " ".join(str(error.get("message")).split())
    said = visible(message, lines=False) if "example" in error else plain(message)
    lines = [f"{plain(str(error.get('code')))}: {said}"]
    others = [name for name in error if name not in _TOLD_OTHERWISE]
    if others:
        details = (f"{plain(name)}: {word(field_text(error[name]))}" for name in others)
        lines.append(" · ".join(details))
    lines += unavailable_lines(view.unavailable)
    lines += ["  " + call for call in call_lines(view.calls)]
    if error.get("request_id"):
        lines.append(f"request {word(str(error['request_id']))}")
    return "\n".join(lines)


_TOLD_OTHERWISE = frozenset(
    {"type", "code", "message", "param", "request_id", "example"}
    | {"available_connections", "unavailable_connections"}
)
