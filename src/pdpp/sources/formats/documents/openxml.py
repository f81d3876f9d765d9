"""Office: the text of Word, Excel and PowerPoint files, and what was noted beside it."""

import zipfile
from collections.abc import Iterator
from io import BytesIO

from pdpp.model.errors import DamagedFile
from pdpp.sources.formats.documents.openpackage import OpenPackage, paragraph_text
from pdpp.sources.formats.documents.text import LONGEST_TEXT, NotReadable, PagedText
from pdpp.sources.formats.documents.workbook import workbook_pages
from pdpp.sources.reading.times import moment_text
from pdpp.sources.reading.tree import DAMAGE
from pdpp.sources.reading.xmlstream import XmlElement

COMPOUND = b"\xd0\xcf\x11\xe0"
"""What a document with a password begins with, and one of the older kind."""
_NOTES = ("footnotes", "endnotes")
_EDGES = ("header", "footer")


def read_openxml(content: bytes, kind: str) -> PagedText:
    """Return the text of a document of a kind and what it says of itself."""
    document = PagedText()
    if content.startswith(COMPOUND):
        raise NotReadable("a document with a password, or of the older kind")
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            package = OpenPackage(archive)
            document.take(_READERS[kind[:-1]](package))
            _keep_properties(document, package)
            document.lost_parts = package.lost
            document.is_cut |= package.is_cut
    except (DamagedFile, RuntimeError, ValueError, *DAMAGE) as problem:
        raise NotReadable("a document that is damaged") from problem
    return document


def _word(package: OpenPackage) -> Iterator[str]:
    """Yield the pages of a text as they were last laid out; what stands beside it comes last."""
    main = package.main("word/document.xml")
    if main not in package:
        raise DamagedFile("it has no text")
    page: list[str] = []
    length = 0
    for words in package.words(main):
        for number, piece in enumerate(words.split("\f")):
            if number:
                yield "".join(page)
                page = []
            page.append(piece)
            length += len(piece)
        if length > LONGEST_TEXT:
            package.is_cut = True
            break
    yield "\n".join(["".join(page), *_beside(package, main)])


def _beside(package: OpenPackage, main: str) -> Iterator[str]:
    """Yield notes, comments, and what stands above and below each page, once."""
    for kind in _NOTES:
        for name in package.related(main, kind) or [f"word/{kind}.xml"]:
            yield from package.lines(name)
    for name in package.related(main, "comments") or ["word/comments.xml"]:
        for comment in package.elements(name, "comment"):
            yield _comment(comment)
    edges = (line for name in package.related(main, *_EDGES) for line in package.lines(name))
    yield from dict.fromkeys(line for line in edges if any(map(str.isalpha, line)))


def _comment(comment: XmlElement) -> str:
    """Return what somebody remarked, behind the name; some kinds tell only a number for it."""
    paragraphs = (element for element in comment.walk() if element.name == "p")
    words = "\n".join(filter(None, map(paragraph_text, paragraphs))) or comment.text_at("text")
    author = comment.attributes.get("w:author", "")
    return f"{author}: {words}" if author and words else words


def _slides(package: OpenPackage) -> Iterator[str]:
    """Yield the words of each slide, of its drawings, its notes and its comments."""
    talk = package.main("ppt/presentation.xml")
    listed = [name for _, name in package.listed(talk, "sldId")]
    for name in listed or package.numbered("ppt/slides/slide"):
        lines = package.lines(name)
        for drawing in package.related(name, "diagramData", "chart"):
            lines += package.lines(drawing)
        for notes in package.related(name, "notesSlide"):
            lines += [line for shape in package.elements(notes, "sp") for line in _noted(shape)]
        for comments in package.related(name, "comments"):
            lines += filter(None, map(_comment, package.elements(comments, "cm")))
        yield "\n".join(lines)


def _noted(shape: XmlElement) -> Iterator[str]:
    """Yield the words of a shape that holds notes; others hold the slide and its number."""
    places = [element for element in shape.walk() if element.name == "ph"]
    if any(place.attributes.get("type") == "body" for place in places):
        paragraphs = (element for element in shape.walk() if element.name == "p")
        yield from filter(str.strip, map(paragraph_text, paragraphs))


_READERS = {"doc": _word, "ppt": _slides, "xls": workbook_pages}
"""By the kind without its last letter, which tells whether there are macros."""


def _keep_properties(document: PagedText, package: OpenPackage) -> None:
    for element in package.elements("docProps/core.xml"):
        text = element.text.strip()
        if element.name == "title":
            document.title = text
        elif element.name == "creator":
            document.author = text
        elif element.name == "created":
            document.created = moment_text(text)
        elif element.name == "modified":
            document.modified = moment_text(text)
