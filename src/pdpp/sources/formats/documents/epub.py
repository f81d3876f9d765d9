"""Books as EPUB: zips of web pages, with a list that says in which order they are read."""

import zipfile
from collections.abc import Iterator
from io import BytesIO
from posixpath import dirname, join, normpath
from urllib.parse import unquote

from pdpp.model.errors import DamagedFile
from pdpp.sources.formats.documents.text import LONGEST_TEXT, NotReadable, PagedText
from pdpp.sources.formats.documents.zipped_part import zipped_part
from pdpp.sources.reading.html import html_text
from pdpp.sources.reading.times import moment_text
from pdpp.sources.reading.tree import DAMAGE
from pdpp.sources.reading.xmlstream import XmlElement, xml_elements, xml_encoding

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_MOST_CHAPTERS = 5_000
_MOST_BYTES = 128 << 20
"""Of all chapters together: pages without words would otherwise be unpacked without end."""


def read_epub(content: bytes) -> PagedText:
    """Return the text of a book, a page for each chapter, and what it says of itself."""
    book = PagedText()
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            place = _package_place(archive)
            package = list(_elements(archive, place))
            chapters = [normpath(join(dirname(place), name)) for name in _reading_order(package)]
            if set(chapters) & _encrypted(archive):
                raise NotReadable("a book with copy protection")
            book.take(_pages(archive, chapters))
    except (DamagedFile, RuntimeError, ValueError, LookupError, *DAMAGE) as problem:
        raise NotReadable("a document that is damaged") from problem
    metadata = next((found for found in package if found.name == "metadata"), None)
    if metadata is not None:
        book.title = metadata.text_at("title")
        book.author = ", ".join(author.text.strip() for author in metadata.each("creator"))
        book.created = moment_text(metadata.text_at("date"))
    return book


def _elements(archive: zipfile.ZipFile, name: str) -> Iterator[XmlElement]:
    for element in xml_elements(BytesIO(zipped_part(archive, name))):
        if not isinstance(element, XmlElement):
            raise DamagedFile("its list of chapters is too large")
        yield element


def _package_place(archive: zipfile.ZipFile) -> str:
    """Return where the list of the book is; some books leave out what tells it."""
    listed = _elements(archive, _CONTAINER) if _CONTAINER in archive.NameToInfo else ()
    for inner in (inner for element in listed for inner in element.walk()):
        if inner.name == "rootfile":
            return inner.attributes["full-path"]
    lists = [name for name in archive.namelist() if name.endswith(".opf")]
    return lists[0]


def _reading_order(package: list[XmlElement]) -> list[str]:
    """Return the names of the chapters in the order in which they are read."""
    names = {
        item.attributes.get("id", ""): unquote(item.attributes.get("href", ""))
        for part in package
        if part.name == "manifest"
        for item in part.each("item")
    }
    spine = [item for part in package if part.name == "spine" for item in part.each("itemref")]
    order = [names.get(item.attributes.get("idref", ""), "") for item in spine]
    return list(dict.fromkeys(filter(None, order)))[:_MOST_CHAPTERS]


def _encrypted(archive: zipfile.ZipFile) -> set[str]:
    """Return the names of what only a reader with the key can open; often it is fonts alone."""
    if _ENCRYPTION not in archive.NameToInfo:
        return set()
    return {
        unquote(inner.attributes.get("URI", ""))
        for element in _elements(archive, _ENCRYPTION)
        for inner in element.walk()
        if inner.name == "CipherReference"
    }


def _pages(archive: zipfile.ZipFile, chapters: list[str]) -> Iterator[str | None]:
    length, left = 0, _MOST_BYTES
    for name in chapters:
        if name not in archive.NameToInfo:
            yield None
            continue
        left -= archive.getinfo(name).file_size
        if left < 0:
            raise NotReadable("a book that unpacks to far more than books hold")
        page = zipped_part(archive, name)
        text = html_text(page.decode(xml_encoding(page[:200]), "replace"))
        yield text
        length += len(text)
        if length > LONGEST_TEXT:
            yield ""  # One more, so that the end is told as missing.
            return
