"""Uploads: files that a program put beside the messages of an export. Slack writes only links."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pdpp.sources.item import Attachment, Item
from pdpp.sources.keys import RecordKey, safe_key
from pdpp.sources.reading.tree import FileEntry, Tree

FOLDER = "__uploads"
_UPLOADED = re.compile(rf"(?:.*/)?(?:{FOLDER}/(F[A-Z0-9]+)/[^/]+|attachments/(F[A-Z0-9]+)-[^/]+)\Z")
"""Where programs put a file: into a folder called as its id, or beside the days of a room."""

Uploads = Mapping[str, FileEntry]


def uploads_of(tree: Tree) -> Uploads:
    """Return the files of an export by the ids that messages name them by."""
    found = ((_UPLOADED.match(entry.name), entry) for entry in tree.entries)
    return {match[1] or match[2]: entry for match, entry in found if match}


def file_items(
    uploads: Uploads, message: RecordKey, files: Sequence[Mapping[str, Any]], sent: str
) -> Iterator[Item]:
    """Yield the files of a message that are in the export."""
    for file in files:
        entry = uploads.get(str(file.get("id")))
        if entry is not None:
            key = safe_key(message, str(file["id"]))
            told = file.get("mimetype")
            media_type = told if isinstance(told, str) and "/" in told else entry.media_type
            data = {
                "id": key,
                "message_id": message,
                "name": str(file.get("name") or file.get("title") or entry.base),
                "media_type": media_type,
                "sent_at": sent,
            }
            yield Item("files", key, data, (Attachment("file", entry.open_exact, media_type),))
