"""The text half: for a model to read, one line a thing, the evidence first, the next call ready."""

from collections.abc import Iterable, Sequence

from pdpp.evidence.amount import counted
from pdpp.evidence.binary import Binary
from pdpp.evidence.fence import fence, quote, visible
from pdpp.evidence.text import field_text
from pdpp.mcp.drawing.escaping import (
    call_line,
    call_lines,
    datum,
    escaped,
    label,
    labels,
    number,
    plain,
    unavailable_lines,
    word,
)
from pdpp.mcp.drawing.result import Less, if_cut, is_long
from pdpp.mcp.drawing.view import (
    AggregateView,
    ErrorView,
    FieldView,
    HitView,
    PageView,
    RecordSource,
    RecordView,
    RelatedView,
    SearchView,
    WindowView,
)
from pdpp.mcp.reading.aggregation import AggregateGroup, ServerAggregation
from pdpp.mcp.reading.blob import blob_route
from pdpp.mcp.reading.field_window import WindowMatches
from pdpp.mcp.reading.list_meta import ListMeta

_FETCH_HELP = (
    "Whole record: call fetch with the id above; add connection_id only where one is shown"
)


def arranged(first: Sequence[str], rows: Sequence[str], about: Sequence[str], less: Less) -> str:
    """Return the rows of an answer and then what it says of itself, such as the next call.

    Where hosts would cut the end off, it says so and all of that before its rows, after the
    ``first`` lines; ``less`` is how to ask for less.
    """
    text = "\n".join([*first, *rows, *about])
    if not is_long(text):
        return text
    return "\n".join([*first, *about, f"note: {if_cut(less)}", *rows])


# search

_FEW_WORDS = 4


def search_text(view: SearchView) -> str:
    """Return the hits, evidence first, then what there is in all and how to go on."""
    hits = [drawn.text for drawn in view.hits]
    if not view.hits:
        hits.append("no hits. Try other words, or fewer +words and phrases.")
    lines = [_total(view)]
    sources = [drawn.hit.source for drawn in view.hits]
    if len({source.connection_id for source in sources}) > 1:
        lines.append(_mix(sources))
    lines += unavailable_lines(view.unavailable)
    lines += [f"note: {plain(note)}" for note in view.notes]
    if view.hits:
        lines.append(_FETCH_HELP)
    if view.next is not None:
        lines.append(call_line(view.next))
    return arranged(hits[:1], hits[1:], lines, Less.ROWS)


def hit_text(number: int, hit: HitView) -> str:
    """Return one hit: where the match stands, the passage, how to read on, what it is."""
    id, source, title, _, event_time, matched_fields, passage, read, matched, missing, seen = hit
    where = labels(source.connector_key, source.display_name, source.stream)
    if event_time and event_time not in title:
        where = f"{where} · {plain(event_time)}"
    if passage is None:
        head = f"{number}. {word(id)} · {_matched(*matched_fields)}"
    else:
        field_path, preview, place = passage
        span = ""
        if place is not None:
            start, end, total = place
            span = f" {start}–{end} of {total}"
        head = f"{number}. {plain(field_path)}{span} in {word(id)}\n   {quote(preview, seen=seen)}"
    words = _missing_words(matched, missing)
    how = call_line(read, seen=seen)
    return f"{head}\n   {how}\n   {quote(title, seen=seen)} · {where}{words}"


def _missing_words(matched: Sequence[str], missing: Sequence[str]) -> str:
    """Return which of the asked words a hit lacks; nothing where a server does not tell."""
    if not missing:
        return " · all words" if len(matched) > 1 else ""
    few = ", ".join(plain(one) for one in missing[:_FEW_WORDS])
    more = f" +{len(missing) - _FEW_WORDS}" if len(missing) > _FEW_WORDS else ""
    return f" · lacks {few}{more}"


def _matched(*names: str) -> str:
    """Return where a hit without evidence matched."""
    matched = ", ".join(plain(name) for name in names)
    return f"matched in {matched} only, no body evidence" if matched else "no evidence"


