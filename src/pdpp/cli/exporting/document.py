"""Documents: one whole record as a file, for a program or for a person."""

import hashlib
from pathlib import Path

from pdpp.cli.reading.value import facts_in, title_of
from pdpp.client import request
from pdpp.client.client import Client
from pdpp.client.envelope import record_of
from pdpp.client.result import Record
from pdpp.evidence.handle import Handle
from pdpp.mcp.drawing.record import RecordBudget, document_text
from pdpp.private import write_file

_WRITTEN = (".md", ".txt")
_EVERYTHING = RecordBudget(chars=1 << 40, fields=1 << 20)


def write_document(client: Client, handle: Handle, path: Path) -> tuple[str, int]:
    """Write a record whole or not at all: as text where the name says so, else as JSON.

    Returns the checksum and the size of the file.
    """
    answer = client.ask(request.record(handle, {}))
    record = answer.parsed(record_of)
    text = answer.text.rstrip() + b"\n"
    if path.suffix.lower() in _WRITTEN:
        text = _words(client, record).encode("utf-8", "surrogatepass")
    write_file(path, text)
    return hashlib.sha256(text).hexdigest(), len(text)


def _words(client: Client, record: Record) -> str:
    """Return a record for a person: its title, where it is from, its fields, and its body last."""
    facts = facts_in(client, record.stream, record.connection_id)
    title = title_of(record, facts)
    parts = (record.connector_key, record.display_name, record.stream, record.id)
    source = " · ".join(part for part in parts if part is not None)
    text = document_text(record.id, record.data, facts, _EVERYTHING).text
    return f"{title}\n{source}\n\n{text}\n"
