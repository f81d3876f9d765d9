"""Ingests numbered batches into a store and tells each; made to be killed.

Every batch adds records, edits some of the batch before and deletes some of the one before that.
"""

from itertools import count
from pathlib import Path
from typing import Any

import orjson
from tests.engine import open_store
from tests.faults.killing import Tell

from pdpp.model import instant
from pdpp.store.intake import IngestResultJson, write_lines
from pdpp.store.port import Store

SIZE = 24
EDITED = range(6)
DELETED = range(SIZE - 6, SIZE)
CONNECTION, STREAM = "work", "messages"


def key_of(batch: int, number: int) -> str:
    """Return the key of a record."""
    return f"b{batch:04d}-{number:02d}"


def _data(batch: int, number: int, word: str) -> dict[str, Any]:
    return {
        "id": key_of(batch, number),
        "subject": f"{word}{batch}x{number}",
        "body": "common words " * 20,
        "size": batch,
        "sent_at": "2026-03-01T00:00:00Z",
    }


def lines_of(batch: int) -> list[dict[str, Any]]:
    """Return the lines of a batch."""
    lines = [{"key": key_of(batch, i), "data": _data(batch, i, "first")} for i in range(SIZE)]
    if batch >= 1:
        lines += [
            {"key": key_of(batch - 1, i), "data": _data(batch - 1, i, "second")} for i in EDITED
        ]
    if batch >= 2:
        lines += [{"key": key_of(batch - 2, i), "op": "delete"} for i in DELETED]
    return lines


def apply(records: dict[str, Any], batch: int) -> None:
    """Bring a plain dictionary to what a store is after a batch."""
    for line in lines_of(batch):
        if line.get("op") == "delete":
            records.pop(line["key"], None)
        else:
            records[line["key"]] = line["data"]


def ingest(store: Store, batch: int) -> IngestResultJson:
    """Write one batch and return the answer."""
    feed = store.catalogue().feeds[(CONNECTION, STREAM)]
    encoded = [orjson.dumps(line) for line in lines_of(batch)]
    return write_lines(store, feed, encoded, now=instant.now(), line_bytes=1 << 20)


def ingest_on(tell: Tell, folder: Path, first: int) -> None:
    """Write batch after batch and tell the number of each."""
    store = open_store(folder)
    for batch in count(first):
        ingest(store, batch)
        tell(batch)