def _total(view: SearchView) -> str:
    count = counted(len(view.hits), "hit")
    meta = view.page.meta
    if meta.exact_total is not None:
        whole = meta.exact_total == len(view.hits)
        total = count if whole else f"{len(view.hits)} of {counted(meta.exact_total, 'hit')}"
        return f"{total}, all matches ranked."
    if meta.complete is False:
        return f"{count}; too many matches to rank: only the newest of each stream were ranked."
    return f"{count}."


def _mix(sources: Iterable[RecordSource]) -> str:
    counts: dict[str, int] = {}
    for source in sources:
        name = f"{label(source.display_name or '?')} ({word(source.connection_id or '?')})"
        counts[name] = counts.get(name, 0) + 1
    return f"sources: {', '.join([f'{name} {count}' for name, count in counts.items()])}."


# records


def page_text(view: PageView) -> str:
    """Return the records of a page, then counts, bookmark and cursor."""
    rows: list[str] = []
    for place, record in enumerate(view.records, 1):
        rows += record_lines(record, f"{place}. ")
    if not view.records:
        rows.append("no records.")
    listed = counted(len(view.records), "record")
    lines = [f"{listed} of {plain(view.stream)}{_counted(view.page.meta)}."]
    lines += [f"note: {plain(note)}" for note in view.notes]
    if view.next is not None:
        lines.append(call_line(view.next))
    elif view.page.has_more is not True:
        lines.append("end of list.")
    if view.resume is not None:
        lines.append(call_line(view.resume))
    return arranged([], rows, lines, view.less)


def _counted(meta: ListMeta) -> str:
    if meta.total is None or meta.count_kind is None:
        return ""
    return f" of {meta.total} ({plain(meta.count_kind)} count)"


def record_lines(record: RecordView, mark: str = "", indent: str = "") -> list[str]:
    """Return one record: its id and title, then a line a field."""
    labels = [word(record.id)]
    if record.title:
        labels.append(quote(record.title))
    labels += [label(part) for part in (record.source.display_name,) if part]
    if record.deleted:
        labels.append(f"deleted at {plain(record.deleted_at)}" if record.deleted_at else "deleted")
    lines = [f"{indent}{mark}{' · '.join(labels)}"]
    lines += [f"{indent}   {_field(name, field)}" for name, field in record.fields.items()]
    names = [word(name) for name in record.omitted]
    if record.unnamed:
        names.append(f"{record.unnamed} more, which schema lists")
    if names:
        lines.append(f"{indent}   not shown, ask with fields: {', '.join(names)}")
    for name, related in record.related.items():
        lines += _related(name, related, indent + "   ")
    return lines


def _related(name: str, related: RelatedView, indent: str) -> list[str]:
    more = ", more exist" if related.has_more else ""
    if related.left_out:
        more += f", {related.left_out} left out to fit"
    lines = [f"{indent}{plain(name)} ({len(related.records)} shown{more}):"]
    if related.more is not None:
        lines.append(f"{indent}{call_line(related.more)}")
    for record in related.records:
        lines += record_lines(record, "- ", indent)
    return lines


def _field(name: str, field: FieldView) -> str:
    if field.binary is not None:
        about = binary_text(field.binary)
        return f"{plain(name)}: {about}" + (f"; {call_line(field.read)}" if field.read else "")
    value = field.value
    text = quote(value) if isinstance(value, str) else escaped(value)
    if field.cut is None:
        return f"{plain(name)}: {text}"
    part = field.cut
    return (
        f"{plain(name)}: {text} ({part.served_chars} of {part.total_chars} chars; "
        f"{call_line(part.read)})"
    )


def binary_text(binary: Binary) -> str:
    """Return the facts about binary content in words; what nobody told is not said."""
    facts = [plain(binary.media_type)]
    if binary.size_bytes is not None:
        facts.append(f"{binary.size_bytes} bytes")
    if binary.sha256 is not None:
        facts.append(f"sha256 {plain(binary.sha256)}")
    return f"[{', '.join(facts)}, not shown]"


