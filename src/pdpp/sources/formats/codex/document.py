"""Documents of Codex: a session of spring 2025 is one document, written anew at each message.

It is called by the day and the session: one that goes on after midnight is there twice, the first
time as it was until then.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from pdpp.model.errors import DamagedFile
from pdpp.sources.reading.jsonstream import JsonElement, entry_elements
from pdpp.sources.reading.structure import json_paths
from pdpp.sources.reading.tree import FileEntry, Tree

_PATHS = frozenset({"session.id", "session.timestamp", "items"})
_HEAD_BYTES = 4_096


def session_documents(tree: Tree) -> list[FileEntry]:
    """Return the documents that are a session each."""
    return [
        entry
        for entry in tree.entries
        if entry.suffix == ".json"
        and b'"session"' in entry.head(_HEAD_BYTES)
        and json_paths(entry, _PATHS) >= _PATHS
    ]


def session_of(entry: FileEntry) -> Mapping[str, Any]:
    """Return what a document says of its session; its time is that of the last message."""
    with suppress(DamagedFile):
        for element in entry_elements(entry, "session"):
            if isinstance(element, JsonElement) and isinstance(element.value, dict):
                return element.value
    return {}


def latest(documents: Iterable[FileEntry]) -> set[str]:
    """Return the names of the documents that hold each session as it was last."""
    last: dict[str, tuple[str, str]] = {}
    for entry in documents:
        session = session_of(entry)
        key, state = str(session.get("id")), (str(session.get("timestamp")), entry.name)
        last[key] = max(last.get(key, state), state)
    return {name for _, name in last.values()}
