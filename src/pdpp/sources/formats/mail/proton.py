"""Proton Mail: the labels of a message, which stand in a file beside it."""

from typing import Any

import orjson

from pdpp.sources.reading.tree import FileEntry, Tree

_LARGEST = 8 << 20
_SYSTEM = {"0": "Inbox", "3": "Trash", "4": "Spam", "6": "Archive", "7": "Sent"} | {
    "8": "Drafts",
    "10": "Starred",
}
_EVERY_MESSAGE = frozenset({"5", "15"})
"""The labels that all messages have."""


class ProtonLabels:
    """Reads the labels of the messages of one tree."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._names: dict[str, dict[str, str]] = {}

    def of(self, message: FileEntry) -> list[str] | None:
        """Return the labels of a message; None where no file beside it is of Proton."""
        entry = self._tree.get(f"{message.name.removesuffix('.eml')}.metadata.json")
        payload = _payload(entry)
        if not isinstance(payload, dict):
            return None
        ids = payload.get("LabelIDs")
        names = self._names_in(message.name.rpartition("/")[0])
        wanted = [label for label in ids if label not in _EVERY_MESSAGE] if ids else []
        return [names[label] for label in wanted if label in names]

    def _names_in(self, folder: str) -> dict[str, str]:
        if folder not in self._names:
            payload = _payload(self._tree.get(f"{folder}/labels.json".lstrip("/")))
            labels = payload if isinstance(payload, list) else []
            self._names[folder] = _SYSTEM | {
                label["ID"]: label.get("Path") or label["Name"]
                for label in labels
                if isinstance(label, dict) and {"ID", "Name"} <= label.keys()
            }
        return self._names[folder]


def _payload(entry: FileEntry | None) -> Any:
    if entry is None:
        return None
    try:
        document = orjson.loads(entry.head(_LARGEST))
    except orjson.JSONDecodeError:
        return None
    return document.get("Payload") if isinstance(document, dict) else None
