"""Office: the text of Word, Excel and PowerPoint files, which are zips of XML."""

import re
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from io import BytesIO

from pdpp.model.errors import DamagedFile
from pdpp.sources.formats.documents.text import LONGEST_TEXT, NotReadable, PagedText
from pdpp.sources.reading.times import moment_text
from pdpp.sources.reading.tree import DAMAGE
from pdpp.sources.reading.xmlstream import XmlElement, xml_elements

_LARGEST_PART = 256 << 20
_MOST_STRINGS = 200_000
_DAY_FORMATS = frozenset(map(str, (*range(14, 18), 22, *range(27, 32), 36, *range(50, 59))))
"""Formats that every sheet has and that show a day."""
_LITERAL = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.')
_DAY = re.compile(r"[yd]", re.IGNORECASE)
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

    def listed(self, name: str, element: str) -> list[tuple[str, str]]:
        """Return the titles and names of the parts that another part lists, in its order.

        It lists them by ids, which a part of its own translates; numbers in names are only the
        order in which parts were made.
        """
        folder, _, base = name.rpartition("/")
        targets = {
            relation.attributes.get("Id"): relation.attributes.get("Target", "")
            for relation in self.elements(f"{folder}/_rels/{base}.rels", "Relationship")
        }
        return [
            (listed.attributes.get("name", ""), self._absolute(folder, targets[own]))
            for listed in (self.elements(name, element) if targets else ())
            if (own := _relation(listed)) in targets
        ]

    def _absolute(self, folder: str, target: str) -> str:
        return target.lstrip("/") if target.startswith("/") else f"{folder}/{target}"

    def numbered(self, prefix: str) -> list[str]:
        """Return the parts of a folder in the order of their numbers."""
        fitting = [
            (int(match[1]), name)
            for name in self.names
            if name.startswith(prefix) and (match := _NUMBER.search(name[len(prefix) :]))
        ]
        return [name for _, name in sorted(fitting)]


def _relation(element: XmlElement) -> str | None:
    """Return the id of another part that an element names, whatever the prefix of its attribute."""
    named = (value for name, value in element.attributes.items() if name.endswith(":id"))
    return next(named, None)


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
    # A text box stands there a second time for older programs.
    repeated = {id(e) for fallback in _fallbacks(paragraph) for e in fallback.walk()}
    for element in paragraph.walk():
        if id(element) in repeated:
            continue
        if element.name == "t":
            pieces.append(element.text)
        elif element.name == "tab":
            pieces.append("\t")
        elif element.name == "lastRenderedPageBreak":
            pieces.append("\f")
        elif element.name in ("br", "cr") and element.attributes.get("w:type") != "page":
            pieces.append("\n")
    return "".join(pieces)


def _fallbacks(paragraph: XmlElement) -> Iterator[XmlElement]:
    return (element for element in paragraph.walk() if element.name == "Fallback")


def _slides(package: _Package) -> Iterator[str]:
    """Yield the words of each slide."""
    listed = [name for _, name in package.listed("ppt/presentation.xml", "sldId")]
    for name in listed or package.numbered("ppt/slides/slide"):
        yield "\n".join(_paragraph(paragraph) for paragraph in package.elements(name, "p"))


def _sheets(package: _Package) -> Iterator[str]:
    """Yield each sheet with its name, a line for each row and a tab between cells."""
    strings: list[str] = []
    for shared in package.elements("xl/sharedStrings.xml", "si"):
        strings.append(_paragraph(shared))
        if len(strings) >= _MOST_STRINGS:
            break
    dates = _DateStyles(package)
    listed = package.listed("xl/workbook.xml", "sheet")
    for title, name in listed or [("", name) for name in package.numbered("xl/worksheets/sheet")]:
        lines = [title]
        length = 0
        for row in package.elements(name, "row"):
            line = "\t".join(_cell(cell, strings, dates) for cell in row.each("c")).rstrip()
            lines.append(line)
            length += len(line)
            if length > LONGEST_TEXT:
                break
        yield "\n".join(line for line in lines if line)


class _DateStyles:
    """The styles that show a number as a day: a sheet counts days."""

    def __init__(self, package: _Package) -> None:
        own = {
            form.attributes.get("numFmtId"): form.attributes.get("formatCode", "")
            for form in package.elements("xl/styles.xml", "numFmt")
        }
        days = {number for number, code in own.items() if _DAY.search(_LITERAL.sub("", code))}
        formats = next(package.elements("xl/styles.xml", "cellXfs"), None)
        self._styles = {
            str(style)
            for style, form in enumerate(formats.each("xf") if formats is not None else ())
            if form.attributes.get("numFmtId") in days | _DAY_FORMATS
        }
        book = next(package.elements("xl/workbook.xml", "workbookPr"), None)
        late = book is not None and book.attributes.get("date1904") in ("1", "true")
        self._first = datetime(1904, 1, 1) if late else datetime(1899, 12, 30)  # noqa: DTZ001 - local

    def shown(self, cell: XmlElement, value: str) -> str:
        """Return a value as a day where its style shows one."""
        if cell.attributes.get("s") not in self._styles or not value:
            return value
        with suppress(ValueError, OverflowError):
            moment = self._first + timedelta(seconds=round(float(value) * 86_400))
            return moment.isoformat(" ").removesuffix(" 00:00:00")
        return value


def _cell(cell: XmlElement, strings: list[str], dates: _DateStyles) -> str:
    kind, value = cell.attributes.get("t"), cell.text_at("v")
    if kind == "inlineStr":
        inline = cell.at("is")
        return _paragraph(inline) if inline is not None else ""
    if kind == "s":
        with suppress(ValueError, IndexError):
            return strings[int(value)]
        return ""
    if kind == "b":
        return {"1": "TRUE", "0": "FALSE"}.get(value, value)
    return dates.shown(cell, value) if kind in (None, "n") else value


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
