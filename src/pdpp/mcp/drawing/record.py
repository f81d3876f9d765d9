"""Presentation: a record's fields as a model may see them, and a record as a document."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pdpp.evidence.binary import Binary, describe
from pdpp.evidence.budget import cut
from pdpp.evidence.handle import Handle, blob_uri
from pdpp.evidence.presentation import Presentation, present
from pdpp.evidence.text import field_text
from pdpp.mcp.drawing.escaping import escaped
from pdpp.mcp.drawing.label import label_of, text_of
from pdpp.mcp.drawing.view import FieldView, NextCall, RecordSource, RecordView, Truncation
from pdpp.mcp.reading.field_facts import NO_FACTS, FieldFacts
from pdpp.model.vocabulary import Kind

DOCUMENT_CHARS = 20_000
ASIDE_CHARS = 1_000
MOST_NAME_CHARS = 2_000
_MOST_RELATED = 100
_ENVELOPE = (
    "object",
    "stream",
    "connection_id",
    "connector_key",
    "display_name",
    "emitted_at",
    "version",
    "deleted",
    "deleted_at",
)


class RecordBudget(NamedTuple):
    """How much of a record may be shown: characters a field, fields, and related records."""

    chars: int = 1_000
    fields: int = 300
    related_fields: int = 300
    related: int = 100


def source_of(envelope: Mapping[str, Any], stream: str, record_id: str) -> RecordSource:
    """Return where a record comes from, by its envelope."""
    return RecordSource(
        text_of(envelope.get("connection_id")),
        label_of(envelope.get("connector_key")),
        label_of(envelope.get("display_name")),
        text_of(envelope.get("stream")) or stream,
        record_id,
    )


def handle_of(source: RecordSource) -> str:
    """Return the id that names a record; self-contained where its connection is known."""
    return Handle(source.connection_id, source.stream, source.record_id).id


def read_call(id: str, field: str, offset: int) -> NextCall:
    """Return the call that reads a field from an offset on."""
    arguments = {"id": id, "field_path": field, "offset_chars": offset}
    return NextCall("read on", "read_record_field", arguments)


def binary_call(id: str, field: str, binary: Binary) -> NextCall:
    """Return the call that tells more about binary content."""
    if binary.blob_id is not None:
        return NextCall("about it", "fetch", {"id": blob_uri(binary.blob_id)})
    return NextCall("about it", "read_record_field", {"id": id, "field_path": field})


def show(id: str, name: str, value: Any, kind: Kind | None, most: int) -> FieldView:
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


def record_view(
    envelope: Mapping[str, Any], stream: str, facts: FieldFacts, room: RecordBudget
) -> RecordView:
    """Return a record of a page with no more of it than there is room for."""
    record_id = str(envelope.get("id", envelope.get("record_id", "")))
    source = source_of(envelope, stream, record_id)
    id = handle_of(source)
    data = envelope.get("data")
    fields = data if isinstance(data, Mapping) else {}
    names = list(fields)
    left_out = names[room.fields :]
    omitted = names_within(left_out)
    return RecordView(
        id=id,
        source=source,
        title=presentation_of(envelope, source, facts).title if fields else None,
        envelope={"id": record_id, **{k: envelope[k] for k in _ENVELOPE if k in envelope}},
        fields={
            name: show(id, name, fields[name], facts.kinds.get(name), room.chars)
            for name in names[: room.fields]
        },
        omitted=omitted,
        unnamed=len(left_out) - len(omitted),
        expanded=_expanded(id, envelope, room),
        deleted_at=str(envelope.get("deleted_at")) if envelope.get("deleted") else None,
    )


def _expanded(id: str, envelope: Mapping[str, Any], room: RecordBudget) -> dict[str, Any]:
    related = envelope.get("expanded")
    if not isinstance(related, Mapping):
        return {}
    found: dict[str, Any] = {}
    own = RecordBudget(room.chars, room.related_fields, 0, 0)
    for name, value in related.items():
        several = isinstance(value, Mapping) and isinstance(value.get("data"), list)
        items: Sequence[Any] = value["data"] if several else [value]
        records = [item for item in items if isinstance(item, Mapping)]
        found[name] = {
            "records": [record_view(item, name, NO_FACTS, own) for item in records[: room.related]],
            "has_more": bool(value.get("has_more")) if several else False,
            "left_out": max(0, len(records) - room.related),
        }
        if found[name]["has_more"] or found[name]["left_out"]:
            found[name]["more"] = _more_related(id, name, len(records))
    return found


def _more_related(id: str, name: str, shown: int) -> NextCall:
    """Return the call that expands one record alone, further than it was."""
    limit = {name: min(_MOST_RELATED, max(10, shown * 4))}
    return NextCall("more", "fetch", {"id": id, "expand": [name], "expand_limit": limit})


def presentation_of(
    envelope: Mapping[str, Any], source: RecordSource, facts: FieldFacts
) -> Presentation:
    """Return a record's card by declared roles, its title else by where and when it is from."""
    label = source.display_name or source.connector_key or source.connection_id or "record"
    data = envelope.get("data")
    card = present(
        data if isinstance(data, Mapping) else {},
        facts.roles,
        label=label,
        stream=source.stream,
        emitted_at=str(envelope.get("emitted_at", "")),
    )
    if not card.title.startswith(f"{label} / "):
        return card
    return card._replace(title=card.title.removesuffix(" /"))


class DocumentText(NamedTuple):
    """A record as one text: the fields beside the body, then the body as far as it fits."""

    text: str
    shown: Mapping[str, FieldView]
    omitted: Sequence[str]

    @property
    def cuts(self) -> dict[str, Truncation]:
        """Return the fields shown in part."""
        return {name: field.cut for name, field in self.shown.items() if field.cut is not None}

    @property
    def binaries(self) -> dict[str, FieldView]:
        """Return the fields whose content is not shown."""
        return {name: field for name, field in self.shown.items() if field.binary is not None}


def document_text(
    id: str, data: Mapping[str, Any], facts: FieldFacts, room: RecordBudget
) -> DocumentText:
    """Return the text of a record in at most so many characters; the body comes last."""
    body = next(
        (name for name, role in facts.roles.items() if role == "body" and data.get(name)), None
    )
    told = [name for name in data if name != body and data[name] is not None]
    left = room.chars if body is None else room.chars // 2
    shown: dict[str, FieldView] = {}
    lines: list[str] = []
    for name in told[: room.fields]:
        field = show(id, name, data[name], facts.kinds.get(name), min(ASIDE_CHARS, room.chars))
        line = _line(name, field)
        left -= len(line) + 1
        if left < 0 and shown:
            break
        shown[name] = field
        lines.append(line)
    omitted = told[len(shown) :]
    text = "\n".join(lines)
    if body is None:
        return DocumentText(text, shown, omitted)
    most = max(0, room.chars - len(text) - 2)
    field = shown[body] = show(id, body, data[body], facts.kinds.get(body), most)
    passage = field_text(field.value) if field.binary is None else _line(body, field)
    return DocumentText(f"{text}\n\n{passage}" if text else passage, shown, omitted)


def _line(name: str, shown: FieldView) -> str:
    """Return a field on one line: with a break in it, it could pass for fields beside it."""
    if shown.binary is not None:
        return f"{name}: [{shown.binary.media_type}, {shown.binary.size_bytes} bytes, not shown]"
    text = field_text(shown.value)
    return f"{name}: {text if len(text.splitlines()) <= 1 else escaped(text)}"
