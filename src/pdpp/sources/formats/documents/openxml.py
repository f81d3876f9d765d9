"""Office: the text of Word, Excel and PowerPoint files, which are zips of XML."""

import re
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO

from pdpp.model.errors import DamagedFile
from pdpp.sources.formats.documents.text import LONGEST_TEXT, NotReadable, PagedText
from pdpp.sources.reading.times import moment_text
from pdpp.sources.reading.tree import DAMAGE
from pdpp.sources.reading.xmlstream import XmlElement, xml_elements

_LARGEST_PART = 256 << 20
_MOST_STRINGS = 200_000
_NUMBER = re.compile(r"(\d+)\.xml\Z")


def read_openxml(content: bytes, kind: str) -> PagedText:
    """Return the text of a document of a kind and what it says of itself."""
    document = PagedText()
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            package = _Package(archive)
            document.take(_READERS[kind](package))
            _keep_properties(document, package)
    except (DamagedFile, RuntimeError, ValueError, *DAMAGE) as problem:
        raise NotReadable("a document that is damaged") from problem
    return document


class _Package:
    """The parts of a document."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self.names = set(archive.namelist())

    def elements(self, name: str, *wanted: str) -> Iterator[XmlElement]:
        """Yield elements of a part; one that is absent has none."""
        if name not in self.names:
            return
        if self._archive.getinfo(name).file_size > _LARGEST_PART:
            raise DamagedFile("a part of it is too large")
        with self._archive.open(name) as stream:
            for element in xml_elements(stream, *wanted):  # type: ignore[arg-type]
                if isinstance(element, XmlElement):
                    yield element

    def numbered(self, prefix: str) -> list[str]:
        """Return the parts of a folder in the order of their numbers."""
        fitting = [
            (int(match[1]), name)
            for name in self.names
            if name.startswith(prefix) and (match := _NUMBER.search(name[len(prefix) :]))
        ]
        return [name for _, name in sorted(fitting)]


def _word(package: _Package) -> Iterator[str]:
    """Yield the pages of a text as they were last laid out; notes at the foot come last."""
    if "word/document.xml" not in package.names:
        raise DamagedFile("it has no text")
    page: list[str] = []
    length = 0
    for paragraph in package.elements("word/document.xml", "p"):
        for number, piece in enumerate(_paragraph(paragraph).split("\f")):
            if number:
                yield "".join(page)
                page = []
            page.append(piece)
            length += len(piece)
        page.append("\n")
        if length > LONGEST_TEXT:
            break
    notes = [_paragraph(note) for note in package.elements("word/footnotes.xml", "p")]
    yield "".join(page) + "\n".join(note for note in notes if note.strip())


def _paragraph(paragraph: XmlElement) -> str:
    pieces: list[str] = []
    for element in paragraph.walk():
        if element.name == "t":
            pieces.append(element.text)
        elif element.name == "tab":
            pieces.append("\t")
        elif element.name == "lastRenderedPageBreak":
            pieces.append("\f")
        elif element.name in ("br", "cr") and element.attributes.get("w:type") != "page":
            pieces.append("\n")
    return "".join(pieces)


def _slides(package: _Package) -> Iterator[str]:
    """Yield the words of each slide."""
    for name in package.numbered("ppt/slides/slide"):
        yield "\n".join(_paragraph(paragraph) for paragraph in package.elements(name, "p"))


def _sheets(package: _Package) -> Iterator[str]:
    """Yield each sheet with its name, a line for each row and a tab between cells."""
    strings: list[str] = []
    for shared in package.elements("xl/sharedStrings.xml", "si"):
        strings.append(_paragraph(shared))
        if len(strings) >= _MOST_STRINGS:
            break
    titles = [
        sheet.attributes.get("name", "") for sheet in package.elements("xl/workbook.xml", "sheet")
    ]
    for number, name in enumerate(package.numbered("xl/worksheets/sheet")):
        lines = [titles[number] if number < len(titles) else ""]
        length = 0
        for row in package.elements(name, "row"):
            line = "\t".join(_cell(cell, strings) for cell in row.each("c")).rstrip()
            lines.append(line)
            length += len(line)
            if length > LONGEST_TEXT:
                break
        yield "\n".join(line for line in lines if line)


def _cell(cell: XmlElement, strings: list[str]) -> str:
    kind, value = cell.attributes.get("t"), cell.text_at("v")
    if kind == "inlineStr":
        inline = cell.at("is")
        return _paragraph(inline) if inline is not None else ""
    if kind == "s":
        with suppress(ValueError, IndexError):
            return strings[int(value)]
        return ""
    return {"1": "TRUE", "0": "FALSE"}.get(value, value) if kind == "b" else value


_READERS = {"docx": _word, "pptx": _slides, "xlsx": _sheets}


def _keep_properties(document: PagedText, package: _Package) -> None:
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