# one field


def window_text(view: WindowView) -> str:
    """Return a piece of a field between fences, with where it is and how to read on."""
    head = f"{word(view.id)} · {plain(view.field_path)}"
    if view.window is None:
        about = [] if view.binary is None else _binary_lines(view.binary)
        return "\n".join([head, *about, *call_lines(view.calls)])
    window = view.window
    ended = "whole field" if window.complete else "end reached"
    state = "more follows" if window.has_more else ended
    line = f"{head} · chars {window.start}–{window.end} of {window.total}, {state}"
    lines = [line if view.digest is None else f"{line} · digest {plain(view.digest)}"]
    if window.matches is not None:
        lines.append(_matches(window.matches))
    about = [*lines, *call_lines(view.calls)]
    return arranged(about, [fence(window.text)], [], Less.CHARS)


def _matches(matches: WindowMatches) -> str:
    (start, end), *others = matches.spans
    line = f"match 1 of {matches.total} at {start}–{end}"
    if not others:
        return line
    listed = ", ".join(f"{start}–{end}" for start, end in others)
    cut_off = matches.total - len(matches.spans)
    return f"{line}; others at {listed}" + (f" and {cut_off} more" if cut_off > 0 else "")


def _binary_lines(binary: Binary) -> list[str]:
    lines = [binary_text(binary._replace(sha256=None))]
    if binary.sha256 is not None:
        lines.append(f"sha256 {plain(binary.sha256)}")
    if binary.blob_id is not None:
        route = blob_route(binary.blob_id)
        lines.append(f"bytes, for a program and not for reading: GET {plain(route)}")
    return lines


# aggregate


def aggregate_text(view: AggregateView) -> str:
    """Return the number, or the groups with their numbers, on one line."""
    result = view.aggregation
    of = f" of {plain(result.field)}" if result.field else ""
    head = f"{plain(result.metric)}{of} of {plain(result.stream)}"
    records = [number(result.records, "record")] if result.records is not None else []
    about = [*(f"note: {plain(note)}" for note in view.notes), *call_lines(view.calls)]
    if result.groups is None:
        line = " · ".join([f"{head}: {number(result.value)}", *records])
        return "\n".join([line, *about])
    groups = [_group(group) for group in result.groups]
    others = result.other_count
    other = [] if others is None else [f"other_count {number(others)}"]
    head = f"{head} by {_grouping(result)}"
    whole = "\n".join([f"{head}: {' · '.join([*groups, *other, *records])}", *about])
    if not is_long(whole):
        return whole
    counts = " · ".join([counted(len(groups), "group"), *other, *records])
    return arranged([f"{head}: {counts}"], [" · ".join(groups)], about, Less.ROWS)


def _grouping(result: ServerAggregation) -> str:
    if result.group_by_time is None:
        return plain(result.group_by or "group")
    every = f"{plain(result.granularity)} of " if result.granularity else ""
    return f"{every}{plain(result.group_by_time)} ({plain(result.time_zone or 'UTC')})"


def _group(group: AggregateGroup) -> str:
    name = "(none)" if group.key is None else datum(field_text(group.key))
    count = "" if group.records is None else f" {number(group.records)}"
    figure = f" = {number(group.value)}" if group.has_value else ""
    return f"{name}{count}{figure}"


# errors


def error_text(view: ErrorView) -> str:
    """Return what went wrong in a line, then the calls that would do."""
    error = view.error
    message = " ".join(error.message.split())
    said = visible(message, lines=False) if error.has_example else plain(message)
    lines = [f"{plain(error.code)}: {said}"]
    if error.details:
        details = (f"{plain(name)}: {word(text)}" for name, text in error.details.items())
        lines.append(" · ".join(details))
    lines += unavailable_lines(error.unavailable)
    lines += ["  " + call for call in call_lines(view.calls)]
    if error.request_id:
        lines.append(f"request {word(error.request_id)}")
    return "\n".join(lines)
