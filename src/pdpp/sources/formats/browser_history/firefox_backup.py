"""Backups of Firefox: bookmarks as one JSON document, which is a folder with others inside."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pdpp.model.errors import DamagedFile
from pdpp.sources.formats.browser_history.bookmarks import bookmark_item
from pdpp.sources.item import Finding, Skipped, Unknown
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.jsontext import NotJson, read_json
from pdpp.sources.reading.mozlz4 import is_packed, unpacked
from pdpp.sources.reading.structure import candidates
from pdpp.sources.reading.times import epoch_text
from pdpp.sources.reading.tree import FileEntry, Tree

PACKED = ".jsonlz4"
_LARGEST = 256 << 20
_DEEPEST = 100
_CONTAINER = "text/x-moz-place-container"
_PLACE = "text/x-moz-place"
_SEPARATOR = "text/x-moz-place-separator"
_DESCRIPTION = "bookmarkProperties/description"
_TAGS = "tagsFolder"


def backups_of(tree: Tree) -> list[FileEntry]:
    """Return the documents of bookmarks that Firefox saved."""
    documents = candidates(tree, "bookmarks*.json", "Bookmarks*.json")
    return [entry for entry in documents if _CONTAINER.encode() in entry.head(4_096)]


def packed_backups(tree: Tree, newer: Iterable[str]) -> list[FileEntry]:
    """Return the backups that Firefox made by itself, the newest of each folder.

    It makes one on each of some days. Where files that are ``newer`` lie in the same profile, all
    are how the bookmarks were earlier.
    """
    known = {_folder_of(name) for name in newer}
    newest: dict[str, FileEntry] = {}
    packed = (entry for entry in candidates(tree, f"bookmarks*{PACKED}") if entry.suffix == PACKED)
    for entry in sorted(packed, key=lambda entry: entry.base):
        newest[_folder_of(entry.name)] = entry
    return [
        entry
        for folder, entry in newest.items()
        if folder not in known and _folder_of(folder) not in known and _is_backup(entry)
    ]


def _folder_of(name: str) -> str:
    return name.rpartition("/")[0]


def _is_backup(entry: FileEntry) -> bool:
    """Tell whether a packed file holds bookmarks, or cannot be read; others hold open pages."""
    try:
        return is_packed(entry) and _CONTAINER.encode() in unpacked(entry).head(4_096)
    except DamagedFile:
        return True


def read_backup(entry: FileEntry) -> Iterator[Finding]:
    """Yield the bookmarks of a document, folder by folder."""
    plain = unpacked(entry) if entry.suffix == PACKED else entry
    with plain.open() as stream:
        content = stream.read(_LARGEST)
    try:
        root = read_json(content)
    except NotJson:
        raise DamagedFile("it is not a whole list of bookmarks") from None
    yield from _folder(root, entry, 0)


def _folder(folder: Mapping[str, Any], entry: FileEntry, depth: int) -> Iterator[Finding]:
    children = folder.get("children")
    # The database knows a bookmark by the folder right around it, and so it must be here.
    title = str(folder.get("title") or "")
    for child in children if isinstance(children, list) else ():
        kind = child.get("type") if isinstance(child, dict) else None
        where = f"{entry.name} {child.get('guid') or child.get('id')}"[:200] if kind else entry.name
        if kind == _CONTAINER and depth < _DEEPEST:
            if child.get("root") == _TAGS:
                yield Skipped("a list of tags, which their bookmarks have too", where)
            else:
                yield from _folder(child, entry, depth + 1)
        elif kind == _PLACE:
            yield from account(_bookmark(child, title, where), where, "bookmark")
        elif kind != _SEPARATOR:
            yield Unknown("a bookmark of a shape that is not known", where)


def _bookmark(child: Mapping[str, Any], folder: str, where: str) -> Iterator[Finding]:
    added = child.get("dateAdded")
    notes = [note for note in child.get("annos") or () if note.get("name") == _DESCRIPTION]
    yield bookmark_item(
        "Firefox",
        child.get("uri"),
        child.get("title"),
        folder,
        epoch_text(added / 1e6) if isinstance(added, int) else None,
        where,
        tags=", ".join(filter(None, map(str.strip, str(child.get("tags") or "").split(",")))),
        note="\n".join(str(note.get("value") or "") for note in notes),
    )
