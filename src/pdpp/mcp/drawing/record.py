"""Presentation: a record's fields as a model may see them, and a record as a document."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pdpp.evidence.binary import Binary, describe
from pdpp.evidence.budget import cut
from pdpp.evidence.handle import blob_uri
from pdpp.evidence.presentation import Presentation, present
from pdpp.evidence.text import field_text
from pdpp.mcp.drawing.escaping import escaped
from pdpp.mcp.drawing.label import label_of
from pdpp.mcp.drawing.view import (
    FieldView,
    NextCall,
    RecordSource,
    RecordView,
    RelatedView,
    Truncation,
)
from pdpp.mcp.reading.field_facts import NO_FACTS, FieldFacts
from pdpp.mcp.reading.record_answer import ServerRecord
from pdpp.model.vocabulary import Kind

DOCUMENT_CHARS = 20_000
ASIDE_CHARS = 1_000
MOST_NAME_CHARS = 3_000
_MOST_RELATED = 100


class RecordBudget(NamedTuple):
    """How much of a record may be shown: characters a field, fields, and related records."""

    chars: int = 1_000
    fields: int = 300
    related_fields: int = 300
    related: int = 100


def source_of(record: ServerRecord) -> RecordSource:
    """Return where a record comes from."""
    return RecordSource(
        record.connection_id,
        label_of(record.connector_key),
        label_of(record.display_name),
        record.stream,
        record.id,
    )


def read_call(id: str, field: str, offset: int) -> NextCall:
    """Return the call that reads a field from an offset on."""
    arguments = {"id": id, "field_path": field, "offset_chars": offset}
    return NextCall("read on", "read_record_field", arguments)


def binary_call(id: str, field: str, binary: Binary) -> NextCall:
    """Return the call that tells more about binary content."""
    if binary.blob_id is not None:
        return NextCall("about it", "fetch", {"id": blob_uri(binary.blob_id)})
    return NextCall("about it", "read_record_field", {"id": id, "field_path": field})


def show(id: str, name: str, value: object, kind: Kind | None, most: int) -> FieldView:
    """Return a field as it is shown in at most so many characters."""
    binary = describe(value, kind)
    if binary is not None:
        return FieldView(None, binary=binary, read=binary_call(id, name, binary))
    text = field_text(value)
    if len(text) <= most:
        return FieldView(value)
    served, _ = cut(text, most)
    return FieldView(served, Truncation(len(text), len(served), read_call(id, name, len(served))))


def names_within(names: Sequence[str], most: int = MOST_NAME_CHARS) -> list[str]:
    """Return the first of some names, as many as have room."""
    kept: list[str] = []
    for name in names:
        most -= len(name) + 4
        if most < 0:
            break
        kept.append(name)
    return kept


def record_view(record: ServerRecord, facts: FieldFacts, budget: RecordBudget) -> RecordView:
    """Return a record of a page with no more of it than there is room for."""
    id = record.handle.id
    names = list(record.data)
    left_out = names[budget.fields :]
    omitted = names_within(left_out)
    return RecordView(
        id=id,
        source=source_of(record),
        title=presentation_of(record, facts).title if record.data else None,
        envelope=record.envelope,
        fields={
            name: show(id, name, record.data[name], facts.kinds.get(name), budget.chars)
            for name in names[: budget.fields]
        },
        omitted=omitted,
        unnamed=len(left_out) - len(omitted),
        related=_related(id, record, budget),
        deleted=record.deleted,
        deleted_at=record.deleted_at,
    )


def _related(id: str, record: ServerRecord, budget: RecordBudget) -> dict[str, RelatedView]:
    own = RecordBudget(budget.chars, budget.related_fields, 0, 0)
    views: dict[str, RelatedView] = {}
    for name, related in record.related.items():
        total = len(related.records)
        left_out = max(0, total - budget.related)
        more = _more_related(id, name, total) if related.has_more or left_out else None
        views[name] = RelatedView(
            [record_view(one, NO_FACTS, own) for one in related.records[: budget.related]],
            related.has_more,
            left_out,
            more,
        )
    return views


def _more_related(id: str, name: str, count: int) -> NextCall:
    """Return the call that expands one record alone, further than it was."""
    limit = {name: min(_MOST_RELATED, max(10, count * 4))}
    return NextCall("more", "fetch", {"id": id, "expand": [name], "expand_limit": limit})


def presentation_of(record: ServerRecord, facts: FieldFacts) -> Presentation:
    """Return how a record is presented by declared roles, its title else by where it is from."""
    label = (
        label_of(record.display_name)
        or label_of(record.connector_key)
        or record.connection_id
        or "record"
    )
    presentation = present(
        record.data,
        facts.roles,
        label=label,
        stream=record.stream,
        emitted_at=record.emitted_at or "",
    )
    if not presentation.title.startswith(f"{label} / "):
        return presentation
    return presentation._replace(title=presentation.title.removesuffix(" /"))


class DocumentText(NamedTuple):
    """A record as one text: the fields beside the body, then the body as far as it fits."""

    text: str
    fields: Mapping[str, FieldView]
    omitted: Sequence[str]

    @property
    def cuts(self) -> dict[str, Truncation]:
        """Return the fields shown in part."""
        return {name: field.cut for name, field in self.fields.items() if field.cut is not None}

    @property
    def binaries(self) -> dict[str, FieldView]:
        """Return the fields whose content is not shown."""
        return {name: field for name, field in self.fields.items() if field.binary is not None}


def document_text(
    id: str, data: Mapping[str, object], facts: FieldFacts, room: RecordBudget
) -> DocumentText:
    """Return the text of a record in at most so many characters; the body comes last."""
    body = next(
        (name for name, role in facts.roles.items() if role == "body" and data.get(name)), None
    )
    names = [name for name in data if name != body and data[name] is not None]
    left = room.chars if body is None else room.chars // 2
    views: dict[str, FieldView] = {}
    lines: list[str] = []
    for name in names[: room.fields]:
        field = show(id, name, data[name], facts.kinds.get(name), min(ASIDE_CHARS, room.chars))
        line = _line(name, field)
        left -= len(line) + 1
        if left < 0 and views:
            break
        views[name] = field
        lines.append(line)
    omitted = names[len(views) :]
    text = "\n".join(lines)
    if body is None:
        return DocumentText(text, views, omitted)
    most = max(0, room.chars - len(text) - 2)
    field = views[body] = show(id, body, data[body], facts.kinds.get(body), most)
    passage = field_text(field.value) if field.binary is None else _line(body, field)
    return DocumentText(f"{text}\n\n{passage}" if text else passage, views, omitted)


def _line(name: str, field: FieldView) -> str:
    """Return a field on one line: with a break in it, it could pass for fields beside it."""
    if field.binary is not None:
        return f"{name}: [{field.binary.media_type}, {field.binary.size_bytes} bytes, not shown]"
    text = field_text(field.value)
    return f"{name}: {text if len(text.splitlines()) <= 1 else escaped(text)}"
