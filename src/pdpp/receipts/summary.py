"""Summaries: what was read, in the words its owner would use."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from pdpp.evidence.amount import counted, size_in_words
from pdpp.evidence.fence import visible
from pdpp.store.receipts import ReadTotal

OWNER = "You"

VERBS: Mapping[str, str] = MappingProxyType(
    {
        "getSchema": "looked at what there is",
        "listStreams": "looked at what there is",
        "getStream": "looked at what there is",
        "listRecords": "listed records",
        "getRecord": "read a record",
        "readFieldWindow": "read in a field",
        "aggregate": "counted",
        "search": "searched",
        "searchHybrid": "searched",
        "searchSemantic": "searched",
        "readBlob": "read a file",
        "headBlob": "looked at a file",
        "listJobs": "looked at jobs",
        "getJob": "looked at a job",
        "previewMerge": "looked at what a merge would do",
        "previewRemoval": "looked at what a removal would take",
    }
)
"""What each operation is, as a person would say it."""


class Summary(NamedTuple):
    """What one client read; no client is the owner."""

    client_id: str | None
    last_at: int
    lines: tuple[str, ...]


def summaries(totals: Iterable[ReadTotal], names: Mapping[str, str]) -> tuple[Summary, ...]:
    """Return what each client read, the owner last; ``names`` are those of connections."""
    by_client: dict[str | None, list[ReadTotal]] = {}
    for total in totals:
        by_client.setdefault(total.client_id, []).append(total)
    return tuple(
        Summary(
            client_id,
            max(total.last_at for total in own),
            tuple(sentence(total, names) for total in own),
        )
        for client_id, own in sorted(by_client.items(), key=lambda item: item[0] is None)
    )


def asked_about(fields: tuple[str, ...]) -> str:
    """Return which fields a question used, shown or not; nothing where it used none."""
    return f"asked about {visible(', '.join(fields), lines=False)}" if fields else ""


def sentence(total: ReadTotal, names: Mapping[str, str]) -> str:
    """Return one total in words, such as: 41 records, 12,300 characters from Work mail."""
    name = names.get(total.connection_id, total.connection_id)
    return f"{amount(total.records, total.characters, total.bytes)} from {name}"


def amount(records: int, characters: int, size_bytes: int) -> str:
    """Return how much was read, naming only what there was."""
    parts = [
        words
        for number, words in (
            (records, counted(records, "record")),
            (characters, counted(characters, "character")),
            (size_bytes, f"{size_in_words(size_bytes)} of files"),
        )
        if number
    ]
    return ", ".join(parts) or "nothing"
