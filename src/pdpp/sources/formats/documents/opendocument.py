"""OpenDocument: the text of what LibreOffice and others write, which are zips of XML.

Words and marks are mixed in its paragraphs, so the text is read mark by mark. Nothing is resolved:
an entity that the document declares stays as it is written.
"""

import re
import zipfile
from collections.abc import Iterator
from datetime import datetime
from html import unescape
from io import BytesIO

from pdpp.model.errors import DamagedFile
from pdpp.sources.formats.documents.text import LONGEST_TEXT, NotReadable, PagedText
from pdpp.sources.formats.documents.zipped_part import zipped_part
from pdpp.sources.reading.times import local_text
from pdpp.sources.reading.tree import DAMAGE

# Each part is taken once and whole: a mark that never ends must not be tried in every length.
_PIECE = re.compile(r"<(/?)([\w:.-]++)((?:[^<>/]|/(?!>))*+)(/?)>|([^<]++)|<[^<>]*+>")
# A row of spaces is tried from its beginning alone, or many of them would be tried from each.
_AROUND_TAB = re.compile(r"(?<! ) ++(?=\t)|(?<=\t) ++")
_NAME = re.compile(r"""\btable:name=["']([^"']*)["']""")
_LEFT_OUT = frozenset(
    {"text:tracked-changes", "text:note-citation", "text:page-number", "dc:creator", "dc:date"}
)
"""What was deleted, numbers of notes and pages, and who made a comment and when."""
_BESIDE = frozenset({"text:note", "office:annotation", "presentation:notes"})
"""Notes and comments: they would stand in the middle of a sentence, and come below it."""
_REPEATED = re.compile(r"""\btable:number-(?:columns|rows)-repeated=["'](\d{1,7})["']""")
_CELLS = frozenset({"table:table-cell", "table:covered-table-cell"})
_WIDEST_GAP = 50
"""Cells without a value that are shown as such, one beside the other."""
_LINES = frozenset({"text:p", "text:h", "text:line-break", "table:table-row"})
_PAGES = {"odt": "text:soft-page-break", "ods": "table:table", "odp": "draw:page"}
"""The mark at which a page begins, by the kind of document."""
_BETWEEN = {"text:tab": "\t", "text:s": " "}
_PROPERTIES = {
    "title": re.compile(r"<dc:title>([^<]*)</dc:title>"),
    "author": re.compile(r"<(?:meta:initial-creator|dc:creator)>([^<]*)</"),
    "created": re.compile(r"<meta:creation-date>([^<]*)</"),
    "modified": re.compile(r"<dc:date>([^<]*)</"),
}


def read_opendocument(content: bytes, kind: str) -> PagedText:
    """Return the text of a document of a kind and what it says of itself."""
    document = PagedText()
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            if b"encryption-data" in zipped_part(archive, "META-INF/manifest.xml"):
                raise NotReadable("a document with a password")
            body = zipped_part(archive, "content.xml").decode("utf-8", "replace")
            told = zipped_part(archive, "meta.xml").decode("utf-8", "replace")
    except (DamagedFile, RuntimeError, ValueError, *DAMAGE) as problem:
        raise NotReadable("a document that is damaged") from problem
    inside = body.partition("<office:body")[2]
    if not inside.rpartition("</office:body>")[1]:
        raise NotReadable("a document that is damaged")
    document.take(_pages(document, f"<office:body{inside}", kind))
    _keep_properties(document, told)
    return document


def _pages(document: PagedText, body: str, kind: str) -> Iterator[str]:
    """Yield the pages of a text, the sheets of a table with their names, or the slides."""
    page: list[str] = []
    notes: list[str] = []
    left_out = aside = ""
    begun: dict[str, tuple[int, int]] = {}
    length, cells = 0, kind == "ods"
    for piece in _PIECE.finditer(body):
        closing, name, attributes, empty, words = piece.groups()
        if left_out:
            left_out = "" if closing and name == left_out else left_out
        elif words is not None:
            (notes if aside else page).append(unescape(words.replace("\n", " ")))
            length += len(words)
        elif name in _LEFT_OUT and not closing and not empty:
            left_out = name
        elif aside:
            notes.append(_between(name or "", bool(closing or empty), cells=False))
            aside = "" if closing and name == aside else aside
        elif name in _BESIDE and not closing and not empty:
            aside = name
        elif name == _PAGES[kind] and not closing:
            if "".join(page).strip():
                yield _tidy([*page, "\n", *notes])
            called = _NAME.search(attributes) if cells else None
            begun = {}
            page, notes = [unescape(called[1]), "\n"] if called else [], []
        elif name is not None:
            if cells and "-repeated" in attributes and (many := _REPEATED.search(attributes)):
                begun[name] = (len(page), int(many[1]))
            ends = bool(closing or empty)
            if name in _CELLS and ends and page[-1] == "\n":
                page.pop()  # Cells of one row stand in one line.
            page.append(_between(name, ends, cells=cells))
            if ends and name in begun:
                again = _again(name, page, *begun.pop(name))
                page.append(again)
                length += len(again)
        if length > LONGEST_TEXT:
            document.is_cut = True
            break
    yield _tidy([*page, "\n", *notes])


def _again(name: str, page: list[str], start: int, times: int) -> str:
    """Return what a sheet shows again: equal cells beside each other and equal rows stand once."""
    if name not in _CELLS and name != "table:table-row":
        return ""
    text = "".join(page[start:])
    most = LONGEST_TEXT // max(1, len(text))
    if not text.strip():
        most = _WIDEST_GAP if name in _CELLS else 0
    return text * min(times - 1, most)


def _between(name: str, ends: bool, *, cells: bool) -> str:
    """Return what stands in a text for a mark: cells of a sheet are one line with tabs between."""
    if name in _BETWEEN:
        return _BETWEEN[name]
    if name in _CELLS and ends:
        return "\t"
    in_cell = cells and name != "table:table-row"
    return "\n" if name in _LINES and ends and not in_cell else " " if name in _LINES else ""


def _tidy(page: list[str]) -> str:
    lines = (_AROUND_TAB.sub("", line).rstrip() for line in "".join(page).split("\n"))
    return "\n".join(re.sub(r" {2,}", " ", line.strip(" ")) for line in lines if line)


def _keep_properties(document: PagedText, told: str) -> None:
    found = {
        name: unescape(match[1]).strip()
        for name, pattern in _PROPERTIES.items()
        if (match := pattern.search(told))
    }
    document.title, document.author = found.get("title", ""), found.get("author", "")
    document.created = _moment(found.get("created", ""))
    document.modified = _moment(found.get("modified", ""))


def _moment(text: str) -> str | None:
    """Return a time such as ``2026-01-31T08:00:00.123456789``, mostly without a zone."""
    try:
        return local_text(datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", text)), None)[0]
    except ValueError:
        return None
