"""Safari's own list of bookmarks, with its reading list: a property list of folders."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from pdpp.model.errors import DamagedFile
from pdpp.sources.formats.browser_history.bookmarks import bookmark_item
from pdpp.sources.item import Finding, Unknown
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.propertylist import property_list
from pdpp.sources.reading.structure import candidates
from pdpp.sources.reading.times import epoch_text
from pdpp.sources.reading.tree import FileEntry, Tree

_LARGEST = 64 << 20
_DEEPEST = 100
_TYPE = "WebBookmarkType"
_FOLDER = "WebBookmarkTypeList"
_PAGE = "WebBookmarkTypeLeaf"
_SHORTCUT = "WebBookmarkTypeProxy"
"""An entry that opens a part of Safari, such as the history."""
_NAMES = {
    "BookmarksBar": "Favorites",
    "BookmarksMenu": "Bookmarks Menu",
    "com.apple.ReadingList": "Reading List",
}
"""What Safari calls its own folders where it exports them as a page."""


def safari_bookmarks_of(tree: Tree) -> list[FileEntry]:
    """Return the property lists that are Safari's bookmarks."""
    lists = candidates(tree, "Bookmarks*.plist")
    return [e for e in lists if e.suffix == ".plist" and _root(e).get(_TYPE) == _FOLDER]


def read_safari_bookmarks(entry: FileEntry) -> Iterator[Finding]:
    """Yield the bookmarks of a property list, folder by folder."""
    root = _root(entry)
    if not root:
        raise DamagedFile("it is not a whole list of bookmarks")
    yield from _folder(root, "", entry, 0)


def _root(entry: FileEntry) -> Mapping[str, Any]:
    with entry.open() as stream:
        return property_list(stream.read(_LARGEST))


def _folder(
    folder: Mapping[str, Any], path: str, entry: FileEntry, depth: int
) -> Iterator[Finding]:
    children = folder.get("Children")
    for number, child in enumerate(children if isinstance(children, list) else (), 1):
        where = f"{entry.name} {path} {number}"[:200]
        kind = child.get(_TYPE) if isinstance(child, dict) else None
        if kind == _FOLDER and depth < _DEEPEST:
            title = str(child.get("Title") or "")
            inner = "/".join(filter(None, (path, title if depth else _NAMES.get(title, title))))
            yield from _folder(child, inner, entry, depth + 1)
        elif kind == _PAGE:
            yield from account(_bookmark(child, path, where), where, "bookmark")
        elif kind != _SHORTCUT:
            yield Unknown("a bookmark of a shape that is not known", where)


def _bookmark(child: Mapping[str, Any], folder: str, where: str) -> Iterator[Finding]:
    title = child.get("URIDictionary", {}).get("title")
    reading = child.get("ReadingList") or {}
    added = reading.get("DateAdded")
    yield bookmark_item(
        "Safari",
        child.get("URLString"),
        title,
        folder,
        epoch_text(added.replace(tzinfo=UTC).timestamp()) if isinstance(added, datetime) else None,
        where,
        note=str(reading.get("PreviewText") or ""),
    )
