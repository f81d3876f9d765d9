"""The export of Notion: a zip of zips with a page in each file, and tables as CSV.

The 32 letters at the end of a name are the id of the page; titles are cut there. The folder of a
page's children has the same name as its file, since the end of 2025 without the id.
"""

import csv
import io
import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from types import MappingProxyType

from pdpp.evidence.amount import counted
from pdpp.sources.formats.notion.page import NotionPage, html_page, markdown_page
from pdpp.sources.item import Attachment, Finding, Item, Skipped, Unknown, present
from pdpp.sources.keys import RecordKey, digest_key, safe_key
from pdpp.sources.reading.guard import account
from pdpp.sources.reading.times import local_text, zone_named
from pdpp.sources.reading.tree import FileEntry, Tree
from pdpp.sources.source import Confidence, ExportPart, OwnerChoices, Recognition, Source

_NAMED = re.compile(
    r"(?P<title>.*?)[ _](?P<id>[0-9a-f]{32})(?P<all>_all)?\.(?P<kind>md|html|csv)\Z", re.DOTALL
)
_STEP = re.compile(r"(.*?)[ _]([0-9a-f]{32})\Z", re.DOTALL)
_ARCHIVES = re.compile(r"\A(?:[^/]*\.zip/)+")
_LARGEST = 16 << 20
_MOST_FILES = 500
_MOST_ROWS = 20_000
_TAGS = ("tags", "tag", "labels")
_PAGES = MappingProxyType({".html": html_page, ".md": markdown_page})


class Notion(Source):
    """The zip that Notion mails, as Markdown with CSV or as HTML."""

    connector_key = "notion"
    label = "Notion export"
    settings = MappingProxyType(
        {"time_zone": "Zone of the times in properties, such as Europe/Lisbon."}
    )
    passed_over = MappingProxyType({"index.html": "a list of the pages"})

    def recognise(self, tree: Tree, choices: OwnerChoices) -> Recognition | None:
        """Look for names with the ids that only this export writes."""
        pages = [entry for entry in tree.entries if _NAMED.match(entry.base)]
        if not pages:
            return None
        zone_named(choices.given.get("time_zone"))
        top = sorted(pages, key=lambda entry: (entry.name.count("/"), entry.name))[0]
        kinds = sorted({entry.suffix.removeprefix(".") for entry in pages})
        return Recognition(
            Confidence.CERTAIN,
            f"{counted(len(pages), 'page or table', 'pages and tables')} ({', '.join(kinds)})",
            account="Notion",
            identity=digest_key(_id(top) or ""),
            owner_known=False,
            records=len(pages),
            detail={"time_zone": choices.given.get("time_zone")},
        )

    def parts(self, tree: Tree, recognition: Recognition) -> Iterable[ExportPart]:
        """Return one part for each page and table."""
        export = _NotionExport(tree, recognition.detail["time_zone"])
        for entry in tree.entries:
            match = _NAMED.match(entry.base)
            if match is not None:
                reader = _read_table if match["kind"] == "csv" else _read_page
                yield ExportPart(entry, partial(reader, export, entry))

    def sent(self, tree: Tree, recognition: Recognition) -> Iterable[str]:
        """Return the files that a page shows."""
        export = _NotionExport(tree, recognition.detail["time_zone"])
        for entry in tree.entries:
            files = (export.file(entry, link) for link in _links(entry))
            yield from (file.name for file in files if file is not None)

    def at_top(self, tree: Tree) -> set[str]:
        """Return the folders that are called as pages, and the files that pages show."""
        return super().at_top(tree) | set(_owned_at_top(tree))


def _owned_at_top(tree: Tree) -> Iterator[str]:
    """Yield the folders of the pages at the top of a tree, and the files there that they show."""
    pages = [
        (e, match) for e in tree.entries if (match := _NAMED.match(e.name)) and "/" not in e.name
    ]
    for entry, match in pages:
        yield from (match["title"], f"{match['title']} {match['id']}")
        files = (tree.beside(entry, link) for link in _links(entry))
        yield from (file.name for file in files if file is not None)


def _links(entry: FileEntry) -> Sequence[str]:
    """Return what a page links to; nothing if a file is no page."""
    match = _NAMED.match(entry.base)
    if match is None or match["kind"] == "csv" or (content := _content(entry)) is None:
        return ()
    return _PAGES[entry.suffix](content, match["title"]).links[:_MOST_FILES]


def _id(entry: FileEntry) -> str | None:
    match = _NAMED.match(entry.base)
    return match["id"] if match is not None else None


def _inside(name: str) -> str:
    """Return the name of a file in the archive that it came in: large exports come in parts."""
    return _ARCHIVES.sub("", name)


