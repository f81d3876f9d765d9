"""Backups of Firefox: bookmarks as one JSON document, which is a folder with others inside."""

from collections.abc import Iterator, Mapping
from typing import Any

from pdpp.model.errors import DamagedFile
from pdpp.sources.formats.browser_history.bookmarks import bookmark_item
from pdpp.sources.item import Finding, Skipped, Unknown
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.jsontext import NotJson, read_json
from pdpp.sources.reading.structure import candidates
from pdpp.sources.reading.times import epoch_text
from pdpp.sources.reading.tree import FileEntry, Tree

PACKED = ".jsonlz4"
HOW_TO_UNPACK = (
    "Firefox packs the backups that it makes by itself; in Firefox choose Bookmarks, Manage "
    "Bookmarks, Import and Backup, Backup, and import the .json file that it saves"
)
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


def packed_backup(tree: Tree) -> FileEntry | None:
    """Return a backup that cannot be read here, if a tree has one."""
    return next((entry for entry in tree.entries if entry.suffix == PACKED), None)


def read_backup(entry: FileEntry) -> Iterator[Finding]:
    """Yield the bookmarks of a document, folder by folder."""
    with entry.open() as stream:
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
