"""Meta files: the pictures, films and recordings that an archive of Facebook or Instagram holds."""

import re
from collections.abc import Mapping
from typing import Any

from pdpp.sources.formats.meta_values import listed, mapped, mended, pieces_of
from pdpp.sources.item import Attachment, Finding, Item, Skipped, present
from pdpp.sources.keys import RecordKey, digest_key
from pdpp.sources.reading.finder import FileFinder

_FILE_NUMBER = re.compile(r"(?:\A|[/_])(\d{9,})\.\w+\Z")
_NOT_HERE = "a file that is not in the export"


def shown_in(value: Any) -> list[Mapping[str, Any]]:
    """Return the pictures and files that a post or a comment shows."""
    inner = [mapped(piece, "media") for piece in pieces_of(value) if "media" in piece]
    return inner + [file for file in listed(value, "media") if isinstance(file, dict)]


def number_in(address: str) -> str | None:
    """Return the number by which Meta knows a file, which stands at the end of its name.

    What stands before it, in the name and in the folders, differs from one archive to a later one.
    """
    match = _FILE_NUMBER.search(address)
    return match[1] if match else None


def caption_of(file: Mapping[str, Any]) -> str:
    """Return what stands below a picture."""
    return mended(file.get("description") or file.get("title"))


def attached(
    finder: FileFinder, address: Any, moment: str, where: str, *, caption: str = "", **owner: str
) -> Finding:
    """Return a file as a record of its own; ``owner`` names the message or the post it is of."""
    entry = finder.find(address)
    if entry is None:
        return Skipped(_NOT_HERE, where)
    number = number_in(str(address))
    # What belongs to nothing else and has no number is known by its address.
    known = (number,) if number else (*([] if owner else [str(address)]), entry.base)
    key: RecordKey = digest_key("file", *owner.values(), *known)
    data = {
        "id": key,
        **owner,
        "name": entry.base,
        "media_type": entry.media_type,
        "caption": caption or None,
        "created_at": moment,
    }
    files = (Attachment("file", entry.open_exact, entry.media_type),)
    return Item("media", key, present(data), files)