class _NotionExport:
    """The files of an export, found as pages name them."""

    def __init__(self, tree: Tree, zone: str | None) -> None:
        self.tree = tree
        self.zone = zone_named(zone)
        self.whole_tables = {
            match["id"]
            for entry in tree.entries
            if (match := _NAMED.match(entry.base)) and match["all"]
        }
        self._tables = {
            match["id"]
            for entry in tree.entries
            if (match := _NAMED.match(entry.base)) and match["kind"] == "csv"
        }
        self._by_place = {_inside(entry.name): entry for entry in tree.entries}
        self._page_of_folder = {
            place.removesuffix(entry.base) + match["title"]: (match["title"], match["id"])
            for place, entry in self._by_place.items()
            if (match := _NAMED.match(entry.base))
        }

    def file(self, page: FileEntry, link: str) -> FileEntry | None:
        """Return a file that a page shows; it may have come in another part of the export."""
        beside = posixpath.join(posixpath.dirname(_inside(page.name)), link)
        return self.tree.beside(page, link) or self._by_place.get(posixpath.normpath(beside))

    def is_row(self, entry: FileEntry) -> bool:
        """Tell whether a page lies in a table: of its rows alone Notion writes properties."""
        return self.parent(entry)[0] in self._tables

    def parent(self, entry: FileEntry) -> tuple[str | None, str]:
        """Return the id of what a page lies in, and the titles on the way down to it."""
        steps = _inside(entry.name).split("/")[:-1]
        folders = ("/".join(steps[:length]) for length in range(1, len(steps) + 1))
        above = [page for folder in folders if (page := self._page(folder)) is not None]
        above = [(title, page) for title, page in above if page != _id(entry)]
        return (above[-1][1] if above else None), " / ".join(title for title, _ in above)

    def _page(self, folder: str) -> tuple[str, str] | None:
        """Return the title and the id of the page whose children a folder holds."""
        match = _STEP.match(folder.rpartition("/")[2])
        return (match[1], match[2]) if match else self._page_of_folder.get(folder)


def _read_page(export: _NotionExport, entry: FileEntry) -> Iterator[Finding]:
    content = _content(entry)
    if content is None:
        yield Skipped("a page too large", entry.name)
        return
    match = _NAMED.match(entry.base)
    name = match["title"] if match else entry.base
    page = _PAGES[entry.suffix](content, name)
    yield from account(_page(export, entry, page), entry.name, "page")


def _content(entry: FileEntry) -> str | None:
    with entry.open() as stream:
        content = stream.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        return None
    return content.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").replace("\r\n", "\n")


def _page(export: _NotionExport, entry: FileEntry, page: NotionPage) -> Iterator[Finding]:
    key = RecordKey(_id(entry) or "")
    parent, path = export.parent(entry)
    words = "" if export.is_row(entry) else page.lines
    created, updated = page.created, page.updated
    by_name = {name.lower(): value for name, value in page.properties.items()}
    told = next((by_name[name] for name in _TAGS if name in by_name), "")
    tags = [tag for part in told.split(",") if (tag := part.strip())]
    data: dict[str, object] = {
        "id": key,
        "title": page.title or "Untitled",
        "body": "\n\n".join(filter(None, [words, page.text])),
        "parent_id": RecordKey(parent) if parent else None,
        "path": path,
        "tags": tags or None,
        "tag_names": ", ".join(tags) or None,
        "properties": page.properties or None,
    }
    if created is not None:
        data["created_at"], data["floating"] = local_text(created, export.zone)
    if updated is not None:
        data["updated_at"], data["floating"] = local_text(updated, export.zone)
    yield Item("pages", key, present(data))
    for link in page.links[:_MOST_FILES]:
        file = export.file(entry, link)
        if file is not None and _NAMED.match(file.base) is None:
            yield _attachment(key, file)


def _attachment(page: RecordKey, file: FileEntry) -> Item:
    own = safe_key(page, digest_key(file.base)[:16])
    data = {"id": own, "page_id": page, "name": file.base, "media_type": file.media_type}
    return Item("attachments", own, data, (Attachment("file", file.open_exact, file.media_type),))


def _read_table(export: _NotionExport, entry: FileEntry) -> Iterator[Finding]:
    yield from account(_table(export, entry), entry.name, "table")


def _table(export: _NotionExport, entry: FileEntry) -> Iterator[Finding]:
    match = _NAMED.match(entry.base)
    if match is None or (match["id"] in export.whole_tables and not match["all"]):
        yield Skipped("a table whose rows stand in the file _all.csv too", entry.name)
        return
    content = _content(entry)
    if content is None:
        yield Skipped("a table too large", entry.name)
        return
    columns, lines, rows = _rows(content)
    if not columns:
        yield Unknown("a table without columns", entry.name)
        return
    key = RecordKey(match["id"])
    parent, _ = export.parent(entry)
    data = {
        "id": key,
        "title": match["title"] or "Untitled",
        "columns": columns,
        "rows": rows,
        "body": "\n".join(lines),
        "parent_id": RecordKey(parent) if parent else None,
    }
    yield Item("databases", key, present(data), (Attachment("file", entry.open_exact, "text/csv"),))
    if rows > _MOST_ROWS:
        yield Skipped("rows of a table that are in its file only", entry.name)


def _rows(content: str) -> tuple[list[str], list[str], int]:
    """Return the columns of a table, its first rows as lines, and how many rows it has."""
    try:
        columns, *rows = list(csv.reader(io.StringIO(content))) or [[]]
    except csv.Error:
        return [], [], 0
    rows = [row for row in rows if any(row)]
    lines = [
        "; ".join(f"{column}: {cell}" for column, cell in zip(columns, row, strict=False) if cell)
        for row in rows[:_MOST_ROWS]
    ]
    return columns, lines, len(rows)
