"""Workbooks: the cells of Excel files as lines, with days and times as a sheet shows them."""

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import islice, product
from string import ascii_uppercase
from types import MappingProxyType

from pdpp.sources.formats.documents.openpackage import OpenPackage, paragraph_text
from pdpp.sources.formats.documents.text import LONGEST_TEXT
from pdpp.sources.reading.xmlstream import XmlElement

_MOST_STRINGS = 200_000
_DAY_FORMATS = frozenset(map(str, (*range(14, 18), 22, *range(27, 32), 36, *range(50, 59))))
"""Formats that every sheet has and that show a day."""
_CLOCK_FORMATS = frozenset(map(str, (*range(18, 22), *range(45, 48))))
"""Those that show a time of the day, or hours."""
_HOURS = re.compile(r"\[(h+|m+|s+)\]", re.IGNORECASE)
_LITERAL = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.')
_DAY = re.compile(r"[yd]", re.IGNORECASE)
_CLOCK = re.compile(r"[hs]", re.IGNORECASE)
_GENERAL = re.compile(r"general", re.IGNORECASE)
_COLUMNS = MappingProxyType(
    {
        first + second: number
        for number, (first, second) in enumerate(product(("", *ascii_uppercase), ascii_uppercase))
    }
)
"""The numbers of columns from zero; nobody fills more than these by hand."""
_CODED = re.compile(r"_x([0-9A-Fa-f]{4})_")
"""A letter that XML has no place for, such as the line end of a cell that was pasted."""
_WIDEST_GAP = 50
"""Cells without a value that are shown as such, one beside the other."""
_DAY_SECONDS = 86_400


def workbook_pages(package: OpenPackage) -> Iterator[str]:
    """Yield each sheet with its name, a line for each row and a tab between cells, and notes."""
    book = package.main("xl/workbook.xml")
    strings = _SharedStrings(package, book)
    styles = _Styles(package, book)
    listed = package.listed(book, "sheet")
    for title, name in listed or [("", name) for name in package.numbered("xl/worksheets/sheet")]:
        lines = [title]
        length = 0
        for row in package.elements(name, "row"):
            line = _row(row, strings, styles)
            lines.append(line)
            length += len(line)
            if length > LONGEST_TEXT:
                package.is_cut = True
                break
        yield "\n".join(line for line in (*lines, *_notes(package, name)) if line)


class _SharedStrings:
    """The texts of a workbook, which its cells name by their numbers."""

    def __init__(self, package: OpenPackage, book: str) -> None:
        self._package = package
        names = package.related(book, "sharedStrings") or ["xl/sharedStrings.xml"]
        shared = (text for name in names for text in package.elements(name, "si"))
        self._texts = [*map(_text, islice(shared, _MOST_STRINGS))]

    def at(self, number: str) -> str:
        """Return a text; one that is not there counts as lost."""
        with suppress(ValueError):
            at = int(number)
            if 0 <= at < len(self._texts):
                return self._texts[at]
            self._package.lost += 1
        return ""


def _row(row: XmlElement, strings: _SharedStrings, styles: "_Styles") -> str:
    """Return the cells of a row, each in its column: cells without a value are mostly left out."""
    cells: list[str] = []
    for cell in row.each("c"):
        at = _COLUMNS.get(cell.attributes.get("r", "").rstrip("0123456789"), 0)
        if at > len(cells):
            cells += [""] * min(at - len(cells), _WIDEST_GAP)
        cells.append(_cell(cell, strings, styles))
    return "\t".join(cells).rstrip()


def _cell(cell: XmlElement, strings: _SharedStrings, styles: "_Styles") -> str:
    kind, value = cell.attributes.get("t"), cell.text_at("v")
    if kind == "inlineStr":
        inline = cell.at("is")
        return _text(inline) if inline is not None else ""
    if kind == "s":
        return strings.at(value)
    if kind == "b":
        return {"1": "TRUE", "0": "FALSE"}.get(value, value)
    # Programs that do not calculate write a formula without its result.
    if not value and (formula := cell.text_at("f")):
        return f"={formula}"
    return styles.shown(cell, value) if kind in (None, "n") else value


def _text(cell: XmlElement) -> str:
    return _CODED.sub(_decoded, paragraph_text(cell))


def _decoded(code: re.Match[str]) -> str:
    letter = chr(int(code[1], 16))
    return letter if letter.isprintable() or letter in "\t\n" else ""


def _notes(package: OpenPackage, sheet: str) -> Iterator[str]:
    """Yield what was noted on cells: a talk about one, or else notes of the older kind."""
    talks = package.related(sheet, "threadedComment")
    for name in talks or package.related(sheet, "comments"):
        for note in package.elements(name, "comment", "threadedComment"):
            text = note.at("text")
            words = (paragraph_text(text) or text.text).strip() if text is not None else ""
            if words:
                yield f"{note.attributes.get('ref', '')}: {words}"


class _Styles:
    """The styles that show a number as a day or a time: a sheet counts days."""

    def __init__(self, package: OpenPackage, book: str) -> None:
        [name, *_] = package.related(book, "styles") or ["xl/styles.xml"]
        own = {
            form.attributes.get("numFmtId"): form.attributes.get("formatCode", "")
            for form in package.elements(name, "numFmt")
        }
        days = {number for number, code in own.items() if _DAY.search(_LITERAL.sub("", code))}
        clocks = {number for number, code in own.items() if _is_clock(code)}
        formats = next(package.elements(name, "cellXfs"), None)
        forms = [
            form.attributes.get("numFmtId")
            for form in (formats.each("xf") if formats is not None else ())
        ]
        self._days = {str(at) for at, form in enumerate(forms) if form in days | _DAY_FORMATS}
        self._clocks = {str(at) for at, form in enumerate(forms) if form in clocks | _CLOCK_FORMATS}
        properties = next(package.elements(book, "workbookPr"), None)
        late = properties is not None and properties.attributes.get("date1904") in ("1", "true")
        self._first = datetime(1904, 1, 1) if late else datetime(1899, 12, 30)  # noqa: DTZ001 - local

    def shown(self, cell: XmlElement, value: str) -> str:
        """Return a value as a day or a time where its style shows one."""
        style = cell.attributes.get("s")
        if not value or style not in self._days | self._clocks:
            return value
        with suppress(ValueError, OverflowError):
            seconds = round(float(value) * _DAY_SECONDS)
            if style in self._clocks:
                return _clock_text(seconds)
            moment = self._first + timedelta(seconds=seconds)
            return moment.isoformat(" ").removesuffix(" 00:00:00")
        return value


def _is_clock(code: str) -> bool:
    """Tell whether a format shows hours or a time of the day, and no day."""
    plain = _GENERAL.sub("", _LITERAL.sub("", _HOURS.sub("h", code)))
    return bool(_CLOCK.search(plain)) and not _DAY.search(plain)


def _clock_text(seconds: int) -> str:
    """Return hours, minutes and seconds; hours may be more than a day has, or below zero."""
    minutes, rest = divmod(abs(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{'-' if seconds < 0 else ''}{hours:02}:{minutes:02}:{rest:02}"
