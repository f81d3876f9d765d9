"""The wide: 200 streams on 40 connections."""

from pathlib import Path
from typing import Any

from tests.mcp.post import declaration
from tests.serving import plant, planted_store, put

from pdpp.store.port import Store


def wide_store(folder: Path) -> Store:
    """Return a store of 200 streams: 40 connections of five streams each."""
    store: Store | None = None
    for number in range(40):
        key = f"kind{number:02}"
        streams = [_stream(f"stream_{number:02}_{letter}") for letter in "abcde"]
        source = declaration(key, *streams)
        connections = {f"cin_{number:02}": f"Account number {number}"}
        if store is None:
            store = planted_store(folder, source, connections)
        else:
            plant(store, source, connections)
    assert store is not None
    put(store, "cin_07", "stream_07_c", {"id": "one", "name": "A needle"})
    return store


def _stream(name: str) -> dict[str, Any]:
    fields = {"id": {"type": "string"}, "name": {"type": "string"}}
    return {
        "name": name,
        "semantics": "append_only",
        "schema": {"type": "object", "properties": fields},
        "primary_key": ["id"],
        "query": {"search": {"lexical_fields": ["name"]}},
    }
