"""Bookmarks: Chrome's document, Firefox's table, and the page that every browser exports."""

import re
from collections.abc import Iterator, Mapping
from html import unescape
from typing import Any
from urllib.parse import urlsplit

from pdpp.model.errors import DamagedFile
from pdpp.sources.item import Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import digest_key
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.jsontext import NotJson, read_json
from pdpp.sources.reading.shapes import odd, odd_members
from pdpp.sources.reading.sqlitefile import SqliteCopy
from pdpp.sources.reading.textfile import text_lines
from pdpp.sources.reading.times import epoch_text
from pdpp.sources.reading.tree import FileEntry

_SINCE_1601 = 11_644_473_600
_LARGEST = 64 << 20
_PAGE_HEAD = b"<!DOCTYPE NETSCAPE-Bookmark-file-1>"
_ANCHOR = re.compile(r"<A\s([^>]*)>(.*?)</A>", re.IGNORECASE)
_FOLDER = re.compile(r"<H3[^>]*>(.*?)</H3>", re.IGNORECASE)
_NOTE = re.compile(r"<DD>([^<]*)", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""([A-Z_]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)
_DEEPEST = 100
_BOOKMARK = 1
_NO_FOLDERS = frozenset({"sync_transaction_version"})
_TAGS = "tags________"
_MILLISECONDS = 10**14
"""Firefox counts microseconds, on phones milliseconds, which stay below this for long."""
NOT_A_PAGE = "a bookmark that is no page"


def firefox_moment(count: Any) -> int:
    """Return a time of Firefox in microseconds."""
    return int(count) * (1 if count > _MILLISECONDS else 1000)


def is_chrome_bookmarks(entry: FileEntry) -> bool:
    """Tell whether a file is Chrome's own list of bookmarks."""
    if entry.suffix or not entry.base.startswith("Bookmarks"):
        return False
    head = entry.head()
    return b'"roots"' in head and b'"bookmark_bar"' in head


def is_bookmark_page(entry: FileEntry) -> bool:
    """Tell whether a page holds bookmarks."""
    return entry.suffix in (".html", ".htm") and entry.head(200).lstrip(
        b"\xef\xbb\xbf \r\n"
    ).upper().startswith(_PAGE_HEAD.upper())


def bookmark_item(
    browser: str,
    url: object,
    title: object,
    folder: str,
    added: str | None,
    where: str,
    **more: str,
) -> Finding:
    """Return a bookmark as a record, known by its folder and its address."""
    if not isinstance(url, str) or not url:
        return Unknown("a bookmark without an address", where)
    if url.startswith(("place:", "javascript:")):
        return Skipped(NOT_A_PAGE, where)
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        host = ""
    key = digest_key("bookmark", folder, url)
    data = {
        "id": key,
        "title": str(title or "").strip() or url[:200],
        "link": url,
        "site": host.removeprefix("www.") or None,
        "folder": folder or None,
        "browser": browser,
        "added_at": added,
        **more,
    }
    return Item("bookmarks", key, present(data, ""))


def read_chrome_bookmarks(entry: FileEntry) -> Iterator[Finding]:
    """Yield the bookmarks of Chrome's document, folder by folder."""
    with entry.open() as stream:
        content = stream.read(_LARGEST)
    try:
        roots = read_json(content)["roots"]
    except (NotJson, LookupError, TypeError):
        raise DamagedFile("it is not a list of bookmarks") from None
    for name, root in roots.items():
        if isinstance(root, dict):
            yield from _chrome_folder(root, "", entry, 0)
        elif name not in _NO_FOLDERS:
            yield from odd(root, f"{entry.name} {name}"[:120], dict)


def _chrome_folder(
    value: Mapping[str, object], above: str, entry: FileEntry, depth: int
) -> Iterator[Finding]:
    folder = "/".join(filter(None, (above, str(value.get("name") or ""))))
    children = value.get("children")
    yield from odd_members(value, entry.name, children=list)
    for child in children if isinstance(children, list) else ():
        if not isinstance(child, dict) or depth > _DEEPEST:
            yield Unknown("a bookmark of a shape that is not known", entry.name)
        elif child.get("type") == "folder":
            yield from _chrome_folder(child, folder, entry, depth + 1)
        else:
            where = f"{entry.name} {str(child.get('guid'))[:40]}"
            yield from account(_chrome_mark(child, folder, where), where, "bookmark")


def _chrome_mark(child: Mapping[str, Any], folder: str, where: str) -> Iterator[Finding]:
    added = child.get("date_added")
    moment = epoch_text(int(added) / 1e6 - _SINCE_1601) if added else None
    yield bookmark_item("Chrome", child.get("url"), child.get("name"), folder, moment, where)


def read_firefox_bookmarks(database: SqliteCopy, entry: FileEntry) -> Iterator[Finding]:
    """Yield the bookmarks of Firefox's table.

    A tag is a folder there, which holds each bookmark of it once more.
    """
    names = "SELECT id, title FROM moz_bookmarks WHERE fk IS NULL"
    folders = {row["id"]: str(row["title"] or "") for row in database.rows(names)}
    tag_folders, tags = _tags(database)
    rows = database.rows(
        "SELECT b.id, b.title, b.parent, b.dateAdded AS added, p.url, p.title AS page"
        " FROM moz_bookmarks AS b LEFT JOIN moz_places AS p ON p.id = b.fk WHERE b.type = ?"
        " ORDER BY b.id",
        _BOOKMARK,
    )
    for row in rows:
        where = f"{entry.name} bookmark {row['id']}"
        if row["parent"] in tag_folders:
            finding: Finding = Skipped("a tag, which its bookmark has", where)
        else:
            count = row["added"]
            added = epoch_text(firefox_moment(count) / 1e6) if isinstance(count, int) else None
            folder, title = folders.get(row["parent"], ""), row["title"] or row["page"]
            words = ", ".join(tags.get(row["url"], ()))
            finding = bookmark_item("Firefox", row["url"], title, folder, added, where, tags=words)
        yield from account([finding], where, "bookmark")


def _tags(database: SqliteCopy) -> tuple[set[int], dict[str, list[str]]]:
    """Return the folders that are tags, and the tags of each address.

    All of them lie in one folder, whose name never changes; on phones in tables of their own.
    """
    folders: set[int] = set()
    tags: dict[str, list[str]] = {}
    if "guid" in database.columns["moz_bookmarks"]:
        inside = (
            "SELECT t.id, t.title, p.url FROM moz_bookmarks AS r JOIN moz_bookmarks AS t"
            " ON t.parent = r.id LEFT JOIN moz_bookmarks AS b ON b.parent = t.id"
            " LEFT JOIN moz_places AS p ON p.id = b.fk WHERE r.guid = ? ORDER BY t.id"
        )
        for row in database.rows(inside, _TAGS):
            folders.add(row["id"])
            if row["title"]:
                tags.setdefault(row["url"], []).append(row["title"])
    if {"moz_tags", "moz_tags_relation"} <= database.columns.keys():
        tagged = (
            "SELECT t.tag, p.url FROM moz_tags AS t JOIN moz_tags_relation AS r ON r.tag_id = t.id"
            " JOIN moz_places AS p ON p.id = r.place_id ORDER BY t.id"
        )
        for row in database.rows(tagged):
            tags.setdefault(row["url"], []).append(row["tag"])
    return folders, tags


def read_page(entry: FileEntry) -> Iterator[Finding]:
    """Yield the bookmarks of a page; lines are enough, as every browser writes them."""
    folders: list[str] = []
    lists, begun, noting = 0, False, False
    waiting: tuple[Finding, str] | None = None
    """The latest bookmark: what is noted on it stands in the lines below."""
    for line in text_lines(entry, "utf-8"):
        lower = line.text.lower()
        marks = _ANCHOR.findall(line.text)
        if waiting is not None and (marks or "<dt>" in lower or "</dl>" in lower):
            yield from _accounted(*waiting)
            waiting = None
        if match := _FOLDER.search(line.text):
            folders = [*folders[:_DEEPEST], unescape(match[1])]
        for attributes, title in marks:
            if waiting is not None:
                yield from _accounted(*waiting)
            where = f"{entry.name} line {line.number}"
            waiting = _page_mark(attributes, title, folders, where), where
        note = _NOTE.search(line.text)
        noting = note is not None or (noting and "<" not in line.text)
        if waiting is not None and noting:
            _add_note(waiting[0], note[1] if note else line.text)
        lists += lower.count("<dl>") - lower.count("</dl>")
        begun = begun or "<dl>" in lower
        if "</dl>" in lower:
            folders = folders[:-1]
    if waiting is not None:
        yield from _accounted(*waiting)
    if lists or not begun:
        yield Skipped("the page ends in the middle", entry.name, cut=True)


def _accounted(bookmark: Finding, where: str) -> Iterator[Finding]:
    return account([bookmark], where, "bookmark")


def _page_mark(attributes: str, title: str, folders: list[str], where: str) -> Finding:
    given = {
        name.upper(): unescape(double or single or bare)
        for name, double, single, bare in _ATTRIBUTE.findall(attributes)
    }
    added, folder = epoch_text(given.get("ADD_DATE")), "/".join(folders)
    tags = ", ".join(filter(None, (tag.strip() for tag in given.get("TAGS", "").split(","))))
    return bookmark_item(
        "page", given.get("HREF"), unescape(title), folder, added, where, tags=tags
    )


def _add_note(bookmark: Finding, text: str) -> None:
    """Add a line to what is noted on a bookmark."""
    if isinstance(bookmark, Item) and text.strip():
        lines = [bookmark.data.get("note"), unescape(text.strip())]
        bookmark.data["note"] = "\n".join(filter(None, lines))
