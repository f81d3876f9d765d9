"""Values: the fields of a record as a person reads them."""

from collections.abc import Mapping
from typing import Any

from pdpp.client.client import Client
from pdpp.client.result import Record
from pdpp.evidence.amount import counted
from pdpp.evidence.binary import Binary, describe
from pdpp.evidence.budget import cut
from pdpp.evidence.fence import quote
from pdpp.evidence.presentation import present
from pdpp.evidence.text import field_text
from pdpp.mcp.reading.field_facts import NO_FACTS, FieldFacts, facts_of
from pdpp.model.declaration import Kind
from pdpp.model.errors import PdppError

BRIEF_CHARS = 160


def facts_in(client: Client, stream: str, connection_id: str | None) -> FieldFacts:
    """Return what the declaration says about a stream's fields, and guess nothing else."""
    facts = NO_FACTS
    for full in (False, True):  # A compact schema of another server may be without roles.
        try:
            schema = client.schema(stream, connection_id=connection_id, full=full)
        except PdppError:
            return facts
        facts = next((facts_of(row.flags) for row in schema.streams), facts)
        if facts.roles:
            break
    return facts


def title_of(record: Record, facts: FieldFacts) -> str:
    """Return a record's title by its declared role, else where and when it is from."""
    return present(
        record.data,
        facts.roles,
        label=record.display_name,
        stream=record.stream,
        emitted_at=record.emitted_at or "",
    ).title


def binary_words(binary: Binary) -> str:
    """Return the facts about content that is not shown."""
    size = "unknown size" if binary.size_bytes is None else counted(binary.size_bytes, "byte")
    return f"[{binary.media_type}, {size}]"


def brief(value: Any, kind: Kind | None, most: int = BRIEF_CHARS) -> str:
    """Return a value on one line; of a long one the beginning, and how long it is."""
    binary = describe(value, kind)
    if binary is not None:
        return binary_words(binary)
    text = field_text(value)
    served, was_cut = cut(text, most)
    text_shown = quote(served) if isinstance(value, str) else served
    return f'{text_shown[:-1]}…" ({len(text):,} chars)' if was_cut and text_shown else text_shown


def fields_of(record: Record, facts: FieldFacts) -> Mapping[str, str]:
    """Return every field of a record on one line each."""
    return {name: brief(value, facts.kinds.get(name)) for name, value in record.data.items()}
