"""Presentation: a record's fields as a model may see them, and a record as a document."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pdpp.evidence.binary import Binary, describe
from pdpp.evidence.budget import cut
from pdpp.evidence.card import make_card
from pdpp.evidence.handle import Handle, blob_uri
from pdpp.evidence.text import field_text
from pdpp.mcp.view import Cut, NextCall, RecordView, Shown, Source
from pdpp.model.declaration import Kind

DOCUMENT_CHARS = 20_000
ASIDE_CHARS = 1_000


@dataclass(frozen=True, slots=True)
class Facts:
    """What a stream's declaration says of its fields: their roles and kinds."""

    roles: Mapping[str, str]
    kinds: Mapping[str, Kind]


NO_FACTS = Facts({}, {})
_KINDS = {kind.value: kind for kind in Kind}


def facts_of(flags: Mapping[str, Any]) -> Facts:
    """Read roles and kinds from a compact schema's flags; what is not told is not guessed."""
    roles: dict[str, str] = {}
    kinds: dict[str, Kind] = {}
    for name, text in flags.items():
        for flag in str(text).split(","):
            key, _, value = flag.partition("=")
            if key == "role":
                roles[name] = value
            elif key == "t" and value in _KINDS:
                kinds[name] = _KINDS[value]
    return Facts(roles, kinds)


def text_of(value: Any) -> str | None:
    """Return a text, or nothing where the value is none."""
    return value if isinstance(value, str) and value else None


def source_of(envelope: Mapping[str, Any], stream: str, record_id: str) -> Source:
    """Return where a record comes from, by its envelope."""
    return Source(
        text_of(envelope.get("connection_id")),
        text_of(envelope.get("connector_key")),
        text_of(envelope.get("display_name")),
        text_of(envelope.get("stream")) or stream,
        record_id,
    )


def handle_of(source: Source) -> str:
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


def show(id: str, name: str, value: Any, kind: Kind | None, most: int) -> Shown:
    """Return a field as it is shown in at most so many characters."""
    binary = describe(value, kind)
    if binary is not None:
        return Shown(None, binary=binary, read=binary_call(id, name, binary))
    text = field_text(value)
    if len(text) <= most:
        return Shown(value)
    served, _ = cut(text, most)
    return Shown(served, Cut(len(text), len(served), read_call(id, name, len(served))))


def record_view(
    envelope: Mapping[str, Any], stream: str, facts: Facts, most: int, most_fields: int
) -> RecordView:
    """Return a record of a page with its fields cut to a length and a number."""
    record_id = str(envelope.get("id", envelope.get("record_id", "")))
    source = source_of(envelope, stream, record_id)
    id = handle_of(source)
    data = envelope.get("data")
    fields = data if isinstance(data, Mapping) else {}
    names = list(fields)
    return RecordView(
        id=id,
        source=source,
        title=title_of(envelope, source, facts) if fields else None,
        envelope={**envelope, "id": record_id},
        fields={
            name: show(id, name, fields[name], facts.kinds.get(name), most)
            for name in names[:most_fields]
        },
        omitted=names[most_fields:],
        expanded=_expanded(envelope, most, most_fields),
        deleted_at=str(envelope.get("deleted_at")) if envelope.get("deleted") else None,
    )


def _expanded(envelope: Mapping[str, Any], most: int, most_fields: int) -> dict[str, Any]:
    related = envelope.get("expanded")
    if not isinstance(related, Mapping):
        return {}
    found: dict[str, Any] = {}
    for name, value in related.items():
        several = isinstance(value, Mapping) and isinstance(value.get("data"), list)
        items: Sequence[Any] = value["data"] if several else [value] if value else []
        found[name] = {
            "records": [
                record_view(item, name, NO_FACTS, most, most_fields)
                for item in items
                if isinstance(item, Mapping)
            ],
            "has_more": bool(value.get("has_more")) if several else False,
        }
    return found


def title_of(envelope: Mapping[str, Any], source: Source, facts: Facts) -> str:
    """Return a record's title by its declared role, else by where and when it is from."""
    return make_card(
        envelope.get("data") or {},
        facts.roles,
        label=source.display_name or source.connector_key or source.connection_id or "record",
        stream=source.stream,
        emitted_at=str(envelope.get("emitted_at", "")),
    ).title


@dataclass(frozen=True, slots=True)
class DocumentText:
    """A record as one text: the fields beside the body, then the body as far as it fits."""

    text: str
    cuts: Mapping[str, Cut]
    binaries: Mapping[str, Shown]


def document_text(id: str, data: Mapping[str, Any], facts: Facts, most: int) -> DocumentText:
    """Return the text of a record in at most so many characters; the body comes last."""
    body = next(
        (name for name, role in facts.roles.items() if role == "body" and name in data), None
    )
    lines: list[str] = []
    cuts: dict[str, Cut] = {}
    binaries: dict[str, Shown] = {}
    for name in (name for name in data if name != body):
        shown = show(id, name, data[name], facts.kinds.get(name), min(ASIDE_CHARS, most))
        lines.append(_line(name, shown, cuts, binaries))
    text, aside_cut = cut("\n".join(line for line in lines if line), most)
    if aside_cut:
        text += "\n…"
    if body is None or data[body] is None:
        return DocumentText(text, cuts, binaries)
    shown = show(id, body, data[body], facts.kinds.get(body), max(0, most - len(text) - 2))
    if shown.binary is not None:
        line = _line(body, shown, cuts, binaries)
        return DocumentText(f"{text}\n{line}" if text else line, cuts, binaries)
    if shown.cut is not None:
        cuts[body] = shown.cut
    passage = field_text(shown.value)
    return DocumentText(f"{text}\n\n{passage}" if text else passage, cuts, binaries)


def _line(name: str, shown: Shown, cuts: dict[str, Cut], binaries: dict[str, Shown]) -> str:
    if shown.binary is not None:
        binaries[name] = shown
        return f"{name}: [{shown.binary.media_type}, {shown.binary.size_bytes} bytes, not shown]"
    if shown.value is None:
        return ""
    if shown.cut is not None:
        cuts[name] = shown.cut
    return f"{name}: {field_text(shown.value)}"
